/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the variants of sweep.def beside a copy of the same bytes and the kernel that the
 * library would launch, and compares what they leave with what that one leaves.
 *
 *   sweep [DIR]    DIR holds sweep.fatbin (default: where the program is)
 */
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>

#include "fused/add_rmsnorm.h"
#include "fused/candidate.h"
#include "tests/gpu/driver.h"

enum { ROUNDS = 7 };

static const struct variant {
	const char *name;
	enum dtype type;
	unsigned threads, chunks;
	bool ahead, known;
} variant[] = {
#define SWEEP(name, type, threads, chunks, hint, ahead, known, early, blocks)                      \
	{#name, DT_##type, threads, chunks, ahead, known},
#include "tests/gpu/sweep.def"
#undef SWEEP
};
enum { NVARIANT = sizeof(variant) / sizeof(*variant) };

static CUfunction ours[FUSED_KERNELS_MAX], theirs[NVARIANT];
static CUevent t0, t1;
static CUdeviceptr counter;

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* Median microseconds of one of `n` calls queued in a row. */
#define MEASURE(us, n, call)                                                                       \
	do {                                                                                       \
		float round_[ROUNDS];                                                              \
		for (unsigned r_ = 0; r_ < ROUNDS; r_++) {                                         \
			GPU(cuEventRecord(t0, NULL));                                              \
			for (unsigned i_ = 0; i_ < (n); i_++)                                      \
				call;                                                              \
			GPU(cuEventRecord(t1, NULL));                                              \
			GPU(cuEventSynchronize(t1));                                               \
			GPU(cuEventElapsedTime(&round_[r_], t0, t1));                              \
		}                                                                                  \
		qsort(round_, ROUNDS, sizeof(*round_), by_value);                                  \
		us = 1000.0 * round_[ROUNDS / 2] / (n);                                            \
	} while (0)

static void launch(CUfunction f, unsigned grid, unsigned block, unsigned shmem, const void *args)
{
	void *params[] = {(void *)args};

	GPU(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shmem, NULL, params, NULL));
}

static void row(const char *what, double us, double bytes, double copy, const char *note)
{
	printf("  %-34s %9.2f us %8.1f GB/s  %.3f%s\n", what, us, 1e-3 * bytes / us, us / copy,
	       note);
	fflush(stdout);
}

/* How many elements of the outputs differ from those of the library's kernel? */
static uint64_t differing(const struct group *g, CUdeviceptr want)
{
	uint64_t n[2];
	struct fused_launch l;
	const struct bound *b = &g->bound[ADD_RMSNORM_OUT];

	GPU(cuMemsetD8_v2(counter, 0, 16));
	fused_compare(b->addr, b->pitch, want, b->pitch, g->rows, g->cols, b->dtype, counter, &l);
	launch(ours[l.index], l.grid[0], l.block[0], l.shmem, l.params);
	GPU(cuMemcpyDtoH_v2(n, counter, 16));
	return n[0];
}

