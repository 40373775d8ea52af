/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random row programs: generated, compiled and run, and every byte compared with the same program
 * run statement by statement (row_reference.cuh).
 *
 *   gen_check [-s FIRST] [-n COUNT] [-b BATCH] [-v] [-a CC] [-w DIR | -r DIR] [REFERENCE]
 *
 *   -s, -n   seeds; a failure names its own, to be run alone with -n 1
 *   -b       programs compiled in one text
 *   -w, -r   no GPU: only keep the images in DIR; take them from there (no compiler here)
 *   -x       instead of random programs, all 16-bit numbers through all functions and casts
 *   -a       compute capability * 10 to compile for with -w (default 90)
 *   REFERENCE  row_reference.fatbin (default: where the program is)
 *
 * AUTOFUSE_NVRTC names the compiler; else it is found as the library finds it.
 */
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "fused/gen.h"
#include "shim/nvrtc.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/row_make.h"

enum {
	BATCH_MAX = 64,
	BASE = 1 << 20,
	ROOM = 64 << 20,
	SHMEM = 227 << 10,
	SM = 4,
	SCRATCH = 16384
};

struct one {
	uint64_t seed, end; /* of the memory that it takes, from BASE on */
	struct row r;
	struct fused_device d;
};

static struct {
	uint64_t first;
	unsigned count, batch, cc;
	bool verbose, sixteen, special; /* special: Inf, NaN, subnormals among the numbers */
	const char *write, *read;
	struct nvrtc nvrtc;
	CUfunction reference;
	CUdeviceptr memory[2], program, value, scratch;
	size_t value_bytes, scratch_bytes;
	unsigned char *start, *end[2]; /* ROOM bytes each */
	unsigned ran, refused, partial, some, unfit, failed, kernels[256];
	bool all_inputs;
	uint16_t divisor;
	double compiled_s;
} t = {.first = 1, .count = 200, .batch = 24, .cc = 90};

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1dull;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Of some of what is stored only a part is kept, where row_check lets it be. */
static void keep_part(struct row *r, uint64_t seed)
{
	for (unsigned i = 0; i < r->noperand; i++) {
		struct row_operand *o = &r->operand[i];
		uint64_t s = seed * 31 + i + 1, bytes = dtype_bytes((enum dtype)o->dtype), n;
		int64_t lo, hi;

		row_reach(r, o, &lo, &hi);
		n = (uint64_t)(hi - lo) / bytes;
		if (!(o->use & ROW_WRITE) || next(&s) % 5 || n < 3)
			continue;
		o->keep.lo = o->addr + (uint64_t)lo + (next(&s) >> 33) % (n / 2) * bytes;
		o->keep.hi = o->addr + (uint64_t)hi - (next(&s) >> 33) % (n / 2) * bytes;
		if (o->keep.hi > o->keep.lo + 2 * bytes && next(&s) % 2) {
			n = (o->keep.hi - o->keep.lo) / bytes - 2;
			o->hole[0].lo = o->keep.lo + (1 + (next(&s) >> 33) % n) * bytes;
			o->hole[0].hi = o->hole[0].lo + bytes;
			o->nhole = 1;
		}
		if (row_check(r) != REASON_NONE) {
			o->keep = (struct range){0, 0};
			o->nhole = 0;
		} else {
			t.partial++;
		}
	}
}

/* Some operands have not all rows. */
static void some_rows(struct row *r, uint64_t seed)
{
	uint64_t s = seed * 37 + 5;
	const unsigned d = (unsigned)(next(&s) >> 33) % r->ndim;
	const int64_t n = 1 + (int64_t)((next(&s) >> 33) % (uint64_t)r->size[d]);

	if (row_is_flat(r) || next(&s) % 3)
		return;
	/* All that is stored, then of what is loaded what may. */
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < r->noperand; i++) {
			struct row_operand *o = &r->operand[i];

			if (!o->stride[d] || (o->use & ROW_WRITE ? 0u : 1u) != pass ||
			    (pass && next(&s) % 2))
				continue;
			o->most[d] = n;
			if (row_check(r) != REASON_NONE)
				o->most[d] = 0;
			else
				t.some++;
		}
}

