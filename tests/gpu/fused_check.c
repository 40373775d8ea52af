/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fused kernel, order and spelling against the plain reference kernels, byte for byte over
 * the operands and what lies around them: row lengths from 1 to 131,072, types, alignments,
 * pitches, operands in place, one row to many. Runs on the software GPU and on a real one; prints
 * TAP.
 *
 *   fused_check [DIR]    DIR holds reference-*.fatbin (default: where the program is)
 *   FUSED_CHECK_CASES    random cases for each type and row length
 *   FUSED_CHECK_COLUMNS  leave out longer rows
 */
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fused/candidate.h"
#include "shim/probe_child_inputs.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/reference.h"

enum { GUARD = 1024 };

struct layout {
	struct group g;
	struct pattern pattern;
	struct member member[2];
	size_t offset[ADD_RMSNORM_NBOUND], bytes; /* in an arena */
};

static CUmodule ours;
static CUfunction function[FUSED_KERNELS_MAX], reference[2];
static struct fused_device limits;
static CUdeviceptr arena[2], scratch_x, scratch_nodes, counter;
static size_t arena_room, x_room, nodes_room;
static char *start, *got, *want;
static unsigned *used; /* launches of each kernel, by all processes */
static FILE *results;  /* TAP without numbers */
static uint64_t state = 1;
static struct candidate *orders, *spellings;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}
static uint64_t below(uint64_t n)
{
	return next() % n;
}
static bool chance(unsigned one_in)
{
	return below(one_in) == 0;
}

static void result(bool ok, const char *name, const char *why)
{
	fprintf(results, "%sok - %s%s%s\n", ok ? "" : "not ", name, ok ? "" : ": ", ok ? "" : why);
}

static void launch(const struct fused_launch *l)
{
	void *params[] = {(void *)l->params};

	__atomic_fetch_add(&used[l->index], 1, __ATOMIC_RELAXED);
	GPU(cuLaunchKernel(function[l->index], l->grid[0], l->grid[1], l->grid[2], l->block[0],
			   l->block[1], l->block[2], l->shmem, NULL, params, NULL));
}

static void room(CUdeviceptr *p, size_t *have, size_t want_bytes)
{
	if (*have >= want_bytes)
		return;
	if (*have)
		GPU(cuMemFree_v2(*p));
	*p = gpu_alloc(want_bytes);
	*have = want_bytes;
}

