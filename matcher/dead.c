// SPDX-License-Identifier: Apache-2.0
#include "matcher/dead.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/dead_search.h"
#include "matcher/pattern.h"
#include "matcher/row.h"

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
	unsigned first, last;

	dead_span(s, &first, &last);
	for (unsigned k = first; k < last; k++) {
		const unsigned i = s->q->dag->order[k];
		const struct graph_node *n = &s->q->node[i];

		if (!dead_decoded(n) || !dead_leaned_on(s, i))
			continue;
		for (unsigned o = 0; o < n->op.noperand; o++)
			if (n->op.operand[o].access & ACCESS_WRITE &&
			    s->q->memory(s->q->arg, operand_range(&n->op.operand[o]), mine))
				return true;
	}
	return false;
}

static bool proven(struct dead_search *s, const struct operand *slot)
{
	dead_search(s, slot, false);
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
static bool unread(struct dead_search *s, const struct operand *slot)
{
	const struct dead_question *q = s->q;

	dead_search(s, slot, true);
	for (unsigned p = 0; p < s->left.n; p++)
		for (unsigned i = 0; i < q->dag->n; i++)
			if (!dead_is_member(q, i) &&
			    dead_touches(&q->node[i], ACCESS_READ, s->left.r[p]) &&
			    (dead_may_see(s, i) || !reads_own(s, i, s->left.r[p])))
				return false;
	return true;
}

/* The member of a chain that stores the operand, where it is stored at all; -1. */
static int storer(const struct row *r, unsigned operand)
{
	for (unsigned i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_STORE && r->stmt[i].at == operand &&
		    !(r->stmt[i].flags & ROW_DEAD))
			return r->stmt[i].member;
	return -1;
}

/* The slots that a kernel can leave out. */
static uint32_t droppable(const struct group *g)
{
	const unsigned n = g->row ? g->row->noperand : g->nbound;
	uint32_t slots = 0;

	for (unsigned i = 0; i < n; i++) {
		const bool can =
			g->row ? (unsigned)storer(g->row, i) < group_size(g) - 1
			       : g->pattern->unstored >> i & 1 && g->bound[i].use == BOUND_WRITE;

		slots |= (uint32_t)can << i;
	}
	return slots & ~g->dropped;
}

/* What the group stores of a slot. */
static struct operand stored(const struct group *g, unsigned slot)
{
	const struct row_operand *o = g->row ? &g->row->operand[slot] : NULL;
	struct operand box;

	if (!o)
		return bound_operand(g, &g->bound[slot]);
	if (row_operand_kept_whole(o))
		return row_operand_box(g->row, o);
	operand_dense(&box, ROLE_NONE, ACCESS_WRITE, DT_u8, o->keep.lo, 0,
		      (int64_t)(o->keep.hi - o->keep.lo));
	return box;
}

static bool is_dead(struct dead_search *s, unsigned slot, uint8_t *lean)
{
	const struct dead_question *q = s->q;
	const struct operand box = stored(q->group, slot);

	if (!find_first(s, operand_range(&box)) ||
	    q->memory(q->arg, operand_range(&box), &q->node[s->first].launch))
		return false;
	if (proven(s, &box)) {
		unsigned first, last;

		dead_span(s, &first, &last);
		for (unsigned k = first; k < last; k++)
			lean[q->dag->order[k]] |= dead_leaned_on(s, q->dag->order[k]);
		return true;
	}
	if (q->stores != STORES_ASSUME_DEAD || !(dead_assumed(q->group) >> slot & 1) ||
	    !unread(s, &box))
		return false;
	for (unsigned i = 0; i < q->dag->n; i++)
		lean[i] |= dead_decoded(&q->node[i]) && !dead_is_member(q, i);
	return true;
}

/* Can a chain that takes two kernels do so without these stores? What the second takes from where
 * the first stored cannot always be had otherwise. */
static bool may_go(const struct group *g, uint32_t slots)
{
	struct row less, first, second;
	struct group without = *g;

	without.dropped = slots;
	row_copy(&less, g->row);
	dead_row(&without, &less);
	return !row_is_late(&less) || !row_split_roughly(&less, &first, &second);
}

/* Of these slots, those that can go together. */
static uint32_t going(const struct group *g, uint32_t slots)
{
	uint32_t can = 0;

	if (!slots || !g->row || !row_is_late(g->row) || may_go(g, slots))
		return slots;
	for (uint32_t left = slots; left; left &= left - 1)
		if (may_go(g, can | (left & -left)))
			can |= left & -left;
	return can;
}

int dead_stores(const struct dead_question *q, uint32_t *slots, uint8_t *lean)
{
	const uint32_t can = q->stores == STORES_ALL ? 0 : droppable(q->group);
	struct dead_search s = {.q = q, .last = q->member[group_size(q->group) - 1]};
	int rc = -1;

	*slots = 0;
	memset(lean, 0, q->dag->n);
	if (!can)
		return 0;
	s.risky = calloc(q->dag->n, sizeof(*s.risky));
	s.killer = calloc(q->dag->n, sizeof(*s.killer));
	if (s.risky && s.killer) {
		for (uint32_t left = can; left; left &= left - 1)
			if (is_dead(&s, (unsigned)__builtin_ctz(left), lean))
				*slots |= left & -left;
		*slots = going(q->group, *slots);
		rc = 0;
	}
	free(s.risky);
	free(s.killer);
	return rc;
}

/* Does a later member of the chain read what one stores there? */
static bool handed_on(const struct group *g, unsigned slot)
{
	const struct operand box = stored(g, slot);

	for (unsigned m = (unsigned)storer(g->row, slot) + 1; m < group_size(g); m++) {
		const struct op *op = &g->member[m]->op;

		for (unsigned k = 0; k < op->noperand; k++)
			if (op->operand[k].access & ACCESS_READ &&
			    operand_overlap(&op->operand[k], &box))
				return true;
	}
	return false;
}

uint32_t dead_assumed(const struct group *g)
{
	const uint32_t can = droppable(g);
	struct group_slot slot[GROUP_MAX_SLOTS];
	const unsigned n = can ? group_slots(g, slot) : 0;
	uint32_t slots = 0;

	for (unsigned i = 0; i < n; i++) {
		bool other = !(can >> i & 1) || slot[i].use != BOUND_WRITE;

		for (unsigned k = 0; k < n && !other; k++)
			other = k != i && range_overlap(slot[i].range, slot[k].range);
		if (!other && (!g->row || handed_on(g, i)))
			slots |= 1u << i;
	}
	return going(g, slots);
}

void dead_apply(struct group *g, uint32_t slots)
{
	for (unsigned i = 0; i < g->nbound; i++)
		if (slots >> i & 1)
			g->bound[i].use = BOUND_DEAD;
	g->dropped = slots;
}

static bool same_part(const struct row_operand *a, const struct row_operand *b)
{
	bool same = a->addr == b->addr && a->dtype == b->dtype && a->step == b->step &&
		    a->width == b->width && !memcmp(a->stride, b->stride, sizeof(a->stride)) &&
		    !memcmp(a->most, b->most, sizeof(a->most)) && a->keep.lo == b->keep.lo &&
		    a->keep.hi == b->keep.hi && a->nhole == b->nhole;

	for (unsigned i = 0; same && i < a->nhole; i++)
		same = a->hole[i].lo == b->hole[i].lo && a->hole[i].hi == b->hole[i].hi;
	return same;
}

void dead_row(const struct group *g, struct row *r)
{
	for (unsigned i = 0; i < g->row->noperand; i++)
		for (unsigned k = 0; k < r->nstmt && g->dropped >> i & 1; k++)
			if (r->stmt[k].code == ROW_STORE &&
			    same_part(&r->operand[r->stmt[k].at], &g->row->operand[i]))
				r->stmt[k].flags |= ROW_DEAD;
	row_canon(r);
	row_hurry(r);
}

unsigned dead_count(const struct group *g)
{
	return (unsigned)__builtin_popcount(g->dropped);
}

uint64_t dead_bytes(const struct group *g)
{
	uint64_t bytes = 0;

	for (uint32_t left = g->dropped; left; left &= left - 1) {
		const struct operand box = stored(g, (unsigned)__builtin_ctz(left));

		bytes += operand_bytes(&box);
	}
	return bytes;
}
