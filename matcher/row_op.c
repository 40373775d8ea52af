// SPDX-License-Identifier: Apache-2.0
/* Ops as statements of a row program, in every spelling of row_pick.def: which ops, and of what. */
#include "matcher/row_emit.h"

bool row_op_integer(enum dtype t)
{
	return t == DT_i64 || t == DT_i32 || t == DT_i16 || t == DT_i8 || t == DT_u8 ||
	       t == DT_bool;
}

enum dtype row_op_math(const struct op *op)
{
	enum dtype widest = DT_NONE;

	if (op->compute == DT_f64 || op->compute == DT_f32 || row_op_integer(op->compute))
		return (enum dtype)op->compute;
	if (op->compute)
		return DT_f32;
	for (unsigned i = 0; i < op->noperand; i++) {
		const enum dtype t = (enum dtype)op->operand[i].dtype;

		if (op->operand[i].role == ROLE_cond)
			continue;
		if (t == DT_f64)
			return t;
		if (!row_op_integer(t))
			widest = DT_f32;
		else if (!widest ||
			 (row_op_integer(widest) && dtype_bytes(t) > dtype_bytes(widest)) ||
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

/* A bool as the kernels read it, which is any byte but 0 for true; what others made is 0 or 1. */
uint8_t emit_raw(struct emit *e, enum role role)
{
	const struct operand *o = op_operand(e->op, role);
	uint8_t v;

	if (!o)
		emit_fail(e, REASON_SHAPE);
	v = e->why ? 0 : emit_read(e, o);
	if (!e->why && o->dtype == DT_bool && e->r->stmt[v].code == ROW_LOAD)
		v = emit1(e, ROW_CAST, DT_bool, v);
	return v;
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
		return emit_sum_of(e);
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
		return emit_scaled(e);
	case OP_max:
	case OP_min:
		return emit_extreme(e, e->op->code == OP_max, emit_in(e, ROLE_in0),
				    emit_in(e, ROLE_in1));
	case OP_relu:
		return emit_extreme(e, true, emit_in(e, ROLE_in0), emit_number(e, t, 0));
	case OP_pow:
		return emit_power(e, emit_in(e, ROLE_in0));
	case OP_square:
		return emit2(e, ROW_MUL, t, emit_in(e, ROLE_in0), emit_in(e, ROLE_in0));
	case OP_sqrt:
		return emit_call(e, ROW_SQRT, ROW_SQRT_FAST, emit_in(e, ROLE_in0));
	case OP_rsqrt:
		return emit_root(e, emit_in(e, ROLE_in0));
	case OP_exp:
		return emit_exponential(e, emit_in(e, ROLE_in0));
	case OP_log:
		return emit_call(e, ROW_LOG, ROW_LOG_FAST, emit_in(e, ROLE_in0));
	case OP_sin:
		return emit_call(e, ROW_SIN, ROW_SIN_FAST, emit_in(e, ROLE_in0));
	case OP_cos:
		return emit_call(e, ROW_COS, ROW_COS_FAST, emit_in(e, ROLE_in0));
	case OP_tanh:
		return emit_call(e, ROW_TANH, ROW_TANH_FAST, emit_in(e, ROLE_in0));
	case OP_erf:
		return emit1(e, ROW_ERF, t, emit_in(e, ROLE_in0));
	case OP_sigmoid:
		return emit_sigmoid(e, emit_in(e, ROLE_in0));
	case OP_silu:
		return emit_silu(e, emit_in(e, ROLE_in0));
	case OP_gelu_tanh:
		return emit_gelu_tanh(e, emit_in(e, ROLE_in0));
	case OP_gelu_erf:
		return emit_gelu_erf(e, emit_in(e, ROLE_in0));
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
