// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/legal.h"
#include "matcher/pattern.h"
#include "ops.h"

enum { A = 0x10000, B = 0x20000, S = 0x30000, W = 0x40000, OUT = 0x50000 };

static enum reason bind(struct member *add, struct member *norm, struct group *g)
{
	*g = (struct group){.pattern = &pattern_add_rmsnorm, .member = {add, norm}};
	add->launch = ops_launch(OP_add, 0);
	norm->launch = ops_launch(OP_rmsnorm, 1);
	return legal_group(g);
}

static void test_bound(void **arg)
{
	struct member add = {.op = ops_add(DT_bf16, S, A, B, 12)},
		      norm = {.op = ops_norm(DT_bf16, OUT, S, W, 3, 4)};
	static const uint64_t addr[] = {A, B, S, W, OUT};
	static const int64_t pitch[] = {8, 8, 8, 0, 8};
	static const uint8_t use[] = {BOUND_READ, BOUND_READ, BOUND_WRITE, BOUND_READ, BOUND_WRITE};
	uint64_t unfused, fused;
	struct group g;

	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	assert_int_equal(g.rows, 3);
	assert_int_equal(g.cols, 4);
	assert_true(g.has_eps && g.eps == 1e-5);
	assert_int_equal(g.nbound, ADD_RMSNORM_NBOUND);
	for (unsigned i = 0; i < g.nbound; i++) {
		assert_int_equal(g.bound[i].addr, addr[i]);
		assert_int_equal(g.bound[i].pitch, pitch[i]);
		assert_int_equal(g.bound[i].use, use[i]);
		assert_int_equal(g.bound[i].dtype, DT_bf16);
		assert_int_equal(bound_range(&g, &g.bound[i]).lo, addr[i]);
		assert_int_equal(bound_range(&g, &g.bound[i]).hi,
				 addr[i] + (i == ADD_RMSNORM_W ? 8 : 24));
	}
	/* The sum is not read again: a, b, sum, sum, w, out against a, b, sum, w, out. */
	legal_bytes(&g, &unfused, &fused);
	assert_int_equal(unfused, 5 * 24 + 8);
	assert_int_equal(fused, 4 * 24 + 8);
}

/* Addresses of out, in0, in1 of the add and of out, weight of the norm (which reads the sum). */
static void test_aliasing(void **arg)
{
	static const struct {
		uint64_t sum, a, b, out, w;
		enum reason why;
		uint8_t sum_use;
	} row[] = {
		{S, A, B, OUT, W, REASON_NONE, BOUND_WRITE},
		{A, A, B, OUT, W, REASON_NONE, BOUND_WRITE}, /* a += b */
		{B, A, B, OUT, W, REASON_NONE, BOUND_WRITE},
		{A, A, A, OUT, W, REASON_NONE, BOUND_WRITE},
		{S, A, A, OUT, W, REASON_NONE, BOUND_WRITE},
		{S, A, A + 4, OUT, W, REASON_NONE, BOUND_WRITE}, /* both are only read */
		{S, A, B, S, W, REASON_NONE, BOUND_DEAD},        /* norm in place */
		{A, A, B, A, W, REASON_NONE, BOUND_DEAD},
		{S, A, B, A, W, REASON_NONE, BOUND_WRITE}, /* out on an input of the add */
		{S, A, B, B, W, REASON_NONE, BOUND_WRITE},
		{A, A, B, B, W, REASON_NONE, BOUND_WRITE},
		{S, A, B, OUT, A, REASON_NONE, BOUND_WRITE}, /* w is only read */
		{A + 4, A, B, OUT, W, REASON_OVERLAP, 0},
		{S, A, B, S + 4, W, REASON_OVERLAP, 0},
		{S, A, B, S - 4, W, REASON_OVERLAP, 0},
		{S, A, B, A + 16, W, REASON_OVERLAP, 0}, /* shifted by a row */
		{S, A, B, B + 4, W, REASON_OVERLAP, 0},
		{A, A, A + 4, OUT, W, REASON_OVERLAP, 0},
		{S, A, B, OUT, S, REASON_OVERLAP, 0}, /* the weight is overwritten by the add */
		{S, A, B, OUT, S + 44, REASON_OVERLAP, 0},
		{S, A, B, OUT, OUT, REASON_OVERLAP, 0},
		{S, A, B, W - 44, W, REASON_OVERLAP, 0}, /* out ends in the weight */
		{S, A, B, W - 48, W, REASON_NONE, BOUND_WRITE},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct member add = {.op = ops_add(DT_f32, row[i].sum, row[i].a, row[i].b, 12)},
			      norm = {.op = ops_norm(DT_f32, row[i].out, row[i].sum, row[i].w, 3,
						     4)};
		struct group g;
		enum reason why = bind(&add, &norm, &g);

		if (why != row[i].why)
			fail_msg("row %zu: %s", i, reason_word(why));
		if (!why)
			assert_int_equal(g.bound[ADD_RMSNORM_SUM].use, row[i].sum_use);
	}
}

