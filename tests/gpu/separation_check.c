/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the probe's inputs tell every candidate from all others? Our own kernels stand in for the
 * program's: candidates picked at random, flavours and roundings and all, must each be found again,
 * and nothing else must be left. No answer is better than a wrong one: it may happen in one of
 * twenty. Runs on the software GPU and on a real one; prints TAP.
 *
 *   separation_check [CANDIDATES FOR EACH TYPE AND ROW LENGTH [SEED]]
 *   separation_check play CANDIDATE TYPE COLUMNS [EPS]    one, with the search's messages
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/log.h"
#include "shim/probe_child_bench.h"

static struct candidate played; /* the candidate that plays the program's kernels */
static uint64_t state = 1;

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 24) % n;
}

bool probe_fail(struct probe *p, enum reason why, const char *fmt, ...)
{
	va_list ap;

	if (p->why)
		return false;
	p->why = why;
	va_start(ap, fmt);
	vsnprintf(p->detail, sizeof(p->detail), fmt, ap);
	va_end(ap);
	return false;
}

size_t bench_row_bytes(const struct group *g, unsigned slot)
{
	return (size_t)g->cols * dtype_bytes((enum dtype)g->bound[slot].dtype);
}

/* In place of the one that runs the program's kernels. */
bool bench_reference(struct probe *p, struct bench *b, const struct probe_batch *batch)
{
	struct group *g = &b->group, as = *g;
	size_t bytes = (size_t)batch->rows * bench_row_bytes(g, ADD_RMSNORM_A);
	struct fused_launch l;

	g->rows = as.rows = batch->rows;
	as.bound[ADD_RMSNORM_SUM].addr = b->sum;
	as.bound[ADD_RMSNORM_OUT].addr = b->out;
	return probe_ok(p,
			p->cu.cuMemcpyHtoDAsync_v2(g->bound[ADD_RMSNORM_A].addr, batch->a, bytes,
						   p->stream),
			"a") &&
	       probe_ok(p,
			p->cu.cuMemcpyHtoDAsync_v2(g->bound[ADD_RMSNORM_B].addr, batch->b, bytes,
						   p->stream),
			"b") &&
	       probe_ok(p,
			p->cu.cuMemcpyHtoDAsync_v2(g->bound[ADD_RMSNORM_W].addr, batch->w,
						   bench_row_bytes(g, ADD_RMSNORM_W), p->stream),
			"w") &&
	       !fused_launch(&as, &played, &p->limits, &l) && probe_launch(p, &l) &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), l.kernel);
}

static struct probe *probe_of(const struct probe *device, enum dtype t, int64_t cols,
			      unsigned threads)
{
	static struct probe p;
	static struct member m[2];

	p = *device;
	p.group.pattern = pattern_get(PATTERN_add_rmsnorm);
	p.group.member[0] = &m[0];
	p.group.member[1] = &m[1];
	m[1].launch.block[0] = threads;
	m[1].launch.block[1] = m[1].launch.block[2] = 1;
	p.group.rows = 1;
	p.group.cols = cols;
	p.group.eps = below(2) ? 1e-5 : (double)1e-6f;
	p.group.has_eps = true;
	p.group.nbound = ADD_RMSNORM_NBOUND;
	for (unsigned i = 0; i < p.group.nbound; i++)
		p.group.bound[i] = (struct bound){
			.dtype = (uint8_t)t,
			.use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT ? BOUND_WRITE
									    : BOUND_READ};
	return &p;
}

static unsigned withheld;

/* One search for what `played` is. False if the answer is wrong. */
static bool check(struct probe *p, unsigned number)
{
	char name[CANDIDATE_NAME_MAX];
	struct timespec t0, t1;
	bool ok;

	candidate_name(&played, name);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	ok = probe_search(p) ? candidate_same(&p->group, &played, &p->winner)
			     : p->why == REASON_NO_VERDICT && p->lasting;
	withheld += p->why == REASON_NO_VERDICT;
	clock_gettime(CLOCK_MONOTONIC, &t1);
	printf("%sok %u - %s, %lld columns: %s %s # %.2f s\n", ok ? "" : "not ", number,
	       dtype_name((enum dtype)p->group.bound[0].dtype), (long long)p->group.cols, name,
	       p->detail,
	       (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
	fflush(stdout);
	return ok;
}

static bool play(struct probe *device, char **argv)
{
	struct probe *p;
	struct fields f;

	if (candidate_parse(argv[0], &played) || candidate_unpack(played.code, &f))
		return false;
	log_level = LOG_DEBUG;
	p = probe_of(device, dtype_parse(argv[1]), atoll(argv[2]), f.threads);
	p->group.eps = argv[3] ? atof(argv[3]) : 1e-5;
	return check(p, 1);
}

int main(int argc, char **argv)
{
	static const int64_t lengths[] = {37, 768, 1000, 4096};
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
	static const unsigned threads[] = {256, 1024, 128, 32};
	static struct probe device;
	struct candidate *orders = malloc(CANDIDATE_MAX_ORDERS * sizeof(*orders));
	struct candidate *spellings = malloc(CANDIDATE_MAX_SPELLINGS * sizeof(*spellings));
	unsigned count, tests = 0, failed = 0;

	if (!probe_device_open(&device)) {
		printf("not ok 1 - device: %s\n", device.detail);
		return 1;
	}
	if (argc > 4 && !strcmp(argv[1], "play"))
		return !play(&device, argv + 2);
	count = argc > 1 ? (unsigned)atoi(argv[1]) : device.softgpu ? 3 : 40;
	state = argc > 2 ? (uint64_t)atoi(argv[2]) : 2;
	for (unsigned t = 0; t < 3; t++)
		for (unsigned l = 0; l < (device.softgpu ? 3 : 4); l++)
			for (unsigned i = 0; i < count; i++) {
				struct probe *p =
					probe_of(&device, types[t], lengths[l], threads[below(4)]);
				unsigned no =
					candidate_orders(&p->group, orders, CANDIDATE_MAX_ORDERS);
				unsigned ns = candidate_spellings(&p->group, spellings,
								  CANDIDATE_MAX_SPELLINGS);

				played = candidate_join(&orders[below(no)], &spellings[below(ns)]);
				failed += !check(p, ++tests);
			}
	printf("%sok %u - %u of %u have no answer\n", withheld * 20 <= tests ? "" : "not ",
	       tests + 1, withheld, tests);
	failed += withheld * 20 > tests;
	printf("1..%u\n", tests + 1);
	return failed != 0;
}
