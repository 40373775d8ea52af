/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates as row programs (fused/candidate_row.h): the kernel that is generated of one leaves
 * the same bytes as the kernel by hand, over the operands and what lies around them. Candidates are
 * drawn from all over the space, so that every value of every field comes up; types, alignments,
 * pitches, operands in place and rows at random. Prints TAP.
 *
 *   candidate_check [-n COUNT] [-b BATCH] [-a CC] [-w DIR | -r DIR]
 *
 *   -n       candidates of each pattern and type
 *   -b       programs compiled in one text
 *   -w, -r   no GPU: only keep the images in DIR; take them from there (no compiler here)
 *   -a       compute capability * 10 to compile for with -w (default 90)
 *
 * AUTOFUSE_NVRTC names the compiler; else it is found as the library finds it.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "fused/candidate_row.h"
#include "fused/gen.h"
#include "shim/nvrtc.h"
#include "shim/probe_child_inputs.h"
#include "tests/gpu/driver.h"

enum { GUARD = 512, ARENA = 1 << 22, BATCH_MAX = 64, FIELDS_MAX = 24, RUNS = 3 };

struct one {
	struct group g;
	struct member member[2];
	struct candidate c;
	size_t offset[GROUP_MAX_OPERANDS], bytes;
	struct candidate_form form;
	struct fused_device d;
};

static struct {
	unsigned count, batch, cc, tests, failed, images, ran, unsayable;
	const char *write, *read;
	struct nvrtc nvrtc;
	CUfunction function[FUSED_KERNELS_MAX];
	struct fused_device limits;
	CUdeviceptr arena[2];
	char *start, *got, *want;
	uint64_t state, data; /* what is drawn does not depend on what was run: images fit */
	bool seen[2][FIELDS_MAX][16];
	unsigned kernels[256];
} t = {.count = 96, .batch = 24, .cc = 90, .data = 1, .limits = {132, 227 << 10}};

static uint64_t from(uint64_t *state, uint64_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % n;
}
static uint64_t below(uint64_t n)
{
	return from(&t.state, n);
}
static uint64_t data(uint64_t n)
{
	return from(&t.data, n);
}

static void result(bool ok, const char *name, const char *why)
{
	printf("%sok %u - %s%s%s\n", ok ? "" : "not ", ++t.tests, name, ok ? "" : ": ",
	       ok ? "" : why);
	fflush(stdout);
	t.failed += !ok;
}

static bool is_norm(const struct group *g)
{
	return g->pattern == &pattern_add_rmsnorm;
}

static void onto(struct one *o, unsigned x, unsigned y)
{
	o->offset[x] = o->offset[y];
	o->g.bound[x].pitch = o->g.bound[y].pitch;
}

/* What the pattern lets lie in the same place, some of the time. */
static void alias(struct one *o)
{
	const bool norm = is_norm(&o->g);
	const unsigned in = norm ? ADD_RMSNORM_A : SILU_MUL_GATE,
		       other = norm ? ADD_RMSNORM_B : SILU_MUL_UP,
		       mid = norm ? ADD_RMSNORM_SUM : SILU_MUL_SILU,
		       out = norm ? ADD_RMSNORM_OUT : SILU_MUL_OUT;

	switch (below(7)) {
	case 0:
		onto(o, mid, in);
		break;
	case 1:
		onto(o, out, other);
		break;
	case 2:
		onto(o, mid, in);
		onto(o, out, in);
		o->g.bound[mid].use = BOUND_DEAD;
		break;
	case 3:
		onto(o, mid, out);
		o->g.bound[mid].use = BOUND_DEAD;
		break;
	case 4:
		o->g.bound[other].pitch = 0; /* one row for all */
		break;
	case 5:
		onto(o, other, in);
		break;
	}
	if (!below(5)) /* nobody needs it */
		o->g.bound[mid].use = BOUND_DEAD;
}

