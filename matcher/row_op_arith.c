// SPDX-License-Identifier: Apache-2.0
/* Sums, products, quotients, powers and the greater of two as statements, as picks spell them. */
#include "matcher/row_emit.h"

uint8_t emit_divide(struct emit *e, uint8_t a, uint8_t b)
{
	const enum dtype t = e->math;

	switch (e->pick->spelling.div) {
	case PICK_div_FAST:
		return emit2(e, ROW_DIV_FAST, t, a, b);
	case PICK_div_FULL:
		return emit2(e, ROW_DIV_FULL, t, a, b);
	case PICK_div_RCP:
		return emit2(e, ROW_MUL, t, a, emit1(e, ROW_RCP, t, b));
	case PICK_div_RCPFAST:
		return emit2(e, ROW_MUL, t, a, emit1(e, ROW_RCP_FAST, t, b));
	default:
		return emit2(e, ROW_DIV, t, a, b);
	}
}

uint8_t emit_product_sum(struct emit *e, uint8_t a, uint8_t b, uint8_t c)
{
	if (e->pick->spelling.contract == PICK_contract_YES && !row_op_integer(e->math))
		return emit3(e, ROW_FMA, e->math, a, b, c);
	return emit2(e, ROW_ADD, e->math, emit2(e, ROW_MUL, e->math, a, b), c);
}

uint8_t emit_call(struct emit *e, enum row_code usual, enum row_code fast, uint8_t x)
{
	return emit1(e, e->pick->spelling.fun == PICK_fun_FAST ? fast : usual, e->math, x);
}

uint8_t emit_extreme(struct emit *e, bool greater, uint8_t a, uint8_t b)
{
	const enum dtype t = e->math;

	switch (e->pick->spelling.extreme) {
	case PICK_extreme_NAN:
		return emit2(e, greater ? ROW_MAX_NAN : ROW_MIN_NAN, t, a, b);
	case PICK_extreme_GREATER:
		return emit3(e, ROW_SELECT, t,
			     emit2(e, ROW_LT, DT_bool, greater ? b : a, greater ? a : b), a, b);
	case PICK_extreme_LESS:
		return emit3(e, ROW_SELECT, t,
			     emit2(e, ROW_LT, DT_bool, greater ? a : b, greater ? b : a), b, a);
	default:
		return emit2(e, greater ? ROW_MAX : ROW_MIN, t, a, b);
	}
}

uint8_t emit_power(struct emit *e, uint8_t x)
{
	const enum dtype t = e->math;
	const double n = e->op->scalar[0];
	const bool fast = e->pick->spelling.fun == PICK_fun_FAST;
	const bool out = e->pick->spelling.power == PICK_power_MUL && e->op->nscalar &&
			 op_operand(e->op, ROLE_in0);

	if (out && n == 2)
		return emit2(e, ROW_MUL, t, x, x);
	if (out && n == 3) {
		uint8_t two = emit2(e, ROW_MUL, t, x, x);

		/* Where the arithmetic is in a small type, each product is rounded to it. */
		if (e->op->compute && e->op->compute != t)
			two = emit_cast(e, t, emit_cast(e, (enum dtype)e->op->compute, two));
		return emit2(e, ROW_MUL, t, two, x);
	}
	if (row_op_integer(t)) {
		emit_fail(e, REASON_SHAPE);
		return 0;
	}
	if (out && n == 0.5)
		return emit1(e, fast ? ROW_SQRT_FAST : ROW_SQRT, t, x);
	if (out && n == -1)
		return emit1(e, fast ? ROW_RCP_FAST : ROW_RCP, t, x);
	if (out && n == -0.5 && t == DT_f32)
		return emit1(e, ROW_RSQRT, t, x);
	return emit2(e, fast ? ROW_POW_FAST : ROW_POW, t, x, emit_in(e, ROLE_in1));
}

uint8_t emit_sum_of(struct emit *e)
{
	const struct op *op = e->op;
	const bool a = op_operand(op, ROLE_in0), b = op_operand(op, ROLE_in1);
	const enum row_code code = op->code == OP_add ? ROW_ADD : ROW_SUB;
	const double by = a && b && op->nscalar          ? op->scalar[0]
			  : !(a && b) && op->nscalar > 1 ? op->scalar[1]
							 : 1;

	if (by == 1)
		return emit2(e, code, e->math, emit_in(e, ROLE_in0), emit_in(e, ROLE_in1));
	/* Of a right side that is not there, and of differences, nothing says what is multiplied.
	 */
	if (code == ROW_SUB || !a)
		emit_fail(e, REASON_SHAPE);
	return emit_product_sum(e, emit_number(e, e->math, by), emit_in(e, ROLE_in1),
				emit_in(e, ROLE_in0));
}

uint8_t emit_scaled(struct emit *e)
{
	const uint8_t x = emit_in(e, ROLE_in0), by = emit_number(e, e->math, e->op->scalar[0]);

	if (e->op->nscalar < 1)
		emit_fail(e, REASON_SHAPE);
	if (e->op->nscalar < 2)
		return emit2(e, ROW_MUL, e->math, x, by);
	return emit_product_sum(e, x, by, emit_number(e, e->math, e->op->scalar[1]));
}

uint8_t emit_root(struct emit *e, uint8_t x)
{
	if (e->pick->spelling.root == PICK_root_RSQRT)
		return emit1(e, ROW_RSQRT, e->math, x);
	return emit1(e, ROW_RCP, e->math, emit1(e, ROW_SQRT, e->math, x));
}
