/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/window_chain.h"

#include "matcher/key.h"
#include "shim/judge.h"
#include "shim/kernels.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/times.h"

enum {
	/* Launches of a kernel that were considered and of which nothing came; from then on only so
	 * many of each so many are (as `dull` in hook_launch.c). */
	FRUITLESS = 256,
	LOOK = 17,
	MET_LEAST = 3, /* times that a chain was met before it is probed and compiled */
	PERIOD = 257,
};

static bool any_blamed; /* some launches do not go together: the sites say which */

bool window_chains_on(void)
{
	static int on; /* 0: not asked yet, 1: no, 2: yes */
	int now = __atomic_load_n(&on, __ATOMIC_RELAXED);

	if (!now) {
		now = 1;
		for (unsigned i = 0; i < PATTERN_COUNT && process.config.opt.generated; i++)
			if (process.pattern_on[i] && !pattern_get((enum pattern_id)i)->nnode)
				now = 2;
		__atomic_store_n(&on, now, __ATOMIC_RELAXED);
	}
	return now == 2;
}

static struct kernel_rec *rec_of(const struct launch *l)
{
	return (struct kernel_rec *)(uintptr_t)l->kernel;
}

bool window_chain_may(void *arg, const struct launch *l, const struct op *op)
{
	const struct window *w = arg;
	unsigned n;

	if (l->kernel->family) /* those are passed over otherwise (outlook.h) */
		return true;
	n = __atomic_add_fetch(&rec_of(l)->fruitless, 1, __ATOMIC_RELAXED);

	return n <= FRUITLESS || n % PERIOD < LOOK || seq_open(w->seq);
}

bool window_chain_join(void *arg, const struct member *last, const struct member *m)
{
	const struct site *s;

	if (!__atomic_load_n(&any_blamed, __ATOMIC_RELAXED))
		return true;
	s = verdict_site_find(key_noted(&m->launch, &m->op));
	return !s || !s->not_after || s->not_after != key_noted(&last->launch, &last->op);
}

/* Something may come of chains of these kernels. */
static void promise(const struct group *g)
{
	for (unsigned i = 0; i < g->nmember; i++) {
		__atomic_store_n(&rec_of(&g->member[i]->launch)->fruitless, 0, __ATOMIC_RELAXED);
		kernels_promise(g->member[i]->launch.kernel);
	}
}

/* Does a group of that verdict want a live check before, or instead of, being fused? */
static bool wants_check(const struct verdict *v, int64_t rows)
{
	return verdict_state(v) == VERDICT_CHECKING ||
	       rows > __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE) || judge_wants_check_of(v, rows);
}

bool window_chain_hold(struct window *w, const struct member *m, uint8_t place)
{
	struct site *s;
	struct verdict *v;

	s = verdict_site_find(key_noted(&m->launch, &m->op));
	if (place) /* it was launched like this before */
		return s && s->linked;
	v = s ? s->chain : NULL;
	if (v && (verdict_state(v) < VERDICT_CHECKING || verdict_state(v) == VERDICT_REJECTED ||
		  standin_there(v, w->ours) != STANDIN_MADE))
		v = NULL;
	/* A further member that depends on none of those before it, as one that does will tell. */
	if (!s || (!v && !(s->linked && seq_held(w->seq))))
		return false;
	if (s->skip) {
		s->skip--;
		return false;
	}
	if (!v)
		return true;
	/* No memory for checks, or in use: what is proven is fused meanwhile. */
	return (verdict_state(v) == VERDICT_USABLE && process.config.opt.verify != VERIFY_ALWAYS) ||
	       check_ready_group(w->ours, m);
}

bool window_chain_recall(const struct window *w, const struct site *s)
{
	const struct verdict *v = s->chain;

	return v && !s->skip && verdict_state(v) == VERDICT_USABLE &&
	       process.config.opt.verify != VERIFY_ALWAYS && !judge_wants_check(v);
}

static struct site *site_of(const struct member *m)
{
	return verdict_site(key_noted(&m->launch, &m->op));
}

static void link_site(const struct member *m)
{
	struct site *s = site_of(m);

	if (s)
		s->linked = true;
}

/*
 * Nothing comes of it: chains do not go on with its last member behind the one before. If that was
 * not it, what is left is refused, too, and its last member blamed instead.
 */
