/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the fused kernel worth it? The program's kernels and ours, in turn, launched in a row on the
 * arena. Where ours takes longer the profile says so, as it does after `autofuse trace`, and the
 * group is left alone at that number of rows. The program runs beside us and the GPU takes turns
 * between processes: rounds are short, and what counts is what the undisturbed ones took.
 */
#include <stdlib.h>
#include <unistd.h>

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
	BETTER_PERCENT = 102, /* between kernels that replace the same launches */
	ELEMENTS_MOST = 1 << 19,
	BYTES_MOST =
		512
		<< 20, /* of an arena with all rows the program has; and a part of what is free: */
	FREE_PART = 4,
	HELD_US = 2000,
};

enum kind { MEMBERS, BY_HAND, GENERATED };

struct timing {
	CUevent before, between, after;
	struct fused_launch ours;
	/* Launches are queued before the first of them runs, so that how fast they are queued does
	 * not count. */
	bool queued;
	int go; /* atomic */
};

struct spent { /* microseconds, of a go */
	float least, quarter;
};

/* On a thread of the driver's: holds the stream until all is queued, but not for long. */
static void CUDA_CB hold(void *arg)
{
	struct timing *t = arg;

	for (unsigned us = 0; us < HELD_US && !__atomic_load_n(&t->go, __ATOMIC_ACQUIRE); us += 10)
		usleep(10);
}

static bool queue(struct probe *p, const struct timing *t, enum kind k, unsigned n)
{
	bool ok = true;

	for (unsigned i = 0; ok && i < n; i++)
		ok = k == MEMBERS   ? probe_arena_launch(p)
		     : k == BY_HAND ? probe_launch(p, &t->ours)
				    : probe_chain_launch(p);
	return ok;
}

