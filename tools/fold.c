// SPDX-License-Identifier: Apache-2.0
#include "tools/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/fold_state.h"

/* Arithmetic modulo 2^61 - 1. */
#define MODULUS ((1ull << 61) - 1)
static uint64_t multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;
	uint64_t r = (uint64_t)(p & MODULUS) + (uint64_t)(p >> 61);

	return r >= MODULUS ? r - MODULUS : r;
}

static uint64_t value(uint32_t sym)
{
	return ((uint64_t)sym + 1) * 0x9e3779b97f4a7c15ull >> 4;
}

struct fold *fold_new(void)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->power[0] = 1;
	for (unsigned i = 1; i <= PERIOD_MAX; i++)
		f->power[i] = multiply(f->power[i - 1], 0x1b873593cc9e2d51ull & MODULUS);
	return f;
}

void fold_free(struct fold *f)
{
	struct body *b, *next_body;
	struct loop_entry *e, *next;

	if (!f)
		return;
	HASH_ITER(hh, f->bodies, b, next_body)
	{
		HASH_DEL(f->bodies, b);
		free(b);
	}
	HASH_ITER(hh, f->numbers, e, next)
	{
		HASH_DEL(f->numbers, e);
		free(e);
	}
	free(f->list);
	free(f->last[0]);
	free(f->last[1]);
	free(f->loop);
	free(f);
}

static uint64_t hash_of(const struct fold *f, uint32_t from, uint32_t n)
{
	uint64_t end = f->list[from + n - 1].hash,
		 start = from ? multiply(f->list[from - 1].hash, f->power[n]) : 0;

	return end >= start ? end - start : end + MODULUS - start;
}

/* Where the newest place of sym is noted; NULL if out of memory. */
static uint32_t *last_of(struct fold *f, uint32_t sym)
{
	unsigned which = sym >> 31;
	uint32_t i = sym & ~(uint32_t)LOOP, room = f->nlast[which];

	if (i >= room) {
		uint32_t *grown;

		room = i < 512 ? 1024 : 2 * i;
		grown = realloc(f->last[which], room * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + f->nlast[which], 0xff, (room - f->nlast[which]) * sizeof(*grown));
		f->last[which] = grown;
		f->nlast[which] = room;
	}
	return &f->last[which][i];
}

static int push(struct fold *f, uint32_t sym)
{
	uint32_t *last = last_of(f, sym);
	struct element *e;

	if (!last)
		return -1;
	if (f->n == f->room) {
		uint32_t room = f->room ? 2 * f->room : 1024;

		e = realloc(f->list, room * sizeof(*e));
		if (!e)
			return -1;
		f->list = e;
		f->room = room;
	}
	e = &f->list[f->n];
	e->sym = sym;
	e->before = *last;
	e->loop_before = !f->n                          ? NOWHERE
			 : f->list[f->n - 1].sym & LOOP ? f->n - 1
							: f->list[f->n - 1].loop_before;
	e->hash = (f->n ? multiply(f->list[f->n - 1].hash, f->power[1]) : 0) + value(sym);
	e->hash %= MODULUS;
	*last = f->n++;
	return 0;
}

static void pop(struct fold *f, uint32_t n)
{
	while (n--) {
		const struct element *e = &f->list[--f->n];

		f->last[e->sym >> 31][e->sym & ~(uint32_t)LOOP] = e->before;
	}
}

static uint64_t length_of(const struct fold *f, uint32_t sym)
{
	const struct loop *l = &f->loop[sym & ~(uint32_t)LOOP];

	return sym & LOOP ? l->body->length * l->rounds : 1;
}

/* The body that the n elements from `from` on make. */
static const struct body *body_of(struct fold *f, uint32_t from, uint32_t n)
{
	struct body *b = malloc(sizeof(*b) + n * sizeof(uint32_t)), *old = NULL;

	if (!b)
		return NULL;
	b->n = n;
	b->length = 0;
	b->hash = hash_of(f, from, n);
	for (uint32_t i = 0; i < n; i++) {
		b->sym[i] = f->list[from + i].sym;
		b->length += length_of(f, b->sym[i]);
	}
	HASH_FIND(hh, f->bodies, b->sym, n * sizeof(uint32_t), old);
	if (old) {
		free(b);
		return old;
	}
	b->id = f->nbody++;
	HASH_ADD_KEYPTR(hh, f->bodies, b->sym, n * sizeof(uint32_t), b);
	return b;
}

