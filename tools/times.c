// SPDX-License-Identifier: Apache-2.0
#include "tools/times.h"

#include <stdlib.h>
#include <string.h>

static bool room_for(void **list, uint32_t n, size_t size)
{
	void *grown = *list;

	if (!(n & (n - 1))) /* full at powers of two */
		grown = realloc(*list, (n ? 2 * (size_t)n : 1) * size);
	if (grown)
		*list = grown;
	return grown != NULL;
}

void times_sent(struct times *t, const struct sent *s)
{
	if (!room_for((void **)&t->sent, t->nsent, sizeof(*s))) {
		t->failed = true;
		return;
	}
	t->sent[t->nsent] = *s;
	t->sent[t->nsent].order = t->nsent;
	t->nsent++;
}

void times_ran(struct times *t, const struct ran *r)
{
	if (r->in_graph) {
		t->graph_kernels++;
		t->graph_ns += r->at.ns;
		return;
	}
	if (room_for((void **)&t->ran, t->nran, sizeof(*r)))
		t->ran[t->nran++] = *r;
	else
		t->failed = true;
}

static int by_id(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at.start < y->at.start ? -1 : x->at.start > y->at.start;
}

/* Several calls under one number (made inside one runtime call) keep their order. */
static int by_sent(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The time of a line's second kernel; NULL: unknown. j: the first that nobody has had. */
static const struct time_span *second(const struct times *t, const struct sent *s, uint32_t *j)
{
	uint32_t lo = *j, hi = t->nran;

	while (lo < hi) { /* the first one of that number */
		const uint32_t at = lo + (hi - lo) / 2;

		if (t->ran[at].id < s->second)
			lo = at + 1;
		else
			hi = at;
	}
	if (lo == t->nran || t->ran[lo].id != s->second)
		return NULL;
	*j += lo == *j;
	return &t->ran[lo].at;
}

void times_join(struct times *t,
		void (*fn)(void *arg, const struct sent *s, const struct time_span *at), void *arg)
{
	uint32_t j = 0;

	if (t->nran)
		qsort(t->ran, t->nran, sizeof(*t->ran), by_id);
	if (t->nsent)
		qsort(t->sent, t->nsent, sizeof(*t->sent), by_sent);
	for (uint32_t i = 0; i < t->nsent && j < t->nran; i++) {
		while (j < t->nran && t->ran[j].id < t->sent[i].id)
			j++;
		if (j < t->nran && t->ran[j].id == t->sent[i].id) {
			struct time_span at = t->ran[j++].at;
			const struct time_span *more =
				t->sent[i].second ? second(t, &t->sent[i], &j) : NULL;

			at.ns += more ? more->ns : 0;
			if (more || !t->sent[i].second)
				fn(arg, &t->sent[i], &at);
		}
	}
}

void times_free(struct times *t)
{
	free(t->sent);
	free(t->ran);
	memset(t, 0, sizeof(*t));
}