static void bench(enum dtype t, int64_t rows, int64_t cols)
{
	struct member m[2] = {0};
	struct group g = {.pattern = pattern_get(PATTERN_add_rmsnorm),
			  .member = {&m[0], &m[1]},
			  .rows = rows,
			  .cols = cols,
			  .eps = 1e-5,
			  .has_eps = true,
			  .nbound = ADD_RMSNORM_NBOUND};
	struct fused_device d = {gpu.sm_count, (unsigned)gpu.max_shmem};
	size_t row_bytes = (size_t)cols * dtype_bytes(t), bytes = (size_t)rows * row_bytes;
	unsigned n = gpu.soft ? 1 : bytes > 1 << 20 ? 10 : 300;
	CUdeviceptr p = gpu_alloc(4 * bytes), want = gpu_alloc(bytes), w = gpu_alloc(row_bytes);
	struct add_rmsnorm_args args;
	struct candidate c;
	struct fused_launch l;
	char *noise = malloc(bytes), what[80], note[48];
	double us, copy;

	/* Numbers between 1 and 2 and between -1 and -2. */
	for (size_t i = 0, x = 1; i < bytes; i += 4) {
		uint32_t v =
			(uint32_t)((x = x * 6364136223846793005u + 1442695040888963407u) >> 32);

		v = t == DT_f32 ? (v & 0x807fffffu) | 0x3f800000u : (v & 0x807f807fu) | 0x3f803f80u;
		memcpy(noise + i, &v, 4);
	}
	GPU(cuMemcpyHtoD_v2(p, noise, bytes));
	GPU(cuMemcpyHtoD_v2(p + bytes, noise, bytes));
	GPU(cuMemcpyHtoD_v2(w, noise, row_bytes));
	free(noise);
	for (unsigned i = 0; i < g.nbound; i++)
		g.bound[i] = (struct bound){.pitch = i == ADD_RMSNORM_W ? 0 : (int64_t)row_bytes,
					    .dtype = (uint8_t)t,
					    .use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT
							   ? BOUND_WRITE
							   : BOUND_READ};
	g.bound[ADD_RMSNORM_A].addr = p;
	g.bound[ADD_RMSNORM_B].addr = p + bytes;
	g.bound[ADD_RMSNORM_SUM].addr = p + 2 * bytes;
	g.bound[ADD_RMSNORM_OUT].addr = want;
	g.bound[ADD_RMSNORM_W].addr = w;
	printf("%s %lld x %lld\n", dtype_name(t), (long long)rows, (long long)cols);
	MEASURE(copy, n, GPU(cuMemcpyDtoDAsync_v2(p + 2 * bytes, p, 2 * bytes, NULL)));
	row("copy", copy, 4.0 * (double)bytes, copy, "");
	if (candidate_parse("t256-desc-firstdesc/div-rsqrt-xs.w", &c) ||
	    fused_launch(&g, &c, &d, &l))
		return;
	launch(ours[l.index], l.grid[0], l.block[0], l.shmem, l.params);
	MEASURE(us, n, launch(ours[l.index], l.grid[0], l.block[0], l.shmem, l.params));
	snprintf(note, sizeof(note), "  %ux%u", l.grid[0], l.block[0]);
	row(l.kernel, us, 4.0 * (double)bytes, copy, note);
	g.bound[ADD_RMSNORM_OUT].addr = p + 3 * bytes;
	memcpy(&args, l.params, sizeof(args));
	args.addr[OPERAND_OUT] = p + 3 * bytes;
	for (unsigned i = 0; i < NVARIANT; i++) {
		const struct variant *v = &variant[i];
		size_t holds = (size_t)v->threads * v->chunks * 16;
		unsigned shmem = (unsigned)row_bytes + 128;
		int each = 1;

		if (v->type != t || holds < row_bytes || holds / 2 >= row_bytes)
			continue;
		if (!gpu.soft)
			GPU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, theirs[i],
									(int)v->threads, shmem));
		/* All rows a block of their own; as many blocks as fit; twice as many. */
		for (unsigned k = v->ahead ? 1 : 0; k < 3; k++) {
			int64_t blocks = k ? (int64_t)k * each * gpu.sm_count : rows;

			if (k && blocks >= rows)
				continue;
			if (k && !v->ahead && (k > 1 || !v->known))
				continue;
			GPU(cuMemsetD8_v2(p + 3 * bytes, 0, bytes));
			launch(theirs[i], (unsigned)blocks, v->threads, shmem, &args);
			snprintf(note, sizeof(note), "  %d a processor%s", each,
				 differing(&g, want) ? "  DIFFERS" : "");
			MEASURE(us, n,
				launch(theirs[i], (unsigned)blocks, v->threads, shmem, &args));
			snprintf(what, sizeof(what), "%s%s", v->name,
				 k == 0   ? ""
				 : k == 1 ? " p1"
					  : " p2");
			row(what, us, 4.0 * (double)bytes, copy, note);
		}
	}
	GPU(cuMemFree_v2(p));
	GPU(cuMemFree_v2(want));
	GPU(cuMemFree_v2(w));
}

int main(int argc, char **argv)
{
	static const int64_t shape[][2] = {{4096, 4096},  {4096, 8192}, {4096, 16384},
					   {16384, 8192}, {1, 4096},    {1, 8192}};
	char self[4096], path[4200];
	const char *dir;
	CUmodule module;

	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	gpu_open();
	printf("%s, %d processors\n", gpu.name, gpu.sm_count);
	GPU(cuModuleLoadData(&module, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		ours[i] = gpu_function(module, fused_kernels[i]);
		GPU(cuFuncSetAttribute(ours[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	snprintf(path, sizeof(path), "%s/sweep.fatbin", dir);
	module = gpu_load(path);
	for (unsigned i = 0; i < NVARIANT; i++) {
		theirs[i] = gpu_function(module, variant[i].name);
		GPU(cuFuncSetAttribute(theirs[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	GPU(cuEventCreate(&t0, CU_EVENT_DEFAULT));
	GPU(cuEventCreate(&t1, CU_EVENT_DEFAULT));
	counter = gpu_alloc(16);
	for (unsigned i = 0; i < sizeof(shape) / sizeof(*shape); i++)
		bench(DT_bf16, shape[i][0], shape[i][1]);
	bench(DT_f32, 4096, 4096);
	bench(DT_f32, 4096, 8192);
	return 0;
}
