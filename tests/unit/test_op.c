// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/op.h"
#include "matcher/reason.h"
#include "ops.h"

static void test_names(void **arg)
{
	for (unsigned i = 1; i < DT_COUNT; i++)
		assert_int_equal(dtype_parse(dtype_name((enum dtype)i)), i);
	for (unsigned i = 1; i < ROLE_COUNT; i++)
		assert_int_equal(role_parse(role_name((enum role)i)), i);
	for (int i = 0; i < OP_COUNT; i++)
		assert_int_equal(opcode_parse(opcode_name((enum opcode)i)), i);
	for (unsigned i = 0; i < REASON_COUNT; i++) {
		assert_int_equal(reason_parse(reason_word((enum reason)i)), i);
		assert_true(strlen(reason_text((enum reason)i)) > 10);
	}
	assert_int_equal(dtype_parse("none"), DT_NONE);
	assert_int_equal(dtype_parse("f33"), DT_NONE);
	assert_int_equal(role_parse("none"), ROLE_NONE);
	assert_int_equal(opcode_parse("multiply"), -1);
	assert_int_equal(reason_parse("luck"), REASON_COUNT);
	assert_string_equal(dtype_name(DT_COUNT), "?");
	assert_string_equal(opcode_name((enum opcode)99), "?");
	assert_string_equal(role_name((enum role)99), "?");
	assert_string_equal(reason_word((enum reason) - 1), "?");
	assert_int_equal(dtype_bytes(DT_bf16), 2);
	assert_int_equal(dtype_bytes(DT_NONE), 0);
	assert_int_equal(role_kind(ROLE_out), ROLE_KIND_OPERAND);
	assert_int_equal(role_kind(ROLE_cols), ROLE_KIND_EXTENT);
	assert_int_equal(role_kind(ROLE_eps), ROLE_KIND_SCALAR);
}

static void test_operands(void **arg)
{
	struct op op = ops_add(DT_f32, 0x100, 0x200, 0x300, 8), copy;

	assert_int_equal(op_operand(&op, ROLE_in1)->addr, 0x300);
	assert_null(op_operand(&op, ROLE_weight));
	memset(&copy, 0xee, sizeof(copy));
	op.slot[op.nslot++] = (struct slot){8, 4, ROLE_n};
	op_copy(&copy, &op);
	assert_int_equal(copy.code, OP_add);
	assert_int_equal(copy.noperand, 3);
	assert_memory_equal(copy.operand, op.operand, 3 * sizeof(op.operand[0]));
	assert_memory_equal(copy.slot, op.slot, sizeof(op.slot[0]));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_operands),
};
UNIT_MAIN(tests)
