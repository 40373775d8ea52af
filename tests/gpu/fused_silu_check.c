/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fused silu -> mul kernel and spelling against the plain reference kernel, byte for byte
 * over the operands and what lies around them: one element to millions, types, alignments, pitches,
 * operands in place, every gate of a 16-bit type. Runs on the software GPU and on a real one;
 * prints TAP.
 *
 *   fused_silu_check [DIR]    DIR holds reference-*.fatbin (default: where the program is)
 */
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "fused/candidate.h"
#include "shim/probe_child_inputs.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/reference.h"

enum { GUARD = 512, ARENA = 1 << 24 };

static CUfunction function[FUSED_KERNELS_MAX], reference[2];
static struct fused_device limits;
static CUdeviceptr arena[2];
static char *start, *got, *want;
static unsigned tests, failed, used[FUSED_KERNELS_MAX];
static uint64_t state = 1;
static struct candidate list[2048];
static unsigned nlist;

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

static void result(bool ok, const char *name, const char *why)
{
	printf("%sok %u - %s%s%s\n", ok ? "" : "not ", ++tests, name, ok ? "" : ": ",
	       ok ? "" : why);
	fflush(stdout);
	failed += !ok;
}

struct layout {
	struct group g;
	size_t offset[SILU_MUL_NBOUND], bytes;
};

/* Operands behind each other with guards; dense, with gaps, off their alignment, or in place. */
static void lay_out(struct layout *l, enum dtype t, int64_t rows, int64_t cols, unsigned shape)
{
	unsigned bytes = dtype_bytes(t);
	size_t at = GUARD;

	memset(l, 0, sizeof(*l));
	l->g.pattern = &pattern_silu_mul;
	l->g.rows = rows;
	l->g.cols = cols;
	l->g.nbound = SILU_MUL_NBOUND;
	for (unsigned i = 0; i < SILU_MUL_NBOUND; i++) {
		struct bound *b = &l->g.bound[i];
		size_t gap = shape == 1 || shape == 5 ? bytes * below(9)
			     : shape == 2             ? (16 - (size_t)cols * bytes % 16) % 16
						      : 0;

		*b = (struct bound){.dtype = (uint8_t)t,
				    .pitch = cols * bytes + (int64_t)gap,
				    .use = i < SILU_MUL_SILU ? BOUND_READ : BOUND_WRITE};
		at = (at + 255) / 256 * 256 + (shape == 3 || shape == 5 ? bytes * below(9) : 0);
		l->offset[i] = at;
		at += (size_t)(rows * b->pitch) + GUARD;
	}
	l->bytes = (at + 255) / 256 * 256;
	switch (below(6)) {
#define ONTO(x, y) (l->offset[x] = l->offset[y], l->g.bound[x].pitch = l->g.bound[y].pitch)
	case 0:
		ONTO(SILU_MUL_SILU, SILU_MUL_GATE);
		break;
	case 1:
		ONTO(SILU_MUL_OUT, SILU_MUL_UP);
		break;
	case 2:
		ONTO(SILU_MUL_SILU, SILU_MUL_GATE);
		ONTO(SILU_MUL_OUT, SILU_MUL_GATE);
		l->g.bound[SILU_MUL_SILU].use = BOUND_DEAD;
		break;
	case 3:
		ONTO(SILU_MUL_SILU, SILU_MUL_OUT);
		l->g.bound[SILU_MUL_SILU].use = BOUND_DEAD;
		break;
	case 4:
		l->g.bound[SILU_MUL_UP].pitch = 0; /* one row for all */
#undef ONTO
	}
	if (!below(4)) /* nobody needs it */
		l->g.bound[SILU_MUL_SILU].use = BOUND_DEAD;
}

