// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/decode.h"
#include "matcher/row_build.h"
#include "tests/unit/ops.h"

enum { A = 0x100000, B = 0x200000, C = 0x300000, T = 0x400000, W = 0x500000, N = 512 };

static struct member member[3];
static struct row row;

/* t = a + b; t = t * c; c = silu(t): t is left, and c, which was read before. */
static struct group chain(void)
{
	struct group g = {.pattern = &pattern_chain, .nmember = 3, .row = &row};
	struct row_member m[3];

	member[0].op = ops_add(DT_f32, T, A, B, N);
	member[1].op = ops_mul(DT_f32, T, T, C, N);
	member[2].op = ops_silu(DT_f32, C, T, N);
	for (unsigned i = 0; i < 3; i++) {
		member[i].launch = ops_launch(member[i].op.code, i);
		g.member[i] = &member[i];
		m[i].op = &member[i].op;
		row_pick_known(m[i].op, &member[i].launch, &m[i].pick);
	}
	assert_int_equal(row_build(&row, m, 3), REASON_NONE);
	g.rows = row_rows(&row);
	g.cols = row.cols;
	return g;
}

static const struct group_slot *slot_at(const struct group_slot *s, unsigned n, uint64_t addr)
{
	for (unsigned i = 0; i < n; i++)
		if (s[i].range.lo == addr)
			return &s[i];
	fail_msg("nothing at %#lx", (unsigned long)addr);
	return NULL;
}

static void test_slots_of_a_chain(void **state)
{
	struct group g = chain();
	struct group_slot s[GROUP_MAX_SLOTS];
	unsigned n = group_slots(&g, s);

	assert_int_equal(n, 4);
	assert_int_equal(slot_at(s, n, A)->use, BOUND_READ);
	assert_int_equal(slot_at(s, n, C)->use, BOUND_READ | BOUND_WRITE);
	assert_int_equal(slot_at(s, n, T)->use, BOUND_WRITE);
	assert_int_equal(slot_at(s, n, T)->range.hi, T + 4 * N);
	assert_int_equal(slot_at(s, n, T)->box.dtype, DT_f32);
	assert_int_equal(group_surviving(&g), 2);
}

static void test_dropped_slots_of_a_chain(void **state)
{
	struct group g = chain();
	struct group_slot s[GROUP_MAX_SLOTS];
	unsigned n = group_slots(&g, s), t = (unsigned)(slot_at(s, n, T) - s);

	g.dropped = 1u << t;
	assert_int_equal(group_slots(&g, s), n);
	assert_int_equal(s[t].use, BOUND_DEAD);
	assert_int_equal(group_surviving(&g), 2); /* whoever may see memory may see it there, too */
}

static void test_slots_of_a_pattern(void **state)
{
	struct group g = {.pattern = &pattern_add_rmsnorm};
	struct group_slot s[GROUP_MAX_SLOTS];

	member[0].op = ops_add(DT_f32, T, A, B, N);
	member[1].op = ops_norm(DT_f32, C, T, W, 4, N / 4);
	g.member[0] = &member[0];
	g.member[1] = &member[1];
	assert_int_equal(g.pattern->bind(&g), REASON_NONE);
	assert_int_equal(group_slots(&g, s), ADD_RMSNORM_NBOUND);
	assert_int_equal(s[ADD_RMSNORM_SUM].range.lo, T);
	assert_int_equal(s[ADD_RMSNORM_SUM].range.hi, T + 4 * N);
	assert_int_equal(s[ADD_RMSNORM_W].use, BOUND_READ);
	assert_int_equal(s[ADD_RMSNORM_W].range.hi, W + N);
	assert_int_equal(group_surviving(&g), 2);
}

/* What a member overwrites and another one overwrites again is written, too. */
static void test_writes(void **state)
{
	struct group g = chain();

	assert_true(group_writes(&g, (struct range){T + 4, T + 8}));
	assert_true(group_writes(&g, (struct range){C - 4, C + 1}));
	assert_false(group_writes(&g, (struct range){A, A + 4 * N}));
	assert_false(group_writes(&g, (struct range){T + 4 * N, T + 4 * N + 4}));
}

static const struct decoder family = {.name = "family"};
extern const struct decoder sig_decoder;