static struct operand *operand(struct op *op, enum role role)
{
	return (struct operand *)op_operand(op, role);
}

static void pitched(struct op *op, enum role role, int64_t rows, int64_t cols, int64_t pitch)
{
	struct operand *o = operand(op, role);

	operand_dense(o, role, (enum access)o->access, (enum dtype)o->dtype, o->addr, rows, cols);
	o->stride[0] = pitch;
}

static void test_pitches(void **arg)
{
	struct member add = {.op = ops_add(DT_f32, S, A, B, 12)},
		      norm = {.op = ops_norm(DT_f32, OUT, S, W, 3, 4)};
	struct op dense = norm.op;
	struct group g;

	pitched(&norm.op, ROLE_out, 3, 4, 100);
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	assert_int_equal(g.bound[ADD_RMSNORM_OUT].pitch, 100);

	/* The norm reads other rows than the add wrote. */
	norm.op = dense;
	pitched(&norm.op, ROLE_in0, 3, 4, 100);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	pitched(&add.op, ROLE_out, 3, 4, 100);
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);

	/* In place at another pitch; out in the gaps between the rows of the sum. */
	norm.op.operand[0].addr = A;
	pitched(&norm.op, ROLE_out, 3, 4, 20);
	assert_int_equal(bind(&add, &norm, &g), REASON_OVERLAP);
	norm.op.operand[0].addr = S + 16;
	pitched(&norm.op, ROLE_out, 3, 4, 100);
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	norm.op.operand[0].addr = S + 12;
	assert_int_equal(bind(&add, &norm, &g), REASON_OVERLAP);

	/* Rows that share bytes cannot be stored in any order; one row for all can be read. */
	norm.op = dense;
	pitched(&norm.op, ROLE_out, 3, 4, 12);
	add.op = ops_add(DT_f32, S, A, B, 12);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	norm.op = dense;
	pitched(&add.op, ROLE_in1, 3, 4, 0);
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	assert_int_equal(g.bound[ADD_RMSNORM_B].pitch, 0);

	/* The pitch of a single row means nothing. */
	add.op = ops_add(DT_f32, S, A, B, 4);
	norm.op = ops_norm(DT_f32, OUT, S, W, 1, 4);
	pitched(&norm.op, ROLE_out, 1, 4, 4096);
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	assert_int_equal(g.bound[ADD_RMSNORM_OUT].pitch, 16);
}

static void test_shapes(void **arg)
{
	struct member add = {.op = ops_add(DT_f32, S, A, B, 12)}, norm;
	struct group g;

	norm.op = ops_norm(DT_f32, OUT, S, W, 2, 4); /* part of the sum */
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	norm.op = ops_norm(DT_f32, OUT, S, W, 4, 4); /* more than the sum */
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	norm.op = ops_norm(DT_f32, OUT, S + 16, W, 3, 4);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	norm.op = ops_norm(DT_bf16, OUT, S, W, 3, 4);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	norm.op = ops_norm(DT_f32, OUT, S, W, 3, 4);
	operand(&norm.op, ROLE_weight)->dtype = DT_bf16;
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	add.op = ops_add(DT_i32, S, A, B, 12);
	norm.op = ops_norm(DT_i32, OUT, S, W, 3, 4);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	for (enum dtype t = DT_f32; t <= DT_bf16; t++) {
		add.op = ops_add(t, S, A, B, 12);
		norm.op = ops_norm(t, OUT, S, W, 12, 1); /* rows of one element */
		assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	}
}

/* The weight may be f32 beside smaller types; whether 1 is added to it is the group's to say. */
static void test_weights(void **arg)
{
	struct group g;

	for (enum dtype t = DT_f32; t <= DT_bf16; t++) {
		struct member add = {.op = ops_add(t, S, A, B, 12)},
			      norm = {.op = ops_norm(t, OUT, S, W, 3, 4)};

		operand_dense(operand(&norm.op, ROLE_weight), ROLE_weight, ACCESS_READ, DT_f32, W,
			      0, 4);
		assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
		assert_int_equal(g.bound[ADD_RMSNORM_W].dtype, DT_f32);
		assert_int_equal(bound_range(&g, &g.bound[ADD_RMSNORM_W]).hi, W + 16);
		assert_false(g.plus_one);
		norm.op.plus_one = true;
		assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
		assert_true(g.plus_one);
		operand(&norm.op, ROLE_weight)->dtype = t == DT_bf16 ? DT_f16 : DT_bf16;
		assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
		norm.op.noperand = 2; /* no weight */
		assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	}
}

