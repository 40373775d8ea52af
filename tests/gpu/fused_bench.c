/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the fused add -> RMSNorm is, beside a device-to-device copy of the same bytes (two reads
 * and two writes an element, as two elements read and written). Times by events over many launches;
 * the median of several rounds.
 *
 *   fused_bench [sweep]    sweep: also other numbers of threads than fused_launch chooses
 */
#include <stdbool.h>
#include <stdint.h>

#include "fused/candidate.h"
#include "tests/gpu/driver.h"

enum { ROUNDS = 9 };

static CUfunction function[96];
static CUevent t0, t1;

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

static void launch(const struct fused_launch *l)
{
	void *params[] = {(void *)l->params};

	GPU(cuLaunchKernel(function[l->index], l->grid[0], l->grid[1], l->grid[2], l->block[0],
			   l->block[1], l->block[2], l->shmem, NULL, params, NULL));
}

static void bench(enum dtype t, int64_t rows, int64_t cols, const char *candidate, bool sweep)
{
	struct pattern pattern = {.nnode = 2};
	struct member m[2] = {0};
	struct group g = {.pattern = &pattern,
			  .member = {&m[0], &m[1]},
			  .rows = rows,
			  .cols = cols,
			  .eps = 1e-5,
			  .has_eps = true,
			  .nbound = ADD_RMSNORM_NBOUND};
	struct fused_device d = {gpu.sm_count, (unsigned)gpu.max_shmem};
	size_t row = (size_t)cols * dtype_bytes(t), bytes = (size_t)rows * row;
	unsigned n = gpu.soft ? 1 : bytes > 1 << 20 ? 20 : 500;
	struct candidate c;
	struct fused_launch l;
	CUdeviceptr p[2] = {gpu_alloc(2 * bytes), gpu_alloc(2 * bytes)};
	double us, copy;

	for (unsigned i = 0; i < g.nbound; i++)
		g.bound[i] = (struct bound){.pitch = i == ADD_RMSNORM_W ? 0 : (int64_t)row,
					    .dtype = (uint8_t)t,
					    .use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT
							   ? BOUND_WRITE
							   : BOUND_READ};
	g.bound[ADD_RMSNORM_A].addr = p[0];
	g.bound[ADD_RMSNORM_B].addr = p[0] + bytes;
	g.bound[ADD_RMSNORM_SUM].addr = p[1];
	g.bound[ADD_RMSNORM_OUT].addr = p[1] + bytes;
	g.bound[ADD_RMSNORM_W].addr = gpu_alloc(row);
	GPU(cuMemsetD8_v2(p[0], 0x3c, 2 * bytes));
	GPU(cuMemsetD8_v2(g.bound[ADD_RMSNORM_W].addr, 0x3c, row));
	if (candidate_parse(candidate, &c) || fused_launch(&g, &c, &d, &l)) {
		printf("%s: no launch\n", candidate);
		return;
	}
	launch(&l);
	MEASURE(copy, n, GPU(cuMemcpyDtoDAsync_v2(p[1], p[0], 2 * bytes, NULL)));
	MEASURE(us, n, launch(&l));
	printf("%-5s %6lld x %-6lld %8.2f us %7.1f GB/s   copy %8.2f us %7.1f GB/s   %.3f of the "
	       "copy's  %s %ux%u %s\n",
	       dtype_name(t), (long long)rows, (long long)cols, us, 4e-3 * (double)bytes / us, copy,
	       4e-3 * (double)bytes / copy, copy / us, l.kernel + 3, l.grid[0], l.block[0],
	       candidate);
	for (unsigned threads = 64; sweep && !strstr(l.kernel, "warp") && threads <= 1024;
	     threads *= 2) {
		l.block[0] = threads;
		MEASURE(us, n, launch(&l));
		printf("      %36u threads %8.2f us %7.1f GB/s\n", threads, us,
		       4e-3 * (double)bytes / us);
	}
	fflush(stdout);
	GPU(cuMemFree_v2(p[0]));
	GPU(cuMemFree_v2(p[1]));
	GPU(cuMemFree_v2(g.bound[ADD_RMSNORM_W].addr));
}

int main(int argc, char **argv)
{
	static const int64_t shape[][2] = {{4096, 4096}, {4096, 8192}, {4096, 16384}, {16384, 8192},
					   {1, 4096},    {1, 8192},    {32, 4096},    {65536, 128},
					   {1, 131072},  {256, 131072}};
	static const char *const candidate[] = {
		"t256-desc-firstdesc/div-rsqrt-xs.w", "t1024-asc-serial/div-rcpsqrt-xs.w",
		"t1024-v4-p4-desc-firstdesc/div-rsqrt-xs.w", "t512-desc-halving/fma-rsqrt-x.sw"};
	bool sweep = argc > 1 && !strcmp(argv[1], "sweep");
	CUmodule ours;

	gpu_open();
	printf("%s, %d processors\n", gpu.name, gpu.sm_count);
	GPU(cuModuleLoadData(&ours, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		function[i] = gpu_function(ours, fused_kernels[i]);
		GPU(cuFuncSetAttribute(function[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	GPU(cuEventCreate(&t0, CU_EVENT_DEFAULT));
	GPU(cuEventCreate(&t1, CU_EVENT_DEFAULT));
	for (unsigned t = 0; t < 2; t++)
		for (unsigned k = 0; k < 4; k++)
			for (unsigned i = 0; i < (gpu.soft ? 1 : 10); i++)
				bench(t ? DT_f32 : DT_bf16, gpu.soft ? 4 : shape[i][0], shape[i][1],
				      candidate[k], sweep && k < 2);
	return 0;
}
