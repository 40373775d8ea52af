// SPDX-License-Identifier: Apache-2.0
#include "tools/outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "matcher/group.h"

struct entry {
	uint32_t launch[GROUP_MAX_MEMBERS];
	struct outcome_of what;
	UT_hash_handle hh;
};

struct outcomes {
	struct entry *table;
};

struct outcomes *outcomes_new(void)
{
	return calloc(1, sizeof(struct outcomes));
}

static void put(struct outcomes *o, const uint32_t *launch, unsigned n,
		const struct outcome_of *what, bool last)
{
	struct entry *e = n <= GROUP_MAX_MEMBERS ? calloc(1, sizeof(*e)) : NULL, *old;

	if (!e)
		return;
	memcpy(e->launch, launch, n * sizeof(*launch));
	e->what = *what;
	HASH_FIND(hh, o->table, e->launch, sizeof(e->launch), old);
	if (!old) {
		HASH_ADD(hh, o->table, launch, sizeof(e->launch), e);
		return;
	}
	if (last)
		old->what = *what;
	free(e);
}

void outcomes_add(struct outcomes *o, const uint32_t *launch, unsigned n,
		  const struct outcome_of *what)
{
	put(o, launch, n, what, false);
}

void outcomes_set(struct outcomes *o, const uint32_t *launch, unsigned n,
		  const struct outcome_of *what)
{
	put(o, launch, n, what, true);
}

const struct outcome_of *outcomes_find(const struct outcomes *o, const uint32_t *launch, unsigned n)
{
	uint32_t key[GROUP_MAX_MEMBERS] = {0};
	struct entry *e;

	memcpy(key, launch, n * sizeof(*launch));
	HASH_FIND(hh, o->table, key, sizeof(key), e);
	return e ? &e->what : NULL;
}

void outcomes_free(struct outcomes *o)
{
	struct entry *e, *next;

	if (!o)
		return;
	HASH_ITER(hh, o->table, e, next)
	{
		HASH_DEL(o->table, e);
		free(e);
	}
	free(o);
}
