/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast generated kernels are, beside the kernels written by hand and a device-to-device copy of
 * the same bytes.
 *
 *   gen_bench [-a CC] [-w DIR | -r DIR]
 *
 *   -w, -r   no GPU: only keep the images in DIR; take them from there (no compiler here)
 *   -a       compute capability * 10 to compile for with -w (default 90)
 *
 * AUTOFUSE_NVRTC names the compiler; else it is found as the library finds it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "fused/candidate.h"
#include "fused/gen.h"
#include "shim/nvrtc.h"
#include "tests/gpu/measure.h"
#include "tests/gpu/row_make.h"

enum { SHMEM = 227 << 10 };

static struct {
	const char *write, *read;
	unsigned cc;
	struct nvrtc nvrtc;
	CUfunction function[FUSED_KERNELS_MAX];
	struct fused_device d;
} b = {.cc = 90, .d = {132, SHMEM}};

struct run {
	const char *what;
	struct row r;
	CUdeviceptr memory;
	size_t bytes, room; /* moved; taken */
	unsigned n;
	double copy;
};

static void *image(const struct row *r)
{
	char path[4096], why[1000], *text;
	void *out = NULL;
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/gen_bench-%016llx.image",
		 b.read    ? b.read
		 : b.write ? b.write
			   : "",
		 (unsigned long long)row_hash(r));
	if (b.read) {
		f = fopen(path, "rb");
		if (f && !fseek(f, 0, SEEK_END) &&
		    (out = calloc(1, (bytes = (size_t)ftell(f)) + 1)) &&
		    (rewind(f), fread(out, 1, bytes, f) == bytes)) {
			fclose(f);
			return out;
		}
		fprintf(stderr, "cannot read %s\n", path);
		exit(3);
	}
	text = gen_text(r, &b.d);
	if (!text || nvrtc_compile(&b.nvrtc, text, b.write ? b.cc : (unsigned)gpu.cc, &out, &bytes,
				   NULL, why, sizeof(why))) {
		fprintf(stderr, "%s\n", text ? why : gen_cannot(r, &b.d));
		exit(3);
	}
	free(text);
	if (b.write &&
	    (!(f = fopen(path, "wb")) || fwrite(out, 1, bytes, f) != bytes || fclose(f))) {
		fprintf(stderr, "cannot write %s\n", path);
		exit(3);
	}
	return out;
}

static void line(const struct run *r, const char *kind, double us, const char *note)
{
	printf("| %s | %s | %.2f | %.0f | %.3f | %s |\n", r->what, kind, us,
	       1e-3 * (double)r->bytes / us, us / r->copy, note);
	fflush(stdout);
}

static void launch_hand(const struct fused_launch *l)
{
	void *params[] = {(void *)l->params};

	GPU(cuLaunchKernel(b.function[l->index], l->grid[0], l->grid[1], l->grid[2], l->block[0],
			   l->block[1], l->block[2], l->shmem, measure_stream, params, NULL));
}

/* The hand-written kernel for the same operands. */
static void hand(const struct run *r, enum pattern_id id, enum dtype t, int64_t rows, int64_t cols)
{
	bool norm = id == PATTERN_add_rmsnorm;
	struct member m[2] = {0};
	struct group g = {.pattern = pattern_get(id),
			  .member = {&m[0], &m[1]},
			  .rows = rows,
			  .cols = cols,
			  .eps = 1e-5,
			  .has_eps = norm,
			  .nbound = norm ? ADD_RMSNORM_NBOUND : SILU_MUL_NBOUND};
	size_t row = (size_t)cols * dtype_bytes(t);
	struct fused_launch l;
	struct candidate c;
	char note[160];
	uint64_t at = r->memory;
	double us;

	for (unsigned i = 0; i < g.nbound; i++) {
		bool weight = norm && i == ADD_RMSNORM_W;
		bool write =
			norm ? i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT : i >= SILU_MUL_SILU;

		g.bound[i] = (struct bound){.addr = at,
					    .pitch = weight ? 0 : (int64_t)row,
					    .dtype = (uint8_t)t,
					    .use = write ? BOUND_WRITE : BOUND_READ};
		at += weight ? row : row * (size_t)rows;
	}
	if (candidate_parse(norm ? "t256-desc-firstdesc/div-rsqrt-xs.w" : "silu/exp-div", &c) ||
	    fused_launch(&g, &c, &b.d, &l))
		return;
	MEASURE(us, r->n, launch_hand(&l));
	snprintf(note, sizeof(note), "%s %ux%u", l.kernel + 3, l.grid[0], l.block[0]);
	line(r, "by hand", us, note);
}

static void generated(struct run *r)
{
	char name[GEN_KERNELS][GEN_NAME], note[160];
	void *bytes = image(&r->r);
	struct gen_launch l;
	void *params[] = {l.params};
	int regs = 0, local = 0;
	CUmodule module;
	CUfunction f;
	double us;

	if (b.write) {
		free(bytes);
		return;
	}
	GPU(cuModuleLoadData(&module, bytes));
	for (unsigned i = 0; i < gen_kernels(&r->r, &b.d, name); i++)
		GPU(cuFuncSetAttribute(gpu_function(module, name[i]),
				       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       (int)b.d.max_shmem));
	if (gen_launch(&r->r, &b.d, &l))
		exit(3);
	f = gpu_function(module, l.kernel);
	GPU(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	GPU(cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f));
	MEASURE(us, r->n,
		GPU(cuLaunchKernel(f, l.grid[0], 1, 1, l.block[0], 1, 1, l.shmem, measure_stream,
				   params, NULL)));
	snprintf(note, sizeof(note), "%c %ux%u, %d registers, %d bytes local",
		 l.kernel[strlen(l.kernel) - 1], l.grid[0], l.block[0], regs, local);
	line(r, "generated", us, note);
	free(bytes);
}

