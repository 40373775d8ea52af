// SPDX-License-Identifier: Apache-2.0
/* Ops with reductions as statements of a row program. */
#include "matcher/row_emit.h"

static uint8_t mul(struct emit *e, uint8_t a, uint8_t b)
{
	return emit2(e, ROW_MUL, e->math, a, b);
}

static uint8_t with_eps(struct emit *e, uint8_t v, const double *eps)
{
	return eps ? emit2(e, ROW_ADD, e->math, v, emit_number(e, e->math, *eps)) : v;
}

uint8_t emit_mean(struct emit *e, uint8_t sum, int64_t n, const double *eps)
{
	const enum dtype t = e->math;
	const uint8_t count = emit_number(e, t, (double)n),
		      part = emit_number(e, t, t == DT_f32 ? 1.0f / (float)n : 1.0 / (double)n);

	switch (e->pick->spelling.mean) {
	case PICK_mean_DIVFAST:
		return with_eps(e, emit2(e, ROW_DIV_FAST, t, sum, count), eps);
	case PICK_mean_MUL:
		return with_eps(e, mul(e, sum, part), eps);
	case PICK_mean_FMA:
		return eps ? emit3(e, ROW_FMA, t, sum, part, emit_number(e, t, *eps))
			   : mul(e, sum, part);
	case PICK_mean_FMAFAST: {
		const uint8_t fast = emit2(e, ROW_DIV_FAST, t, emit_number(e, t, 1), count);

		return eps ? emit3(e, ROW_FMA, t, sum, fast, emit_number(e, t, *eps))
			   : mul(e, sum, fast);
	}
	case PICK_mean_AFTER:
		return emit2(e, ROW_DIV, t, with_eps(e, sum, eps), count);
	default:
		return with_eps(e, emit2(e, ROW_DIV, t, sum, count), eps);
	}
}

/* Rounded to the type that is stored, if the pick says so of that place. */
static uint8_t narrowed(struct emit *e, uint16_t place, uint8_t v)
{
	const struct operand *out = op_operand(e->op, ROLE_out);

	if (!(e->pick->spelling.round & place))
		return v;
	return emit_cast(e, e->math, emit_cast(e, (enum dtype)out->dtype, v));
}

/* The scale of a row from its mean square, or its divisor where the pick divides. */
static uint8_t scale_of(struct emit *e, uint8_t y)
{
	const enum dtype t = e->math;

	switch (e->pick->spelling.root) {
	case PICK_root_RCPSQRT:
		return emit1(e, ROW_RCP, t, emit1(e, ROW_SQRT, t, y));
	case PICK_root_XDIV:
		return emit1(e, ROW_SQRT, t, y);
	case PICK_root_XDIVFAST:
		return emit1(e, ROW_SQRT_FAST, t, y);
	default:
		return emit1(e, ROW_RSQRT, t, y);
	}
}

/* x, scaled by s, times w; w is ROW_NONE where there is none. */
static uint8_t scaled(struct emit *e, uint8_t x, uint8_t s, uint8_t w)
{
	const struct row_spelling *how = &e->pick->spelling;
	const uint16_t product = w == ROW_NONE ? PICK_product_XS_W : how->product;
	uint8_t by = x, first;

	if (product == PICK_product_X_SW)
		by = w;
	if (product == PICK_product_XW_S)
		by = narrowed(e, PICK_round_FIRST, mul(e, x, w));
	if (how->root == PICK_root_XDIV)
		first = emit2(e, ROW_DIV, e->math, by, s);
	else if (how->root == PICK_root_XDIVFAST)
		first = emit2(e, ROW_DIV_FAST, e->math, by, s);
	else
		first = mul(e, by, s);
	if (w == ROW_NONE || product == PICK_product_XW_S)
		return first;
	first = narrowed(e, PICK_round_FIRST, first);
	return mul(e, first, product == PICK_product_XS_W ? w : x);
}

static uint8_t weight_of(struct emit *e)
{
	uint8_t w;

	if (!op_operand(e->op, ROLE_weight))
		return ROW_NONE;
	w = emit_in(e, ROLE_weight);
	return e->op->plus_one ? emit2(e, ROW_ADD, e->math, emit_number(e, e->math, 1), w) : w;
}

