// SPDX-License-Identifier: Apache-2.0
#include "tools/profile.h"

#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "fused/fused.h"
#include "shim/cache_profile.h"

enum { SAMPLES_MAX = 1024, SAMPLES_MIN = 3 };

struct samples {
	uint32_t *ns, n;
};

struct shape {
	struct {
		struct key key;
		int64_t rows;
	} id;
	struct samples members, fused;
	UT_hash_handle hh;
};

struct gather {
	const struct listing *l;
	struct shape *shape;
};

static void sample(struct samples *s, uint32_t ns)
{
	if (!s->ns)
		s->ns = malloc(SAMPLES_MAX * sizeof(*s->ns));
	if (s->ns && s->n < SAMPLES_MAX)
		s->ns[s->n++] = ns;
}

static struct shape *shape_of(struct gather *g, const struct sent *s)
{
	struct shape like, *found;

	memset(&like.id, 0, sizeof(like.id));
	like.id.key = s->key;
	like.id.rows = s->rows;
	HASH_FIND(hh, g->shape, &like.id, sizeof(like.id), found);
	if (!found && (found = calloc(1, sizeof(*found)))) {
		found->id = like.id;
		HASH_ADD(hh, g->shape, id, sizeof(found->id), found);
	}
	return found;
}

/* The members' times of a checked group, if all are known and the check had all of its rows. */
static uint32_t members(const struct listing *l, const struct sent *s)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < s->n; i++) {
		const struct listing_launch *m;

		if (s->launch[i] >= l->nlaunch)
			return 0;
		m = &l->launch[s->launch[i]];
		if (!m->at.ns || m->group == LISTING_NONE ||
		    l->group[m->group].shape == LISTING_NONE ||
		    l->shape[l->group[m->group].shape].rows != s->rows)
			return 0;
		ns += m->at.ns;
	}
	return ns > UINT32_MAX ? 0 : (uint32_t)ns;
}

static void ran(void *arg, const struct sent *s, const struct time_span *at)
{
	struct gather *g = arg;
	struct shape *shape;
	uint32_t ns;

	if (s->how == SENT_OWN || !(s->key.hash[0] | s->key.hash[1]) || !(shape = shape_of(g, s)))
		return;
	if (s->how == SENT_FUSED) {
		sample(&shape->fused, at->ns);
	} else if ((ns = members(g->l, s))) {
		sample(&shape->members, ns);
		sample(&shape->fused, at->ns);
	}
}

static int by_time(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint32_t median(struct samples *s)
{
	qsort(s->ns, s->n, sizeof(*s->ns), by_time);
	return s->ns[s->n / 2];
}

int profile_save(const struct recording *r, const char *cache, unsigned *slower)
{
	struct gather g = {r->listing, NULL};
	struct shape *s, *next;
	struct profile_row *row;
	int n = 0;

	*slower = 0;
	times_join((struct times *)&r->times, ran, &g);
	row = calloc(HASH_COUNT(g.shape) + 1, sizeof(*row));
	HASH_ITER(hh, g.shape, s, next)
	{
		if (row && s->members.n >= SAMPLES_MIN && s->fused.n >= SAMPLES_MIN) {
			struct profile_row *to = &row[n++];

			to->samples = s->members.n < s->fused.n ? s->members.n : s->fused.n;
			to->key = s->id.key;
			to->rows = s->id.rows;
			to->members_ns = median(&s->members);
			to->fused_ns = median(&s->fused);
			*slower += to->fused_ns > to->members_ns;
		}
		HASH_DEL(g.shape, s);
		free(s->members.ns);
		free(s->fused.ns);
		free(s);
	}
	if (n && (cache_open(cache, fused_build_id()) || cache_profile_put(row, (unsigned)n)))
		n = -1;
	free(row);
	return n;
}