/* Places operands and measures the copy. The program is canonical afterwards. */
static void open_run(struct run *r, const char *what)
{
	struct row_cost cost;

	r->what = what;
	r->room = (size_t)row_place(&r->r, 1 << 20, 0) - (1 << 20);
	row_canon(&r->r);
	row_cost(&r->r, &cost);
	r->bytes = (size_t)(cost.read + cost.written);
	r->n = gpu.soft ? 1 : r->bytes > 64 << 20 ? 20 : 100;
	if (b.write)
		return;
	if (r->room < r->bytes)
		r->room = r->bytes; /* copied from one half to the other */
	r->memory = gpu_alloc(r->room + 4096);
	GPU(cuMemsetD8_v2(r->memory, 0x3c, r->room + 4096));
	for (unsigned i = 0; i < r->r.noperand; i++)
		r->r.operand[i].addr += r->memory - (1 << 20);
	MEASURE(r->copy, r->n,
		GPU(cuMemcpyDtoDAsync_v2(r->memory + r->bytes / 2, r->memory, r->bytes / 2,
					 measure_stream)));
	line(r, "copy", r->copy, "");
}

static void close_run(struct run *r)
{
	if (!b.write)
		GPU(cuMemFree_v2(r->memory));
}

static void pairs(enum dtype t, int64_t rows, int64_t cols)
{
	static struct run r;
	char what[96];

	for (unsigned p = 0; p < 2; p++) {
		snprintf(what, sizeof(what), "%s %s %lld x %lld", p ? "silu_mul" : "add_rmsnorm",
			 dtype_name(t), (long long)rows, (long long)cols);
		if (p)
			row_silu_mul(&r.r, t, rows * cols);
		else
			row_add_rmsnorm(&r.r, t, rows, cols);
		open_run(&r, what);
		if (!b.write)
			hand(&r, p ? PATTERN_silu_mul : PATTERN_add_rmsnorm, t, rows, cols);
		generated(&r);
		close_run(&r);
	}
}

static void others(void)
{
	static struct run r;
	int64_t rows = gpu.soft ? 8 : 4096;

	row_chain(&r.r, DT_f32, gpu.soft ? 1 << 16 : 256 << 20);
	open_run(&r, "(a + b) * s + c f32, 256M");
	generated(&r);
	close_run(&r);
	row_chain(&r.r, DT_bf16, gpu.soft ? 1 << 16 : 256 << 20);
	open_run(&r, "(a + b) * s + c bf16, 256M");
	generated(&r);
	close_run(&r);
	row_add_layernorm(&r.r, DT_bf16, rows, 4096);
	open_run(&r, "add_layernorm bf16 4096 x 4096");
	generated(&r);
	close_run(&r);
	row_add_layernorm(&r.r, DT_f32, rows, 4096);
	open_run(&r, "add_layernorm f32 4096 x 4096");
	generated(&r);
	close_run(&r);
	row_softmax(&r.r, DT_bf16, 4 * rows, 2048);
	open_run(&r, "mask_softmax bf16 16384 x 2048");
	generated(&r);
	close_run(&r);
	row_rope(&r.r, DT_bf16, 4, 32, gpu.soft ? 16 : 2048, 128);
	open_run(&r, "rope bf16 4 x 32 x 2048 x 128");
	generated(&r);
	close_run(&r);
}

static void open_all(void)
{
	struct nvrtc_places places = {.option = getenv("AUTOFUSE_NVRTC")};
	char why[1000];
	CUmodule hand_written;

	if (!b.read && nvrtc_load(&b.nvrtc, &places, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		exit(3);
	}
	if (b.write)
		return;
	gpu_open();
	measure_open();
	b.d.sm_count = gpu.sm_count;
	GPU(cuModuleLoadData(&hand_written, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		b.function[i] = gpu_function(hand_written, fused_kernels[i]);
		GPU(cuFuncSetAttribute(b.function[i],
				       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	printf("%s, %d processors\n\n| what | kernel | us | GB/s | of the copy's time | "
	       "|\n|---|---|---|---|---|---|\n",
	       gpu.name, gpu.sm_count);
}

int main(int argc, char **argv)
{
	static const int64_t shape[][2] = {{4096, 2048}, {4096, 4096}, {4096, 8192}, {4096, 16384},
					   {1, 4096},    {1, 8192},    {32, 4096},   {65536, 128}};

	for (int c; (c = getopt(argc, argv, "a:w:r:")) != -1;) {
		if (c == 'a')
			b.cc = (unsigned)atoi(optarg);
		else if (c == 'w')
			b.write = optarg;
		else if (c == 'r')
			b.read = optarg;
		else
			return 2;
	}
	open_all();
	for (unsigned t = 0; t < 2; t++)
		for (unsigned i = 0; i < (gpu.soft ? 1 : sizeof(shape) / sizeof(*shape)); i++)
			pairs(t ? DT_f32 : DT_bf16, gpu.soft ? 4 : shape[i][0], shape[i][1]);
	others();
	return 0;
}
