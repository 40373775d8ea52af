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

#include "matcher/dead.h"
#include "matcher/decode.h"
#include "matcher/key.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/window_launch.h"
#include "shim/window_state.h"

enum {
	SLOTS = 1024,     /* a power of two */
	PARAMS_MAX = 512, /* bytes of parameters of all members */
};

/* Launches that followed each other: the beginning of groups, or a whole one. */
struct trail {
	unsigned n;
	struct launch launch[GROUP_MAX_MEMBERS]; /* params point into `params` */
	uint8_t params[PARAMS_MAX];
};

struct entry {
	struct trail trail;
	struct site *site; /* where the group begins */
	/* Of a whole group; NULL for a beginning. */
	struct verdict *verdict;
	struct standin standin;
	uint64_t events; /* memory_events() when its memory was last asked about */
	unsigned nrange, surviving;
	struct range range[GROUP_MAX_OPERANDS];
};

struct memo {
	uint64_t hash;    /* of the launches now held */
	struct trail run; /* them; run.n = the window's nrun */
	struct entry *slot[SLOTS];
};

/* Of a trail with the hash h (0: empty) and one launch more. */
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

/* Is t the run and then l? */
static bool follows(const struct trail *t, const struct trail *run, const struct launch *l)
{
	if (t->n != run->n + 1)
		return false;
	for (unsigned i = 0; i < run->n; i++)
		if (!same(&t->launch[i], &run->launch[i]))
			return false;
	return same(&t->launch[run->n], l);
}

/* False if it has no room. */
static bool extend(struct trail *t, const struct launch *l)
{
	uint32_t bytes = l->kernel->param_bytes;
	const struct launch *last = t->n ? &t->launch[t->n - 1] : NULL;
	uint8_t *at = last ? (uint8_t *)last->params + last->kernel->param_bytes : t->params;

	if (t->n == GROUP_MAX_MEMBERS || bytes > (size_t)(t->params + sizeof(t->params) - at))
		return false;
	t->launch[t->n] = *l;
	t->launch[t->n++].params = memcpy(at, l->params, bytes);
	return true;
}

/* The entry for those launches, made if missing; NULL if out of memory or room. */
static struct entry *entry_for(struct memo *m, const struct group *g, unsigned n)
{
	struct entry **at, *e;
	uint64_t h = 0;

	for (unsigned i = 0; i < n; i++)
		h = hash_of(h, &g->member[i]->launch);
	at = slot_of(m, h);
	if (!*at && !(*at = malloc(sizeof(**at))))
		return NULL;
	e = *at;
	e->trail.n = 0;
	for (unsigned i = 0; i < n; i++)
		if (!extend(&e->trail, &g->member[i]->launch)) {
			e->trail.n = 0;
			return NULL;
		}
	e->verdict = NULL;
	return e;
}

void window_remember(struct window *w, const struct group *g, struct verdict *v,
		     const struct standin *s)
{
	const struct member *first = g->member[0];
	struct site *site = verdict_site(key_noted(&first->launch, &first->op));
	struct entry *e = NULL;

	for (unsigned i = 0; i < group_size(g); i++)
		if (g->member[i]->launch.index != first->launch.index + i)
			return;
	if (record_on || !site || (!w->memo && !(w->memo = calloc(1, sizeof(*w->memo)))))
		return;
	for (unsigned n = 1; n <= group_size(g); n++) {
		e = entry_for(w->memo, g, n);
		if (!e)
			return;
		e->site = site;
	}
	if (!e)
		return;
	e->verdict = v;
	e->standin = *s;
	e->events = memory_events();
	e->surviving = dead_count(g); /* where nobody else may look, as before */
	for (e->nrange = 0; e->nrange < g->nbound; e->nrange++) {
		e->range[e->nrange] = bound_range(g, &g->bound[e->nrange]);
		e->surviving += (g->bound[e->nrange].use & BOUND_WRITE) != 0;
	}
}

void window_forget_all(struct window *w)
{
	for (unsigned i = 0; w->memo && i < SLOTS; i++)
		free(w->memo->slot[i]);
	free(w->memo);
	w->memo = NULL;
}

void window_settle(struct window *w)
{
	unsigned n = w->nrun;

	w->nrun = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member m = {.launch = w->memo->run.launch[i]};
		const struct member *one = &m;
		struct seq_out out;
		CUresult r;

		m.launch.context = w->ours->generation;
		m.launch.stream = (uint64_t)(uintptr_t)w->stream;
		m.launch.device = w->ours->device;
		decode_launch(&m.launch, &m.op);
		w->finish_check = false;
		seq_launch(w->seq, &m.launch, &m.op, &out);
		r = window_submit(w, out.flush, out.nflush);
		if (!r && out.act == SEQ_FUSE) /* its earlier members are the planner's no longer */
			r = window_submit(w, out.group->member, group_size(out.group) - 1u);
		if (!r && out.act != SEQ_HOLD)
			r = window_submit(w, &one, 1);
		w->pending = w->pending ? w->pending : r;
		w->want_check = false;
	}
	if (n)
		w->memo->run.n = 0;
}

/* Is the group's memory what it was, for all that was allocated and freed meanwhile? */
static bool memory_stands(const struct window *w, struct entry *e)
{
	uint64_t events = memory_events();

	if (e->events == events)
		return true;
	for (unsigned i = 0; i < e->nrange; i++)
		if (memory_check(e->range[i], w->ours->device, (int)e->surviving))
			return false;
	e->events = events;
	return true;
}

static bool hold(struct window *w, uint64_t h, const struct launch *l)
{
	struct memo *m = w->memo;

	if (!extend(&m->run, l))
		return false;
	m->hash = h;
	w->nrun = m->run.n;
	window_holds(w);
	return true;
}

/* Lock held. */
static bool recall(struct window *w, const struct launch *l)
{
	uint64_t launch[GROUP_MAX_MEMBERS], h;
	struct memo *m = w->memo;
	struct entry *e;

	if (!w->used || w->pending || !m)
		return false;
	if (!w->nrun) {
		if (w->nfree || w->check.arena || seq_waiting(w->seq))
			return false;
		m->hash = 0;
		m->run.n = 0;
	}
	h = hash_of(m->hash, l);
	e = *slot_of(m, h);
	if (!e || !follows(&e->trail, &m->run, l))
		return false;
	if (!e->verdict) /* the site begins matches only where the first launch is */
		return (w->nrun || window_may_recall(w, e->site)) && hold(w, h, l);
	if (!w->nrun || !window_may_refuse(w, e->verdict) || !memory_stands(w, e) ||
	    !window_send_fused(w, e->verdict, &e->standin))
		return false;
	for (unsigned i = 0; i < w->nrun; i++)
		launch[i] = m->run.launch[i].index;
	launch[w->nrun] = l->index;
	report_fused(e->verdict->pattern, launch, w->nrun + 1);
	e->site->begins++;
	kernels_promise(m->run.launch[0].kernel);
	window_seen(e->site, e->verdict);
	w->nrun = m->run.n = 0;
	return true;
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
