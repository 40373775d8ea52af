// SPDX-License-Identifier: Apache-2.0
/* What is remembered of ways: found, made, forgotten. Declared in window_memo.h. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/key.h"
#include "shim/memory.h"
#include "shim/window_memo.h"

_Static_assert(offsetof(struct entry, before) <= 64, "the first 64 bytes");

enum { TRIED = 64 /* entries that a launch is compared with at most */ };

struct ring *memo_root(struct memo *m, const struct kernel *k)
{
	return &m->root[((uintptr_t)k * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (MEMO_ROOTS - 1)];
}

/* A launch, as far as it matters by these bytes. */
struct sight {
	const struct heed *heed;
	bool taken;
	XXH128_hash_t hash;
};

static void take_sight(struct sight *s, const struct launch *l, const struct heed *h)
{
	struct {
		uint32_t grid[3], block[3], shmem, attrs;
		int32_t priority;
		uint8_t params[HEED_BYTES];
	} all;
	size_t n = 0;

	memcpy(all.grid, l->grid, sizeof(all.grid));
	memcpy(all.block, l->block, sizeof(all.block));
	all.shmem = l->shmem;
	all.attrs = l->attrs;
	all.priority = l->priority;
	if (h)
		n = heed_take(h, l->params, all.params);
	s->hash = XXH3_128bits(&all, (size_t)((uint8_t *)all.params - (uint8_t *)&all) + n);
	s->heed = h;
	s->taken = true;
}

/* Is it the launch of the entry? */
static bool is(const struct entry *e, const struct launch *l, struct sight *s)
{
	if (e->kernel != l->kernel || !e->heed != !l->params)
		return false;
	if (!s->taken || s->heed != e->heed)
		take_sight(s, l, e->heed);
	return e->hash[0] == s->hash.low64 && e->hash[1] == s->hash.high64;
}

struct entry *memo_find(struct ring *r, const struct launch *l)
{
	struct sight s = {.taken = false};
	struct entry *e = r->last;

	for (unsigned i = 0; e && i < TRIED; i++) {
		e = e->next;
		if (is(e, l, &s))
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
	struct heeded *x, *next;

	memo_end(m);
	for (unsigned i = 0; i < MEMO_ROOTS; i++)
		free_ring(&m->root[i]);
	HASH_ITER(hh, m->heeded, x, next)
	{
		HASH_DEL(m->heeded, x);
		free(x);
	}
	m->n = 0;
	m->at = m->first = NULL;
}

static const struct heed *shared(struct memo *m, const struct heed *h)
{
	const unsigned bytes = (unsigned)(offsetof(struct heed, span) + h->n * sizeof(h->span[0]));
	struct heeded *x;

	HASH_FIND(hh, m->heeded, h, bytes, x);
	if (x)
		return &x->heed;
	if (!(x = calloc(1, sizeof(*x))))
		return NULL;
	memcpy(&x->heed, h, bytes);
	HASH_ADD_KEYPTR(hh, m->heeded, &x->heed, bytes, x);
	if (x->hh.tbl)
		return &x->heed;
	free(x);
	return NULL;
}

struct entry *memo_entry(struct memo *m, struct entry *before, const struct launch *l,
			 const struct op *op)
{
	struct ring *r = before ? &before->behind : memo_root(m, l->kernel);
	struct entry *e = memo_find(r, l);
	const struct heed *mine = NULL;
	struct sight s;
	struct heed h;

	if (e ||
	    (l->params &&
	     (!heed_of(l, op, &h) || !heed_holds(&h, l, op) || !(mine = shared(m, &h)))) ||
	    !(e = aligned_alloc(64, (sizeof(*e) + 63) / 64 * 64)))
		return e;
	take_sight(&s, l, mine);
	*e = (struct entry){.kernel = l->kernel,
			    .heed = mine,
			    .hash = {s.hash.low64, s.hash.high64},
			    .before = before};
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
