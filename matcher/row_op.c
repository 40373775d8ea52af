// SPDX-License-Identifier: Apache-2.0
/* Ops as statements of a row program, in every spelling of row_pick.def. */
#include <math.h>

#include "matcher/row_emit.h"
#include "matcher/sig_table.h"

static bool is_integer(enum dtype t)
{
	return t == DT_i64 || t == DT_i32 || t == DT_i16 || t == DT_i8 || t == DT_u8 ||
	       t == DT_bool;
}

enum dtype row_op_math(const struct op *op)
{
	enum dtype widest = DT_NONE;

	if (op->compute == DT_f64 || op->compute == DT_f32 || is_integer(op->compute))
		return (enum dtype)op->compute;
	if (op->compute)
		return DT_f32;
	for (unsigned i = 0; i < op->noperand; i++) {
		const enum dtype t = (enum dtype)op->operand[i].dtype;

		if (op->operand[i].role == ROLE_cond)
			continue;
		if (t == DT_f64)
			return t;
		if (!is_integer(t))
			widest = DT_f32;
		else if (!widest || (is_integer(widest) && dtype_bytes(t) > dtype_bytes(widest)) ||
			 widest == DT_bool)
			widest = t;
	}
	return widest;
}

uint64_t row_op_codes(void)
{
	/* Of rope nothing says which elements are a pair. */
	const uint64_t none = (uint64_t)1 << OP_opaque | (uint64_t)1 << OP_rope |
			      (uint64_t)1 << OP_arange | (uint64_t)1 << OP_gather |
			      (uint64_t)1 << OP_scatter | (uint64_t)1 << OP_touch,
		       all = UINT64_MAX >> (64 - (unsigned)OP_COUNT);

	return all & ~none;
}

bool row_op_known(const struct op *op)
{
	if (!(row_op_codes() >> op->code & 1))
		return false;
	switch (op->code) {
	case OP_silu_mul: /* nor where the halves of a row are */
		return op_operand(op, ROLE_in1) && op_operand(op, ROLE_out);
	case OP_rmsnorm:
	case OP_layernorm:
		return op->has_eps && op_operand(op, ROLE_out);
	default:
		return op_operand(op, ROLE_out);
	}
}

uint8_t emit_raw(struct emit *e, enum role role)
{
	const struct operand *o = op_operand(e->op, role);

	if (!o)
		emit_fail(e, REASON_SHAPE);
	return e->why ? 0 : emit_read(e, o);
}

/* An operand in the type that the op computes in; the number that stands for it where it is not
 * there. */
uint8_t emit_in(struct emit *e, enum role role)
{
	const struct op *op = e->op;
	double v = op->scalar[0];

	if (op_operand(op, role))
		return emit_cast(e, e->math, emit_raw(e, role));
	if (role == ROLE_in1 && op->code == OP_where && !op_operand(op, ROLE_in0))
		v = op->scalar[1];
	else if (op->nscalar < 1)
		emit_fail(e, REASON_SHAPE);
	return emit_number(e, e->math, v);
}

void emit_out(struct emit *e, enum role role, uint8_t value)
{
	const struct operand *o = op_operand(e->op, role);

	if (!o)
		emit_fail(e, REASON_SHAPE);
	if (!e->why)
		emit_write(e, o, emit_cast(e, (enum dtype)o->dtype, value));
}

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

/* a * b + c, one operation or two. */
uint8_t emit_product_sum(struct emit *e, uint8_t a, uint8_t b, uint8_t c)
{
	if (e->pick->spelling.contract == PICK_contract_YES && !is_integer(e->math))
		return emit3(e, ROW_FMA, e->math, a, b, c);
	return emit2(e, ROW_ADD, e->math, emit2(e, ROW_MUL, e->math, a, b), c);
}

static uint8_t exponential(struct emit *e, uint8_t x)
{
	bool fast = e->pick->spelling.exp == PICK_exp_FAST;

	return emit1(e, fast ? ROW_EXP_FAST : ROW_EXP, e->math, x);
}

