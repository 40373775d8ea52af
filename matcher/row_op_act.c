// SPDX-License-Identifier: Apache-2.0
/* Activations as statements: what is made of exp, tanh and erf. */
#include <math.h>

#include "matcher/row_emit.h"

uint8_t emit_exponential(struct emit *e, uint8_t x)
{
	bool fast = e->pick->spelling.exp == PICK_exp_FAST;

	return emit1(e, fast ? ROW_EXP_FAST : ROW_EXP, e->math, x);
}

/* 1 + exp(-x) */
static uint8_t logistic(struct emit *e, uint8_t x)
{
	uint8_t t = emit_exponential(e, emit1(e, ROW_NEG, e->math, x));

	return emit2(e, ROW_ADD, e->math, emit_number(e, e->math, 1), t);
}

uint8_t emit_silu(struct emit *e, uint8_t x)
{
	return emit_divide(e, x, logistic(e, x));
}

uint8_t emit_sigmoid(struct emit *e, uint8_t x)
{
	const uint8_t d = logistic(e, x);

	if (e->pick->spelling.div == PICK_div_DIV)
		return emit1(e, ROW_RCP, e->math, d);
	if (e->pick->spelling.div == PICK_div_RCPFAST)
		return emit1(e, ROW_RCP_FAST, e->math, d);
	return emit_divide(e, emit_number(e, e->math, 1), d);
}

/* x/2 * (1 + t) */
static uint8_t half(struct emit *e, uint8_t x, uint8_t t)
{
	const uint8_t one = emit_number(e, e->math, 1), by = emit_number(e, e->math, 0.5);
	const enum row_code mul = ROW_MUL;

	t = emit2(e, ROW_ADD, e->math, one, t);
	if (e->pick->spelling.half == PICK_half_CDF)
		return emit2(e, mul, e->math, x, emit2(e, mul, e->math, by, t));
	if (e->pick->spelling.half == PICK_half_LAST)
		return emit2(e, mul, e->math, by, emit2(e, mul, e->math, x, t));
	return emit2(e, mul, e->math, emit2(e, mul, e->math, by, x), t);
}

uint8_t emit_gelu_tanh(struct emit *e, uint8_t x)
{
	const uint8_t k = emit_number(e, e->math, 0.79788456080286535588),
		      c = emit_number(e, e->math, 0.044715);
	const enum dtype t = e->math;
	uint8_t inner;

	if (e->pick->spelling.cube == PICK_cube_FACTOR) {
		inner = emit_product_sum(e, emit2(e, ROW_MUL, t, c, x), x, emit_number(e, t, 1));
		inner = emit2(e, ROW_MUL, t, emit2(e, ROW_MUL, t, k, x), inner);
	} else if (e->pick->spelling.cube == PICK_cube_LEFT) {
		inner = emit2(e, ROW_MUL, t, emit2(e, ROW_MUL, t, c, x), x);
		inner = emit2(e, ROW_MUL, t, k, emit_product_sum(e, inner, x, x));
	} else {
		inner = emit2(e, ROW_MUL, t, emit2(e, ROW_MUL, t, x, x), x);
		inner = emit2(e, ROW_MUL, t, k, emit_product_sum(e, c, inner, x));
	}
	return half(e, x, emit_call(e, ROW_TANH, ROW_TANH_FAST, inner));
}

uint8_t emit_gelu_erf(struct emit *e, uint8_t x)
{
	const enum dtype t = e->math;
	const uint8_t by = emit_number(e, t, M_SQRT1_2);

	return half(e, x, emit1(e, ROW_ERF, t, emit2(e, ROW_MUL, t, x, by)));
}

void emit_silu_mul(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	uint8_t act = emit_silu(e, emit_in(e, ROLE_in0));

	if (e->pick->spelling.round == PICK_round_FIRST)
		act = emit_cast(e, e->math, emit_cast(e, (enum dtype)out->dtype, act));
	emit_out(e, ROLE_out, emit2(e, ROW_MUL, e->math, act, emit_in(e, ROLE_in1)));
}