/* Microseconds of one go of each. */
static bool once(struct probe *p, struct timing *t, unsigned n, const enum kind k[2], float us[2])
{
	float ms[2];
	bool ok;

	t->go = !t->queued;
	if (t->queued && p->cu.cuLaunchHostFunc(p->stream, hold, t))
		return false;
	ok = !p->cu.cuEventRecord(t->before, p->stream) && queue(p, t, k[0], n) &&
	     !p->cu.cuEventRecord(t->between, p->stream) && queue(p, t, k[1], n) &&
	     !p->cu.cuEventRecord(t->after, p->stream);
	__atomic_store_n(&t->go, 1, __ATOMIC_RELEASE);
	if (p->cu.cuStreamSynchronize(p->stream) || !ok ||
	    p->cu.cuEventElapsedTime(&ms[0], t->before, t->between) ||
	    p->cu.cuEventElapsedTime(&ms[1], t->between, t->after))
		return false;
	us[0] = 1000 * ms[0] / (float)n;
	us[1] = 1000 * ms[1] / (float)n;
	return true;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static struct spent spent_of(float *us, unsigned n)
{
	qsort(us, n, sizeof(*us), by_value);
	return (struct spent){us[0], us[n / 4]};
}

/* What two kinds take in turn. Rounds made; 0 if it could not be measured. */
static unsigned compare(struct probe *p, struct timing *t, const enum kind k[2], struct spent to[2])
{
	float us[2][ROUNDS], one[2] = {0, 0}, all = 0;
	unsigned n, r;

	/* The first go warms up, the second says how many make a round. */
	if (!once(p, t, 1, k, one) || !once(p, t, 1, k, one))
		return 0;
	n = (unsigned)(ROUND_US / (one[0] > 1 ? one[0] : 1));
	n = n < 1 ? 1 : n > LAUNCHES_MOST ? LAUNCHES_MOST : n;
	for (r = 0; r < ROUNDS && (r < ROUNDS_LEAST || all < ALL_US); r++) {
		if (!once(p, t, n, k, one))
			return 0;
		us[0][r] = one[0];
		us[1][r] = one[1];
		all += (float)n * (one[0] + one[1]);
	}
	to[0] = spent_of(us[0], r);
	to[1] = spent_of(us[1], r);
	return r;
}

/* Does x take longer than y, by more than chance? */
static bool longer(struct spent x, struct spent y, float percent)
{
	return x.least * 100 > y.least * percent && x.quarter * 100 > y.quarter * percent;
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

/* All rows the program has, where a part was probed; what they hold does not matter here, but is no
 * NaN, and stays small where it is added up. */
static bool take_roughly(struct probe *p)
{
	size_t some = 0, all = 0;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < p->group.nbound; i++)
		bytes += (uint64_t)(p->asked.bound[i].pitch * p->asked.rows);
	/* The program has its own use for the device's memory. */
	return bytes <= BYTES_MOST && !p->cu.cuMemGetInfo_v2(&some, &all) &&
	       bytes <= some / FREE_PART && probe_arena_size(p, p->asked.rows) == PROBE_SIZED &&
	       !p->cu.cuMemsetD8Async(p->arena, 0x3c, p->arena_bytes, p->stream);
}

/* The same with ordinary numbers: where elements stand for themselves. */
static bool take_elements(struct probe *p)
{
	struct probe_batch batch;
	char *image;
	bool ok = false;

	if (probe_arena_size(p, p->asked.rows) == PROBE_SIZED && bench_batch(p, &batch)) {
		image = malloc(p->arena_bytes);
		probe_batch_fill(&batch, PROBE_FAMILY_normal, 1);
		if (image)
			bench_fill(p, &batch, 0, 1, image);
		ok = image && probe_arena_upload(p, image);
		free(image);
		probe_batch_free(&batch);
	}
	return ok;
}

static bool take_all(struct probe *p)
{
	const bool few = p->asked.rows <= ELEMENTS_MOST / p->asked.cols;
	bool ok;

	if (p->group.rows == p->asked.rows)
		return true;
	if (p->chain)
		return few && take_whole_chain(p);
	ok = few && p->group.pattern == &pattern_silu_mul ? take_elements(p) : take_roughly(p);
	if (!ok)
		p->why = REASON_NONE; /* what was proven stays so */
	return ok;
}

static bool open_timing(struct probe *p, struct timing *t)
{
	return (p->chain || !fused_launch(&p->group, &p->winner, &p->limits, &t->ours)) &&
	       !p->cu.cuEventCreate(&t->before, CU_EVENT_DEFAULT) &&
	       !p->cu.cuEventCreate(&t->between, CU_EVENT_DEFAULT) &&
	       !p->cu.cuEventCreate(&t->after, CU_EVENT_DEFAULT);
}

static void close_timing(struct probe *p, struct timing *t)
{
	CUevent all[] = {t->before, t->between, t->after};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			p->cu.cuEventDestroy_v2(all[i]);
}

/* Of two kernels with the same arithmetic the faster one: the kind that is to stand in. */
static enum kind choose(struct probe *p, struct timing *t)
{
	const enum kind both[2] = {BY_HAND, GENERATED};
	struct spent us[2];

	if (p->chain)
		return GENERATED;
	if (!p->tools->hash || !probe_generated_place(p))
		return BY_HAND;
	t->queued = true;
	if (!compare(p, t, both, us))
		return BY_HAND;
	t->queued = false;
	log_debug("probe: by hand %.2f us, generated %.2f us at %lld rows", (double)us[0].quarter,
		  (double)us[1].quarter, (long long)p->asked.rows);
	return longer(us[0], us[1], BETTER_PERCENT) ? GENERATED : BY_HAND;
}

/* Is it slower than the program's kernels? Kept in the profile. */
static bool slower(struct probe *p, struct timing *t, enum kind k, bool keep)
{
	struct profile_row row = {.key = p->key, .rows = p->asked.rows};
	const enum kind both[2] = {MEMBERS, k};
	struct spent us[2];
	bool is;

	row.samples = compare(p, t, both, us);
	if (!row.samples)
		return false;
	is = longer(us[1], us[0], SLOWER_PERCENT);
	log_debug("probe: the program's kernels %.2f us, ours %.2f us at %lld rows",
		  (double)us[0].quarter, (double)us[1].quarter, (long long)row.rows);
	row.members_ns = (uint32_t)(1000 * us[0].quarter);
	row.fused_ns = (uint32_t)(1000 * us[1].quarter);
	if (is && keep)
		cache_profile_put(&row, 1);
	return is;
}

static void decide(struct probe *p, struct timing *t, bool made)
{
	enum kind k = made && p->stand_in == STAND_IN_GENERATED && probe_generated_place(p)
			      ? GENERATED
			      : choose(p, t);

	p->slower = slower(p, t, k, true);
	if (p->chain || k != GENERATED || p->stand_in == STAND_IN_GENERATED)
		return;
	p->choice = (struct choice){CHOICE_GENERATED, p->asked.rows};
	if (slower(p, t, BY_HAND, false))
		p->choice.kernel = CHOICE_ONLY_GENERATED;
}

void probe_time(struct probe *p)
{
	const char *forced = getenv("SOFTGPU_TIMES_COUNT");
	const bool made = !p->chain && p->tools->hash;
	struct timing t = {.queued = false};

	if (made && p->stand_in == STAND_IN_GENERATED)
		p->choice = (struct choice){CHOICE_GENERATED, p->asked.rows};
	/* What a GPU of software takes says nothing. A part of the rows would not, either. */
	if ((p->softgpu && !forced) || !take_all(p))
		return;
	if (open_timing(p, &t))
		decide(p, &t, made);
	close_timing(p, &t);
}