static void lay_out(struct one *o, const struct pattern *p, enum dtype type)
{
	static const int64_t lengths[] = {2, 7, 37, 64, 288, 1000, 1024, 2050};
	static const int64_t some_rows[] = {1, 1, 2, 3, 9, 300};
	static const unsigned threads[] = {32, 64, 128, 256, 512, 1024, 1, 96, 16};
	const unsigned bytes = (unsigned)dtype_bytes(type), gaps = (unsigned)below(3),
		       skew = (unsigned)below(2);
	const bool norm = p == &pattern_add_rmsnorm;
	size_t at = GUARD;

	memset(o, 0, sizeof(*o));
	o->g.pattern = p;
	o->g.member[0] = &o->member[0];
	o->g.member[1] = &o->member[1];
	o->member[1].launch.block[0] = threads[below(9)];
	o->member[1].launch.block[1] = o->member[1].launch.block[2] = 1;
	o->g.rows = some_rows[below(6)];
	o->g.cols = lengths[below(8)];
	if (o->g.rows * o->g.cols > 1 << 16)
		o->g.rows = 9;
	if (!norm && below(2)) {
		o->g.rows *= o->g.cols;
		o->g.cols = 1;
	}
	o->g.has_eps = norm && below(4);
	o->g.eps = below(2) ? 1e-5 : 0x1p-20;
	o->g.nbound = norm ? ADD_RMSNORM_NBOUND : SILU_MUL_NBOUND;
	for (unsigned i = 0; i < o->g.nbound; i++) {
		const bool weight = norm && i == ADD_RMSNORM_W,
			   write = norm ? i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT
					: i >= SILU_MUL_SILU;
		struct bound *b = &o->g.bound[i];

		b->dtype = (uint8_t)(weight && !below(3) ? DT_f32 : type);
		b->use = write ? BOUND_WRITE : BOUND_READ;
		b->pitch = o->g.cols * bytes;
		if (gaps == 1)
			b->pitch += (int64_t)(bytes * below(9));
		if (gaps == 2)
			b->pitch = (b->pitch + 15) / 16 * 16;
		if (weight)
			b->pitch = 0;
		at = (at + 255) / 256 * 256 + skew * dtype_bytes((enum dtype)b->dtype) * below(9);
		o->offset[i] = at;
		at += (size_t)(weight ? o->g.cols * 4 : o->g.rows * b->pitch) + GUARD;
	}
	o->bytes = (at + 255) / 256 * 256;
	alias(o);
	o->d = t.limits;
	o->d.sm_count = below(2) ? 1 : 132;
	if (!below(6))
		o->d.max_shmem = 6 << 10; /* rows are soon too long */
}

static void place(struct group *g, const struct one *o, CUdeviceptr base)
{
	*g = o->g;
	for (unsigned i = 0; i < g->nbound; i++)
		g->bound[i].addr = base + o->offset[i];
}

static double value(void)
{
	double v = ((double)data(2001) - 1000) / 500 * ldexp(1, (int)data(10) - 5);

	if (!data(60))
		v = 0;
	if (!data(400))
		v = ldexp(v, -130);
	if (!data(3000))
		v = data(2) ? INFINITY : NAN;
	return v;
}

/* Numbers in what is read, garbage everywhere else; gates of 16 bits one after the other. */
static void fill(const struct one *o)
{
	uint16_t gate = (uint16_t)data(65536);

	for (size_t i = 0; i + 8 <= o->bytes; i += 8) {
		uint64_t v = data(UINT64_MAX) << 11 ^ data(UINT64_MAX);

		memcpy(t.start + i, &v, 8);
	}
	for (unsigned i = 0; i < o->g.nbound; i++) {
		const struct bound *b = &o->g.bound[i];
		const bool gates = !is_norm(&o->g) && i == SILU_MUL_GATE && b->dtype != DT_f32;

		for (int64_t r = 0; b->use == BOUND_READ && r < (b->pitch ? o->g.rows : 1); r++)
			for (int64_t c = 0; c < o->g.cols; c++, gate++) {
				char *row = t.start + o->offset[i] + r * b->pitch;

				if (gates)
					memcpy(row + 2 * c, &gate, 2);
				else
					probe_store((enum dtype)b->dtype, row, c, value());
			}
	}
}