/* Gates one after the other through a 16-bit type's; for f32, and for the factors, any bits. */
static void fill(const struct layout *l)
{
	enum dtype t = l->g.bound[0].dtype;
	uint16_t gate = (uint16_t)below(65536);

	for (size_t i = 0; i + 8 <= l->bytes; i += 8) {
		uint64_t v = below(UINT64_MAX) << 11 ^ below(UINT64_MAX);

		memcpy(start + i, &v, 8);
	}
	for (int64_t r = 0; r < l->g.rows; r++)
		for (int64_t c = 0; c < l->g.cols; c++, gate++) {
			char *p = start + l->offset[SILU_MUL_GATE] + r * l->g.bound[0].pitch;
			double v = ((double)below(4001) - 2000) / 100;

			if (t != DT_f32)
				memcpy(p + 2 * c, &gate, 2);
			else if (below(4))
				probe_store(t, p, c, v);
		}
}

static void place(struct layout *l, CUdeviceptr base)
{
	for (unsigned i = 0; i < SILU_MUL_NBOUND; i++)
		l->g.bound[i].addr = base + l->offset[i];
}

static void run_reference(const struct layout *l, const struct candidate *c)
{
	static const uint8_t slot[SILU_OPERANDS] = {SILU_MUL_GATE, SILU_MUL_UP, SILU_MUL_SILU,
						    SILU_MUL_OUT};
	struct silu_reference_args a = {.k = {.rows = l->g.rows, .cols = l->g.cols}};
	int64_t n = l->g.rows * l->g.cols;
	void *params[] = {&a};

	candidate_unpack_silu(c->code, &a.k.f);
	a.type = l->g.bound[0].dtype == DT_f32   ? REFERENCE_F32
		 : l->g.bound[0].dtype == DT_f16 ? REFERENCE_F16
						 : REFERENCE_BF16;
	for (unsigned i = 0; i < SILU_OPERANDS; i++) {
		const struct bound *b = &l->g.bound[slot[i]];

		a.k.addr[i] = b->use == BOUND_DEAD ? 0 : b->addr;
		a.k.pitch[i] = b->pitch;
	}
	GPU(cuLaunchKernel(reference[a.k.f.ftz], (unsigned)((n + 255) / 256), 1, 1, 256, 1, 1, 0,
			   NULL, params, NULL));
}

static bool alike(const struct layout *l, char *why, size_t size)
{
	enum dtype t = l->g.bound[0].dtype;

	for (unsigned s = SILU_MUL_SILU; gpu.soft && s <= SILU_MUL_OUT; s++)
		for (int64_t r = 0; r < l->g.rows; r++)
			for (int64_t c = 0; c < l->g.cols; c++) {
				char *x = got + l->offset[s] + r * l->g.bound[s].pitch;
				char *y = want + (x - got);
				unsigned bytes = dtype_bytes(t);

				if (probe_is_nan(t, x, c) && probe_is_nan(t, y, c))
					memcpy(x + c * bytes, y + c * bytes, bytes);
			}
	for (size_t i = 0; i < l->bytes; i++)
		if (got[i] != want[i]) {
			snprintf(why, size, "byte %zu of the arena (silu at %zu, out at %zu)", i,
				 l->offset[SILU_MUL_SILU], l->offset[SILU_MUL_OUT]);
			return false;
		}
	return true;
}

static bool check(struct layout *l, const struct candidate *c, char *why, size_t size)
{
	char name[CANDIDATE_NAME_MAX], where[120];
	struct fused_launch f;
	void *params[] = {f.params};
	bool ok;

	candidate_name(c, name);
	fill(l);
	for (unsigned i = 0; i < 2; i++) {
		GPU(cuMemcpyHtoD_v2(arena[i], start, l->bytes));
		place(l, arena[i]);
		if (i) {
			run_reference(l, c);
			continue;
		}
		if (fused_launch(&l->g, c, &limits, &f)) {
			snprintf(why, size, "%s: no launch", name);
			return false;
		}
		used[f.index]++;
		GPU(cuLaunchKernel(function[f.index], f.grid[0], 1, 1, f.block[0], 1, 1, f.shmem,
				   NULL, params, NULL));
	}
	GPU(cuCtxSynchronize());
	GPU(cuMemcpyDtoH_v2(got, arena[0], l->bytes));
	GPU(cuMemcpyDtoH_v2(want, arena[1], l->bytes));
	ok = alike(l, where, sizeof(where));
	if (!ok)
		snprintf(why, size, "%s by %s, %lld x %lld, %s", name, f.kernel,
			 (long long)l->g.rows, (long long)l->g.cols, where);
	return ok;
}

