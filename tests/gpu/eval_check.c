/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random row programs run as data (fused/gen_eval.h) against the same programs run statement by
 * statement (row_reference.cuh): no element may differ; and each must be seen that is made to.
 *
 *   eval_check [-s FIRST] [-n COUNT] [-v] [-c]     seeds; a failure names its own
 *   -c   the kernel as it comes with the command, instead of one that NVRTC makes
 *
 * AUTOFUSE_NVRTC names the compiler; else it is found as the library finds it.
 */
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "fused/gen_eval.h"
#include "shim/nvrtc.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/row_make.h"

enum { BASE = 1 << 20, ROOM = 16 << 20, ROWS_MOST = 512, SCRATCH = 16384, VALUES = 256 << 20 };

static CUfunction eval, reference;
static CUdeviceptr memory[2], program, data, order, pair, differ, value, scratch;
static unsigned ran, reduced, seen, failed;
static bool carried;

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1dull;
}

/* The one order of the program; false if it has several, or one that forms of hand-written kernels
 * do not have. */
static bool order_of(const struct row *r, struct eval_order *to)
{
	*to = (struct eval_order){.f.threads = 1};
	for (unsigned i = 1; i < r->norder; i++)
		if (memcmp(&r->order[i], &r->order[0], sizeof(r->order[0])))
			return false;
	if (!r->norder)
		return true;
#define FIELD(name, bits) to->f.name = r->order[0].name;
#define VALUE(field, value, token)
#include "matcher/order.def"
#undef FIELD
#undef VALUE
	to->fast = r->order[0].fast;
	return !r->order[0].width;
}

/* Numbers of moderate size, here and there a special one. */
static void fill(unsigned char *to, size_t bytes, uint64_t seed)
{
	uint64_t s = seed * 77777 + 1;

	for (size_t i = 0; i + 4 <= bytes; i += 4) {
		uint64_t n = next(&s);
		float f = (float)(int32_t)(n >> 16) / 1073741824.0f;

		memcpy(to + i, n & 0xf00 ? (void *)&f : (void *)&n, 4);
	}
}

static unsigned differing(const struct row *r)
{
	struct eval_args a = {.program = data,
			      .order = order,
			      .pair = pair,
			      .differ = differ,
			      .delta = (int64_t)(memory[1] - memory[0]),
			      .rows = row_rows(r),
			      .any_nan = gpu.soft};
	void *params[] = {&a};
	uint32_t n = 0;

	GPU(cuMemcpyHtoD_v2(differ, &n, 4));
	GPU(cuLaunchKernel(eval, 1, gpu.soft ? 1 : 16, 1, gpu.soft ? 1 : EVAL_THREADS, 1, 1, 0,
			   NULL, params, NULL));
	GPU(cuCtxSynchronize());
	GPU(cuMemcpyDtoH_v2(&n, differ, 4));
	return n;
}

/* The first element of the last operand that is stored, otherwise. */
static void spoil(const struct row *r)
{
	for (unsigned i = r->noperand; i-- > 0;)
		if (r->operand[i].use & ROW_WRITE) {
			unsigned char byte;

			GPU(cuMemcpyDtoH_v2(&byte, r->operand[i].addr, 1));
			byte ^= 1;
			GPU(cuMemcpyHtoD_v2(r->operand[i].addr, &byte, 1));
			return;
		}
}

