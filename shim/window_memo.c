// SPDX-License-Identifier: Apache-2.0
/*
 * The short way. A program that decodes tokens makes the same launches with the same arguments over
 * and over. What was decided about a group whose members followed each other directly is
 * remembered: the launches, of their parameters the bytes that mattered to the decoder (heed.h),
 * and the fused launch. When launches come that begin such a group, with nothing open anywhere,
 * they are held without being decoded or shown to the planner; if exactly the rest follows, the
 * fused launch is made at once. On anything else (another launch, a call, the way out, another
 * stream) the planner is shown the held launches as if they came now, and all goes on from there:
 * nothing is decided here that the planner did not decide for what these launches say. What may
 * have changed since is asked again: the memory's kind, verdict, switches.
 */
#include "shim/window_memo.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/decode.h"
#include "matcher/key.h"
#include "shim/judge.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/outlook.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/window_chain.h"
#include "shim/window_launch.h"

enum {
	ENTRIES = 2048, /* then all are forgotten */
	FRESH = 512,    /* groups remembered since one came again: the others are not, but */
	FRESH_EACH = 8, /* one in so many */
};

void window_remember(struct window *w, const struct group *g, struct verdict *v,
		     const struct standin *s)
{
	const struct member *first = g->member[0];
	struct site *site = verdict_site(key_noted(&first->launch, &first->op));
	struct entry *e = NULL;
	struct memo *m;

	for (unsigned i = 0; i < group_size(g); i++)
		if (g->member[i]->launch.index != first->launch.index + i)
			return;
	if (s->provisional || record_on || !site ||
	    (!w->memo && !(w->memo = calloc(1, sizeof(*w->memo)))))
		return;
	m = w->memo;
	if (m->fresh++ > FRESH && m->fresh % FRESH_EACH)
		return;
	if (m->n + GROUP_MAX_MEMBERS > ENTRIES)
		memo_forget(m);
	for (unsigned i = 0; i < group_size(g); i++) {
		e = memo_entry(m, e ? &e->behind : memo_root(m, first->launch.kernel),
			       g->member[i]);
		if (!e)
			return;
		e->site = site;
		e->pattern |= !g->row;
		e->chain |= g->row != NULL;
		/* The planner went on from here: so shall this. */
		memo_free_whole(e);
	}
	e->whole = memo_whole(g, v, s);
}

void window_forget_all(struct window *w)
{
	if (w->memo)
		memo_forget(w->memo);
	free(w->memo);
	w->memo = NULL;
}

void window_settle(struct window *w)
{
	unsigned n = w->nrun;

	w->nrun = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member m = {.launch = w->memo->run[i]};
		const struct member *one = &m;
		struct seq_out out;
		CUresult r;

		m.launch.context = w->ours->generation;
		m.launch.stream = (uint64_t)(uintptr_t)w->stream;
		m.launch.device = w->ours->device;
		decode_launch(&m.launch, &m.op);
		__atomic_fetch_add(&report_counts.decoded, 1, __ATOMIC_RELAXED);
		w->finish_check = false;
		seq_launch(w->seq, &m.launch, &m.op, &out);
		r = window_chains(w, &out);
		if (!r)
			r = window_submit(w, out.flush, out.nflush);
		if (!r && out.act == SEQ_FUSE) /* its earlier members are the planner's no longer */
			r = window_submit(w, out.group->member, group_size(out.group) - 1u);
		if (!r && out.act != SEQ_HOLD)
			r = window_submit(w, &one, 1);
		w->pending = w->pending ? w->pending : r;
		w->want_check = false;
	}
}

/* Is the group's memory what it was, for all that was allocated and freed meanwhile? */
static bool memory_stands(const struct window *w, struct whole *x)
{
	uint64_t events = memory_events();

	if (x->events == events)
		return true;
	for (unsigned i = 0; i < x->nrange; i++)
		if (memory_check(x->range[i], w->ours->device, (int)x->surviving))
			return false;
	x->events = events;
	return true;
}

static bool hold(struct window *w, struct entry *e, const struct launch *l)
{
	struct memo *m = w->memo;
	const uint32_t bytes = l->kernel->param_bytes;

	if (w->nrun == GROUP_MAX_MEMBERS || bytes > MEMO_RUN_PARAMS - m->used)
		return false;
	m->run[w->nrun] = *l;
	m->run[w->nrun++].params = memcpy(m->params + m->used, l->params, bytes);
	m->used += bytes;
	m->at = e;
	window_holds(w);
	return true;
}

/* The launch completes the group. */
static bool fuse(struct window *w, const struct entry *e, const struct launch *l)
{
	struct whole *x = e->whole;
	struct verdict *v = x->verdict;
	uint64_t launch[GROUP_MAX_MEMBERS];

	if (!window_may_refuse(w, v) || (v->chain && judge_wants_check(v)) ||
	    !memory_stands(w, x) || !window_send_fused(w, v, x->standin))
		return false;
	for (unsigned i = 0; i < w->nrun; i++)
		launch[i] = w->memo->run[i].index;
	launch[w->nrun] = l->index;
	__atomic_fetch_add(&report_counts.completed, w->nrun, __ATOMIC_RELAXED);
	__atomic_fetch_add(&report_counts.remembered, 1, __ATOMIC_RELAXED);
	report_fused(v->pattern, launch, w->nrun + 1);
	e->site->begins++;
	kernels_promise(w->memo->run[0].kernel);
	outlook_promise(w->memo->run[0].look, 0, false);
	w->memo->fresh = 0;
	if (v->chain)
		e->site->misses = e->site->skip = 0;
	else
		window_seen(e->site, v);
	w->nrun = 0;
	return true;
}

/* Lock held. */
static bool recall(struct window *w, const struct launch *l)
{
	struct memo *m = w->memo;
	struct entry *e;

	if (!w->used || w->pending || !m)
		return false;
	if (!w->nrun) {
		if (w->nfree || w->check.arena || seq_waiting(w->seq))
			return false;
		m->used = 0;
		m->at = NULL;
	}
	e = memo_find(m->at ? &m->at->behind : memo_root(m, l->kernel), l);
	if (!e)
		return false;
	if (w->nrun && e->whole)
		return fuse(w, e, l);
	/* The site begins matches only where the first launch is. */
	return (w->nrun || (e->pattern && window_may_recall(w, e->site)) ||
		(e->chain && window_holding(w) && window_chain_recall(w, e->site))) &&
	       hold(w, e, l);
}

bool window_recall(const struct own_launch *own, struct launch *l, CUresult *r)
{
	unsigned watch = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE);
	struct window *w;
	bool done;

	if (watch > 1 || __atomic_load_n(&window_waiting, __ATOMIC_ACQUIRE) != watch || record_on)
		return false;
	w = window_here(own->stream, own->ptsz);
	if (!w || __atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) != (watch == 1))
		return false;
	window_touch();
	pthread_mutex_lock(&w->lock);
	done = recall(w, l);
	if (w->used)
		window_update(w);
	pthread_mutex_unlock(&w->lock);
	*r = CUDA_SUCCESS;
	return done;
}
