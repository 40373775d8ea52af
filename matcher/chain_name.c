// SPDX-License-Identifier: Apache-2.0
#include "matcher/chain_name.h"

#define HAS(code) (codes >> OP_##code & 1)

static bool reads(const struct op *later, const struct op *earlier)
{
	const struct operand *out = op_operand(earlier, ROLE_out);

	for (unsigned i = 0; out && i < later->noperand; i++)
		if (later->operand[i].access & ACCESS_READ &&
		    operand_overlap(&later->operand[i], out))
			return true;
	return false;
}

/* Both sides are operands as large as the result. */
static bool is_whole_sum(const struct op *op)
{
	const struct operand *a = op_operand(op, ROLE_in0), *b = op_operand(op, ROLE_in1),
			     *out = op_operand(op, ROLE_out);

	if (op->code != OP_add || !a || !b || !out)
		return false;
	return operand_bytes(a) * dtype_bytes(out->dtype) ==
		       operand_bytes(out) * dtype_bytes(a->dtype) &&
	       operand_bytes(b) * dtype_bytes(out->dtype) ==
		       operand_bytes(out) * dtype_bytes(b->dtype);
}

/* Does a member up to `last` satisfy `what`, and a later one read what it leaves? */
static bool feeds(const struct member *const *m, unsigned n, bool (*what)(const struct op *))
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n && what(&m[i]->op); k++)
			if (reads(&m[k]->op, &m[i]->op))
				return true;
	return false;
}

static bool is_dequantised(const struct op *op)
{
	const struct operand *in = op_operand(op, ROLE_in0);

	return in && (op->code == OP_copy || op->code == OP_scale || op->code == OP_mul) &&
	       (in->dtype == DT_i8 || in->dtype == DT_u8 || in->dtype == DT_e4m3 ||
		in->dtype == DT_e5m2);
}

static bool is_activation(const struct op *op)
{
	return op->code == OP_silu;
}

static bool is_gelu(const struct op *op)
{
	return op->code == OP_gelu_tanh || op->code == OP_gelu_erf;
}

static bool is_bias(const struct op *op)
{
	return op->code == OP_bias_add || (op->code == OP_add && !is_whole_sum(op));
}

static bool is_scaling(const struct op *op)
{
	return op->code == OP_scale || (op->code == OP_mul && op->nscalar);
}

/* Is there a product of what a member satisfying `what` leaves? */
static bool multiplied(const struct member *const *m, unsigned n, bool (*what)(const struct op *))
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n && what(&m[i]->op); k++)
			if (m[k]->op.code == OP_mul && reads(&m[k]->op, &m[i]->op))
				return true;
	return false;
}

/* A sum in front of what adds up along the rows. */
static bool begins_with_sum(const struct member *const *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const enum opcode code = m[i]->op.code;

		if (code == OP_mean || code == OP_rmsnorm || code == OP_layernorm)
			return false;
		if (is_whole_sum(&m[i]->op))
			return feeds(&m[i], n - i, is_whole_sum);
	}
	return false;
}

enum pattern_id chain_name(const struct member *const *m, unsigned n)
{
	uint64_t codes = 0;
	bool gelu, power;

	for (unsigned i = 0; i < n; i++)
		codes |= (uint64_t)1 << m[i]->op.code;
	gelu = HAS(gelu_tanh) || HAS(gelu_erf) ||
	       ((HAS(tanh) || HAS(erf)) && HAS(mul) && (HAS(add) || HAS(scale)));
	power = HAS(square) || HAS(pow) || HAS(mul);
	if (HAS(layernorm) || (HAS(mean) && HAS(sub) && power && (HAS(rsqrt) || HAS(sqrt))))
		return begins_with_sum(m, n) ? PATTERN_add_layernorm : PATTERN_layernorm;
	if (HAS(rmsnorm) || (HAS(mean) && power && HAS(rsqrt)))
		return feeds(m, n, is_dequantised) ? PATTERN_dequant_rmsnorm
		       : begins_with_sum(m, n)     ? PATTERN_add_rmsnorm
						   : PATTERN_rmsnorm;
	if (HAS(softmax) && (HAS(where) || HAS(add) || HAS(scale) || HAS(mul)))
		return PATTERN_mask_softmax;
	if (HAS(cat) && HAS(neg) && HAS(mul))
		return PATTERN_rope;
	if (multiplied(m, n, is_activation))
		return PATTERN_silu_mul;
	if (multiplied(m, n, is_gelu))
		return PATTERN_gelu_mul;
	if (gelu)
		return feeds(m, n, is_bias) && (HAS(gelu_tanh) || HAS(gelu_erf)) ? PATTERN_bias_gelu
										 : PATTERN_gelu;
	if (n == 2 && feeds(m, n, is_scaling) && is_whole_sum(&m[1]->op))
		return PATTERN_lora_add;
	return PATTERN_chain;
}