/* Operands one behind the other with guards, some aligned, some not; then those in place. */
static void lay_out(struct layout *l, enum dtype t, int64_t rows, int64_t cols, unsigned threads)
{
	unsigned element = dtype_bytes(t), shape = (unsigned)below(6);
	bool aligned = !chance(3);
	size_t at = GUARD;

	memset(l, 0, sizeof(*l));
	l->pattern.nnode = 2;
	l->g.pattern = &l->pattern;
	l->g.member[0] = &l->member[0];
	l->g.member[1] = &l->member[1];
	l->member[1].launch.block[0] = threads;
	l->member[1].launch.block[1] = l->member[1].launch.block[2] = 1;
	l->g.rows = rows;
	l->g.cols = cols;
	l->g.has_eps = !chance(4);
	l->g.eps = chance(2) ? 1e-5 : 0x1p-20;
	l->g.nbound = ADD_RMSNORM_NBOUND;
	for (unsigned i = 0; i < ADD_RMSNORM_NBOUND; i++) {
		struct bound *b = &l->g.bound[i];

		b->dtype = (uint8_t)t;
		if (i == ADD_RMSNORM_W && t != DT_f32 && chance(4))
			b->dtype = DT_f32;
		b->use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT ? BOUND_WRITE : BOUND_READ;
		b->pitch = cols * element + (chance(2) ? 0 : (int64_t)(element * below(20)));
		if (aligned || chance(2))
			b->pitch = (b->pitch + 15) / 16 * 16;
		if (i == ADD_RMSNORM_W)
			b->pitch = 0;
		at = (at + 255) / 256 * 256;
		l->offset[i] =
			at +
			(aligned || chance(2) ? 0 : dtype_bytes((enum dtype)b->dtype) * below(9));
		at = l->offset[i] +
		     (size_t)(i == ADD_RMSNORM_W ? 1 : rows) *
			     (size_t)(b->pitch ? b->pitch : cols * 4) +
		     GUARD;
	}
	l->bytes = (at + 255) / 256 * 256;
	if (shape == 1 || shape == 5) { /* sum in a's place */
		l->offset[ADD_RMSNORM_SUM] = l->offset[ADD_RMSNORM_A];
		l->g.bound[ADD_RMSNORM_SUM].pitch = l->g.bound[ADD_RMSNORM_A].pitch;
	}
	if (shape == 2 || shape == 5) { /* out in b's */
		l->offset[ADD_RMSNORM_OUT] = l->offset[ADD_RMSNORM_B];
		l->g.bound[ADD_RMSNORM_OUT].pitch = l->g.bound[ADD_RMSNORM_B].pitch;
	}
	if (shape == 3) { /* out in sum's */
		l->offset[ADD_RMSNORM_OUT] = l->offset[ADD_RMSNORM_SUM];
		l->g.bound[ADD_RMSNORM_OUT].pitch = l->g.bound[ADD_RMSNORM_SUM].pitch;
		l->g.bound[ADD_RMSNORM_SUM].use = BOUND_DEAD;
	}
	if (shape == 4) /* b for all rows */
		l->g.bound[ADD_RMSNORM_B].pitch = 0;
	if (chance(4)) /* nobody needs it */
		l->g.bound[ADD_RMSNORM_SUM].use = BOUND_DEAD;
}

static void place(struct layout *l, CUdeviceptr base)
{
	for (unsigned i = 0; i < ADD_RMSNORM_NBOUND; i++)
		l->g.bound[i].addr = base + l->offset[i];
}

static double value(void)
{
	double v = ((double)below(2001) - 1000) / 500 * ldexp(1, (int)below(10) - 5);

	if (chance(60))
		v = 0;
	if (chance(400))
		v = ldexp(v, -130);
	if (chance(3000))
		v = chance(2) ? INFINITY : NAN;
	return v;
}

static void fill(const struct layout *l)
{
	for (size_t i = 0; i + 8 <= l->bytes; i += 8) {
		uint64_t v = next();

		memcpy(start + i, &v, 8);
	}
	for (unsigned i = 0; i < ADD_RMSNORM_NBOUND; i++) {
		const struct bound *b = &l->g.bound[i];

		for (int64_t r = 0; b->use == BOUND_READ && r < (b->pitch ? l->g.rows : 1); r++)
			for (int64_t c = 0; c < l->g.cols; c++)
				probe_store((enum dtype)b->dtype,
					    start + l->offset[i] + r * b->pitch, c, value());
	}
}

static void run_reference(struct layout *l, const struct candidate *c)
{
	const struct bound *b = l->g.bound;
	int type = b[0].dtype == DT_f32   ? REFERENCE_F32
		   : b[0].dtype == DT_f16 ? REFERENCE_F16
					  : REFERENCE_BF16;
	struct reference_args a = {
		.a = b[ADD_RMSNORM_A].addr,
		.b = b[ADD_RMSNORM_B].addr,
		.sum = b[ADD_RMSNORM_SUM].use == BOUND_WRITE ? b[ADD_RMSNORM_SUM].addr : 0,
		.w = b[ADD_RMSNORM_W].addr,
		.out = b[ADD_RMSNORM_OUT].addr,
		.pitch_a = b[ADD_RMSNORM_A].pitch,
		.pitch_b = b[ADD_RMSNORM_B].pitch,
		.pitch_sum = b[ADD_RMSNORM_SUM].pitch,
		.pitch_out = b[ADD_RMSNORM_OUT].pitch,
		.rows = l->g.rows,
		.cols = l->g.cols,
		.x = scratch_x,
		.nodes = scratch_nodes,
		.type = type,
		.weight_type = b[ADD_RMSNORM_W].dtype == DT_f32 ? REFERENCE_F32 : type,
		.eps = (float)candidate_eps(&l->g, c),
		.eps_double = candidate_eps(&l->g, c)};
	void *params[] = {&a};

	candidate_unpack(c->code, &a.f);
	GPU(cuLaunchKernel(reference[a.f.ftz], (unsigned)l->g.rows, 1, 1, 1, 1, 1, 0, NULL, params,
			   NULL));
}