/* A norm that leaves a copy of what it read. `in` is where the add leaves the sum. */
static void test_copies(void **arg)
{
	static const struct {
		uint64_t a, b, in, out, copy, w;
		enum reason why;
	} row[] = {
		{A, B, A, A, B, W, REASON_NONE}, /* a += b; norm in place of a, the sum in b */
		{B, A, A, A, B, W, REASON_NONE},
		{A, B, S, S, OUT, W, REASON_NONE},
		{A, B, S, OUT, S, W, REASON_NONE}, /* onto itself */
		{A, B, S, S, A, W, REASON_NONE},
		{A, B, S, OUT, 0x60000, W, REASON_SHAPE}, /* three places */
		{A, B, S, A, B, W, REASON_SHAPE},
		{A, B, S, S, S, W, REASON_OVERLAP}, /* which of both stays is chance */
		{A, B, A, A, A + 4, W, REASON_OVERLAP},
		{A, B, A, A, B + 4, W, REASON_OVERLAP},
		{A, B, A, A, W, W, REASON_OVERLAP},
		{A, B, A, A, B, B, REASON_OVERLAP}, /* the weight is overwritten */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct member add = {.op = ops_add(DT_f32, row[i].in, row[i].a, row[i].b, 12)},
			      norm = {.op = ops_norm(DT_f32, row[i].out, row[i].in, row[i].w, 3,
						     4)};
		struct group g;
		enum reason why;

		operand_dense(&norm.op.operand[norm.op.noperand++], ROLE_copy, ACCESS_WRITE, DT_f32,
			      row[i].copy, 3, 4);
		why = bind(&add, &norm, &g);
		if (why != row[i].why)
			fail_msg("row %zu: %s", i, reason_word(why));
		if (why)
			continue;
		assert_int_equal(g.bound[ADD_RMSNORM_SUM].addr, row[i].copy);
		assert_int_equal(g.bound[ADD_RMSNORM_SUM].use, BOUND_WRITE);
		norm.op.operand[3].dtype = DT_f16;
		assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	}
}

/* A sum with a factor, and a norm that keeps its 1 / root for a gradient, are something else. */
static void test_more_than_a_sum(void **arg)
{
	struct member add = {.op = ops_add(DT_bf16, S, A, B, 12)},
		      norm = {.op = ops_norm(DT_bf16, OUT, S, W, 3, 4)};
	struct group g;

	add.op.nscalar = 1;
	add.op.scalar[0] = 1;
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	add.op.scalar[0] = 0.5;
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
	add.op.nscalar = 0;
	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	operand_dense(&norm.op.operand[norm.op.noperand++], ROLE_rstd, ACCESS_WRITE, DT_f32,
		      OUT + 64, 0, 3);
	assert_int_equal(bind(&add, &norm, &g), REASON_SHAPE);
}

static void test_launches(void **arg)
{
	struct member add = {.op = ops_add(DT_f32, S, A, B, 12)},
		      norm = {.op = ops_norm(DT_f32, OUT, S, W, 3, 4)};
	struct group g;

	assert_int_equal(bind(&add, &norm, &g), REASON_NONE);
	norm.launch.attrs = LAUNCH_EXTRA;
	assert_int_equal(legal_group(&g), REASON_NONE);
	norm.launch.attrs = LAUNCH_COOPERATIVE;
	assert_int_equal(legal_group(&g), REASON_ATTRIBUTES);
	norm.launch.attrs = 0;
	norm.launch.priority = add.launch.priority = -1;
	assert_int_equal(legal_group(&g), REASON_NONE);
	norm.launch.priority = 0;
	assert_int_equal(legal_group(&g), REASON_ATTRIBUTES);
	norm.launch.priority = -1;
	norm.launch.stream = 7;
	assert_int_equal(legal_group(&g), REASON_DIFFERENT_STREAM);
	norm.launch.stream = 0;
	norm.launch.device = 1;
	assert_int_equal(legal_group(&g), REASON_DIFFERENT_STREAM);
}

static void test_table(void **arg)
{
	bool on[PATTERN_COUNT];
	struct config c;

	assert_ptr_equal(pattern_get(PATTERN_add_rmsnorm), &pattern_add_rmsnorm);
	assert_null(pattern_get(PATTERN_COUNT));
	assert_int_equal(pattern_id(&pattern_add_rmsnorm), PATTERN_add_rmsnorm);
	assert_int_equal(pattern_parse("add_rmsnorm"), PATTERN_add_rmsnorm);
	assert_int_equal(pattern_parse("add"), PATTERN_COUNT);
	config_load(&c, false);
	assert_int_equal(pattern_switches(&c, on), 0);
	assert_true(on[PATTERN_add_rmsnorm]);
	assert_true(on[PATTERN_silu_mul]);
	config_add_text(&c, "t.ini",
			"[pattern add_rmsnorm]\nenable = no\n[pattern silu]\nenable = no\n");
	unit_stderr_begin();
	assert_int_equal(pattern_switches(&c, on), 1);
	assert_contains(unit_stderr_end(),
			"t.ini:4: no pattern \"silu\"; there are: add_rmsnorm silu_mul");
	assert_false(on[PATTERN_add_rmsnorm]);
	assert_true(on[PATTERN_silu_mul]);
	config_free(&c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bound),           cmocka_unit_test(test_aliasing),
	cmocka_unit_test(test_pitches),         cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_weights),         cmocka_unit_test(test_copies),
	cmocka_unit_test(test_launches),        cmocka_unit_test(test_table),
	cmocka_unit_test(test_more_than_a_sum),
};
UNIT_MAIN(tests)
