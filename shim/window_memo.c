// SPDX-License-Identifier: Apache-2.0
/*
 * The short way. A program that decodes tokens makes the same launches with the same arguments over
 * and over. What was done about them is remembered, launch by launch, with those bytes of their
 * parameters that mattered to the decoder (heed.h). When the first of such a way comes again while
 * the planner holds nothing, it is followed: the launches are sent, held and fused as they were
 * then, without being decoded or shown to the planner. On anything else (another launch, a call,
 * the way out, another stream) the planner is shown what is held as if that came now, and all goes
 * on from there: nothing is decided here that the planner did not decide for what these launches
 * say. What may have changed since is asked again: the memory's kind, verdict, switches.
 */
#include "shim/window_memo.h"

#include <stdlib.h>
#include <string.h>

#include "shim/judge.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/outlook.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/window_launch.h"

enum { CHECK_EACH = 16 /* one in so many times that a check is due it is tried */ };

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

/* Room for what a held launch has of parameters; those held before move together if need be. */
static bool room(struct window *w, uint32_t bytes)
{
	struct memo *m = w->memo;

	if (!w->nrun)
		m->used = 0;
	if (bytes <= MEMO_PARAMS - m->used)
		return true;
	m->used = 0;
	for (unsigned i = 0; i < w->nrun; i++) {
		const uint32_t n = m->run[i].kernel->param_bytes;

		m->run[i].params = memmove(m->params + m->used, m->run[i].params, n);
		m->used += n;
	}
	return bytes <= MEMO_PARAMS - m->used;
}

static void hold(struct window *w, const struct launch *l)
{
	struct memo *m = w->memo;
	const uint32_t bytes = l->kernel->param_bytes;

	m->run[w->nrun] = *l;
	m->run[w->nrun].params = memcpy(m->params + m->used, l->params, bytes);
	m->place[w->nrun++] = (uint16_t)m->count;
	m->used += bytes;
	window_holds(w);
}

/* They went out. */
static void drop(struct window *w, const struct act *a)
{
	struct memo *m = w->memo;
	unsigned kept = 0;

	for (unsigned i = 0, k = 0; i < w->nrun; i++)
		if (k < a->n && a->held[k] == i) {
			k++;
		} else {
			m->run[kept] = m->run[i];
			m->place[kept++] = m->place[i];
		}
	w->nrun = kept;
}

/* There may be no memory for a chain's check now: what is proven is fused meanwhile. */
static bool check_first(struct whole *x)
{
	if (!x->verdict->chain || !judge_wants_check_of(x->verdict, x->rows)) {
		x->put_off = 0;
		return false;
	}
	return x->put_off++ % CHECK_EACH == 0;
}

static bool may_fuse(const struct window *w, struct whole *x)
{
	return window_may_refuse(w, x->verdict) && memory_stands(w, x);
}

static bool fuse(struct window *w, const struct act *a, const struct launch *own)
{
	struct memo *m = w->memo;
	struct whole *x = a->whole;
	struct verdict *v = x->verdict;
	const struct launch *first = a->n ? &m->run[a->held[0]] : own;
	uint64_t launch[GROUP_MAX_MEMBERS];
	unsigned n = 0;

	if (!may_fuse(w, x))
		return false;
	if (x->elsewhere || !check_first(x) || !memo_check(w, a, own)) {
		if (!window_send_fused(w, v, x->standin))
			return false;
		while (n < a->n) {
			launch[n] = m->run[a->held[n]].index;
			n++;
		}
		if (n < v->nmember)
			launch[n++] = own->index;
		COUNT(completed, a->n);
		COUNT(remembered, 1);
		report_fused(v->pattern, launch, n);
	}
	kernels_promise(first->kernel);
	outlook_promise(first->look, 0, false);
	m->fresh = 0;
	if (x->site) {
		x->site->begins++;
		if (v->chain)
			x->site->misses = x->site->skip = 0;
		else
			window_seen(x->site, v);
	}
	drop(w, a);
	return !w->pending; /* of members that were checked */
}

static bool send(struct window *w, const struct act *a)
{
	const struct member m = {.launch = w->memo->run[a->held[0]]};
	const struct member *one = &m;

	w->pending = window_send(w, &one, 1);
	drop(w, a);
	return !w->pending;
}

/* Is held what was when the step was written? */
static bool as_then(const struct window *w, const struct step *s)
{
	return s->nheld == w->nrun &&
	       !memcmp(s->place, w->memo->place, s->nheld * sizeof(s->place[0]));
}