/* A program that can be run, or false. */
static bool prepare(struct one *p, uint64_t seed)
{
	p->seed = seed;
	p->d = (struct fused_device){.sm_count = SM, .max_shmem = SHMEM};
	if (seed % 4 == 0)
		p->d.max_shmem = 700 + 300 * (unsigned)(seed % 5); /* rows are soon too long */
	row_random(&p->r, seed);
	p->end = row_place(&p->r, BASE, seed);
	if (p->end - BASE > ROOM - 4096)
		return false;
	if (row_check(&p->r) != REASON_NONE) {
		t.refused++;
		return false;
	}
	keep_part(&p->r, seed);
	some_rows(&p->r, seed);
	row_canon(&p->r);
	if (!p->r.nstmt) { /* all of its stores are dead */
		t.unfit++;
		return false;
	}
	if (row_check(&p->r) != REASON_NONE) {
		printf("# seed %llu: the canonical form is refused\n", (unsigned long long)seed);
		t.failed++;
		return false;
	}
	if (gen_cannot(&p->r, &p->d)) {
		if (t.verbose)
			printf("# seed %llu: %s\n", (unsigned long long)seed,
			       gen_cannot(&p->r, &p->d));
		t.unfit++;
		return false;
	}
	return true;
}

static uint64_t number(enum dtype type, uint64_t *s)
{
	uint64_t n = next(s), odd = n >> 56 | (t.special ? 0 : 0x40);
	float f = ((float)(int32_t)(n >> 16) / 2147483648.0f) * (odd & 1 ? 1.0f : 4.0f);
	uint32_t bits;
	double d;

	memcpy(&bits, &f, sizeof(bits));
	if (odd < 12)
		bits = (uint32_t[]){0,          0x80000000, 0x7f800000, 0xff800000,
				    0x7fc00000, 1,          0x807fffff, 0x7f7fffff,
				    0x3f800000, 0x00800000, 0x42c80000, 0x33000000}[odd];
	switch (type) {
	case DT_f32:
		return bits;
	case DT_f64:
		memcpy(&f, &bits, sizeof(f));
		d = (double)f * (odd & 2 ? 1.0 : 1.0 + 1e-9 * (double)(n & 0xffff));
		memcpy(&n, &d, sizeof(n));
		return n;
	case DT_bf16:
		return bits >> 16;
	case DT_f16: /* near enough: a random one of moderate size, or a special one */
		return odd < 8 ? (
					 uint64_t[]){0,      0x8000, 0x7c00, 0xfc00,
						     0x7e00, 1,      0x83ff, 0x7bff}[odd]
			       : (n & 0x83ff) | (0x2c00 + (n >> 32 & 7) * 0x400);
	case DT_bool:
		return n & 1;
	case DT_i64:
		return odd & 1 ? (uint64_t)((int64_t)n >> 8) : (uint64_t)((int64_t)n >> 50);
	default:
		return odd & 1 ? n : (uint64_t)((int64_t)(n << 8) >> 57);
	}
}

/* Calls fn for every element of an operand, with its offset from BASE. */
static void each(const struct row *r, const struct row_operand *o, uint64_t base,
		 void (*fn)(uint64_t at, enum dtype type, void *arg), void *arg)
{
	int64_t rows = row_rows(r);

	for (int64_t i = 0; i < rows; i++) {
		uint64_t at = o->addr - base;
		int64_t left = i;

		for (unsigned d = r->ndim; d-- > 0; left /= r->size[d])
			at += (uint64_t)(left % r->size[d] * o->stride[d]);
		for (int64_t c = 0; c < o->width; c++)
			fn(at + (uint64_t)(c * o->step), (enum dtype)o->dtype, arg);
	}
}

static void fill(uint64_t at, enum dtype type, void *arg)
{
	uint64_t v = number(type, arg);

	memcpy(t.start + at, &v, dtype_bytes(type));
}

static void in_order(uint64_t at, enum dtype type, void *arg)
{
	uint16_t *n = arg, v = (*n)++;

	memcpy(t.start + at, &v, 2);
}