/* Every spelling on all gates there are of 16 bits, or as many floats. */
static void check_spellings(enum dtype t)
{
	char name[128], why[512] = "";
	struct layout l;
	bool ok = true;

	for (unsigned i = 0; ok && i < nlist; i++) {
		lay_out(&l, t, gpu.soft && i % 8 ? 2000 : 65536, 1, 0);
		ok = check(&l, &list[i], why, sizeof(why));
	}
	snprintf(name, sizeof(name), "%s: all spellings (%u)", dtype_name(t), nlist);
	result(ok, name, why);
}

static void check_shapes(enum dtype t)
{
	static const int64_t shape[][2] = {{1, 1},    {7, 1},    {1000, 1}, {5632, 1}, {40, 37},
					   {3, 4096}, {100, 64}, {2, 5000}, {9, 8},    {1, 70001}};
	char name[128], why[512] = "";
	bool ok = true;

	for (unsigned s = 0; s < sizeof(shape) / sizeof(*shape); s++) {
		for (unsigned i = 0; ok && i < (gpu.soft ? 18 : 120); i++) {
			struct layout l;

			lay_out(&l, t, shape[s][0], shape[s][1], i % 6);
			ok = check(&l, &list[below(nlist)], why, sizeof(why));
		}
	}
	snprintf(name, sizeof(name), "%s: shapes, pitches, alignments, in place", dtype_name(t));
	result(ok, name, why);
}

/* Offsets beyond 32 bits do not fit into a test, but more elements than a grid of one wave. */
static void check_many(enum dtype t)
{
	char why[512] = "";
	struct layout l;
	bool ok = true;

	for (unsigned i = 0; ok && i < (gpu.soft ? 1 : 4); i++) {
		lay_out(&l, t, gpu.soft ? 100000 : 700001, 1, 0);
		ok = check(&l, &list[i], why, sizeof(why));
	}
	result(ok, "many elements", why);
}

int main(int argc, char **argv)
{
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
	char self[4096], path[4200], why[1024] = "";
	const char *dir;
	bool all = true;
	CUmodule module;

	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	gpu_open();
	limits = (struct fused_device){gpu.sm_count, (unsigned)gpu.max_shmem};
	GPU(cuModuleLoadData(&module, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++)
		function[i] = gpu_function(module, fused_kernels[i]);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/reference-%s.fatbin", dir, i ? "ftz" : "ieee");
		reference[i] = gpu_function(gpu_load(path), i ? "ref_ftz_silu" : "ref_ieee_silu");
		arena[i] = gpu_alloc(ARENA);
	}
	start = malloc(ARENA);
	got = malloc(ARENA);
	want = malloc(ARENA);
	if (!start || !got || !want)
		return 3;
	for (unsigned t = 0; t < 3; t++) {
		struct group g = {.pattern = &pattern_silu_mul};

		g.bound[SILU_MUL_GATE].dtype = (uint8_t)types[t];
		nlist = candidate_silus(&g, list, sizeof(list) / sizeof(*list));
		check_spellings(types[t]);
		check_shapes(types[t]);
		check_many(types[t]);
	}
	for (unsigned i = 0; i < fused_nkernels; i++)
		if (strstr(fused_kernels[i], "silu") && !used[i]) {
			all = false;
			snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s",
				 fused_kernels[i]);
		}
	result(all, "every kernel was run", why);
	printf("1..%u\n", tests);
	return failed != 0;
}
