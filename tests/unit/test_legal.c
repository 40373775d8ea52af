// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/legal.h"
#include "ops.h"

enum {
	A = 0x10000,
	B = 0x20000,
	S = 0x30000,
	W = 0x40000,
	OUT = 0x50000,
	X = 0x60000,
	Y = 0x70000
};

static void test_cross(void **arg)
{
	const struct op held = ops_add(DT_f32, S, A, B, 64);
	const struct {
		struct op later;
		enum reason why; /* REASON_NONE: may cross */
	} row[] = {
		{ops_add(DT_f32, OUT, X, Y, 64), REASON_NONE},
		{ops_add(DT_f32, OUT, A, B, 64), REASON_NONE}, /* reads what held reads */
		{ops_add(DT_f32, A, X, Y, 64), REASON_INPUT_OVERWRITTEN},
		{ops_add(DT_f32, B + 252, X, Y, 64), REASON_INPUT_OVERWRITTEN},
		{ops_add(DT_f32, B + 256, X, Y, 64), REASON_NONE},
		{ops_add(DT_f32, OUT, S, Y, 64), REASON_OUTPUT_READ},
		{ops_add(DT_f32, OUT, X, S + 252, 1), REASON_OUTPUT_READ},
		{ops_add(DT_f32, S + 252, X, Y, 1), REASON_OUTPUT_OVERWRITTEN},
		{ops_norm(DT_f32, OUT, X, S, 1, 64), REASON_OUTPUT_READ},
		{ops_opaque(), REASON_UNKNOWN_KERNEL},
	};
	enum reason why;
	struct op op;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		bool may = legal_cross(&held, &row[i].later, &why);

		assert_int_equal(may, row[i].why == REASON_NONE);
		if (!may)
			assert_int_equal(why, row[i].why);
	}
	/* A launch whose extents nothing vouches for crosses nothing. */
	op = ops_add(DT_f32, OUT, X, Y, 64);
	op.vetted = false;
	assert_false(legal_cross(&held, &op, &why));
	assert_int_equal(why, REASON_UNPROVEN_KERNEL);
	op = ops_add(DT_f32, A, X, Y, 64); /* what it says of itself is the better reason */
	op.vetted = false;
	assert_false(legal_cross(&held, &op, &why));
	assert_int_equal(why, REASON_INPUT_OVERWRITTEN);
	op = ops_opaque();
	assert_false(legal_cross(&op, &row[0].later, &why));
}

static void test_joins(void **arg)
{
	struct member add = {.op = ops_add(DT_f32, S, A, B, 64)};
	const struct member *member[] = {&add};
	const struct pattern two_adds = {.name = "two_adds",
					 .nnode = 2,
					 .njoin = 1,
					 .node = {OP_add, OP_add},
					 .join = {{0, ROLE_out, 1, ROLE_in0}}};
	const struct pattern both = {
		.name = "both",
		.nnode = 2,
		.njoin = 2,
		.node = {OP_add, OP_rmsnorm},
		.join = {{0, ROLE_out, 1, ROLE_in0}, {0, ROLE_in1, 1, ROLE_weight}}};
	struct op op = ops_norm(DT_f32, OUT, S, W, 1, 64);

	assert_true(legal_joins(&pattern_add_rmsnorm, member, 1, &op));
	op = ops_norm(DT_f32, OUT, S + 4, W, 1, 8); /* a part: for bind() to refuse */
	assert_true(legal_joins(&pattern_add_rmsnorm, member, 1, &op));
	op = ops_norm(DT_f32, OUT, A, W, 1, 64);
	assert_false(legal_joins(&pattern_add_rmsnorm, member, 1, &op));
	op = ops_norm(DT_f32, OUT, X, S, 1, 64); /* as weight */
	assert_false(legal_joins(&pattern_add_rmsnorm, member, 1, &op));
	op = ops_add(DT_f32, OUT, S, X, 64);
	assert_true(legal_joins(&two_adds, member, 1, &op));
	op = ops_add(DT_f32, OUT, X, S, 64); /* addition commutes */
	assert_true(legal_joins(&two_adds, member, 1, &op));
	op = ops_add(DT_f32, S, X, Y, 64);
	assert_false(legal_joins(&two_adds, member, 1, &op));
	op = ops_norm(DT_f32, OUT, S, W, 1, 64);
	assert_false(legal_joins(&both, member, 1, &op));
	op = ops_norm(DT_f32, OUT, S, B, 1, 64);
	assert_true(legal_joins(&both, member, 1, &op));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cross),
	cmocka_unit_test(test_joins),
};
UNIT_MAIN(tests)
