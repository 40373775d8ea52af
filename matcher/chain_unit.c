// SPDX-License-Identifier: Apache-2.0
#include "matcher/chain_unit.h"

/* How far a norm has come. */
struct norm {
	bool begun;    /* rows are summed up */
	bool scaled;   /* and multiplied by what came of it */
	bool weighted; /* and by a weight */
	bool shifted;  /* and a bias is added */
};

static bool is_summed(enum opcode code)
{
	return code == OP_mean || code == OP_sum;
}

/* Elements that an operand has in memory. */
static uint64_t elements(const struct operand *o)
{
	return o && dtype_bytes((enum dtype)o->dtype)
		       ? operand_bytes(o) / dtype_bytes((enum dtype)o->dtype)
		       : 0;
}

/* Is one side of the product or sum smaller than the result: a row of numbers, say? */
static bool has_small_side(const struct op *op)
{
	const uint64_t all = elements(op_operand(op, ROLE_out)),
		       a = elements(op_operand(op, ROLE_in0)),
		       b = elements(op_operand(op, ROLE_in1));

	return a && b && (a < all || b < all);
}

static bool reads(const struct op *op, const struct operand *o)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].access & ACCESS_READ && operand_overlap(&op->operand[i], o))
			return true;
	return false;
}

/* Does op take what the last of the members with that opcode leaves? */
static bool follows(const struct member *const *m, unsigned n, enum opcode code,
		    const struct op *op)
{
	for (unsigned i = n; i-- > 0;)
		if (m[i]->op.code == code) {
			const struct operand *out = op_operand(&m[i]->op, ROLE_out);

			return out && reads(op, out);
		}
	return false;
}

static struct norm norm_of(const struct member *const *m, unsigned n)
{
	struct norm k = {false, false, false, false};

	for (unsigned i = 0; i < n; i++) {
		const struct op *op = &m[i]->op;

		switch (op->code) {
		case OP_rmsnorm:
		case OP_layernorm:
			k.begun = k.scaled = true;
			k.weighted |= op_operand(op, ROLE_weight) != NULL;
			k.shifted |= op_operand(op, ROLE_bias) != NULL;
			break;
		case OP_mul:
		case OP_div:
			if (k.begun && !k.scaled)
				k.scaled =
					follows(m, i, OP_rsqrt, op) || follows(m, i, OP_sqrt, op);
			else if (k.scaled)
				k.weighted = true;
			break;
		case OP_add:
		case OP_bias_add:
			k.shifted |=
				k.scaled && (op->code == OP_bias_add || op_operand(op, ROLE_in1));
			break;
		default:
			k.begun |= is_summed(op->code);
		}
	}
	return k;
}

bool chain_unit_ends(const struct member *const *m, unsigned n, const struct op *op)
{
	const struct norm k = norm_of(m, n);
	const struct operand *in = op_operand(op, ROLE_in0), *out = op_operand(op, ROLE_out);

	if (!k.scaled)
		return false;
	switch (op->code) {
	case OP_copy: /* of the result, or of the weight */
		return k.weighted && in && out && dtype_bytes(in->dtype) < dtype_bytes(out->dtype);
	case OP_mul:
		return k.weighted;
	case OP_add:
		/* 1 + weight, or a bias */
		if (!op_operand(op, ROLE_in1))
			return k.weighted;
		return k.shifted || !has_small_side(op);
	case OP_bias_add:
		return k.shifted;
	case OP_square:
	case OP_pow:
	case OP_sum:
	case OP_mean:
	case OP_amax:
	case OP_softmax:
	case OP_rmsnorm:
	case OP_layernorm:
	case OP_neg:
	case OP_cat:
		return true;
	default:
		return false;
	}
}

bool chain_unit_weight(const struct member *const *m, unsigned n, const struct op *op, int64_t cols)
{
	const struct norm k = norm_of(m, n);
	const struct operand *in = op_operand(op, ROLE_in0), *out = op_operand(op, ROLE_out);

	return op->code == OP_copy && k.begun && !k.weighted && in && out &&
	       in->dtype != out->dtype && op->rows == 1 && op->cols == cols;
}