/* Bytes alike; on the software GPU one NaN is like another. */
static bool alike(const struct layout *l, char *why, size_t size)
{
	static const unsigned slot[] = {ADD_RMSNORM_SUM, ADD_RMSNORM_OUT};

	for (unsigned i = 0; gpu.soft && i < 2; i++) {
		const struct bound *b = &l->g.bound[slot[i]];
		enum dtype t = (enum dtype)b->dtype;

		for (int64_t r = 0; b->use == BOUND_WRITE && r < l->g.rows; r++) {
			char *x = got + l->offset[slot[i]] + r * b->pitch, *y = want + (x - got);

			for (int64_t k = 0; k < l->g.cols; k++)
				if (probe_is_nan(t, x, k) && probe_is_nan(t, y, k))
					memcpy(x + k * dtype_bytes(t), y + k * dtype_bytes(t),
					       dtype_bytes(t));
		}
	}
	for (size_t i = 0; i < l->bytes; i++)
		if (got[i] != want[i]) {
			snprintf(why, size, "byte %zu of the arena (sum at %zu, out at %zu)", i,
				 l->offset[ADD_RMSNORM_SUM], l->offset[ADD_RMSNORM_OUT]);
			return false;
		}
	return true;
}

/* One candidate on one layout. False and why if it differs. */
static bool check(struct layout *l, const struct candidate *c, const struct fused_device *d,
		  char *why, size_t size)
{
	char name[CANDIDATE_NAME_MAX], where[120];
	struct fused_launch f;
	bool ok;

	room(&arena[0], &arena_room, l->bytes);
	if (!arena[1] || arena_room == l->bytes) {
		if (arena[1])
			GPU(cuMemFree_v2(arena[1]));
		arena[1] = gpu_alloc(arena_room);
	}
	room(&scratch_x, &x_room, (size_t)(l->g.rows * l->g.cols) * sizeof(float));
	room(&scratch_nodes, &nodes_room, (size_t)l->g.rows * 1024 * sizeof(float));
	start = realloc(start, arena_room);
	got = realloc(got, arena_room);
	want = realloc(want, arena_room);
	fill(l);
	candidate_name(c, name);
	for (unsigned i = 0; i < 2; i++) {
		GPU(cuMemcpyHtoD_v2(arena[i], start, l->bytes));
		place(l, arena[i]);
		if (i) {
			run_reference(l, c);
		} else if (fused_launch(&l->g, c, d, &f)) {
			snprintf(why, size, "%s: no launch", name);
			return false;
		} else {
			launch(&f);
		}
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

/* A device whose shared memory holds no row, in one case of five: then rows are staged elsewhere.
 */
static struct fused_device some_device(void)
{
	struct fused_device d = limits;

	if (chance(5))
		d.max_shmem = 4096 + 64;
	if (chance(3))
		d.sm_count = 1;
	return d;
}

static void check_length(enum dtype t, int64_t cols, unsigned cases)
{
	static const unsigned threads[] = {32, 64, 128, 256, 512, 1024, 1, 96, 16, 1024, 256};
	char name[64], why[512] = "";
	bool ok = true;

	for (unsigned i = 0; ok && i < cases; i++) {
		static const int64_t some_rows[] = {1, 1, 2, 3, 7, 40};
		int64_t rows = some_rows[below(6)];
		struct fused_device d = some_device();
		struct layout l;
		struct candidate c;
		unsigned n, m;

		/* One thread of the reference adds a row up, and the host makes it. */
		if (rows * cols > 1 << (gpu.soft ? 17 : 18))
			rows = 1;
		lay_out(&l, t, rows, cols, threads[below(11)]);
		n = candidate_orders(&l.g, orders, CANDIDATE_MAX_ORDERS);
		m = candidate_spellings(&l.g, spellings, CANDIDATE_MAX_SPELLINGS);
		c = candidate_join(&orders[chance(2) ? below(n) : below(n < 6 ? n : 6)],
				   &spellings[below(m)]);
		ok = check(&l, &c, &d, why, sizeof(why));
	}
	snprintf(name, sizeof(name), "%s rows of %lld", dtype_name(t), (long long)cols);
	result(ok, name, why);
}

/* Every order with the usual spelling; every spelling with the usual order. */
static void check_space(enum dtype t)
{
	static const int64_t lengths[] = {37, 1003};
	static const unsigned threads[] = {256, 1024, 16};
	char name[128], why[512] = "";
	bool ok = true;
	unsigned n, count = 0;
	struct layout l;

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 3; k++) {
			lay_out(&l, t, 1, lengths[i], threads[k]);
			n = candidate_orders(&l.g, orders, CANDIDATE_MAX_ORDERS);
			candidate_spellings(&l.g, spellings, 1);
			for (unsigned o = 0; ok && o < n; o++, count++) {
				struct candidate c = candidate_join(&orders[o], &spellings[0]);

				ok = check(&l, &c, &limits, why, sizeof(why));
			}
		}
	snprintf(name, sizeof(name), "%s: all orders (%u)", dtype_name(t), count);
	result(ok, name, why);
	lay_out(&l, t, 2, 37, 256);
	l.g.has_eps = true;
	l.g.eps = 1e-5;
	n = candidate_spellings(&l.g, spellings, CANDIDATE_MAX_SPELLINGS);
	candidate_orders(&l.g, orders, 1);
	for (unsigned i = 0; ok && i < n; i++) {
		struct candidate c = candidate_join(&orders[0], &spellings[i]);

		ok = check(&l, &c, &limits, why, sizeof(why));
	}
	snprintf(name, sizeof(name), "%s: all spellings (%u)", dtype_name(t), n);
	result(ok, name, why);
}

/* Kernels of silu -> mul are fused_silu_check's, the sweep is silu_check's. */
static bool mine(unsigned kernel)
{
	return !strstr(fused_kernels[kernel], "silu") && !strstr(fused_kernels[kernel], "sweep");
}

/* What chance has left out: more of the shapes that each layout is for. */
static void check_rest(void)
{
	static const int64_t some[] = {128, 1000, 2048, 4096, 6000, 8192, 12288, 20000};
	enum { EACH = 32 }; /* candidates on a layout: to list them takes longest */
	char why[1024] = "";
	bool ok = true, missing = true;
	struct layout l;
	unsigned n = 0, m = 0;

	for (unsigned i = 0; ok && missing && i < 20000 * EACH; i++) {
		struct fused_device d = some_device();
		struct candidate c;
		struct fused_launch f;

		if (i % EACH == 0) {
			enum dtype t = below(3) == 0 ? DT_f32 : below(2) ? DT_f16 : DT_bf16;

			lay_out(&l, t, chance(2) ? 7 : 1, some[below(8)], 256);
			n = candidate_orders(&l.g, orders, CANDIDATE_MAX_ORDERS);
			m = candidate_spellings(&l.g, spellings, CANDIDATE_MAX_SPELLINGS);
		}
		c = candidate_join(&orders[below(n < 6 || chance(2) ? n : 6)],
				   &spellings[below(m)]);
		if (fused_launch(&l.g, &c, &d, &f) || used[f.index])
			continue;
		ok = check(&l, &c, &d, why, sizeof(why));
		missing = false;
		for (unsigned k = 0; k < fused_nkernels; k++)
			missing |= mine(k) && !used[k];
	}
	for (unsigned i = 0; ok && i < fused_nkernels; i++)
		if (mine(i) && !used[i])
			snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s",
				 fused_kernels[i]);
	result(ok && !missing, "every kernel was run", why);
}

