// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/legal.h"
#include "matcher/pattern.h"
#include "ops.h"

enum { G = 0x10000, U = 0x20000, S = 0x30000, OUT = 0x40000 };

static enum reason bind(struct member *silu, struct member *mul, struct group *g)
{
	*g = (struct group){.pattern = &pattern_silu_mul, .member = {silu, mul}};
	silu->launch = ops_launch(OP_silu, 0);
	mul->launch = ops_launch(OP_mul, 1);
	return legal_group(g);
}

static void test_bound(void **arg)
{
	struct member silu = {.op = ops_silu(DT_bf16, S, G, 12)},
		      mul = {.op = ops_mul(DT_bf16, OUT, S, U, 12)};
	static const uint64_t addr[] = {G, U, S, OUT};
	static const uint8_t use[] = {BOUND_READ, BOUND_READ, BOUND_WRITE, BOUND_WRITE};
	uint64_t unfused, fused;
	struct group g;

	for (unsigned swapped = 0; swapped < 2; swapped++) {
		assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
		assert_int_equal(g.rows, 12); /* each element is a row */
		assert_int_equal(g.cols, 1);
		assert_false(g.has_eps);
		assert_int_equal(g.nbound, SILU_MUL_NBOUND);
		for (unsigned i = 0; i < g.nbound; i++) {
			assert_int_equal(g.bound[i].addr, addr[i]);
			assert_int_equal(g.bound[i].pitch, 2);
			assert_int_equal(g.bound[i].use, use[i]);
			assert_int_equal(g.bound[i].dtype, DT_bf16);
			assert_int_equal(bound_range(&g, &g.bound[i]).lo, addr[i]);
			assert_int_equal(bound_range(&g, &g.bound[i]).hi, addr[i] + 24);
		}
		legal_bytes(&g, &unfused, &fused);
		assert_int_equal(unfused, 5 * 24);
		assert_int_equal(fused, 4 * 24);
		mul.op = ops_mul(DT_bf16, OUT, U, S, 12);
	}
	/* The product in place of the silu: it is not stored any more. */
	mul.op = ops_mul(DT_bf16, S, S, U, 12);
	assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
	legal_bytes(&g, &unfused, &fused);
	assert_int_equal(fused, 3 * 24);
}

