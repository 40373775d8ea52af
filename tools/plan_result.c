// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "matcher/dead.h"
#include "matcher/legal.h"
#include "tools/plan.h"

static bool room_for(void **list, size_t n, size_t size)
{
	void *grown = *list;

	if (!(n & (n - 1))) /* full at powers of two */
		grown = realloc(*list, (n ? 2 * n : 1) * size);
	if (grown)
		*list = grown;
	return grown != NULL;
}

void plan_add_group(struct plan_result *r, const struct group *g, enum reason why)
{
	struct plan_group *p;

	if (!room_for((void **)&r->group, r->ngroup, sizeof(*p)))
		return;
	if (r->watch && r->watch->group)
		r->watch->group(r->watch->arg, g, why);
	p = &r->group[r->ngroup++];
	p->pattern = g->pattern;
	p->why = why;
	p->graph = r->number;
	p->first = r->first;
	p->stores = why ? 0 : dead_count(g);
	p->bytes = why ? 0 : dead_bytes(g);
	p->n = group_size(g);
	p->generated = g->row != NULL;
	p->late = legal_kernels(g) > 1;
	for (unsigned i = 0; i < p->n; i++)
		p->launch[i] = g->member[i]->launch.index;
}

void plan_add_graph(struct plan_result *r, int64_t number)
{
	r->number = number;
	r->first = r->launches;
	if (room_for((void **)&r->place, r->nplace, sizeof(*r->place)))
		r->place[r->nplace++] = (struct plan_place){number, r->launches};
}

uint64_t plan_first_node(const struct plan_result *r, int64_t number)
{
	for (size_t i = r->nplace; i-- > 0;)
		if (r->place[i].number == number)
			return r->place[i].first;
	return UINT64_MAX;
}

void plan_add_launch(struct plan_result *r, const struct launch *l, uint64_t thread,
		     const struct op *op, enum reason why)
{
	if (why)
		plan_add_unknown(r, l->kernel);
	else
		plan_add_known(r, l->kernel, op);
	if (r->watch && r->watch->launch)
		r->watch->launch(r->watch->arg, l, thread, op, why);
}

void plan_add_unknown(struct plan_result *r, const struct kernel *k)
{
	for (size_t i = 0; i < r->nunknown; i++)
		if (r->unknown[i].kernel == k) {
			r->unknown[i].launches++;
			return;
		}
	if (!room_for((void **)&r->unknown, r->nunknown, sizeof(*r->unknown)))
		return;
	r->unknown[r->nunknown++] = (struct plan_unknown){k, 1, k->decoder != NULL};
}

static int more_launches(const void *a, const void *b)
{
	const struct plan_unknown *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	return strcmp(x->kernel->name, y->kernel->name);
}

void plan_sort(struct plan_result *r)
{
	if (r->nunknown)
		qsort(r->unknown, r->nunknown, sizeof(*r->unknown), more_launches);
	plan_sort_known(r);
}

void plan_result_free(struct plan_result *r)
{
	free(r->group);
	free(r->unknown);
	free(r->known);
	free(r->place);
	memset(r, 0, sizeof(*r));
}
