// SPDX-License-Identifier: Apache-2.0
/* What is remembered of ways: found, made, forgotten. Declared in window_memo.h. */
#include <stdlib.h>
#include <string.h>

#include "matcher/key.h"
#include "shim/memory.h"
#include "shim/window_memo.h"

enum { TRIED = 64 /* entries that a launch is compared with at most */ };

struct ring *memo_root(struct memo *m, const struct kernel *k)
{
	return &m->root[((uintptr_t)k * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (MEMO_ROOTS - 1)];
}

/* Is it the launch of the entry, as far as it matters? */
static bool is(const struct entry *e, const struct launch *l)
{
	const struct launch *a = &e->launch;

	return a->kernel == l->kernel && !memcmp(a->grid, l->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, l->block, sizeof(a->block)) && a->shmem == l->shmem &&
	       a->attrs == l->attrs && a->priority == l->priority && !a->params == !l->params &&
	       (!a->params || heed_same(&e->heed, a->params, l->params));
}

struct entry *memo_find(struct ring *r, const struct launch *l)
{
	struct entry *e = r->last;

	for (unsigned i = 0; e && i < TRIED; i++) {
		e = e->next;
		if (is(e, l))
			return r->last = e;
		if (e == r->last)
			return NULL;
	}
	return NULL;
}

void memo_free_whole(struct whole *x)
{
	if (x)
		free(x->standin);
	free(x);
}

void memo_set_step(struct entry *e, struct step *to)
{
	for (unsigned i = 0; e->step && i < e->step->nact; i++)
		memo_free_whole(e->step->act[i].whole);
	free(e->step);
	e->step = to;
}

/* Ways are long: no recursion down them. */
static void free_ring(struct ring *r)
{
	struct entry *left = r->last;

	if (!left)
		return;
	r->last = NULL;
	for (struct entry *e = left->next, *first = e;; e = e->next)
		if (e->next == first) {
			e->next = NULL;
			left = first;
			break;
		}
	while (left) {
		struct entry *e = left, *last = e->behind.last;

		left = e->next;
		if (last) { /* the ring behind it becomes the list's head */
			struct entry *first = last->next;

			last->next = left;
			left = first;
		}
		memo_set_step(e, NULL);
		free(e);
	}
}

void memo_forget(struct memo *m)
{
	memo_end(m);
	for (unsigned i = 0; i < MEMO_ROOTS; i++)
		free_ring(&m->root[i]);
	m->n = 0;
	m->at = m->first = NULL;
}

struct entry *memo_entry(struct memo *m, struct entry *before, const struct launch *l,
			 const struct op *op)
{
	struct ring *r = before ? &before->behind : memo_root(m, l->kernel);
	struct entry *e = memo_find(r, l);
	const uint32_t bytes = l->params ? l->kernel->param_bytes : 0;
	struct heed h = {.n = 0};

	if (e || (l->params && (!heed_of(l, op, &h) || !heed_holds(&h, l, op))) ||
	    !(e = calloc(1, sizeof(*e) + bytes)))
		return e;
	e->heed = h;
	e->before = before;
	e->launch = *l;
	if (l->params)
		e->launch.params = memcpy(e->params, l->params, bytes);
	e->next = r->last ? r->last->next : e;
	if (r->last)
		r->last->next = e;
	r->last = e;
	m->n++;
	m->fresh++;
	return e;
}

struct whole *memo_whole(const struct group *g, struct verdict *v, const struct standin *s)
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
	x->site = verdict_site(key_noted(&g->member[0]->launch, &g->member[0]->op));
	x->rows = g->rows;
	x->events = memory_events();
	x->surviving =
		group_surviving(g); /* dropped ones are where nobody else may look, as before */
	x->nrange = group_slots(g, slot);
	for (unsigned i = 0; i < x->nrange; i++)
		x->range[i] = slot[i].range;
	return x;
}
