// SPDX-License-Identifier: Apache-2.0
#include "matcher/legal.h"

#include "matcher/dead.h"
#include "matcher/row.h"

bool legal_cross(const struct op *held, const struct op *later, enum reason *why)
{
	*why = REASON_UNKNOWN_KERNEL;
	if (held->code == OP_opaque || later->code == OP_opaque)
		return false;
	for (unsigned i = 0; i < held->noperand; i++)
		for (unsigned j = 0; j < later->noperand; j++) {
			const struct operand *h = &held->operand[i], *l = &later->operand[j];

			if (!((h->access | l->access) & ACCESS_WRITE) || !operand_overlap(h, l))
				continue;
			*why = !(h->access & ACCESS_WRITE) ? REASON_INPUT_OVERWRITTEN
			       : l->access & ACCESS_WRITE  ? REASON_OUTPUT_OVERWRITTEN
							   : REASON_OUTPUT_READ;
			return false;
		}
	*why = REASON_UNPROVEN_KERNEL;
	return later->vetted;
}

static bool is_commutative(enum opcode code)
{
	return code == OP_add || code == OP_mul;
}

static bool meets(const struct operand *from, const struct op *op, uint8_t role)
{
	const struct operand *to = op_operand(op, (enum role)role);

	return from && to && operand_overlap(from, to);
}

/*
 * A join holds where the operand overlaps what the earlier node left. Whether it is exactly that
 * is for bind() to say, so that a mere part of it is reported as REASON_SHAPE.
 */
bool legal_joins(const struct pattern *p, const struct member *const *member, uint8_t node,
		 const struct op *op)
{
	for (unsigned i = 0; i < p->njoin; i++) {
		const struct join *j = &p->join[i];
		const struct operand *from;

		if (j->to != node)
			continue;
		from = op_operand(&member[j->from]->op, (enum role)j->from_role);
		if (meets(from, op, j->to_role))
			continue;
		if (!is_commutative(op->code) || j->to_role != ROLE_in0 ||
		    !meets(from, op, ROLE_in1))
			return false;
	}
	return true;
}

enum reason legal_group(struct group *g)
{
	const struct launch *first = &g->member[0]->launch;

	for (unsigned i = 0; i < group_size(g); i++) {
		const struct launch *l = &g->member[i]->launch;

		if (l->stream != first->stream || l->context != first->context ||
		    l->device != first->device)
			return REASON_DIFFERENT_STREAM;
		if (!LAUNCH_PLAIN(l->attrs) || l->priority != first->priority)
			return REASON_ATTRIBUTES;
	}
	return g->pattern->bind(g);
}

void legal_bytes(const struct group *g, uint64_t *unfused, uint64_t *fused)
{
	*unfused = *fused = 0;
	for (unsigned i = 0; i < group_size(g); i++)
		for (unsigned j = 0; j < g->member[i]->op.noperand; j++)
			*unfused += operand_bytes(&g->member[i]->op.operand[j]);
	if (g->row) {
		struct row_cost cost;
		struct row less;

		if (g->dropped && row_is_late(g->row)) { /* it may be one kernel now */
			row_copy(&less, g->row);
			dead_row(g, &less);
			row_cost(&less, &cost);
			*fused = cost.read + cost.written;
		} else {
			row_cost(g->row, &cost);
			*fused = cost.read + cost.written - dead_bytes(g);
		}
	}
	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];

		if (b->use & (BOUND_READ | BOUND_WRITE))
			*fused += (uint64_t)((b->pitch ? g->rows : 1) * g->cols) *
				  dtype_bytes((enum dtype)b->dtype);
	}
}

unsigned legal_kernels(const struct group *g)
{
	struct row less;

	if (!g->row || !row_is_late(g->row))
		return 1;
	row_copy(&less, g->row);
	if (g->dropped)
		dead_row(g, &less);
	return row_is_late(&less) ? 2 : 1;
}

bool legal_pays(const struct group *g)
{
	uint64_t unfused, fused;

	legal_bytes(g, &unfused, &fused);
	return fused < unfused || (fused == unfused && legal_kernels(g) < group_size(g));
}
