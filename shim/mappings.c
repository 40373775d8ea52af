/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/mappings.h"

#include <pthread.h>
#include <stdlib.h>

#include "config/hash.h"

struct mapping {
	uint64_t base;
	struct physical *of;
	struct mapping *next; /* of the same handle */
	UT_hash_handle hh;
};

struct physical {
	CUmemGenericAllocationHandle handle;
	long references;
	unsigned flags;
	struct mapping *first;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* taken before the allocation table's */
	struct physical *handles;
	struct mapping *bases;
} map = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* NULL if out of memory: the mapping is then entered as aliased, to be safe. */
static struct physical *get(CUmemGenericAllocationHandle handle)
{
	struct physical *p;

	HASH_FIND(hh, map.handles, &handle, sizeof(handle), p);
	if (p || !(p = calloc(1, sizeof(*p))))
		return p;
	p->handle = handle;
	p->references = 1; /* of the call that made it */
	HASH_ADD(hh, map.handles, handle, sizeof(handle), p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	return p;
}

static void put(struct physical *p)
{
	if (p->first || p->references > 0)
		return;
	HASH_DEL(map.handles, p);
	free(p);
}

static void flag(struct physical *p, unsigned flags)
{
	p->flags |= flags;
	for (struct mapping *m = p->first; m; m = m->next)
		memory_flag((struct range){m->base, m->base + 1}, p->flags);
}

/* -1 if out of memory. */
static int link_mapping(struct physical *p, uint64_t base)
{
	struct mapping *m = calloc(1, sizeof(*m));

	if (!m)
		return -1;
	m->base = base;
	HASH_ADD(hh, map.bases, base, sizeof(base), m);
	if (!m->hh.tbl) {
		free(m);
		return -1;
	}
	m->of = p;
	m->next = p->first;
	p->first = m;
	return 0;
}

void mappings_add(CUmemGenericAllocationHandle handle, struct range r)
{
	struct physical *p;

	pthread_mutex_lock(&map.lock);
	p = get(handle);
	if (p && p->first)
		flag(p, MEMORY_ALIASED);
	if (!p || link_mapping(p, r.lo))
		memory_add(r.lo, r.hi - r.lo, NULL, -1, MEMORY_ALIASED);
	else
		memory_add(r.lo, r.hi - r.lo, NULL, -1, p->flags);
	pthread_mutex_unlock(&map.lock);
}

/* An entry of the allocation table is about to go; map.lock is held. */
static void forget_mapping(uint64_t base)
{
	struct mapping *m, **at;

	HASH_FIND(hh, map.bases, &base, sizeof(base), m);
	if (!m)
		return;
	HASH_DEL(map.bases, m);
	for (at = &m->of->first; *at != m; at = &(*at)->next)
		;
	*at = m->next;
	put(m->of);
	free(m);
}

void mappings_remove(struct range r)
{
	pthread_mutex_lock(&map.lock);
	memory_remove_range(r, forget_mapping);
	pthread_mutex_unlock(&map.lock);
}

void mappings_flag(CUmemGenericAllocationHandle handle, unsigned flags)
{
	struct physical *p;

	pthread_mutex_lock(&map.lock);
	p = get(handle);
	if (p)
		flag(p, flags);
	pthread_mutex_unlock(&map.lock);
}

void mappings_reference(CUmemGenericAllocationHandle handle, int change)
{
	struct physical *p;

	pthread_mutex_lock(&map.lock);
	HASH_FIND(hh, map.handles, &handle, sizeof(handle), p);
	if (p) {
		p->references += change;
		put(p);
	}
	pthread_mutex_unlock(&map.lock);
}
