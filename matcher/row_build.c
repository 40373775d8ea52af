// SPDX-License-Identifier: Apache-2.0
#include "matcher/row_build.h"

#include <string.h>

#include "matcher/row_emit.h"

/* In a flat space every operand is one run, or one element. */
static bool fits_flat(const struct emit *e, const struct row_member *member, unsigned n)
{
	struct row_operand box;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < member[i].op->noperand; k++) {
			if (!space_operand(&e->space, e->r, i, &member[i].op->operand[k], &box))
				return false;
			if (box.most[0] ||
			    (box.stride[0] && box.stride[0] != dtype_bytes(box.dtype)))
				return false;
		}
	return true;
}

/* Takes next to no time, be it done in each row. */
static bool is_cheap(enum opcode code)
{
	switch (code) {
	case OP_copy:
	case OP_cat:
	case OP_add:
	case OP_sub:
	case OP_mul:
	case OP_scale:
	case OP_neg:
	case OP_abs:
	case OP_square:
	case OP_fill:
	case OP_where:
	case OP_equal:
	case OP_unequal:
	case OP_less:
	case OP_less_equal:
	case OP_bit_and:
	case OP_bit_or:
	case OP_bit_not:
		return true;
	default:
		return false;
	}
}

/* What would be done again in each row only if it is cheap: a weight and its 1 +, the one k for
 * many q. A table of cosines for all heads is left to a kernel of its own. */
static bool repeats_much(const struct space *s, const struct row_member *member, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!is_cheap(member[i].op->code) && space_repeats(s, i))
			return true;
	return false;
}

enum reason row_build(struct row *r, const struct row_member *member, unsigned n)
{
	enum reason why = row_build_roughly(r, member, n, true);

	if (r->nmember == n && (!why || why == REASON_OVERLAP))
		row_canon(r);
	return why;
}

enum reason row_build_roughly(struct row *r, const struct row_member *member, unsigned n, bool late)
{
	const struct op *op[ROW_MAX_MEMBERS];
	struct emit e = {.r = r, .all = member, .nall = n};
	enum reason why;

	if (!n || n > ROW_MAX_MEMBERS)
		return REASON_SHAPE;
	memset(r, 0, offsetof(struct row, stmt));
	for (unsigned i = 0; i < n; i++) {
		op[i] = member[i].op;
		if (!row_op_known(op[i]))
			return REASON_SHAPE;
	}
	if (!space_make(&e.space, r, op, n) || repeats_much(&e.space, member, n))
		return REASON_SHAPE;
	if (e.space.flat && !fits_flat(&e, member, n))
		space_unflatten(&e.space, r);
	for (unsigned i = 0; i < n && !e.why; i++) {
		e.op = op[i];
		e.pick = &member[i].pick;
		e.member = (uint8_t)i;
		e.math = row_op_math(op[i]);
		if (!e.math || (row_pick_reduces(op[i]) && !e.pick->order.threads))
			return REASON_SHAPE;
		emit_op(&e);
	}
	if (e.why) {
		r->nmember = 0;
		return e.why;
	}
	row_settle(r);
	r->nmember = (uint8_t)n;
	row_tidy(r);
	why = row_is_late(r) ? REASON_OVERLAP : row_check(r);
	return why == REASON_OVERLAP && late ? row_late(r) : why;
}