static void compare_boxes(enum dtype t, const void *x, const void *y, int64_t rows, int64_t cols,
			  uint64_t out[2])
{
	CUdeviceptr dx = gpu_alloc(4096), dy = gpu_alloc(4096);
	struct fused_launch l;
	int64_t pitch = (cols + 3) * dtype_bytes(t);

	GPU(cuMemcpyHtoD_v2(dx, x, 4096));
	GPU(cuMemcpyHtoD_v2(dy, y, 4096));
	GPU(cuMemsetD8_v2(counter, 0, 16));
	fused_compare(dx, pitch, dy, pitch, rows, cols, t, counter, &l);
	launch(&l);
	GPU(cuMemcpyDtoH_v2(out, counter, 16));
	GPU(cuMemFree_v2(dx));
	GPU(cuMemFree_v2(dy));
}

/* fused_compare counts elements and distances; fused_publish hands them to the host. */
static void check_compare(enum dtype t)
{
	static char x[4096], y[4096];
	char name[64], why[128];
	int64_t rows = 5, cols = 37, at = 2 * (cols + 3) + 7;
	uint64_t r[2];
	double big = 1.5, next_up;

	memset(x, 0, sizeof(x));
	for (int64_t i = 0; i < rows * (cols + 3); i++)
		probe_store(t, x, i, value());
	probe_store(t, x, at, big);
	memcpy(y, x, sizeof(x));
	compare_boxes(t, x, y, rows, cols, r);
	snprintf(why, sizeof(why), "%llu, %llu", (unsigned long long)r[0],
		 (unsigned long long)r[1]);
	snprintf(name, sizeof(name), "compare %s: alike", dtype_name(t));
	result(r[0] == 0 && r[1] == 0, name, why);

	next_up = big + ldexp(1, t == DT_f32 ? -23 : t == DT_f16 ? -10 : -7);
	probe_store(t, y, at, next_up);
	probe_store(t, y, cols + 1, 77); /* between rows: not compared */
	compare_boxes(t, x, y, rows, cols, r);
	snprintf(why, sizeof(why), "%llu, %llu", (unsigned long long)r[0],
		 (unsigned long long)r[1]);
	snprintf(name, sizeof(name), "compare %s: one element by one unit", dtype_name(t));
	result(r[0] == 1 && r[1] == 1, name, why);

	probe_store(t, x, 0, 0.0);
	probe_store(t, y, 0, -0.0);
	probe_store(t, y, at, -big);
	probe_store(t, y, 3, NAN);
	probe_store(t, x, 3, 1);
	compare_boxes(t, x, y, rows, cols, r);
	snprintf(why, sizeof(why), "%llu, %llu", (unsigned long long)r[0],
		 (unsigned long long)r[1]);
	snprintf(name, sizeof(name), "compare %s: -0, a NaN and another sign", dtype_name(t));
	result(r[0] == 3 && r[1] == UINT64_MAX, name, why);
}

