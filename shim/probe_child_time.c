/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the fused kernel worth it? The program's kernels and ours, in turn, launched in a row on the
 * arena. Where ours takes longer the profile says so, as it does after `autofuse trace`, and the
 * group is left alone at that number of rows. The program runs beside us and the GPU takes turns
 * between processes: rounds are short, and what counts is what the undisturbed ones took.
 */
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "shim/cache_profile.h"
#include "shim/probe_child_bench.h"
#include "shim/probe_child_chain.h"

enum {
	ROUNDS = 33,
	ROUNDS_LEAST = 8, /* of which a quarter is taken to be undisturbed */
	LAUNCHES_MOST = 20,
	ROUND_US = 200, /* about as long as one kind is launched in a round */
	ALL_US = 200 * 1000,
	SLOWER_PERCENT = 105,
	ELEMENTS_MOST = 1 << 19,
};

struct timing {
	CUevent before, between, after;
	struct fused_launch ours;
};

/* Microseconds of one go of each. */
static bool once(struct probe *p, struct timing *t, unsigned n, float *members, float *fused)
{
	float ms[2];

	if (p->cu.cuEventRecord(t->before, p->stream))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!probe_arena_launch(p))
			return false;
	if (p->cu.cuEventRecord(t->between, p->stream))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!(p->chain ? probe_chain_launch(p) : probe_launch(p, &t->ours)))
			return false;
	if (p->cu.cuEventRecord(t->after, p->stream) || p->cu.cuStreamSynchronize(p->stream) ||
	    p->cu.cuEventElapsedTime(&ms[0], t->before, t->between) ||
	    p->cu.cuEventElapsedTime(&ms[1], t->between, t->after))
		return false;
	*members = 1000 * ms[0] / (float)n;
	*fused = 1000 * ms[1] / (float)n;
	return true;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* Fills in what each takes undisturbed. True if ours takes longer, by more than chance. */
static bool slower(struct probe *p, struct timing *t, unsigned *rounds, float *members,
		   float *fused)
{
	float m[ROUNDS], f[ROUNDS], all = 0;
	unsigned n, r;

	/* The first go warms up, the second says how many make a round. */
	if (!once(p, t, 1, m, f) || !once(p, t, 1, m, f))
		return false;
	n = (unsigned)(ROUND_US / (m[0] > 1 ? m[0] : 1));
	n = n < 1 ? 1 : n > LAUNCHES_MOST ? LAUNCHES_MOST : n;
	for (r = 0; r < ROUNDS && (r < ROUNDS_LEAST || all < ALL_US); r++) {
		if (!once(p, t, n, &m[r], &f[r]))
			return false;
		all += (float)n * (m[r] + f[r]);
	}
	*rounds = r;
	qsort(m, r, sizeof(*m), by_value);
	qsort(f, r, sizeof(*f), by_value);
	*members = m[r / 4];
	*fused = f[r / 4];
	return f[0] * 100 > m[0] * SLOWER_PERCENT && *fused * 100 > *members * SLOWER_PERCENT;
}

static bool take_whole_chain(struct probe *p)
{
	bool ok = probe_arena_size(p, p->asked.rows) == PROBE_SIZED && probe_chain_build(p);
	char *image = ok ? malloc(p->arena_bytes) : NULL;

	if (image)
		probe_chain_fill(p, PROBE_FAMILY_normal, 1, 1, image);
	ok = image && probe_arena_upload(p, image);
	free(image);
	if (!ok)
		p->why = REASON_NONE;
	return ok;
}

/* All rows the program has, where elements stand for themselves and were probed in part; what they
 * hold is ordinary numbers. */
static bool take_all(struct probe *p)
{
	struct probe_batch batch;
	char *image;
	bool ok = false;

	if (p->group.rows == p->asked.rows)
		return true;
	if ((p->group.pattern != &pattern_silu_mul && !p->chain) ||
	    p->asked.rows > ELEMENTS_MOST / p->asked.cols)
		return false;
	if (p->chain)
		return take_whole_chain(p);
	if (probe_arena_size(p, p->asked.rows) == PROBE_SIZED && bench_batch(p, &batch)) {
		image = malloc(p->arena_bytes);
		probe_batch_fill(&batch, PROBE_FAMILY_normal, 1);
		if (image)
			bench_fill(p, &batch, 0, 1, image);
		ok = image && probe_arena_upload(p, image);
		free(image);
		probe_batch_free(&batch);
	}
	if (!ok)
		p->why = REASON_NONE; /* what was proven stays so */
	return ok;
}

void probe_time(struct probe *p)
{
	const char *forced = getenv("SOFTGPU_TIMES_COUNT");
	struct profile_row row = {.key = p->key, .rows = p->asked.rows};
	float members = 0, fused = 0;
	struct timing t;

	/* What a GPU of software takes says nothing. A part of the rows would not, either. */
	if ((p->softgpu && !forced) || !take_all(p) ||
	    (!p->chain && fused_launch(&p->group, &p->winner, &p->limits, &t.ours)) ||
	    p->cu.cuEventCreate(&t.before, CU_EVENT_DEFAULT) ||
	    p->cu.cuEventCreate(&t.between, CU_EVENT_DEFAULT) ||
	    p->cu.cuEventCreate(&t.after, CU_EVENT_DEFAULT))
		return;
	p->slower = slower(p, &t, &row.samples, &members, &fused);
	log_debug("probe: the program's kernels %.2f us, ours %.2f us at %lld rows",
		  (double)members, (double)fused, (long long)row.rows);
	if (!p->slower)
		return;
	row.members_ns = (uint32_t)(1000 * members);
	row.fused_ns = (uint32_t)(1000 * fused);
	cache_profile_put(&row, 1);
}