/* On the software GPU one NaN is like another: makes those of `got` those of `want`. */
static void level_nans(const struct one *o)
{
	for (unsigned i = 0; i < o->g.nbound; i++) {
		const struct bound *b = &o->g.bound[i];
		const enum dtype type = (enum dtype)b->dtype;

		for (int64_t r = 0; b->use == BOUND_WRITE && r < o->g.rows; r++)
			for (int64_t c = 0; c < o->g.cols; c++) {
				char *x = t.got + o->offset[i] + r * b->pitch,
				     *y = t.want + (x - t.got);

				if (probe_is_nan(type, x, c) && probe_is_nan(type, y, c))
					memcpy(x + c * dtype_bytes(type), y + c * dtype_bytes(type),
					       dtype_bytes(type));
			}
	}
}

static bool by_hand(const struct one *o, const struct group *g)
{
	struct fused_launch l;
	void *params[] = {l.params};

	if (fused_launch(g, &o->c, &o->d, &l))
		return false;
	GPU(cuLaunchKernel(t.function[l.index], l.grid[0], l.grid[1], l.grid[2], l.block[0],
			   l.block[1], l.block[2], l.shmem, NULL, params, NULL));
	return true;
}

static bool generated(const struct one *o, const struct group *g, CUmodule module)
{
	struct gen_launch l;
	void *params[] = {l.params};
	CUfunction f;
	struct row r;

	candidate_form_place(&o->form, g, &r);
	if (gen_launch(&r, &o->d, &l))
		return false;
	f = gpu_function(module, l.kernel);
	t.kernels[(unsigned char)l.kernel[strlen(l.kernel) - 1]]++;
	GPU(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			       (int)o->d.max_shmem));
	GPU(cuLaunchKernel(f, l.grid[0], 1, 1, l.block[0], 1, 1, l.shmem, NULL, params, NULL));
	return true;
}

static bool run(const struct one *o, CUmodule module, char *why, size_t size)
{
	char name[CANDIDATE_NAME_MAX];

	candidate_name(&o->c, name);
	fill(o);
	for (unsigned k = 0; k < 2; k++) {
		struct group g;

		GPU(cuMemcpyHtoD_v2(t.arena[k], t.start, o->bytes));
		place(&g, o, t.arena[k]);
		if (!(k ? generated(o, &g, module) : by_hand(o, &g))) {
			snprintf(why, size, "%s: no launch %s", name, k ? "generated" : "by hand");
			return false;
		}
	}
	GPU(cuCtxSynchronize());
	GPU(cuMemcpyDtoH_v2(t.want, t.arena[0], o->bytes));
	GPU(cuMemcpyDtoH_v2(t.got, t.arena[1], o->bytes));
	if (gpu.soft)
		level_nans(o);
	t.ran++;
	for (size_t i = 0; i < o->bytes; i++)
		if (t.got[i] != t.want[i]) {
			snprintf(why, size,
				 "%s, %s %lld x %lld, byte %zu (operands at %zu %zu %zu %zu)", name,
				 dtype_name((enum dtype)o->g.bound[0].dtype), (long long)o->g.rows,
				 (long long)o->g.cols, i, o->offset[0], o->offset[1], o->offset[2],
				 o->offset[3]);
			return false;
		}
	return true;
}

static void *kept_image(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *image = NULL;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) <= 0 || fseek(f, 0, SEEK_SET) ||
	    !(image = calloc(1, (size_t)n + 1)) || fread(image, 1, (size_t)n, f) != (size_t)n) {
		printf("Bail out! cannot read %s\n", path);
		exit(3);
	}
	fclose(f);
	return image;
}