static void test_aliasing(void **arg)
{
	static const struct {
		uint64_t gate, silu, in0, in1, out;
		enum reason why;
		uint8_t silu_use;
	} row[] = {
		{G, S, S, U, OUT, REASON_NONE, BOUND_WRITE},
		{G, S, U, S, OUT, REASON_NONE, BOUND_WRITE},
		{G, G, G, U, OUT, REASON_NONE, BOUND_WRITE}, /* silu in place */
		{G, G, U, G, OUT, REASON_NONE, BOUND_WRITE},
		{G, G, G, U, G, REASON_NONE, BOUND_DEAD},  /* all in gate */
		{G, G, G, U, U, REASON_NONE, BOUND_WRITE}, /* the product in up */
		{G, S, S, U, S, REASON_NONE, BOUND_DEAD},
		{G, S, U, S, S, REASON_NONE, BOUND_DEAD},
		{G, S, S, U, G, REASON_NONE, BOUND_WRITE},   /* the product over gate */
		{G, S, S, G, OUT, REASON_NONE, BOUND_WRITE}, /* silu(x) * x */
		{G, S, S, G, G, REASON_NONE, BOUND_WRITE},
		{G, S, S, G + 4, OUT, REASON_NONE, BOUND_WRITE}, /* both are only read */
		{G, S, S, S, OUT, REASON_OVERLAP, 0},            /* silu times itself */
		{G, G, G, G, OUT, REASON_OVERLAP, 0},
		{G, S, S, S + 4, OUT, REASON_OVERLAP, 0}, /* up lies in what the silu writes */
		{G, S, S, S - 4, OUT, REASON_OVERLAP, 0},
		{G, S, S + 4, S, OUT, REASON_OVERLAP, 0},
		{G, G + 4, G + 4, U, OUT, REASON_OVERLAP, 0},
		{G, G - 4, G - 4, U, OUT, REASON_OVERLAP, 0},
		{G, S, S, U, S + 4, REASON_OVERLAP, 0},
		{G, S, S, U, S - 44, REASON_OVERLAP, 0},
		{G, S, S, U, G + 4, REASON_OVERLAP, 0},
		{G, S, S, U, U - 4, REASON_OVERLAP, 0},
		{G, S, S, U, U - 48, REASON_NONE, BOUND_WRITE},
		{G, S, S + 4, U, OUT, REASON_SHAPE, 0}, /* another part of it */
		{G, S, U, S - 4, OUT, REASON_SHAPE, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct member silu = {.op = ops_silu(DT_f32, row[i].silu, row[i].gate, 12)},
			      mul = {.op = ops_mul(DT_f32, row[i].out, row[i].in0, row[i].in1, 12)};
		struct group g;
		enum reason why = bind(&silu, &mul, &g);

		if (why != row[i].why)
			fail_msg("row %zu: %s", i, reason_word(why));
		if (!why)
			assert_int_equal(g.bound[SILU_MUL_SILU].use, row[i].silu_use);
	}
}

static void pitched(struct op *op, enum role role, int64_t rows, int64_t cols, int64_t pitch)
{
	struct operand *o = (struct operand *)op_operand(op, role);

	operand_dense(o, role, (enum access)o->access, (enum dtype)o->dtype, o->addr, rows, cols);
	o->stride[0] = pitch;
}

static void test_pitches(void **arg)
{
	struct member silu = {.op = ops_silu(DT_f32, S, G, 12)},
		      mul = {.op = ops_mul(DT_f32, OUT, S, G + 16, 12)};
	struct group g;

	/* Gate and up are the halves of one table. */
	pitched(&silu.op, ROLE_in0, 3, 4, 32);
	pitched(&mul.op, ROLE_in1, 3, 4, 32);
	assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
	assert_int_equal(g.rows, 3);
	assert_int_equal(g.cols, 4);
	assert_int_equal(g.bound[SILU_MUL_GATE].pitch, 32);
	assert_int_equal(g.bound[SILU_MUL_UP].pitch, 32);
	assert_int_equal(g.bound[SILU_MUL_SILU].pitch, 16);
	assert_int_equal(g.bound[SILU_MUL_OUT].pitch, 16);

	/* The product in place of the gate half, beside the up half; then across both. */
	mul.op.operand[0].addr = G;
	pitched(&mul.op, ROLE_out, 3, 4, 32);
	assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
	pitched(&mul.op, ROLE_out, 3, 4, 16);
	assert_int_equal(bind(&silu, &mul, &g), REASON_OVERLAP);
	mul.op.operand[0].addr = OUT;

	/* One row of factors for all rows; rows that share bytes, read and written. */
	pitched(&mul.op, ROLE_in1, 3, 4, 0);
	assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
	assert_int_equal(g.bound[SILU_MUL_UP].pitch, 0);
	pitched(&mul.op, ROLE_in1, 3, 4, 12);
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	pitched(&mul.op, ROLE_in1, 3, 4, 32);
	pitched(&mul.op, ROLE_out, 3, 4, 12);
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);

	/* Boxes that do not tile each other. */
	pitched(&mul.op, ROLE_out, 4, 3, 100);
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	pitched(&mul.op, ROLE_out, 3, 4, 16);
	pitched(&silu.op, ROLE_out, 3, 4, 20); /* and the mul reads S without gaps */
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
}

static void test_shapes(void **arg)
{
	struct member silu = {.op = ops_silu(DT_f32, S, G, 12)}, mul;
	struct group g;

	mul.op = ops_mul(DT_f32, OUT, S, U, 11); /* part of it */
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	mul.op = ops_mul(DT_f32, OUT, S, U, 13);
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	mul.op = ops_mul(DT_f16, OUT, S, U, 24); /* other types for the same bytes */
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	mul.op = ops_mul(DT_f32, OUT, S, U, 12);
	mul.op.operand[0].dtype = DT_f16; /* a cast on the way out */
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	silu.op = ops_silu(DT_f64, S, G, 12);
	mul.op = ops_mul(DT_f64, OUT, S, U, 12);
	assert_int_equal(bind(&silu, &mul, &g), REASON_SHAPE);
	for (enum dtype t = DT_f32; t <= DT_bf16; t++)
		for (int64_t n = 1; n < 4; n++) {
			silu.op = ops_silu(t, S, G, n);
			mul.op = ops_mul(t, OUT, U, S, n);
			assert_int_equal(bind(&silu, &mul, &g), REASON_NONE);
			assert_int_equal(g.rows * g.cols, n);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bound),
	cmocka_unit_test(test_aliasing),
	cmocka_unit_test(test_pitches),
	cmocka_unit_test(test_shapes),
};
UNIT_MAIN(tests)
