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
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/probe_child_search.h"

/* A search, and the candidate that plays the program's kernels. */
struct game {
	struct probe p; /* first: bench_reference has but this */
	struct member m[2];
	struct candidate played;
	bool ok;
	double seconds;
};

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
	const struct candidate *played = &((struct game *)p)->played;
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
	       !fused_launch(&as, played, &p->limits, &l) && probe_launch(p, &l) &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), l.kernel);
}

/* Only silu -> mul has it. */
bool search_sweep(struct search *s)
{
	(void)s;
	return true;
}

static struct game *game_of(const struct probe *device, enum dtype t, int64_t cols,
			    unsigned threads)
{
	struct game *game = calloc(1, sizeof(*game));
	struct group *g;

	if (!game)
		exit(3);
	game->p = *device;
	g = &game->p.group;
	g->pattern = pattern_get(PATTERN_add_rmsnorm);
	g->member[0] = &game->m[0];
	g->member[1] = &game->m[1];
	game->m[1].launch.block[0] = threads;
	game->m[1].launch.block[1] = game->m[1].launch.block[2] = 1;
	g->rows = 1;
	g->cols = cols;
	g->eps = below(2) ? 1e-5 : (double)1e-6f;
	g->has_eps = true;
	g->nbound = ADD_RMSNORM_NBOUND;
	for (unsigned i = 0; i < g->nbound; i++)
		g->bound[i] = (struct bound){.dtype = (uint8_t)t,
					     .use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT
							    ? BOUND_WRITE
							    : BOUND_READ};
	return game;
}

static bool withheld(const struct game *g)
{
	return g->p.why == REASON_NO_VERDICT;
}

/* One search for what is played. */
static void run(struct game *g)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	g->ok = probe_search(&g->p) ? candidate_same(&g->p.group, &g->played, &g->p.winner)
				    : withheld(g) && g->p.lasting;
	clock_gettime(CLOCK_MONOTONIC, &t1);
	g->seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
}

static void print(const struct game *g, unsigned number)
{
	char name[CANDIDATE_NAME_MAX];

	candidate_name(&g->played, name);
	printf("%sok %u - %s, %lld columns: %s %s # %.2f s\n", g->ok ? "" : "not ", number,
	       dtype_name((enum dtype)g->p.group.bound[0].dtype), (long long)g->p.group.cols, name,
	       g->p.detail, g->seconds);
}

/* Searches are shared out among threads, each with a stream of its own in one context. */
static struct game *games[4096];
static unsigned ngames, taken;

static void *work(void *arg)
{
	struct probe *device = arg;
	CUcontext ctx;
	CUstream stream;

	if (device->cu.cuDevicePrimaryCtxRetain(&ctx, device->device) ||
	    device->cu.cuCtxSetCurrent(ctx) ||
	    device->cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
		return NULL;
	for (unsigned i; (i = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < ngames;) {
		games[i]->p.stream = stream;
		run(games[i]);
	}
	return NULL;
}

static void run_all(struct probe *device)
{
	enum { MOST = 16 };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = cores < 1 ? 1 : cores > MOST ? MOST : (unsigned)cores;
	pthread_t thread[MOST];

	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, device))
			exit(3);
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static bool play(struct probe *device, char **argv)
{
	struct candidate played;
	struct game *g;
	struct fields f;

	if (candidate_parse(argv[0], &played) || candidate_unpack(played.code, &f))
		return false;
	log_level = LOG_DEBUG;
	g = game_of(device, dtype_parse(argv[1]), atoll(argv[2]), f.threads);
	g->p.group.eps = argv[3] ? atof(argv[3]) : 1e-5;
	g->played = played;
	run(g);
	print(g, 1);
	return g->ok;
}

int main(int argc, char **argv)
{
	static const int64_t lengths[] = {37, 768, 1000, 4096};
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
	static const unsigned threads[] = {256, 1024, 128, 32};
	static struct probe device;
	struct candidate *orders = malloc(CANDIDATE_MAX_ORDERS * sizeof(*orders));
	struct candidate *spellings = malloc(CANDIDATE_MAX_SPELLINGS * sizeof(*spellings));
	unsigned count, failed = 0, none = 0;

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
				struct game *g =
					game_of(&device, types[t], lengths[l], threads[below(4)]);
				unsigned no =
					candidate_orders(&g->p.group, orders, CANDIDATE_MAX_ORDERS);
				unsigned ns = candidate_spellings(&g->p.group, spellings,
								  CANDIDATE_MAX_SPELLINGS);

				g->played =
					candidate_join(&orders[below(no)], &spellings[below(ns)]);
				if (ngames < sizeof(games) / sizeof(*games))
					games[ngames++] = g;
			}
	run_all(&device);
	for (unsigned i = 0; i < ngames; i++) {
		print(games[i], i + 1);
		failed += !games[i]->ok;
		none += withheld(games[i]);
	}
	printf("%sok %u - %u of %u have no answer\n", none * 20 <= ngames ? "" : "not ", ngames + 1,
	       none, ngames);
	failed += none * 20 > ngames;
	printf("1..%u\n", ngames + 1);
	return failed != 0;
}
