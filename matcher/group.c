// SPDX-License-Identifier: Apache-2.0
/* What both kinds of groups have in common. */
#include "matcher/group.h"

#include "matcher/pattern.h"
#include "matcher/row.h"

_Static_assert(GROUP_MAX_SLOTS >= (int)ROW_MAX_OPERANDS, "a chain's operands are slots");
_Static_assert(GROUP_MAX_SLOTS >= (int)GROUP_MAX_OPERANDS, "a pattern's operands are slots");
_Static_assert((int)ROW_READ == BOUND_READ && (int)ROW_WRITE == BOUND_WRITE, "uses are one thing");

unsigned group_slots(const struct group *g, struct group_slot *slot)
{
	unsigned n = g->row ? g->row->noperand : g->nbound;

	for (unsigned i = 0; i < n; i++) {
		struct group_slot *s = &slot[i];

		if (g->row) {
			s->box = row_operand_box(g->row, &g->row->operand[i]);
			s->range = operand_range(&s->box);
			s->use = g->row->operand[i].use;
			if (g->dropped >> i & 1)
				s->use = (uint8_t)((s->use & ~BOUND_WRITE) | BOUND_DEAD);
		} else {
			s->box = bound_operand(g, &g->bound[i]);
			s->range = bound_range(g, &g->bound[i]);
			s->use = g->bound[i].use;
		}
	}
	return n;
}

unsigned group_surviving(const struct group *g)
{
	unsigned n = 0;

	for (unsigned i = 0; g->row && i < g->row->noperand; i++)
		n += (g->row->operand[i].use & ROW_WRITE) != 0; /* dropped ones, too */
	for (unsigned i = 0; !g->row && i < g->nbound; i++)
		n += (g->bound[i].use & BOUND_WRITE) != 0 || g->dropped >> i & 1;
	return n;
}

bool group_writes(const struct group *g, struct range r)
{
	for (unsigned i = 0; i < group_size(g); i++) {
		const struct op *op = &g->member[i]->op;

		for (unsigned k = 0; k < op->noperand; k++)
			if (op->operand[k].access & ACCESS_WRITE &&
			    range_overlap(operand_range(&op->operand[k]), r))
				return true;
	}
	return false;
}
