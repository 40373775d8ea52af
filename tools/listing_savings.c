// SPDX-License-Identifier: Apache-2.0
/* What fusing saves, from the times of all groups of a kind. */
#include <stdlib.h>

#include "config/hash.h"
#include "tools/listing_lines.h"

/* Times of groups of one kind, whatever came of them. */
struct kind {
	uint64_t key, ns, timed, fused_ns, fusedn;
	UT_hash_handle hh;
};

static void pool(struct kind **kinds, const struct listing_line *line)
{
	struct kind *k;

	HASH_FIND(hh, *kinds, &line->kind, sizeof(line->kind), k);
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return;
		k->key = line->kind;
		HASH_ADD(hh, *kinds, key, sizeof(k->key), k);
	}
	k->ns += line->ns;
	k->timed += line->timed;
	k->fused_ns += line->fused_ns;
	k->fusedn += line->fusedn;
}

/*
 * What fusing saves each time. Measured where the same shape ran both ways. Else, for a group that
 * nobody timed fused, by the bytes it no longer moves; but the fused kernel takes no less than a
 * single launch does, which an equal part of the members' time stands for.
 */
static void saving(struct listing_line *line, const struct kind *k)
{
	const struct listing_group *g = line->group;
	double members, by_bytes, most;

	if (!k || !k->timed)
		return;
	members = (double)k->ns / (double)k->timed;
	if (k->fusedn) {
		line->saves_ns = members - (double)k->fused_ns / (double)k->fusedn;
		return;
	}
	if (!g->fused || !g->unfused)
		return;
	by_bytes = members * (1 - (double)g->fused / (double)g->unfused);
	most = members * (g->n - g->kernels) / g->n;
	line->estimated = true;
	line->saves_ns = by_bytes < most ? by_bytes : most;
}

void listing_savings(struct listing *l)
{
	struct kind *kinds = NULL, *k, *next;

	for (uint32_t i = 0; i < l->nline; i++)
		if (l->line[i].group)
			pool(&kinds, &l->line[i]);
	for (uint32_t i = 0; i < l->nline; i++)
		if (l->line[i].group) {
			HASH_FIND(hh, kinds, &l->line[i].kind, sizeof(l->line[i].kind), k);
			saving(&l->line[i], k);
		}
	HASH_ITER(hh, kinds, k, next)
	{
		HASH_DEL(kinds, k);
		free(k);
	}
}