static void *image_of(const struct one *o, unsigned n, char *why, size_t size)
{
	char path[4096], *text = NULL, *log = NULL;
	void *image = NULL;
	size_t bytes = 0, len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/candidate_check-%u-%u-%u.image",
		 t.read    ? t.read
		 : t.write ? t.write
			   : "",
		 t.count, t.batch, t.images++);
	if (t.read)
		return kept_image(path);
	f = open_memstream(&text, &len);
	fputs(gen_prelude(), f);
	for (unsigned i = 0; i < n; i++)
		if (gen_program(f, &o[i].form.row, &o[i].d))
			snprintf(why, size, "no text");
	fclose(f);
	if (nvrtc_compile(&t.nvrtc, text, gpu.cc ? (unsigned)gpu.cc : t.cc, &image, &bytes, &log,
			  why, size))
		printf("# %.4000s\n", log ? log : "");
	free(text);
	free(log);
	if (image && t.write && (f = fopen(path, "wb"))) {
		if (fwrite(image, 1, bytes, f) != bytes)
			snprintf(why, size, "cannot write an image");
		fclose(f);
	}
	return image;
}

static bool batch(const struct one *o, unsigned n, char *why, size_t size)
{
	void *image = image_of(o, n, why, size);
	CUmodule module;
	bool ok = image && !why[0];

	if (ok && !t.write) {
		GPU(cuModuleLoadData(&module, image));
		for (unsigned i = 0; ok && i < n; i++)
			for (unsigned k = 0; ok && k < RUNS; k++)
				ok = run(&o[i], module, why, size);
	}
	free(image);
	return ok;
}

/* Notes which values of which fields came up. */
static void note(const struct candidate *c, bool norm)
{
	struct silu_fields s;
	struct fields f;
	unsigned i = 0;

	if (norm && !candidate_unpack(c->code, &f)) {
#define FIELD(name, bits) t.seen[0][i++][f.name % 16] = true;
#define VALUE(field, value, token)
#include "fused/candidate.def"
#undef FIELD
	}
	if (!norm && !candidate_unpack_silu(c->code, &s)) {
#define FIELD(name, bits) t.seen[1][i++][s.name % 16] = true;
#include "fused/silu.def"
#undef FIELD
#undef VALUE
	}
}