static uint8_t call(struct emit *e, enum row_code usual, enum row_code fast, uint8_t x)
{
	return emit1(e, e->pick->spelling.fun == PICK_fun_FAST ? fast : usual, e->math, x);
}

/* 1 + exp(-x) */
static uint8_t logistic(struct emit *e, uint8_t x)
{
	uint8_t t = exponential(e, emit1(e, ROW_NEG, e->math, x));

	return emit2(e, ROW_ADD, e->math, emit_number(e, e->math, 1), t);
}

static uint8_t silu(struct emit *e, uint8_t x)
{
	return emit_divide(e, x, logistic(e, x));
}

/* The greater, or the smaller, of two. */
static uint8_t extreme(struct emit *e, bool greater, uint8_t a, uint8_t b)
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

static uint8_t gelu_tanh(struct emit *e, uint8_t x)
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
	return half(e, x, call(e, ROW_TANH, ROW_TANH_FAST, inner));
}

static uint8_t power(struct emit *e, uint8_t x)
{
	const enum dtype t = e->math;
	const double n = e->op->scalar[0];
	const bool fast = e->pick->spelling.fun == PICK_fun_FAST;
	const bool out = e->pick->spelling.power == PICK_power_MUL && e->op->nscalar &&
			 op_operand(e->op, ROLE_in0);

	if (out && n == 2)
		return emit2(e, ROW_MUL, t, x, x);
	if (out && n == 3)
		return emit2(e, ROW_MUL, t, emit2(e, ROW_MUL, t, x, x), x);
	if (is_integer(t)) {
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

/* out = in0 + scalar0 * in1, and its forms with one operand; likewise with minus. */
static uint8_t sum_of(struct emit *e)
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

static uint8_t scaled(struct emit *e)
{
	const uint8_t x = emit_in(e, ROLE_in0), by = emit_number(e, e->math, e->op->scalar[0]);

	if (e->op->nscalar < 1)
		emit_fail(e, REASON_SHAPE);
	if (e->op->nscalar < 2)
		return emit2(e, ROW_MUL, e->math, x, by);
	return emit_product_sum(e, x, by, emit_number(e, e->math, e->op->scalar[1]));
}

static uint8_t root(struct emit *e, uint8_t x)
{
	if (e->pick->spelling.root == PICK_root_RSQRT)
		return emit1(e, ROW_RSQRT, e->math, x);
	return emit1(e, ROW_RCP, e->math, emit1(e, ROW_SQRT, e->math, x));
}

/* 1 / (1 + exp(-x)): a division of 1 is a reciprocal. */
static uint8_t sigmoid(struct emit *e, uint8_t x)
{
	const uint8_t d = logistic(e, x);

	if (e->pick->spelling.div == PICK_div_DIV)
		return emit1(e, ROW_RCP, e->math, d);
	if (e->pick->spelling.div == PICK_div_RCPFAST)
		return emit1(e, ROW_RCP_FAST, e->math, d);
	return emit_divide(e, emit_number(e, e->math, 1), d);
}

/* An operand that is chosen, not computed with: as it is where the types allow it. */
static uint8_t chosen(struct emit *e, enum role role, enum dtype out)
{
	const struct operand *o = op_operand(e->op, role);

	if (o && o->dtype == out)
		return emit_raw(e, role);
	return emit_cast(e, out, emit_in(e, role));
}

static uint8_t truth(struct emit *e, uint8_t v)
{
	return emit_cast(e, DT_bool, v);
}

static void emit_where(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	const enum dtype t = (enum dtype)out->dtype;
	const uint8_t cond = truth(e, emit_raw(e, ROLE_cond));

	emit_write(e, out,
		   emit3(e, ROW_SELECT, t, cond, chosen(e, ROLE_in0, t), chosen(e, ROLE_in1, t)));
}

static void emit_copy(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);

	emit_write(e, out, emit_cast(e, (enum dtype)out->dtype, emit_raw(e, ROLE_in0)));
}

/* neg and abs: of a 16-bit number also in its bits. */
static void emit_sign(struct emit *e, enum row_code code)
{
	const struct operand *out = op_operand(e->op, ROLE_out), *in = op_operand(e->op, ROLE_in0);

	if (in && in->dtype == out->dtype && e->pick->spelling.sign == PICK_sign_BITS)
		emit_write(e, out, emit1(e, code, (enum dtype)in->dtype, emit_raw(e, ROLE_in0)));
	else
		emit_out(e, ROLE_out, emit1(e, code, e->math, emit_in(e, ROLE_in0)));
}

/*
 * What is only moved has any type of its size in the op that moves it; here it has the one that
 * another member takes it for.
 */
static enum dtype moved_type(const struct emit *e)
{
	const struct op *op = e->op;

	for (unsigned i = 0; i < op->noperand; i++)
		for (unsigned m = 0; m < e->nall; m++)
			for (unsigned k = 0; k < e->all[m].op->noperand; k++) {
				const struct operand *mine = &op->operand[i],
						     *o = &e->all[m].op->operand[k];

				if (o->addr == mine->addr && o->dtype != mine->dtype &&
				    dtype_bytes(o->dtype) == dtype_bytes(mine->dtype))
					return (enum dtype)o->dtype;
			}
	return (enum dtype)op->operand[0].dtype;
}

static struct operand moved(const struct operand *o, enum dtype t)
{
	struct operand as = *o;

	as.dtype = (uint8_t)t;
	return as;
}

/* One behind the other along the last dimension. */
static void emit_cat(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	static const enum role role[] = {ROLE_in0, ROLE_in1, ROLE_in2};
	const enum dtype t = moved_type(e);
	struct operand as;
	int64_t at = 0;
	uint8_t all = 0;

	for (unsigned i = 0; i < 3; i++) {
		const struct operand *o = op_operand(e->op, role[i]);
		uint8_t v;

		if (!o)
			continue;
		if (o->dtype != out->dtype)
			emit_fail(e, REASON_SHAPE);
		as = moved(o, t);
		v = emit_read(e, &as);
		if (at && !e->why)
			v = emit_shift(e, ROW_SHIFT, t, v, ROW_NONE, -at);
		all = at ? emit_shift(e, ROW_CAT, t, all, v, at) : v;
		at += o->size[o->ndim - 1];
	}
	if (at != out->size[out->ndim - 1])
		emit_fail(e, REASON_SHAPE);
	as = moved(out, t);
	emit_write(e, &as, all);
}

static void emit_silu_mul(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	uint8_t act = silu(e, emit_in(e, ROLE_in0));

	if (e->pick->spelling.round == PICK_round_FIRST)
		act = emit_cast(e, e->math, emit_cast(e, (enum dtype)out->dtype, act));
	emit_out(e, ROLE_out, emit2(e, ROW_MUL, e->math, act, emit_in(e, ROLE_in1)));
}

static uint8_t compared(struct emit *e, enum row_code code)
{
	return emit2(e, code, DT_bool, emit_in(e, ROLE_in0), emit_in(e, ROLE_in1));
}

static uint8_t binary(struct emit *e, enum row_code code)
{
	return emit2(e, code, e->math, emit_in(e, ROLE_in0), emit_in(e, ROLE_in1));
}

/* What has one value for its out. */
static uint8_t value_of(struct emit *e)
{
	const enum dtype t = e->math;

	switch (e->op->code) {
	case OP_add:
	case OP_sub:
		return sum_of(e);
	case OP_mul:
		return binary(e, ROW_MUL);
	case OP_div:
		return emit_divide(e, emit_in(e, ROLE_in0), emit_in(e, ROLE_in1));
	case OP_fma:
		return emit_product_sum(e, emit_in(e, ROLE_in0), emit_in(e, ROLE_in1),
					emit_in(e, ROLE_in2));
	case OP_bias_add:
		return emit2(e, ROW_ADD, t, emit_in(e, ROLE_in0), emit_in(e, ROLE_bias));
	case OP_scale:
		return scaled(e);
	case OP_max:
	case OP_min:
		return extreme(e, e->op->code == OP_max, emit_in(e, ROLE_in0),
			       emit_in(e, ROLE_in1));
	case OP_relu:
		return extreme(e, true, emit_in(e, ROLE_in0), emit_number(e, t, 0));
	case OP_pow:
		return power(e, emit_in(e, ROLE_in0));
	case OP_square:
		return emit2(e, ROW_MUL, t, emit_in(e, ROLE_in0), emit_in(e, ROLE_in0));
	case OP_sqrt:
		return call(e, ROW_SQRT, ROW_SQRT_FAST, emit_in(e, ROLE_in0));
	case OP_rsqrt:
		return root(e, emit_in(e, ROLE_in0));
	case OP_exp:
		return exponential(e, emit_in(e, ROLE_in0));
	case OP_log:
		return call(e, ROW_LOG, ROW_LOG_FAST, emit_in(e, ROLE_in0));
	case OP_sin:
		return call(e, ROW_SIN, ROW_SIN_FAST, emit_in(e, ROLE_in0));
	case OP_cos:
		return call(e, ROW_COS, ROW_COS_FAST, emit_in(e, ROLE_in0));
	case OP_tanh:
		return call(e, ROW_TANH, ROW_TANH_FAST, emit_in(e, ROLE_in0));
	case OP_erf:
		return emit1(e, ROW_ERF, t, emit_in(e, ROLE_in0));
	case OP_sigmoid:
		return sigmoid(e, emit_in(e, ROLE_in0));
	case OP_silu:
		return silu(e, emit_in(e, ROLE_in0));
	case OP_gelu_tanh:
		return gelu_tanh(e, emit_in(e, ROLE_in0));
	case OP_gelu_erf: {
		const uint8_t x = emit_in(e, ROLE_in0), by = emit_number(e, t, M_SQRT1_2);

		return half(e, x, emit1(e, ROW_ERF, t, emit2(e, ROW_MUL, t, x, by)));
	}
	case OP_equal:
		return compared(e, ROW_EQ);
	case OP_unequal:
		return compared(e, ROW_NE);
	case OP_less:
		return compared(e, ROW_LT);
	case OP_less_equal:
		return compared(e, ROW_LE);
	case OP_bit_and:
		return binary(e, ROW_AND);
	case OP_bit_or:
		return binary(e, ROW_OR);
	case OP_bit_not:
		return emit1(e, ROW_NOT, t, emit_in(e, ROLE_in0));
	case OP_fill:
		if (e->op->nscalar < 1)
			emit_fail(e, REASON_SHAPE);
		return emit_number(e, t, e->op->scalar[0]);
	default:
		emit_fail(e, REASON_SHAPE);
		return 0;
	}
}

void emit_op(struct emit *e)
{
	switch (e->op->code) {
	case OP_copy:
		emit_copy(e);
		return;
	case OP_neg:
		emit_sign(e, ROW_NEG);
		return;
	case OP_abs:
		emit_sign(e, ROW_ABS);
		return;
	case OP_where:
		emit_where(e);
		return;
	case OP_cat:
		emit_cat(e);
		return;
	case OP_silu_mul:
		emit_silu_mul(e);
		return;
	case OP_rmsnorm:
		emit_rmsnorm(e);
		return;
	case OP_layernorm:
		emit_layernorm(e);
		return;
	case OP_softmax:
		emit_softmax(e);
		return;
	case OP_sum:
	case OP_mean:
	case OP_amax:
		emit_sum(e);
		return;
	default:
		emit_out(e, ROLE_out, value_of(e));
	}
}
