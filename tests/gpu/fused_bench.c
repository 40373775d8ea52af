/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the fused kernels are, beside a device-to-device copy of the same bytes and the two
 * kernels of a program (the zoo's plain ones). Times by events over a graph of many launches, so
 * that it is the device that is measured; the median of several rounds.
 *
 *   fused_bench [DIR]    DIR holds zoo-ieee.fatbin (default: where the program is)
 */
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>

#include "fused/candidate.h"
#include "tests/gpu/measure.h"

static CUfunction function[FUSED_KERNELS_MAX];
static CUmodule zoo; /* NULL: its kernels are not known here */

static void launch(const struct fused_launch *l)
{
	void *params[] = {(void *)l->params};

	GPU(cuLaunchKernel(function[l->index], l->grid[0], l->grid[1], l->grid[2], l->block[0],
			   l->block[1], l->block[2], l->shmem, measure_stream, params, NULL));
}

/* A pattern's group on dense operands, all in one allocation, and what it moves. */
struct run {
	struct group g;
	struct member m[2];
	CUdeviceptr memory;
	size_t row, bytes; /* of one operand */
	unsigned operands; /* read and written, for the copy */
	unsigned n;        /* launches queued in a row */
};

static void open_run(struct run *r, enum pattern_id id, enum dtype t, int64_t rows, int64_t cols)
{
	bool norm = id == PATTERN_add_rmsnorm;
	struct group *g = &r->g;
	uint64_t at;

	memset(r, 0, sizeof(*r));
	r->row = (size_t)cols * dtype_bytes(t);
	r->bytes = (size_t)rows * r->row;
	r->operands = 4;
	r->n = gpu.soft ? 1 : r->bytes > 1 << 20 ? 20 : 100;
	r->memory = at = gpu_alloc(4 * r->bytes + r->row);
	GPU(cuMemsetD8_v2(r->memory, 0x3c, 4 * r->bytes + r->row));
	*g = (struct group){.pattern = pattern_get(id),
			    .member = {&r->m[0], &r->m[1]},
			    .rows = rows,
			    .cols = cols,
			    .eps = 1e-5,
			    .has_eps = norm,
			    .nbound = norm ? ADD_RMSNORM_NBOUND : SILU_MUL_NBOUND};
	for (unsigned i = 0; i < g->nbound; i++) {
		bool weight = norm && i == ADD_RMSNORM_W;
		bool write =
			norm ? i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT : i >= SILU_MUL_SILU;

		g->bound[i] = (struct bound){.addr = weight ? r->memory + 4 * r->bytes : at,
					     .pitch = weight ? 0 : (int64_t)r->row,
					     .dtype = (uint8_t)t,
					     .use = write ? BOUND_WRITE : BOUND_READ};
		at += weight ? 0 : r->bytes;
	}
}

static void line(const struct run *r, const char *what, double us, double copy, const char *note)
{
	double bytes = (double)r->operands * (double)r->bytes;

	printf("| %s | %s | %lld x %lld | %s | %.2f | %.0f | %.3f | %s |\n", r->g.pattern->name,
	       dtype_name(r->g.bound[0].dtype), (long long)r->g.rows, (long long)r->g.cols, what,
	       us, 1e-3 * bytes / us, us / copy, note);
	fflush(stdout);
}

static double copy_time(const struct run *r)
{
	size_t bytes = r->operands * r->bytes / 2;
	double us;

	MEASURE(us, r->n,
		GPU(cuMemcpyDtoDAsync_v2(r->memory + bytes, r->memory, bytes, measure_stream)));
	line(r, "copy", us, us, "");
	return us;
}

/* The zoo's kernels for the pattern: x and y are the first's operands, z the second's other one. */
static void own(const struct run *r, const char *first, const char *second, double copy)
{
	const struct bound *b = r->g.bound;
	bool norm = r->g.pattern == &pattern_add_rmsnorm;
	int n = (int)(r->g.rows * r->g.cols), cols = (int)r->g.cols;
	unsigned blocks = (unsigned)((n + 255) / 256);
	float eps = 1e-5f;
	CUfunction f, g;
	double us;

	if (!zoo)
		return;
	f = gpu_function(zoo, first);
	g = gpu_function(zoo, second);
	if (norm) {
		void *add[] = {(void *)&b[ADD_RMSNORM_SUM].addr, (void *)&b[ADD_RMSNORM_A].addr,
			       (void *)&b[ADD_RMSNORM_B].addr, &n};
		void *rms[] = {(void *)&b[ADD_RMSNORM_OUT].addr, (void *)&b[ADD_RMSNORM_SUM].addr,
			       (void *)&b[ADD_RMSNORM_W].addr, &cols, &eps};

		MEASURE(us, r->n, {
			GPU(cuLaunchKernel(f, blocks, 1, 1, 256, 1, 1, 0, measure_stream, add,
					   NULL));
			GPU(cuLaunchKernel(g, (unsigned)r->g.rows, 1, 1, 256, 1, 1, 0,
					   measure_stream, rms, NULL));
		});
	} else {
		void *act[] = {(void *)&b[SILU_MUL_SILU].addr, (void *)&b[SILU_MUL_GATE].addr, &n};
		void *mul[] = {(void *)&b[SILU_MUL_OUT].addr, (void *)&b[SILU_MUL_SILU].addr,
			       (void *)&b[SILU_MUL_UP].addr, &n};

		MEASURE(us, r->n, {
			GPU(cuLaunchKernel(f, blocks, 1, 1, 256, 1, 1, 0, measure_stream, act,
					   NULL));
			GPU(cuLaunchKernel(g, blocks, 1, 1, 256, 1, 1, 0, measure_stream, mul,
					   NULL));
		});
	}
	line(r, "the program's two", us, copy, second);
}

static void ours(const struct run *r, const char *candidate, double copy)
{
	struct fused_device d = {gpu.sm_count, (unsigned)gpu.max_shmem};
	struct fused_launch l;
	struct candidate c;
	char note[160];
	double us;

	if (candidate_parse(candidate, &c) || fused_launch(&r->g, &c, &d, &l)) {
		printf("%s: no launch\n", candidate);
		return;
	}
	MEASURE(us, r->n, launch(&l));
	snprintf(note, sizeof(note), "%s %ux%u %s", l.kernel + 3, l.grid[0], l.block[0], candidate);
	line(r, "ours", us, copy, note);
}

int main(int argc, char **argv)
{
	static const int64_t shape[][2] = {
		{4096, 4096}, {4096, 8192}, {4096, 16384}, {16384, 8192}, {1, 4096},
		{1, 8192},    {32, 4096},   {65536, 128},  {1, 131072},   {256, 131072},
		{1, 288},     {1, 2048},    {3, 37}};
	static const char *const norm[] = {
		"t256-desc-firstdesc/div-rsqrt-xs.w", "t1024-asc-serial/div-rcpsqrt-xs.w",
		"t1024-v4-p4-desc-firstdesc/div-rsqrt-xs.w", "t512-desc-halving/fma-rsqrt-x.sw"};
	static const char *const silu[] = {"silu/exp-div", "silu/fastexp-divfast-ftz-mulftz"};
	char self[4096], path[4200];
	FILE *f;
	CUmodule image;

	snprintf(self, sizeof(self), "%s", argv[0]);
	snprintf(path, sizeof(path), "%s/zoo-ieee.fatbin", argc > 1 ? argv[1] : dirname(self));
	gpu_open();
	printf("%s, %d processors\n\n| pattern | type | shape | what | us | GB/s | of the copy's "
	       "time "
	       "| |\n|---|---|---|---|---|---|---|---|\n",
	       gpu.name, gpu.sm_count);
	GPU(cuModuleLoadData(&image, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		function[i] = gpu_function(image, fused_kernels[i]);
		GPU(cuFuncSetAttribute(function[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	f = gpu.soft ? NULL : fopen(path, "rb");
	if (f) {
		fclose(f);
		zoo = gpu_load(path);
	}
	measure_open();
	for (unsigned t = 0; t < 2; t++)
		for (unsigned i = 0; i < (gpu.soft ? 1 : sizeof(shape) / sizeof(*shape)); i++)
			for (unsigned p = 0; p < 2; p++) {
				struct run r;
				double copy;

				open_run(&r, p ? PATTERN_silu_mul : PATTERN_add_rmsnorm,
					 t ? DT_f32 : DT_bf16, gpu.soft ? 4 : shape[i][0],
					 shape[i][1]);
				copy = copy_time(&r);
				if (p)
					own(&r, t ? "zoo_ieee_silu_f32" : "zoo_ieee_silu_bf16",
					    t ? "zoo_ieee_mul_f32" : "zoo_ieee_mul_bf16", copy);
				else
					own(&r, t ? "zoo_ieee_add_f32" : "zoo_ieee_add_bf16",
					    t ? "zoo_ieee_first_f32" : "zoo_ieee_first_bf16", copy);
				for (unsigned k = 0; k < (p ? 2 : 4); k++)
					ours(&r, p ? silu[k] : norm[k], copy);
				GPU(cuMemFree_v2(r.memory));
			}
	return 0;
}