/* The software GPU's NaNs are a host's: any is as good as another. */
static void plain_nan(uint64_t at, enum dtype type, void *arg)
{
	unsigned char *p = (unsigned char *)arg + at;
	float f;
	double d;
	uint16_t h;

	if (type == DT_f32) {
		memcpy(&f, p, 4);
		if (isnan(f))
			memset(p, 0xff, 4);
	} else if (type == DT_f64) {
		memcpy(&d, p, 8);
		if (isnan(d))
			memset(p, 0xff, 8);
	} else if (type == DT_f16 || type == DT_bf16) {
		memcpy(&h, p, 2);
		if ((h & 0x7fff) > (type == DT_f16 ? 0x7c00 : 0x7f80))
			memset(p, 0xff, 2);
	} else if ((type == DT_e4m3 && (*p & 0x7f) == 0x7f) ||
		   (type == DT_e5m2 && (*p & 0x7f) > 0x7c)) {
		*p = 0xff;
	}
}

static void grow(CUdeviceptr *p, size_t *have, size_t want)
{
	if (*have >= want)
		return;
	if (*p)
		GPU(cuMemFree_v2(*p));
	*have = want + want / 2;
	*p = gpu_alloc(*have);
}

static void run_reference(const struct one *p, struct row *r)
{
	int64_t rows = row_rows(r);
	void *params[] = {&t.program, &rows, &t.value, &t.scratch};

	grow(&t.value, &t.value_bytes, (size_t)(rows * r->nstmt * r->cols) * 8);
	grow(&t.scratch, &t.scratch_bytes, r->norder ? (size_t)rows * SCRATCH : 1);
	GPU(cuMemcpyHtoD_v2(t.program, r, sizeof(*r)));
	GPU(cuLaunchKernel(t.reference, (unsigned)((rows + 31) / 32), 1, 1, 32, 1, 1, 0, NULL,
			   params, NULL));
}

static void run_generated(const struct one *p, struct row *r, CUmodule module)
{
	struct gen_launch l;
	void *params[] = {l.params};
	CUfunction f;

	if (gen_launch(r, &p->d, &l)) {
		printf("# seed %llu: no launch\n", (unsigned long long)p->seed);
		t.failed++;
		return;
	}
	if (t.verbose)
		printf("# seed %llu: %s %u x %u\n", (unsigned long long)p->seed, l.kernel,
		       l.grid[0], l.block[0]);
	f = gpu_function(module, l.kernel);
	GPU(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			       (int)p->d.max_shmem));
	t.kernels[(unsigned char)l.kernel[strlen(l.kernel) - 1]]++;
	GPU(cuLaunchKernel(f, l.grid[0], 1, 1, l.block[0], 1, 1, l.shmem, NULL, params, NULL));
}

static void report(const struct one *p, size_t at)
{
	static char text[1 << 16];
	const struct row *r = &p->r;

	printf("# seed %llu: byte %zu differs: %02x, should be %02x\n", (unsigned long long)p->seed,
	       at, t.end[1][at], t.end[0][at]);
	for (unsigned i = 0; i < r->noperand; i++) {
		int64_t lo, hi, off = (int64_t)at + BASE - (int64_t)r->operand[i].addr;

		row_reach(r, &r->operand[i], &lo, &hi);
		if (off >= lo && off < hi)
			printf("# operand %u, %lld bytes in\n", i, (long long)off);
	}
	row_print(r, text, sizeof(text));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("#   %s\n", line);
	t.failed++;
}

