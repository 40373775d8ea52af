// SPDX-License-Identifier: Apache-2.0
/* Which spellings an op can have. Declared in row_pick.h. */
#include "matcher/row_emit.h"

bool row_pick_reduces(const struct op *op)
{
	return space_reduces(op->code) && op->code != OP_amax;
}

static bool narrow(const struct op *op)
{
	const struct operand *out = op_operand(op, ROLE_out);

	return out && dtype_bytes(out->dtype) < 4;
}

void row_pick_space(const struct op *op, uint16_t v[PICK_FIELDS])
{
	const enum dtype math = row_op_math(op);
	const bool f32 = math == DT_f32;
	const uint16_t div = f32 ? 1 << PICK_div_DIV | 1 << PICK_div_FAST | 1 << PICK_div_FULL |
					     1 << PICK_div_RCP | 1 << PICK_div_RCPFAST
				 : 1 << PICK_div_DIV | 1 << PICK_div_RCP,
		       two = 3, fun = f32 ? 3 : 1;

	for (unsigned i = 0; i < PICK_FIELDS; i++)
		v[i] = 1;
	if (!f32 && math != DT_f64) {
		if (op->code == OP_max || op->code == OP_min || op->code == OP_relu)
			v[PICK_FIELD_extreme] = 1;
		return;
	}
	v[PICK_FIELD_ftz] = fun;
	switch (op->code) {
	case OP_add:
	case OP_scale:
		v[PICK_FIELD_contract] = op->nscalar > 1 || op_operand(op, ROLE_in1) ? two : 1;
		if (op->code == OP_add && !op->nscalar)
			v[PICK_FIELD_contract] = 1;
		break;
	case OP_fma:
		v[PICK_FIELD_contract] = two;
		break;
	case OP_div:
		v[PICK_FIELD_div] = div;
		break;
	case OP_max:
	case OP_min:
		v[PICK_FIELD_extreme] = 15;
		break;
	case OP_relu: /* x > 0 ? x : 0 is fmaxf(x, 0) */
		v[PICK_FIELD_extreme] =
			1 << PICK_extreme_FMAX | 1 << PICK_extreme_NAN | 1 << PICK_extreme_LESS;
		break;
	case OP_neg:
	case OP_abs:
		v[PICK_FIELD_sign] = narrow(op) ? two : 1;
		break;
	case OP_copy:
	case OP_where:
	case OP_cat:
	case OP_fill:
		v[PICK_FIELD_ftz] = 1;
		break;
	case OP_pow:
		v[PICK_FIELD_power] = two;
		v[PICK_FIELD_fun] = fun;
		break;
	case OP_sqrt:
	case OP_log:
	case OP_sin:
	case OP_cos:
	case OP_tanh:
		v[PICK_FIELD_fun] = fun;
		break;
	case OP_rsqrt:
		v[PICK_FIELD_root] = f32 ? 1 << PICK_root_RSQRT | 1 << PICK_root_RCPSQRT
					 : 1 << PICK_root_RCPSQRT;
		break;
	case OP_exp:
		v[PICK_FIELD_exp] = fun;
		break;
	case OP_sigmoid:
		v[PICK_FIELD_exp] = fun;
		v[PICK_FIELD_div] = div & (uint16_t) ~(1 << PICK_div_RCP);
		break;
	case OP_silu:
		v[PICK_FIELD_exp] = fun;
		v[PICK_FIELD_div] = div;
		break;
	case OP_silu_mul:
		v[PICK_FIELD_exp] = fun;
		v[PICK_FIELD_div] = div;
		v[PICK_FIELD_round] = narrow(op) ? two : 1;
		break;
	case OP_gelu_tanh:
		v[PICK_FIELD_contract] = two;
		v[PICK_FIELD_fun] = fun;
		v[PICK_FIELD_cube] = v[PICK_FIELD_half] = 7;
		break;
	case OP_gelu_erf:
		v[PICK_FIELD_half] = 7;
		break;
	case OP_mean:
		if (!op->nscalar)
			v[PICK_FIELD_mean] = f32 ? 7 : 5;
		break;
	case OP_amax:
		v[PICK_FIELD_extreme] = 1 << PICK_extreme_FMAX | 1 << PICK_extreme_NAN;
		break;
	case OP_softmax:
		v[PICK_FIELD_exp] = fun;
		v[PICK_FIELD_div] = div;
		v[PICK_FIELD_extreme] = 1 << PICK_extreme_FMAX | 1 << PICK_extreme_NAN;
		break;
	case OP_layernorm:
		v[PICK_FIELD_variance] = f32 ? 7 : 3;
		v[PICK_FIELD_contract] = two;
		/* fall through */
	case OP_rmsnorm:
		v[PICK_FIELD_mean] = f32 ? 63 : 1 << PICK_mean_DIV | 1 << PICK_mean_MUL;
		v[PICK_FIELD_root] = f32 ? 15 : 1 << PICK_root_RCPSQRT | 1 << PICK_root_XDIV;
		if (op_operand(op, ROLE_rstd)) /* there is a scale to be stored */
			v[PICK_FIELD_root] &= 1 << PICK_root_RSQRT | 1 << PICK_root_RCPSQRT;
		v[PICK_FIELD_product] = op_operand(op, ROLE_weight) ? 7 : 1;
		v[PICK_FIELD_round] = narrow(op) ? 15 : 1;
		break;
	default:
		break;
	}
}
