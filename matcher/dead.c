// SPDX-License-Identifier: Apache-2.0
#include "matcher/dead.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/dead_search.h"

/* The member that writes the slot first; false if it is none. */
static bool find_first(struct dead_search *s, struct range r)
{
	const struct dead_question *q = s->q;

	for (unsigned i = 0; i < group_size(q->group); i++)
		if (dead_touches(&q->node[q->member[i]], ACCESS_WRITE, r)) {
			s->first = q->member[i];
			return true;
		}
	return false;
}

/* Could the host or another device know how far the nodes are that the proof leans on? */
static bool shows(const struct dead_search *s)
{
	const struct launch *mine = &s->q->node[s->first].launch;

	for (unsigned i = 0; i < s->q->dag->n; i++) {
		const struct graph_node *n = &s->q->node[i];

		if (!dead_decoded(n) || !dead_leaned_on(s, i))
			continue;
		for (unsigned k = 0; k < n->op.noperand; k++)
			if (n->op.operand[k].access & ACCESS_WRITE &&
			    s->q->memory(s->q->arg, operand_range(&n->op.operand[k]), mine))
				return true;
	}
	return false;
}

static bool proven(struct dead_search *s, const struct bound *b)
{
	dead_search(s, b, false);
	return !s->left.n && !shows(s);
}

/* Is what the node reads of these bytes written before, in the same launch of the graph? */
static bool reads_own(const struct dead_search *s, unsigned node, struct range r)
{
	const struct dead_question *q = s->q;
	struct graph_node one = q->node[node];

	for (unsigned i = 0; i < q->node[node].op.noperand; i++) {
		bool written = false;

		one.op.noperand = 1;
		one.op.operand[0] = q->node[node].op.operand[i];
		if (!dead_touches(&one, ACCESS_READ, r))
			continue;
		for (unsigned w = 0; w < q->dag->n && !written; w++)
			for (unsigned k = 0;
			     dead_decoded(&q->node[w]) && k < q->node[w].op.noperand && !written;
			     k++) {
				const struct operand *o = &q->node[w].op.operand[k];

				written = o->access & ACCESS_WRITE &&
					  operand_covers(o, operand_range(&one.op.operand[0])) &&
					  dag_before(q->dag, w, node);
			}
		if (!written)
			return false;
	}
	return true;
}

/* Does no decoded node read it, in this launch of the graph or the next one? */
static bool unread(struct dead_search *s, const struct bound *b)
{
	const struct dead_question *q = s->q;

	dead_search(s, b, true);
	for (unsigned p = 0; p < s->left.n; p++)
		for (unsigned i = 0; i < q->dag->n; i++)
			if (!dead_is_member(q, i) &&
			    dead_touches(&q->node[i], ACCESS_READ, s->left.r[p]) &&
			    (dead_may_see(s, i) || !reads_own(s, i, s->left.r[p])))
				return false;
	return true;
}

static bool is_dead(struct dead_search *s, unsigned slot, uint8_t *lean)
{
	const struct dead_question *q = s->q;
	const struct bound *b = &q->group->bound[slot];

	if (!find_first(s, bound_range(q->group, b)) ||
	    q->memory(q->arg, bound_range(q->group, b), &q->node[s->first].launch))
		return false;
	if (proven(s, b)) {
		for (unsigned i = 0; i < q->dag->n; i++)
			lean[i] |= dead_leaned_on(s, i);
		return true;
	}
	if (q->stores != STORES_ASSUME_DEAD || !(dead_assumed(q->group) >> slot & 1) ||
	    !unread(s, b))
		return false;
	for (unsigned i = 0; i < q->dag->n; i++)
		lean[i] |= dead_decoded(&q->node[i]) && !dead_is_member(q, i);
	return true;
}

int dead_stores(const struct dead_question *q, uint32_t *slots, uint8_t *lean)
{
	const struct group *g = q->group;
	struct dead_search s = {.q = q, .last = q->member[group_size(g) - 1]};
	int rc = -1;

	*slots = 0;
	memset(lean, 0, q->dag->n);
	if (q->stores == STORES_ALL)
		return 0;
	s.risky = calloc(q->dag->n, sizeof(*s.risky));
	s.killer = calloc(q->dag->n, sizeof(*s.killer));
	if (s.risky && s.killer) {
		for (unsigned i = 0; i < g->nbound; i++)
			if (g->pattern->unstored >> i & 1 && g->bound[i].use == BOUND_WRITE &&
			    is_dead(&s, i, lean))
				*slots |= 1u << i;
		rc = 0;
	}
	free(s.risky);
	free(s.killer);
	return rc;
}

uint32_t dead_assumed(const struct group *g)
{
	uint32_t slots = 0;

	for (unsigned i = 0; i < g->nbound; i++) {
		bool other = false;

		for (unsigned k = 0; k < g->nbound; k++)
			other |= k != i && range_overlap(bound_range(g, &g->bound[i]),
							 bound_range(g, &g->bound[k]));
		if (g->pattern->unstored >> i & 1 && g->bound[i].use == BOUND_WRITE && !other)
			slots |= 1u << i;
	}
	return slots;
}

void dead_apply(struct group *g, uint32_t slots)
{
	for (unsigned i = 0; i < g->nbound; i++)
		if (slots >> i & 1)
			g->bound[i].use = BOUND_DEAD;
	g->dropped = slots;
}

unsigned dead_count(const struct group *g)
{
	return (unsigned)__builtin_popcount(g->dropped);
}

uint64_t dead_bytes(const struct group *g)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < g->nbound; i++)
		if (g->dropped >> i & 1)
			bytes += (uint64_t)(g->rows * g->cols) *
				 dtype_bytes((enum dtype)g->bound[i].dtype);
	return bytes;
}
