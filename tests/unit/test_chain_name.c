// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/chain_name.h"
#include "tests/unit/ops.h"

enum {
	A = 0x100000,
	B = 0x200000,
	W = 0x300000,
	T = 0x400000,
	U = 0x500000,
	OUT = 0x600000,
	N = 512
};

static struct member member[8];
static unsigned n;

static void add(struct op op)
{
	member[n++].op = op;
}

static struct op unary(enum opcode code, uint64_t out, uint64_t in)
{
	struct op op = ops_silu(DT_f32, out, in, N);

	op.code = code;
	return op;
}

static struct op norm(enum opcode code, uint64_t in)
{
	struct op op = ops_norm(DT_f32, OUT, in, W, 4, N / 4);

	op.code = code;
	return op;
}

static struct op bias(uint64_t out, uint64_t in)
{
	struct op op = ops_norm(DT_f32, out, in, W, 4, N / 4);

	op.code = OP_bias_add;
	op.operand[2].role = ROLE_bias;
	return op;
}

static struct op from_bytes(uint64_t out, uint64_t in)
{
	struct op op = unary(OP_copy, out, in);

	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, DT_i8, in, 0, N);
	return op;
}

static struct op plus_one(uint64_t out, uint64_t in)
{
	struct op op = unary(OP_add, out, in);

	op.nscalar = 1;
	op.scalar[0] = 1;
	return op;
}

static void is(enum pattern_id want)
{
	const struct member *m[8];

	for (unsigned i = 0; i < n; i++)
		m[i] = &member[i];
	assert_string_equal(pattern_get(chain_name(m, n))->name, pattern_get(want)->name);
	n = 0;
}

static void test_names(void **arg)
{
	add(ops_add(DT_f32, T, A, B, N));
	add(norm(OP_rmsnorm, T));
	is(PATTERN_add_rmsnorm);
	add(ops_add(DT_f32, T, A, B, N));
	add(norm(OP_layernorm, T));
	is(PATTERN_add_layernorm);
	/* The sum of something else, behind the norm: no residual. */
	add(norm(OP_rmsnorm, A));
	add(ops_add(DT_f32, U, OUT, B, N));
	is(PATTERN_rmsnorm);
	add(unary(OP_copy, T, A));
	add(norm(OP_layernorm, T));
	is(PATTERN_layernorm);
	/* Written out: the add is that of eps. */
	add(unary(OP_square, T, A));
	add(norm(OP_mean, T));
	add(plus_one(U, OUT));
	add(unary(OP_rsqrt, U, U));
	add(ops_mul(DT_f32, B, A, U, N));
	is(PATTERN_rmsnorm);
	add(from_bytes(T, A));
	add(unary(OP_scale, U, T));
	add(norm(OP_rmsnorm, U));
	is(PATTERN_dequant_rmsnorm);
	add(unary(OP_silu, T, A));
	add(ops_mul(DT_f32, OUT, B, T, N));
	is(PATTERN_silu_mul);
	add(unary(OP_gelu_erf, T, A));
	add(ops_mul(DT_f32, OUT, T, B, N));
	is(PATTERN_gelu_mul);
	/* A product that is not of the activation. */
	add(ops_mul(DT_f32, T, A, B, N));
	add(unary(OP_gelu_tanh, OUT, T));
	is(PATTERN_gelu);
	add(ops_mul(DT_f32, T, A, A, N));
	add(unary(OP_tanh, U, T));
	add(plus_one(U, U));
	add(ops_mul(DT_f32, OUT, A, U, N));
	is(PATTERN_gelu);
	add(bias(T, A));
	add(unary(OP_gelu_tanh, OUT, T));
	is(PATTERN_bias_gelu);
	add(unary(OP_scale, T, A));
	add(norm(OP_softmax, T));
	is(PATTERN_mask_softmax);
	add(unary(OP_copy, T, A));
	add(norm(OP_softmax, T));
	is(PATTERN_chain);
	add(ops_mul(DT_f32, T, A, W, N));
	add(unary(OP_neg, U, A));
	add(unary(OP_cat, B, U));
	add(ops_mul(DT_f32, B, B, W, N));
	add(ops_add(DT_f32, OUT, T, B, N));
	is(PATTERN_rope);
	add(unary(OP_scale, T, A));
	add(ops_add(DT_f32, OUT, B, T, N));
	is(PATTERN_lora_add);
	add(unary(OP_scale, T, A));
	add(ops_add(DT_f32, OUT, B, T, N));
	add(unary(OP_exp, U, OUT));
	is(PATTERN_chain);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

UNIT_MAIN(tests)