/* What a launch leaves open. */
static void test_picks_that_are_known(void **state)
{
	struct kernel k = {.name = (char *)"k", .decoder = &sig_decoder};
	struct launch l = {.kernel = &k, .grid = {1, 1, 1}, .block = {128, 1, 1}};
	struct op add = ops_add(DT_f32, T, A, B, N), whole = ops_add(DT_i32, T, A, B, N),
		  norm = ops_norm(DT_f32, C, T, W, 4, N / 4), sum = {.code = OP_sum};
	struct row_pick p;

	assert_false(row_pick_known(&add, &l, &p)); /* with or without subnormals */
	assert_int_equal(p.spelling.ftz, PICK_ftz_NO);
	assert_true(row_pick_known(&whole, &l, &p));
	assert_false(row_pick_known(&norm, &l, &p));
	assert_int_equal(p.order.threads, 128);
	k.decoder = &family;
	assert_true(row_pick_known(&add, &l, &p));
	assert_false(row_pick_known(&norm, &l, &p)); /* spellings of norms are many */

	operand_dense(&sum.operand[0], ROLE_out, ACCESS_WRITE, DT_f32, T, 0, 64);
	operand_dense(&sum.operand[1], ROLE_in0, ACCESS_READ, DT_f32, A, 64, 4096);
	sum.noperand = 2;
	sum.rows = 64;
	sum.cols = 4096;
	assert_false(row_pick_known(&sum, &l, &p)); /* no order */
	assert_true(row_order_aten(64, 4096, &p.order));
	sum.order = (struct op_order){.width = p.order.width,
				      .height = (uint16_t)(p.order.threads / p.order.width),
				      .vt = 4,
				      .vector = 4,
				      .along_x = true,
				      .along_y = p.order.threads > p.order.width,
				      .blocks = 1,
				      .step = p.order.threads};
	assert_true(row_pick_known(&sum, &l, &p));
	sum.order.blocks = 2;
	assert_false(row_pick_known(&sum, &l, &p));
	sum.order.blocks = 1;
	sum.operand[1].stride[0] += 4; /* the first elements of most rows go another way, */
	assert_false(row_pick_known(&sum, &l, &p));
	sum.operand[1].stride[0] += 12;
	assert_true(row_pick_known(&sum, &l, &p));
	sum.operand[1].addr += 4; /* or of all */
	assert_false(row_pick_known(&sum, &l, &p));
	sum.operand[1].addr -= 4;
	row_pick_torch = false; /* of another release */
	assert_false(row_pick_known(&sum, &l, &p));
	row_pick_torch = true;
	assert_true(row_pick_known(&sum, &l, &p));
}

/* Conversions, signs and roots that are one thing in PyTorch and may be another elsewhere. */
static void test_picks_of_types(void **state)
{
	struct kernel k = {.name = (char *)"k", .decoder = &family};
	struct launch l = {.kernel = &k, .grid = {1, 1, 1}, .block = {128, 1, 1}};
	struct op root = ops_silu(DT_f32, T, A, N), wide = ops_silu(DT_f64, T, A, N),
		  sign = ops_silu(DT_f32, T, A, N), byte = ops_silu(DT_f32, T, A, N);
	struct row_pick p;

	root.code = wide.code = OP_rsqrt;
	assert_true(row_pick_known(&root, &l, &p));
	assert_false(row_pick_known(&wide, &l, &p)); /* the toolkit's own */
	sign.code = OP_neg;
	assert_true(row_pick_known(&sign, &l, &p));
	byte.code = OP_copy;
	byte.operand[0].dtype = DT_u8;
	assert_true(row_pick_known(&byte, &l, &p));
	k.decoder = &sig_decoder;
	assert_false(row_pick_known(&sign, &l, &p)); /* with or without subnormals */
	assert_false(row_pick_known(&byte, &l, &p));
	byte.operand[0].dtype = DT_i32;
	assert_true(row_pick_known(&byte, &l, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_of_a_chain),
		cmocka_unit_test(test_dropped_slots_of_a_chain),
		cmocka_unit_test(test_slots_of_a_pattern),
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_picks_that_are_known),
		cmocka_unit_test(test_picks_of_types),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