static void check_publish(void)
{
	volatile uint64_t *slot;
	CUdeviceptr dev;
	void *host;
	struct fused_launch l;
	static const uint64_t pair[2] = {41, 43};

	GPU(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	slot = host;
	slot[0] = slot[1] = slot[2] = 0;
	GPU(cuMemHostGetDevicePointer_v2(&dev, host, 0));
	GPU(cuMemcpyHtoD_v2(counter, pair, 16));
	fused_publish(counter, dev, 99, &l);
	launch(&l);
	GPU(cuCtxSynchronize());
	result(slot[0] == 41 && slot[1] == 43 && slot[2] == 99, "publish", "wrong numbers");
}

/* A unit of work: the space of a type, and comparisons; rows of one length; what chance left out.
 */
static const int64_t lengths[] = {1,    2,     3,     7,     8,     31,     32,     33,
				  46,   64,    127,   128,   255,   256,    288,    512,
				  769,  1000,  1024,  2048,  3584,  4096,   4097,   5120,
				  8192, 11008, 16384, 32768, 65536, 131072, 1 << 20};
enum { NLENGTH = sizeof(lengths) / sizeof(*lengths), PER_TYPE = NLENGTH + 1 };

static void work(unsigned unit, unsigned cases)
{
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
	/* The longest first: they take the longest. */
	unsigned l = NLENGTH - unit % PER_TYPE;
	enum dtype t = types[unit / PER_TYPE];

	state = 0x9e3779b97f4a7c15u * (unit + 1);
	if (l == 0) {
		check_compare(t);
		check_space(t);
	} else {
		const char *most = getenv("FUSED_CHECK_COLUMNS");
		int64_t cols = lengths[l - 1];

		if (most && cols > atoll(most))
			return;
		check_length(t, cols,
			     cols > 131072  ? cases / 20 + 1
			     : cols > 16384 ? cases / 6 + 1
					    : cases);
	}
}

static void open_all(const char *dir)
{
	char path[4200];

	gpu_open();
	limits = (struct fused_device){gpu.sm_count, (unsigned)gpu.max_shmem};
	GPU(cuModuleLoadData(&ours, fused_image(&(size_t){0})));
	for (unsigned i = 0; i < fused_nkernels; i++) {
		function[i] = gpu_function(ours, fused_kernels[i]);
		GPU(cuFuncSetAttribute(function[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       gpu.max_shmem));
	}
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/reference-%s.fatbin", dir, i ? "ftz" : "ieee");
		reference[i] = gpu_function(gpu_load(path),
					    i ? "ref_ftz_reference" : "ref_ieee_reference");
	}
	counter = gpu_alloc(16);
	orders = malloc(CANDIDATE_MAX_ORDERS * sizeof(*orders));
	spellings = malloc(CANDIDATE_MAX_SPELLINGS * sizeof(*spellings));
}

/* Prints the results of a process that has ended, numbered. */
static void print_results(FILE *f, unsigned *tests, unsigned *failed)
{
	char line[2048];

	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		char *dash = strstr(line, "ok - ");

		printf("%sok %u - %s", dash == line ? "" : "not ", ++*tests, dash + 5);
		*failed += dash != line;
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	enum { MOST = 8 };
	const char *text = getenv("FUSED_CHECK_CASES"), *backend = getenv("AF_BACKEND"), *dir;
	bool soft = backend && !strcmp(backend, "soft");
	unsigned cases = text ? (unsigned)atoi(text) : soft ? 6 : 60, tests = 0, failed = 0, n;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	char self[4096];
	struct {
		unsigned next, used[FUSED_KERNELS_MAX];
	} *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	FILE *file[MOST];
	pid_t pid[MOST];

	if (shared == MAP_FAILED)
		return 3;
	used = shared->used;
	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	/* A process each for as many as there are cores: the host makes and compares the rows. */
	n = cores < 1 ? 1 : cores > MOST ? MOST : (unsigned)cores;
	for (unsigned i = 0; i < n; i++) {
		file[i] = tmpfile();
		if (!file[i])
			return 3;
		pid[i] = fork();
		if (pid[i])
			continue;
		results = file[i];
		open_all(dir);
		for (unsigned unit; (unit = __atomic_fetch_add(&shared->next, 1,
							       __ATOMIC_RELAXED)) < 3 * PER_TYPE;)
			work(unit, cases);
		fflush(results);
		_exit(0);
	}
	for (unsigned i = 0; i < n; i++) {
		int status;

		waitpid(pid[i], &status, 0);
		print_results(file[i], &tests, &failed);
		if (status) {
			printf("not ok %u - a process ended with status %d\n", ++tests, status);
			failed++;
		}
	}
	results = tmpfile();
	if (!results)
		return 3;
	open_all(dir);
	check_publish();
	check_rest();
	print_results(results, &tests, &failed);
	printf("1..%u\n", tests);
	return failed != 0;
}
