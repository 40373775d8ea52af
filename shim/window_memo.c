/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way. A program that decodes tokens makes the same launches with the same arguments over
 * and over. What was decided about a group whose members followed each other directly is
 * remembered: the launches byte by byte, and the fused launch. When launches come that begin such a
 * group, with nothing open anywhere, they are held without being decoded or shown to the planner;
 * if exactly the rest follows, the fused launch is made at once. On anything else (another launch,
 * a call, the way out, another stream) the planner is shown the held launches as if they came now,
 * and all goes on from there: nothing is decided here that the planner did not decide for these
 * very bytes. What may have changed since is asked again: the memory's kind, verdict, switches.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/decode.h"
#include "matcher/key.h"
#include "shim/judge.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/window_chain.h"
#include "shim/window_launch.h"

enum {
	SLOTS = 1024,         /* a power of two */
	RUN_PARAMS = 8 << 10, /* bytes of parameters of all members */
};

/* A whole group: what was sent for it. */
struct whole {
	struct verdict *verdict;
	struct standin *standin; /* cut off behind its parameters */
	uint64_t events;         /* memory_events() when its memory was last asked about */
	unsigned nrange, surviving;
	struct range range[GROUP_MAX_SLOTS];
};

/* A launch behind others (`parent`, if that still is what it was): with them it begins groups, or
 * is a whole one. */
struct entry {
	uint64_t serial; /* which trail it is; entries are used again for others */
	const struct entry *parent;
	uint64_t parent_serial;
	struct launch launch; /* params are its own */
	uint8_t *params;
	uint32_t room;
	struct site *site;   /* where the groups begin */
	bool pattern, chain; /* there are such groups */
	struct whole *whole; /* NULL: it only begins some */
};

struct memo {
	uint64_t serials;
	/* The launches now held: as many as the window's nrun. */
	const struct entry *at; /* the last of them */
	uint64_t hash;
	struct launch run[GROUP_MAX_MEMBERS];
	uint8_t params[RUN_PARAMS]; /* theirs */
	uint32_t used;              /* bytes of that */
	struct entry *slot[SLOTS];
};

/* Of launches with the hash h (0: none) and one more. */
static uint64_t hash_of(uint64_t h, const struct launch *l)
{
	return XXH3_64bits_withSeed(l->params, l->kernel->param_bytes,
				    h ^ (uint64_t)(uintptr_t)l->kernel);
}

static struct entry **slot_of(struct memo *m, uint64_t h)
{
	return &m->slot[(h ^ h >> 32) % SLOTS];
}

static bool same(const struct launch *a, const struct launch *b)
{
	return a->kernel == b->kernel && !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, b->block, sizeof(a->block)) && a->shmem == b->shmem &&
	       a->attrs == b->attrs && a->priority == b->priority &&
	       !memcmp(a->params, b->params, a->kernel->param_bytes);
}

/* Is e that launch, behind what is held? */
static bool follows(const struct entry *e, const struct entry *at, const struct launch *l)
{
	return e && e->parent == at && (!at || e->parent_serial == at->serial) &&
	       same(&e->launch, l);
}

static void free_whole(struct entry *e)
{
	if (e->whole)
		free(e->whole->standin);
	free(e->whole);
	e->whole = NULL;
}

/* The entry for that launch behind `parent`, made if missing; NULL if out of memory. */
static struct entry *entry_for(struct memo *m, const struct entry *parent, uint64_t h,
			       const struct launch *l)
{
	struct entry **at = slot_of(m, h), *e = *at;
	const uint32_t bytes = l->kernel->param_bytes;

	if (follows(e, parent, l))
		return e;
	if (!e && !(e = *at = calloc(1, sizeof(*e))))
		return NULL;
	e->serial = ++m->serials;
	free_whole(e);
	e->parent = parent;
	e->parent_serial = parent ? parent->serial : 0;
	e->pattern = e->chain = false;
	if (bytes > e->room) {
		uint8_t *more = realloc(e->params, bytes);

		if (!more) {
			memset(&e->launch, 0, sizeof(e->launch)); /* no launch is like this */
			return NULL;
		}
		e->params = more;
		e->room = bytes;
	}
	e->launch = *l;
	e->launch.params = memcpy(e->params, l->params, bytes);
	return e;
}

/* The group's memory, to be asked about again, and what was sent. */
static struct whole *whole_of(const struct group *g, struct verdict *v, const struct standin *s)
{
	struct group_slot slot[GROUP_MAX_SLOTS];
	const size_t bytes = offsetof(struct standin, params) + s->param_bytes;
	struct whole *x = calloc(1, sizeof(*x));

	if (!x || !(x->standin = malloc(bytes))) {
		free(x);
		return NULL;
	}
	memcpy(x->standin, s, bytes);
	x->verdict = v;
	x->events = memory_events();
	x->surviving =
		group_surviving(g); /* dropped ones are where nobody else may look, as before */
	x->nrange = group_slots(g, slot);
	for (unsigned i = 0; i < x->nrange; i++)
		x->range[i] = slot[i].range;
	return x;
}

void window_remember(struct window *w, const struct group *g, struct verdict *v,
		     const struct standin *s)
{
	const struct member *first = g->member[0];
	struct site *site = verdict_site(key_noted(&first->launch, &first->op));
	struct entry *e = NULL;
	uint64_t h = 0;

	for (unsigned i = 0; i < group_size(g); i++)
		if (g->member[i]->launch.index != first->launch.index + i)
			return;
	if (s->provisional || record_on || !site ||
	    (!w->memo && !(w->memo = calloc(1, sizeof(*w->memo)))))
		return;
	for (unsigned i = 0; i < group_size(g); i++) {
		h = hash_of(h, &g->member[i]->launch);
		e = entry_for(w->memo, e, h, &g->member[i]->launch);
		if (!e)
			return;
		e->site = site;
		e->pattern |= !g->row;
		e->chain |= g->row != NULL;
		/* The planner went on from here: so shall this. */
		free_whole(e);
	}
	e->whole = whole_of(g, v, s);
}

void window_forget_all(struct window *w)
{
	for (unsigned i = 0; w->memo && i < SLOTS; i++) {
		struct entry *e = w->memo->slot[i];

		if (!e)
			continue;
		free_whole(e);
		free(e->params);
		free(e);
	}
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

static bool hold(struct window *w, const struct entry *e, uint64_t h, const struct launch *l)
{
	struct memo *m = w->memo;
	const uint32_t bytes = l->kernel->param_bytes;

	if (w->nrun == GROUP_MAX_MEMBERS || bytes > RUN_PARAMS - m->used)
		return false;
	m->run[w->nrun] = *l;
	m->run[w->nrun++].params = memcpy(m->params + m->used, l->params, bytes);
	m->used += bytes;
	m->hash = h;
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
	report_fused(v->pattern, launch, w->nrun + 1);
	e->site->begins++;
	kernels_promise(w->memo->run[0].kernel);
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
	const struct entry *e;
	uint64_t h;

	if (!w->used || w->pending || !m)
		return false;
	if (!w->nrun) {
		if (w->nfree || w->check.arena || seq_waiting(w->seq))
			return false;
		m->hash = m->used = 0;
		m->at = NULL;
	}
	h = hash_of(m->hash, l);
	e = *slot_of(m, h);
	if (!follows(e, m->at, l))
		return false;
	if (w->nrun && e->whole)
		return fuse(w, e, l);
	/* The site begins matches only where the first launch is. */
	return (w->nrun || (e->pattern && window_may_recall(w, e->site)) ||
		(e->chain && window_holding(w) && window_chain_recall(w, e->site))) &&
	       hold(w, e, h, l);
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