void window_chain_leave(const struct group *g)
{
	struct site *first = site_of(g->member[0]), *last = site_of(g->member[g->nmember - 1]),
		    *before = site_of(g->member[g->nmember - 2]);

	if (!first || !last || !before)
		return;
	if (first->blamed)
		first->blamed->not_after = 0;
	last->not_after = before->hash;
	first->blamed = last;
	__atomic_store_n(&any_blamed, true, __ATOMIC_RELAXED);
}

/* A chain that may never come again is not worth a compiler's while, nor is what time cut off. */
static enum reason too_early(struct window *w, const struct group *g)
{
	struct verdict *v = w->ours->ready ? verdict_of(g, w->ours) : NULL;

	if (!v || verdict_state(v) != VERDICT_NEW)
		return REASON_NONE;
	return w->cut ? REASON_TIMER : ++v->met < MET_LEAST ? REASON_NO_VERDICT : REASON_NONE;
}

enum reason window_chain_verdict(struct window *w, struct group *g, bool all_held)
{
	struct site *s;
	struct verdict *v;
	enum reason why;

	if (!all_held && (why = too_early(w, g)))
		return why;
	why = judge(g, w->ours, &v);
	if (why == REASON_NO_KERNEL || (v && verdict_state(v) == VERDICT_REJECTED)) {
		why = why ? why : v->why;
		if (why != REASON_NOT_COMPILED) /* no fault of the last member */
			window_chain_leave(g);
		return why;
	}
	if (!v)
		return why;
	if (verdict_state(v) == VERDICT_NEW) { /* nor will it be anything else */
		window_chain_leave(g);
		return why;
	}
	promise(g);
	s = site_of(g->member[0]);
	if (s && why != REASON_NOT_PROFITABLE)
		s->chain = v;
	if (why)
		return why;
	if (s)
		s->misses = s->skip = 0; /* what begins here does complete */
	for (unsigned i = 1; i < g->nmember && !all_held; i++)
		link_site(g->member[i]);
	if (!all_held && wants_check(v, g->rows)) {
		verdict_wants(v, g->rows);
		return REASON_NO_VERDICT;
	}
	g->judged = v;
	if (verdict_state(v) == VERDICT_USABLE && !v->known) /* a probe saw them */
		judge_vet(v);
	return REASON_NONE;
}

bool window_chain_check(struct window *w, const struct group *g, struct verdict *v, CUresult *r)
{
	struct check c;
	bool pushed = window_enter(w), begun = check_begin_group(&c, w->ours, w->stream, g);

	if (begun) {
		verdict_mark(v);
		*r = window_send(w, g->member, g->nmember);
		if (*r)
			check_cancel(&c, w->ours, w->stream);
		else
			check_run(&c, w->ours, w->stream, g, v);
		/* The answer comes later; until then others need not stand back for it. */
		v->unchecked = 0;
		v->due = 0;
	}
	window_leave(pushed);
	return begun;
}

/* True if our kernel was sent. */
static bool fuse(struct window *w, const struct group *g, struct verdict *v)
{
	struct standin s;
	bool pushed, sent;

	if (standin_make(g, v, w->ours, &s) != STANDIN_MADE)
		return false;
	pushed = window_enter(w);
	if (times_on)
		times_before();
	sent = window_send_fused(w, v, &s);
	if (times_on)
		times_after_group(g, s.n, &v->key, g->rows, false);
	window_leave(pushed);
	if (!sent)
		return false;
	COUNT(completed, g->nmember);
	report_group(g, OUTCOME_FUSED, REASON_NONE);
	window_note_fused(w, g, v, &s);
	return true;
}

static CUresult one(struct window *w, const struct group *g)
{
	struct verdict *v = g->judged;
	CUresult r = CUDA_SUCCESS;

	if (wants_check(v, g->rows) && window_chain_check(w, g, v, &r)) {
		report_group(g, OUTCOME_CHECKED, REASON_NO_VERDICT);
		window_note_checked(w);
		return r;
	}
	/* A check that is due now and then can wait for memory; one that is missing cannot. */
	if (verdict_state(v) == VERDICT_USABLE && process.config.opt.verify != VERIFY_ALWAYS &&
	    g->rows <= __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE) && fuse(w, g, v))
		return r;
	report_group(g, OUTCOME_REJECTED, REASON_NO_VERDICT);
	window_note_refused(w, g, REASON_NO_VERDICT);
	return window_submit(w, g->member, g->nmember);
}

CUresult window_chains(struct window *w, const struct seq_out *out)
{
	CUresult first = CUDA_SUCCESS;

	for (unsigned i = 0; i < out->nchain; i++) {
		CUresult r = one(w, out->chain[i]);

		first = first ? first : r;
	}
	return first;
}