/* May the step be taken now, as far as that can be said before? */
static bool may(const struct window *w, const struct step *s)
{
	if (s->begins && !window_may_recall(w, s->begins))
		return false;
	for (unsigned i = 0; i < s->nact; i++)
		if (s->act[i].whole &&
		    (!may_fuse(w, s->act[i].whole) ||
		     (s->act[i].whole->elsewhere && check_first(s->act[i].whole))))
			return false;
	return true;
}

/* What is likely to come behind that. */
static const struct entry *next_of(const struct entry *e)
{
	return e && e->behind.last ? e->behind.last->next : NULL;
}

static void fetch(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch((const char *)at + i, 0, 2);
}

/*
 * Between two launches a program like Python goes through more memory than near caches hold. What
 * the next steps will look at is asked for while it does: what a thing points to one launch after
 * the thing itself.
 */
static void ahead(const struct entry *at)
{
	const struct entry *one = next_of(at), *two = next_of(one), *three = next_of(two);

	if (!three)
		return;
	fetch(three, 64);
	if (two->step)
		fetch(two->step, sizeof(*two->step) + 2 * sizeof(struct act));
	if (one->step && one->step->nact && one->step->act[0].whole)
		fetch(one->step->act[0].whole, sizeof(struct whole));
}

/* The launch is the next of the way. False: it is still in hand, and the planner's. */
static bool step(struct window *w, struct entry *e, const struct own_launch *own,
		 const struct launch *l, CUresult *r)
{
	const struct step *s = e->step;
	struct memo *m = w->memo;

	m->torn = !s || !as_then(w, s);
	if (m->torn || !may(w, s))
		return false;
	for (unsigned i = 0; i < s->nact; i++) {
		const struct act *a = &s->act[i];

		if (a->refused)
			report_refused(a->pattern, a->why);
		else if (!(a->whole ? fuse(w, a, l) : send(w, a)))
			return false;
	}
	if (s->own == SEQ_HOLD) {
		if (w->nrun == MEMO_HELD || !room(w, l->kernel->param_bytes))
			return false;
		hold(w, l);
	}
	m->at = e;
	m->count++;
	ahead(e);
	*r = s->own == SEQ_PASS ? own->send(own) : CUDA_SUCCESS;
	return true;
}

/* The way that begins with that launch, if one is to be followed. */
static struct entry *begins(struct window *w, const struct launch *l)
{
	struct memo *m = w->memo;
	struct entry *e;

	if (w->nfree || w->check.arena || seq_held(w->seq) || w->nrun ||
	    !(e = memo_find(memo_root(m, l->kernel), l)) || !e->step || !as_then(w, e->step) ||
	    !may(w, e->step))
		return NULL;
	if (e == m->begun) /* round */
		memo_end(m);
	/* The planner may be looking at a group that this way begins within. */
	if (m->again && seq_open(w->seq) && m->past++ < MEMO_PAST)
		return NULL;
	if ((e->changes != verdict_changes() || (e->waits && !e->rest)) && memo_time(m)) {
		memo_leave(m); /* else that one would be written on with what comes now */
		m->again = true;
		m->past = 0;
		return NULL;
	}
	e->rest -= e->waits && e->rest;
	memo_end(m);
	if (seq_open(w->seq) || seq_waiting(w->seq))
		seq_clear(w->seq);
	outlook_promise(l->look, 0, false);
	m->first = e;
	m->started = l->index;
	m->count = m->used = m->away = 0;
	return e;
}

/* Lock held. */
static bool recall(struct window *w, const struct own_launch *own, const struct launch *l,
		   CUresult *r)
{
	struct memo *m = w->memo;
	struct entry *e;

	if (!w->used || w->pending || !m || w->doubts != window_doubts() || !window_holding(w) ||
	    process.config.opt.verify == VERIFY_ALWAYS)
		return false;
	e = m->at ? memo_find(&m->at->behind, l) : NULL;
	e = e ? e : begins(w, l); /* or once more from the start */
	m->refused = e && !step(w, e, own, l, r);
	return e && !m->refused;
}

bool window_recall(const struct own_launch *own, const struct launch *l, CUresult *r)
{
	struct window *w;
	bool done;

	if (record_on || times_on || !l->kernel)
		return false;
	w = window_here(own->stream, own->ptsz);
	if (!w || !w->memo ||
	    __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&window_waiting, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&w->waiting, __ATOMIC_ACQUIRE))
		return false;
	window_touch();
	pthread_mutex_lock(&w->lock);
	done = recall(w, own, l, r);
	if (w->used)
		window_update(w);
	pthread_mutex_unlock(&w->lock);
	return done;
}