static void run(const struct one *p, CUmodule module)
{
	size_t bytes = (size_t)(p->end - BASE) + 2048;
	uint64_t s = p->seed * 77777 + 1;
	unsigned before = t.failed;
	struct row r;

	/* A single one is all that would be left of most sums. */
	t.special = p->seed % 3 == 0;
	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t v = next(&s);

		memcpy(t.start + i, &v, 8);
	}
	for (unsigned i = 0; i < p->r.noperand; i++) {
		uint16_t from = t.divisor, zero = 0;

		/* The numbers of one operand in order, those of the other begin elsewhere:
		 * canonical programs may have either first, and both have all. */
		if (t.all_inputs && p->r.operand[i].use & ROW_READ)
			each(&p->r, &p->r.operand[i], BASE, in_order, i ? &from : &zero);
		else
			each(&p->r, &p->r.operand[i], BASE, fill, &s);
	}
	for (unsigned k = 0; k < 2; k++) {
		row_copy(&r, &p->r);
		for (unsigned i = 0; i < r.noperand; i++) {
			struct row_operand *o = &r.operand[i];

			o->addr += t.memory[k] - BASE;
			if (!row_operand_kept_whole(o)) {
				o->keep.lo += t.memory[k] - BASE;
				o->keep.hi += t.memory[k] - BASE;
			}
			for (unsigned n = 0; n < o->nhole; n++) {
				o->hole[n].lo += t.memory[k] - BASE;
				o->hole[n].hi += t.memory[k] - BASE;
			}
		}
		GPU(cuMemcpyHtoD_v2(t.memory[k], t.start, bytes));
		if (k)
			run_generated(p, &r, module);
		else
			run_reference(p, &r);
		GPU(cuCtxSynchronize());
		GPU(cuMemcpyDtoH_v2(t.end[k], t.memory[k], bytes));
		for (unsigned i = 0; gpu.soft && i < r.noperand; i++)
			if (r.operand[i].use & ROW_WRITE)
				each(&p->r, &p->r.operand[i], BASE, plain_nan, t.end[k]);
	}
	t.ran++;
	for (size_t i = 0; i < bytes && t.failed == before; i++)
		if (t.end[0][i] != t.end[1][i])
			report(p, i);
}

static char *text_of(const struct one *p, unsigned n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	fputs(gen_prelude(), f);
	for (unsigned i = 0; i < n; i++)
		if (gen_program(f, &p[i].r, &p[i].d)) {
			printf("# seed %llu: no text\n", (unsigned long long)p[i].seed);
			t.failed++;
		}
	fclose(f);
	return text;
}

static void *image_of(const struct one *p, unsigned n)
{
	char path[4096], why[1000], *log = NULL, *text;
	double start = now();
	void *image = NULL;
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/gen_check-%llu-%u.image",
		 t.read    ? t.read
		 : t.write ? t.write
			   : "",
		 (unsigned long long)p->seed, n);
	if (t.read) {
		f = fopen(path, "rb");
		if (!f || fseek(f, 0, SEEK_END) ||
		    !(image = calloc(1, (bytes = (size_t)ftell(f)) + 1)) || fseek(f, 0, SEEK_SET) ||
		    fread(image, 1, bytes, f) != bytes) {
			printf("Bail out! cannot read %s\n", path);
			exit(3);
		}
		fclose(f);
		return image;
	}
	text = text_of(p, n);
	if (nvrtc_compile(&t.nvrtc, text, gpu.cc ? (unsigned)gpu.cc : t.cc, &image, &bytes, &log,
			  why, sizeof(why))) {
		printf("# seeds %llu and on: %s\n%s\n", (unsigned long long)p->seed, why,
		       log ? log : "");
		f = fopen("gen_check.failed.cu", "w");
		if (f) {
			fputs(text, f);
			fclose(f);
		}
		t.failed++;
	} else if (log && strlen(log) > 1) {
		printf("# seeds %llu and on: the compiler warns: %.2000s\n",
		       (unsigned long long)p->seed, log);
		t.failed++;
	}
	t.compiled_s += now() - start;
	if (image && t.write) {
		f = fopen(path, "wb");
		if (!f || fwrite(image, 1, bytes, f) != bytes || fclose(f))
			t.failed++;
	}
	free(log);
	free(text);
	return image;
}

static void batch(const struct one *p, unsigned n)
{
	void *image = n ? image_of(p, n) : NULL;
	CUmodule module;

	if (image && !t.write) {
		GPU(cuModuleLoadData(&module, image));
		for (unsigned i = 0; i < n; i++)
			run(&p[i], module);
	}
	free(image);
}

