/* SPDX-License-Identifier: Apache-2.0 */
/* The live answers to the planner's questions (matcher/seq.h). All run under the window's lock. */
#include "config/log.h"
#include "matcher/key.h"
#include "matcher/legal.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/window_state.h"

enum {
	SHMEM_PLAIN = 48 << 10, /* dynamic shared memory that needs no opt-in attribute */
	GRID_YZ_MAX = 65535,
};

static int state_of(const struct verdict *v)
{
	return __atomic_load_n(&v->state, __ATOMIC_ACQUIRE);
}

/* A held launch answers success before the driver has seen it: only shapes that cannot be refused.
 */
static bool shape_proven(const struct launch *l)
{
	return l->shmem <= SHMEM_PLAIN && l->grid[0] && l->grid[1] && l->grid[2] &&
	       l->grid[1] <= GRID_YZ_MAX && l->grid[2] <= GRID_YZ_MAX && l->grid[0] <= INT32_MAX;
}

/* Does a launch with so many elements want a live check instead of being held? */
static bool check_wanted(const struct verdict *v, int64_t elements)
{
	const struct options *o = &process.config.opt;

	if (state_of(v) == VERDICT_CHECKING || o->verify == VERIFY_ALWAYS ||
	    (v->due && elements >= v->due * v->cols))
		return true;
	return o->verify == VERIFY_SAMPLE &&
	       v->fused - v->sampled_at >= (unsigned long)o->sample_every;
}

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	struct window *w = arg;
	struct site *s;

	if (w->kind == STREAM_PER_THREAD || process.launch_blocking || !w->ours->ready ||
	    __atomic_load_n(&window_captures, __ATOMIC_ACQUIRE) || !process.on)
		return false;
	if (node)
		return shape_proven(&m->launch);
	s = verdict_site(key_site(&m->launch, &m->op));
	if (!s)
		return false;
	if (s->verdict && state_of(s->verdict) >= VERDICT_CHECKING &&
	    state_of(s->verdict) != VERDICT_REJECTED &&
	    check_wanted(s->verdict, m->op.rows * m->op.cols)) {
		w->want_check = true;
		return false;
	}
	if (!s->expected || process.config.opt.verify == VERIFY_ALWAYS || !shape_proven(&m->launch))
		return false;
	if (s->skip) {
		s->skip--;
		return false;
	}
	return true;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	struct window *w = arg;

	return memory_check(r, w->ours->device, surviving);
}

static bool enabled(void *arg, const struct pattern *p)
{
	return process.pattern_on[pattern_id(p)];
}

/* The probe ran every member between canaries: other launches at these sites may be crossed. */
static void vet(const struct verdict *v, struct site *first)
{
	if (!first || first->vetted)
		return;
	first->vetted = true;
	for (unsigned i = 1; i < v->pattern->nnode; i++) {
		struct site *s = verdict_site(v->site[i]);

		if (s)
			s->vetted = true;
	}
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	struct window *w = arg;
	uint64_t unfused, fused;
	struct verdict *v;
	struct site *s;
	bool slower;
	int state;

	if (w->kind == STREAM_PER_THREAD)
		return REASON_PER_THREAD_STREAM;
	if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return REASON_CAPTURE;
	legal_bytes(g, &unfused, &fused);
	if (fused > unfused)
		return REASON_NOT_PROFITABLE;
	if (!w->ours->ready || !(v = verdict_of(g, w->ours)))
		return REASON_NO_VERDICT;
	s = verdict_site(key_site(&g->member[0]->launch, &g->member[0]->op));
	state = state_of(v);
	slower = verdict_slower(v, g->rows);
	if (s) {
		s->verdict = v;
		s->expected = state == VERDICT_USABLE && !slower;
		s->misses = 0;
	}
	if (slower)
		return REASON_NOT_PROFITABLE;
	switch (state) {
	case VERDICT_NEW:
		if (process.config.opt.probe)
			verdict_probe(v, g, w->ours);
		return REASON_NO_VERDICT;
	case VERDICT_PROBING:
		return REASON_NO_VERDICT;
	case VERDICT_REJECTED:
		return v->why;
	}
	if (w->check.arena && w->check_index == g->member[0]->launch.index) {
		verdict_mark(v);
		w->finish_check = true;
		w->verdict = v;
		return REASON_NO_VERDICT;
	}
	if (state == VERDICT_CHECKING)
		return REASON_NO_VERDICT;
	if (g->rows > __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE)) {
		v->due = g->rows;
		return REASON_NO_VERDICT;
	}
	w->verdict = v;
	vet(v, s);
	return REASON_NONE;
}

/* A match ended. Fused groups are reported once their kernel is launched, checked ones here. */
static void done(void *arg, const struct group *g, enum reason why)
{
	struct window *w = arg;

	if (w->finish_check)
		report_group(g, OUTCOME_CHECKED, why);
	else if (why != REASON_NONE)
		report_group(g, OUTCOME_REJECTED, why);
}

const struct seq_policy window_policy = {.may_hold = may_hold,
					 .memory = memory,
					 .enabled = enabled,
					 .verdict = verdict,
					 .done = done};