/* The element that stands for so many rounds; 0 (which is none) if out of memory. */
static uint32_t loop_of(struct fold *f, const struct body *b, uint32_t rounds)
{
	const struct loop_key key = {b->id, rounds};
	struct loop_entry *e;

	HASH_FIND(hh, f->numbers, &key, sizeof(key), e);
	if (e)
		return LOOP | e->number;
	if (f->nloop == f->loop_room) {
		uint32_t room = f->loop_room ? 2 * f->loop_room : 256;
		struct loop *grown = realloc(f->loop, room * sizeof(*grown));

		if (!grown)
			return 0;
		f->loop = grown;
		f->loop_room = room;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return 0;
	e->key = key;
	e->number = f->nloop;
	HASH_ADD(hh, f->numbers, key, sizeof(e->key), e);
	f->loop[f->nloop++] = (struct loop){b, rounds};
	return LOOP | e->number;
}

/* Replaces the last n elements by one. */
static int replace(struct fold *f, uint32_t n, const struct body *b, uint32_t rounds)
{
	uint32_t sym = b ? loop_of(f, b, rounds) : 0;

	if (!sym || !last_of(f, sym))
		return -1;
	pop(f, n);
	return push(f, sym);
}

/* One more round of a loop: 1 if there was one, -1 if out of memory. */
static int extend(struct fold *f)
{
	uint32_t at = f->list[f->n - 1].loop_before;

	for (unsigned looks = 0; at != NOWHERE && looks < LOOP_LOOKS; looks++) {
		const struct loop *l = &f->loop[f->list[at].sym & ~(uint32_t)LOOP];
		const struct body *b = l->body;
		uint32_t n = f->n - 1 - at;
		bool same = b->n == n && b->hash == hash_of(f, at + 1, n);

		for (uint32_t i = 0; same && i < n; i++)
			same = b->sym[i] == f->list[at + 1 + i].sym;
		if (same)
			return replace(f, n + 1, b, l->rounds + 1) ? -1 : 1;
		at = f->list[at].loop_before;
	}
	return 0;
}

static bool repeats(const struct fold *f, uint32_t period)
{
	const struct element *x = f->list + f->n - 2 * period, *y = x + period;

	if (period > 1 && x[period - 2].sym != y[period - 2].sym)
		return false;
	if (hash_of(f, f->n - 2 * period, period) != hash_of(f, f->n - period, period))
		return false;
	for (uint32_t i = 0; i < period; i++)
		if (x[i].sym != y[i].sym)
			return false;
	return true;
}

/*
 * A pair of equal elements is no loop yet: where one round ends as the next begins (A B A, A B A),
 * closing the pair would hide the rounds.
 */
static bool triple(const struct fold *f)
{
	return f->n > 2 && f->list[f->n - 3].sym == f->list[f->n - 1].sym;
}

/* A loop begins: 1 if so, -1 if out of memory. */
static int begin(struct fold *f)
{
	uint32_t at = f->list[f->n - 1].before;

	for (unsigned looks = 0; at != NOWHERE && looks < LOOKS; looks++) {
		uint32_t period = f->n - 1 - at, rounds = period == 1 ? 3 : 2;

		if (period > PERIOD_MAX || 2 * period > f->n)
			return 0;
		if (repeats(f, period) && (period > 1 || triple(f)))
			return replace(f, rounds * period, body_of(f, f->n - period, period),
				       rounds)
				       ? -1
				       : 1;
		at = f->list[at].before;
	}
	return 0;
}

int fold_add(struct fold *f, uint32_t sym)
{
	int got;

	if (push(f, sym & ~(uint32_t)LOOP))
		return -1;
	do
		got = extend(f);
	while (got > 0 || (!got && (got = begin(f)) > 0));
	return got;
}
