// SPDX-License-Identifier: Apache-2.0
/* What is remembered of groups: found, made, forgotten. Declared in window_memo.h. */
#include <stdlib.h>
#include <string.h>

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
	       a->attrs == l->attrs && a->priority == l->priority &&
	       heed_same(&e->heed, a->params, l->params);
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

void memo_free_whole(struct entry *e)
{
	if (e->whole)
		free(e->whole->standin);
	free(e->whole);
	e->whole = NULL;
}

static void free_ring(struct ring *r)
{
	struct entry *e = r->last, *next;

	if (!e)
		return;
	next = e->next;
	e->next = NULL;
	for (e = next; e; e = next) {
		next = e->next;
		free_ring(&e->behind);
		memo_free_whole(e);
		free(e);
	}
	r->last = NULL;
}

void memo_forget(struct memo *m)
{
	for (unsigned i = 0; i < MEMO_ROOTS; i++)
		free_ring(&m->root[i]);
	m->n = 0;
	m->at = NULL;
}

struct entry *memo_entry(struct memo *m, struct ring *r, const struct member *member)
{
	const struct launch *l = &member->launch;
	struct entry *e = memo_find(r, l);
	struct heed h;

	if (e || !heed_of(l, &member->op, &h) || !heed_holds(&h, l, &member->op) ||
	    !(e = calloc(1, sizeof(*e) + l->kernel->param_bytes)))
		return e;
	e->heed = h;
	e->launch = *l;
	e->launch.params = memcpy(e->params, l->params, l->kernel->param_bytes);
	e->next = r->last ? r->last->next : e;
	if (r->last)
		r->last->next = e;
	r->last = e;
	m->n++;
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
	x->events = memory_events();
	x->surviving =
		group_surviving(g); /* dropped ones are where nobody else may look, as before */
	x->nrange = group_slots(g, slot);
	for (unsigned i = 0; i < x->nrange; i++)
		x->range[i] = slot[i].range;
	return x;
}
