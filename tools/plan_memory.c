// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "tools/plan.h"

struct block {
	struct range r;
	int device;
	unsigned flags;
};

struct plan_memory {
	struct block *block; /* sorted by address, not overlapping */
	size_t n, room;
	bool seen, shared;
};

struct plan_memory *plan_memory_new(void)
{
	return calloc(1, sizeof(struct plan_memory));
}

/* Index of the first block that ends behind addr. */
static size_t find(const struct plan_memory *m, uint64_t addr)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->block[mid].r.hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void plan_memory_free_range(struct plan_memory *m, struct range r)
{
	size_t first = find(m, r.lo), last = first;

	while (last < m->n && m->block[last].r.lo < r.hi)
		last++;
	if (last > first)
		memmove(m->block + first, m->block + last, (m->n - last) * sizeof(*m->block));
	m->n -= last - first;
}

void plan_memory_alloc(struct plan_memory *m, struct range r, int device, unsigned flags)
{
	size_t at;

	m->seen = true;
	plan_memory_free_range(m, r);
	if (r.lo >= r.hi)
		return;
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		struct block *grown = realloc(m->block, room * sizeof(*grown));

		if (!grown)
			return; /* the range is then unknown memory: refused */
		m->block = grown;
		m->room = room;
	}
	at = find(m, r.lo);
	memmove(m->block + at + 1, m->block + at, (m->n - at) * sizeof(*m->block));
	m->block[at] = (struct block){r, device, flags};
	m->n++;
}

void plan_memory_share(struct plan_memory *m)
{
	m->shared = true;
}

enum reason plan_memory_check(const struct plan_memory *m, struct range r, int device,
			      int surviving)
{
	const struct block *b;
	size_t i;

	if (m->shared && surviving > 1)
		return REASON_NOT_DEVICE_MEMORY;
	if (!m->seen)
		return REASON_NONE;
	i = find(m, r.lo);
	if (i == m->n)
		return REASON_NOT_DEVICE_MEMORY;
	b = &m->block[i];
	if (b->r.lo > r.lo || b->r.hi < r.hi || b->device != device)
		return REASON_NOT_DEVICE_MEMORY;
	if ((b->flags & ~(unsigned)TRACE_SHARED) != TRACE_DEVICE ||
	    (b->flags & TRACE_SHARED && surviving > 1))
		return REASON_NOT_DEVICE_MEMORY;
	return REASON_NONE;
}

void plan_memory_free(struct plan_memory *m)
{
	if (m)
		free(m->block);
	free(m);
}