static void open_all(const char *path)
{
	struct nvrtc_places places = {.option = getenv("AUTOFUSE_NVRTC")};
	char why[1000];

	if (!t.read && nvrtc_load(&t.nvrtc, &places, why, sizeof(why))) {
		printf("1..0 # SKIP %s\n", why);
		exit(0);
	}
	if (t.write)
		return;
	gpu_open();
	t.reference = gpu_function(gpu_load(path), "row_reference");
	for (unsigned k = 0; k < 2; k++) {
		t.memory[k] = (gpu_alloc(ROOM + 1024) + 511) / 512 * 512;
		t.end[k] = malloc(ROOM);
	}
	t.start = malloc(ROOM);
	t.program = gpu_alloc(sizeof(struct row));
}

/* All of them; for DIV, many divisors for each. */
static int sixteen(void)
{
	enum { DIVISORS = 48 };
	static struct one p[2];

	for (unsigned i = 0; i < 2; i++) {
		p[i].d = (struct fused_device){.sm_count = SM, .max_shmem = SHMEM};
		p[i].seed = i;
		row_sixteen(&p[i].r, i ? DT_f16 : DT_bf16);
		p[i].end = row_place(&p[i].r, BASE, 0);
		row_canon(&p[i].r);
		if (row_check(&p[i].r) != REASON_NONE)
			t.failed++;
	}
	void *image = image_of(p, 2);
	CUmodule module;

	if (image && !t.write) {
		GPU(cuModuleLoadData(&module, image));
		for (unsigned i = 0; i < 2 * DIVISORS; i++) {
			t.all_inputs = true;
			t.divisor = (uint16_t)(i / 2 < 16 ? 0x3c00 + 0x80 * i : 0x9e37 * i);
			run(&p[i % 2], module);
		}
	}
	printf("# %u runs\n%s 1 - 16-bit numbers\n1..1\n", t.ran, t.failed ? "not ok" : "ok");
	return t.failed != 0;
}

int main(int argc, char **argv)
{
	static struct one one[BATCH_MAX];
	char self[4096], path[4200];
	unsigned n = 0;

	for (int c; (c = getopt(argc, argv, "s:n:b:a:w:r:vx")) != -1;) {
		if (c == 's')
			t.first = strtoull(optarg, NULL, 10);
		else if (c == 'n')
			t.count = (unsigned)atoi(optarg);
		else if (c == 'b')
			t.batch = (unsigned)atoi(optarg) < BATCH_MAX ? (unsigned)atoi(optarg)
								     : BATCH_MAX;
		else if (c == 'x')
			t.sixteen = true;
		else if (c == 'a')
			t.cc = (unsigned)atoi(optarg);
		else if (c == 'w')
			t.write = optarg;
		else if (c == 'r')
			t.read = optarg;
		else if (c == 'v')
			t.verbose = true;
		else
			return 2;
	}
	snprintf(self, sizeof(self), "%s", argv[0]);
	snprintf(path, sizeof(path), "%s/row_reference.fatbin", dirname(self));
	open_all(optind < argc ? argv[optind] : path);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (t.sixteen)
		return sixteen();
	for (uint64_t seed = t.first; seed < t.first + t.count; seed++) {
		bool twice = false;

		if (!prepare(&one[n], seed))
			continue;
		for (unsigned i = 0; i < n; i++)
			twice |= row_hash(&one[i].r) == row_hash(&one[n].r);
		n += !twice;
		if (n == t.batch) {
			batch(one, n);
			n = 0;
		}
	}
	batch(one, n);
	printf("# %u programs run (%u of them elementwise, %u a row for a block, %u of them in "
	       "registers, "
	       "%u for many rows, %u for a warp, "
	       "%u too long), %u operands kept in part, %u of some rows, %u refused by row_check, "
	       "%u without a "
	       "kernel; %.1f s of compiling\n",
	       t.ran, t.kernels['c'] + t.kernels['e'], t.kernels['f'], t.kernels['o'],
	       t.kernels['m'], t.kernels['w'], t.kernels['l'], t.partial, t.some, t.refused,
	       t.unfit, t.compiled_s);
	printf("%s 1 - random row programs, seeds %llu to %llu\n1..1\n",
	       t.failed || (!t.ran && !t.write) ? "not ok" : "ok", (unsigned long long)t.first,
	       (unsigned long long)(t.first + t.count - 1));
	return t.failed != 0;
}