/* Did every value? */
static void result_seen(void)
{
	static const struct {
		uint8_t norm, field, value;
		const char *name;
	} all[] = {
#define FIELD(name, bits)
#define VALUE(field, value, token)                                                                 \
	{0, offsetof(struct fields, field) / 2, FIELD_##field##_##value, #field " " #value},
#include "fused/candidate.def"
#undef VALUE
#define VALUE(field, value, token)                                                                 \
	{1, offsetof(struct silu_fields, field) / 2, SILU_##field##_##value,                       \
	 "silu " #field " " #value},
#include "fused/silu.def"
#undef FIELD
#undef VALUE
	};
	char why[1024] = "never";
	bool ok = true;

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!t.seen[all[i].norm][all[i].field][all[i].value]) {
			ok = false;
			snprintf(why + strlen(why), sizeof(why) - strlen(why), ", %s", all[i].name);
		}
	result(ok, "every value of every field came up", why);
}

/* Candidate number i of `count`, spread over the spellings; orders by chance, the likely ones more
 * often. */
static void draw(struct one *o, unsigned i)
{
	static struct candidate order[CANDIDATE_MAX_ORDERS], spelling[CANDIDATE_MAX_SPELLINGS];
	const unsigned n = candidate_orders(&o->g, order, CANDIDATE_MAX_ORDERS),
		       m = candidate_spellings(&o->g, spelling, CANDIDATE_MAX_SPELLINGS);
	const unsigned at = (unsigned)(((uint64_t)i * m + below(m)) / t.count);

	o->c = candidate_join(&order[below(3) ? below(n) : below(n < 6 ? n : 6)],
			      &spelling[at % m]);
}

/* Doubles among flushed floats are left to the hand-written kernel. */
static bool left_out(const struct pattern *p, const struct candidate *c)
{
	struct silu_fields f;

	return p == &pattern_silu_mul && !candidate_unpack_silu(c->code, &f) && f.ftz &&
	       f.div >= SILU_div_DDIV;
}

static void check(const struct pattern *p, enum dtype type)
{
	static struct one o[BATCH_MAX];
	char name[128], why[1024] = "";
	unsigned n = 0, all = 0;
	bool ok = true;

	/* Many may be the same, or have no generated form: then more are drawn. */
	for (unsigned i = 0; ok && (i < t.count || (i < 2 * t.count && all <= t.count / 2)); i++) {
		bool twice = false;
		struct group g;
		enum reason no;

		lay_out(&o[n], p, type);
		draw(&o[n], i % t.count);
		place(&g, &o[n], 1 << 20); /* arenas are aligned like that */
		no = candidate_form(&g, &o[n].c, &o[n].form);
		if ((no == REASON_NONE) == left_out(p, &o[n].c)) {
			snprintf(why, sizeof(why), "cannot be said: %s", reason_word(no));
			ok = false;
			break;
		}
		if (no || gen_cannot(&o[n].form.row, &o[n].d)) {
			t.unsayable++;
			continue;
		}
		for (unsigned k = 0; k < n; k++)
			twice |= row_hash(&o[k].form.row) == row_hash(&o[n].form.row);
		if (twice)
			continue;
		note(&o[n].c, p == &pattern_add_rmsnorm);
		all++;
		if (++n == t.batch) {
			ok = batch(o, n, why, sizeof(why));
			n = 0;
		}
	}
	if (ok && n)
		ok = batch(o, n, why, sizeof(why));
	snprintf(name, sizeof(name), "%s %s: %u candidates as by hand", p->name, dtype_name(type),
		 all);
	result(ok && all > t.count / 2, name, why);
}

static void open_all(void)
{
	struct nvrtc_places places = {.option = getenv("AUTOFUSE_NVRTC")};
	char why[1000];
	CUmodule ours;

	if (!t.read && nvrtc_load(&t.nvrtc, &places, why, sizeof(why))) {
		printf("1..0 # SKIP %s\n", why);
		exit(0);
	}
	if (t.write)
		return;
	gpu_open();
	GPU(cuModuleLoadData(&ours, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		t.function[i] = gpu_function(ours, fused_kernels[i]);
		GPU(cuFuncSetAttribute(t.function[i],
				       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	for (unsigned k = 0; k < 2; k++)
		t.arena[k] = (gpu_alloc(ARENA + 512) + 511) / 512 * 512;
	t.start = malloc(ARENA);
	t.got = malloc(ARENA);
	t.want = malloc(ARENA);
	if (!t.start || !t.got || !t.want)
		exit(3);
}

int main(int argc, char **argv)
{
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};

	for (int c; (c = getopt(argc, argv, "n:b:a:w:r:")) != -1;) {
		if (c == 'n')
			t.count = (unsigned)atoi(optarg);
		else if (c == 'b')
			t.batch = (unsigned)atoi(optarg) < BATCH_MAX ? (unsigned)atoi(optarg)
								     : BATCH_MAX;
		else if (c == 'a')
			t.cc = (unsigned)atoi(optarg);
		else if (c == 'w')
			t.write = optarg;
		else if (c == 'r')
			t.read = optarg;
		else
			return 2;
	}
	open_all();
	for (unsigned i = 0; i < 3; i++) {
		t.state = 77 + i;
		check(&pattern_silu_mul, types[i]);
		t.state = 99 + i;
		check(&pattern_add_rmsnorm, types[i]);
	}
	result_seen();
	printf("# %u runs (%u of elements, %u a row for a block, %u many, %u a warp, %u too long); "
	       "%u have no kernel\n1..%u\n",
	       t.ran, t.kernels['c'], t.kernels['f'], t.kernels['m'], t.kernels['w'],
	       t.kernels['l'], t.unsayable, t.tests);
	return t.failed != 0;
}