static void check(uint64_t seed, bool verbose)
{
	static unsigned char start[ROOM];
	static struct row r;
	static struct eval_program p;
	struct eval_order o;
	uint64_t end, zero = 0;
	int64_t rows;
	unsigned n;
	void *params[] = {&program, &rows, &value, &scratch};

	row_random(&r, seed);
	end = row_place(&r, BASE, seed);
	if (end - BASE > ROOM - 4096 || row_check(&r) != REASON_NONE)
		return;
	row_canon(&r);
	rows = row_rows(&r);
	if (!r.nstmt || row_check(&r) != REASON_NONE || !order_of(&r, &o) ||
	    (uint64_t)(rows * r.nstmt * r.cols) * 8 > VALUES || (r.norder && rows > ROWS_MOST))
		return;
	for (unsigned i = 0; i < r.noperand; i++)
		r.operand[i].addr += memory[0] - BASE;
	if (eval_pack(&r, &p))
		return;
	fill(start, (size_t)(end - BASE) + 2048, seed);
	for (unsigned k = 0; k < 2; k++)
		GPU(cuMemcpyHtoD_v2(memory[k], start, (size_t)(end - BASE) + 2048));
	GPU(cuMemcpyHtoD_v2(program, &r, sizeof(r)));
	GPU(cuMemcpyHtoD_v2(data, &p, sizeof(p)));
	GPU(cuMemcpyHtoD_v2(order, &o, sizeof(o)));
	GPU(cuMemcpyHtoD_v2(pair, &zero, 4));
	GPU(cuLaunchKernel(reference, (unsigned)((rows + 31) / 32), 1, 1, 32, 1, 1, 0, NULL, params,
			   NULL));
	GPU(cuCtxSynchronize());
	ran++;
	reduced += r.norder > 0;
	n = differing(&r);
	if (n)
		printf("# seed %llu: %u elements differ\n", (unsigned long long)seed, n);
	failed += n != 0;
	spoil(&r);
	seen += differing(&r) != 0;
	if (verbose)
		printf("# seed %llu: %u statements, %lld x %lld\n", (unsigned long long)seed,
		       r.nstmt, (long long)rows, (long long)r.cols);
}

static CUmodule carried_module(void)
{
	CUmodule module;

	GPU(cuModuleLoadData(&module, eval_image()));
	return module;
}

static CUmodule made_module(void)
{
	struct nvrtc_places places = {.option = getenv("AUTOFUSE_NVRTC")};
	char why[1000], *text = eval_text();
	struct nvrtc n;
	CUmodule module;
	size_t bytes;
	void *image;

	if (nvrtc_load(&n, &places, why, sizeof(why))) {
		printf("1..0 # SKIP %s\n", why);
		exit(0);
	}
	if (!text ||
	    nvrtc_compile(&n, text, (unsigned)gpu.cc, &image, &bytes, NULL, why, sizeof(why))) {
		printf("Bail out! %s\n", text ? why : "no text");
		exit(3);
	}
	GPU(cuModuleLoadData(&module, image));
	free(text);
	free(image);
	return module;
}

static void open_all(const char *path)
{
	gpu_open();
	eval = gpu_function(carried ? carried_module() : made_module(), EVAL_KERNEL);
	reference = gpu_function(gpu_load(path), "row_reference");
	for (unsigned k = 0; k < 2; k++)
		memory[k] = (gpu_alloc(ROOM + 1024) + 511) / 512 * 512;
	program = gpu_alloc(sizeof(struct row));
	data = gpu_alloc(sizeof(struct eval_program));
	order = gpu_alloc(sizeof(struct eval_order));
	pair = gpu_alloc(4);
	differ = gpu_alloc(4);
	value = gpu_alloc(VALUES);
	scratch = gpu_alloc((size_t)ROWS_MOST * SCRATCH);
}

int main(int argc, char **argv)
{
	uint64_t first = 1, count = 400;
	char self[4096], path[4200];
	bool verbose = false;

	for (int c; (c = getopt(argc, argv, "s:n:vc")) != -1;) {
		if (c == 's')
			first = strtoull(optarg, NULL, 10);
		else if (c == 'n')
			count = strtoull(optarg, NULL, 10);
		else if (c == 'v')
			verbose = true;
		else if (c == 'c')
			carried = true;
		else
			return 2;
	}
	snprintf(self, sizeof(self), "%s", argv[0]);
	snprintf(path, sizeof(path), "%s/row_reference.fatbin", dirname(self));
	open_all(path);
	for (uint64_t seed = first; seed < first + count; seed++)
		check(seed, verbose);
	printf("# %u programs run, %u of them with sums along rows; a changed element seen in %u\n",
	       ran, reduced, seen);
	failed += seen * 10 < ran * 9; /* where it was a NaN, it is one still */
	printf("%s 1 - row programs as data, seeds %llu to %llu\n1..1\n",
	       failed || !ran ? "not ok" : "ok", (unsigned long long)first,
	       (unsigned long long)(first + count - 1));
	return failed || !ran;
}