void emit_rmsnorm(struct emit *e)
{
	const struct operand *copy = op_operand(e->op, ROLE_copy);
	const uint8_t raw = emit_raw(e, ROLE_in0), x = emit_cast(e, e->math, raw), w = weight_of(e),
		      ss = emit_reduce(e, ROW_DOT, x, x);
	const uint8_t s = narrowed(e, PICK_round_SCALE,
				   scale_of(e, emit_mean(e, ss, e->op->cols, &e->op->eps)));

	if (copy)
		emit_write(e, copy, emit_cast(e, (enum dtype)copy->dtype, raw));
	emit_out(e, ROLE_out, scaled(e, x, s, w));
}

/* The variance plus eps; *mean, too. */
static uint8_t variance(struct emit *e, uint8_t x, uint8_t *mean)
{
	const enum dtype t = e->math;
	const int64_t n = e->op->cols;
	uint8_t d, ss;

	if (e->pick->spelling.variance == PICK_variance_WELFORD) {
		*mean = emit_reduce(e, ROW_WELFORD, x, ROW_NONE);
		return emit_mean(e, emit_reduce(e, ROW_WELFORD_M2, *mean, ROW_NONE), n,
				 &e->op->eps);
	}
	*mean = emit_mean(e, emit_reduce(e, ROW_SUM, x, ROW_NONE), n, NULL);
	if (e->pick->spelling.variance == PICK_variance_TWOPASS) {
		d = emit2(e, ROW_SUB, t, x, *mean);
		return emit_mean(e, emit_reduce(e, ROW_DOT, d, d), n, &e->op->eps);
	}
	ss = emit_mean(e, emit_reduce(e, ROW_DOT, x, x), n, NULL);
	if (e->pick->spelling.contract == PICK_contract_YES)
		ss = emit3(e, ROW_FMA, t, emit1(e, ROW_NEG, t, *mean), *mean, ss);
	else
		ss = emit2(e, ROW_SUB, t, ss, mul(e, *mean, *mean));
	return with_eps(e, ss, &e->op->eps);
}

void emit_layernorm(struct emit *e)
{
	const uint8_t x = emit_in(e, ROLE_in0), w = weight_of(e);
	uint8_t mean, s, y;

	s = narrowed(e, PICK_round_SCALE, scale_of(e, variance(e, x, &mean)));
	y = scaled(e, emit2(e, ROW_SUB, e->math, x, mean), s, w);
	if (op_operand(e->op, ROLE_bias)) {
		const uint8_t b = emit_in(e, ROLE_bias);
		const struct row_stmt *last = &e->r->stmt[y];

		/* The last product and the addition may be one operation. */
		if (!e->why && last->code == ROW_MUL)
			y = emit_product_sum(e, last->arg[0], last->arg[1], b);
		else
			y = emit2(e, ROW_ADD, e->math, y, b);
	}
	if (op_operand(e->op, ROLE_mean))
		emit_out(e, ROLE_mean, mean);
	if (op_operand(e->op, ROLE_rstd))
		emit_out(e, ROLE_rstd, s);
	emit_out(e, ROLE_out, y);
}

static enum row_code greatest(const struct emit *e)
{
	return e->pick->spelling.extreme == PICK_extreme_NAN ? ROW_ROWMAX_NAN : ROW_ROWMAX;
}

void emit_softmax(struct emit *e)
{
	const enum dtype t = e->math;
	const uint8_t x = emit_in(e, ROLE_in0), max = emit_reduce(e, greatest(e), x, ROW_NONE);
	const bool fast = e->pick->spelling.exp == PICK_exp_FAST;
	const uint8_t up = emit1(e, fast ? ROW_EXP_FAST : ROW_EXP, t, emit2(e, ROW_SUB, t, x, max));

	emit_out(e, ROLE_out, emit_divide(e, up, emit_reduce(e, ROW_SUM, up, ROW_NONE)));
}

void emit_sum(struct emit *e)
{
	const uint8_t x = emit_in(e, ROLE_in0);
	uint8_t v;

	if (e->op->code == OP_amax) {
		emit_out(e, ROLE_out, emit_reduce(e, greatest(e), x, ROW_NONE));
		return;
	}
	v = emit_reduce(e, ROW_SUM, x, ROW_NONE);
	if (e->op->code == OP_mean)
		v = e->op->nscalar ? mul(e, v, emit_number(e, e->math, e->op->scalar[0]))
				   : emit_mean(e, v, e->op->cols, NULL);
	emit_out(e, ROLE_out, v);
}
