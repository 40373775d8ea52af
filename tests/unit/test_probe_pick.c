/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "shim/probe_child_chain.h"

bool probe_fail(struct probe *p, enum reason why, const char *fmt, ...)
{
	(void)fmt;
	p->why = why;
	return false;
}

static struct probe *probe_of(enum opcode code, enum dtype t, int64_t rows, int64_t cols,
			      unsigned block)
{
	static struct probe p;
	struct op *op = &p.member[0].run.op;
	bool along = rows > 0;

	memset(&p, 0, sizeof(p));
	p.nmember = 1;
	p.asked.member[0] = &p.member[0].run;
	p.member[0].run.launch.block[0] = block;
	p.member[0].run.launch.block[1] = p.member[0].run.launch.block[2] = 1;
	*op = (struct op){
		.code = code, .rows = along ? rows : 1, .cols = cols, .has_eps = true, .eps = 1e-5};
	operand_dense(&op->operand[op->noperand++], ROLE_out, ACCESS_WRITE, t, 0x100000, rows,
		      cols);
	operand_dense(&op->operand[op->noperand++], ROLE_in0, ACCESS_READ, t, 0x200000, rows, cols);
	if (code == OP_rmsnorm || code == OP_layernorm)
		operand_dense(&op->operand[op->noperand++], ROLE_weight, ACCESS_READ, t, 0x300000,
			      0, cols);
	return &p;
}

/* The first pick with this name, as a spelling's number and an order's. */
static uint32_t find(const struct pick_space *s, const char *name)
{
	for (uint32_t o = 0; o < s->norder; o++)
		for (uint32_t i = 0; i < s->nspelling; i++) {
			struct row_pick p = pick_of(s, o << 16 | i);
			char got[ROW_PICK_NAME_MAX];

			row_pick_name(&p, got);
			if (!strcmp(got, name))
				return o << 16 | i;
		}
	fail_msg("there is no %s", name);
	return 0;
}

static bool same(const struct pick_space *s, const char *a, const char *b)
{
	assert_int_equal(pick_same(s, find(s, a), find(s, b)),
			 pick_same(s, find(s, b), find(s, a)));
	return pick_same(s, find(s, a), find(s, b));
}

static void each_program_is_there_once(void **state)
{
	static const enum opcode list[] = {OP_silu, OP_gelu_tanh, OP_relu, OP_exp, OP_copy};
	struct pick_space s;

	(void)state;
	for (unsigned k = 0; k < sizeof(list) / sizeof(*list); k++) {
		struct probe *p = probe_of(list[k], DT_f32, 0, 1000, 256);

		assert_true(pick_space_open(p, &s));
		assert_true(s.data);
		assert_int_equal(s.norder, 1);
		assert_true(s.nspelling <= row_pick_count(s.op));
		for (unsigned i = 0; i < s.nspelling; i++)
			for (unsigned j = 0; j < i; j++)
				assert_memory_not_equal(&s.program[i], &s.program[j],
							sizeof(s.program[0]));
		pick_space_close(&s);
	}
}

static void halving_before_or_after_is_the_same(void **state)
{
	struct pick_space s;

	(void)state;
	assert_true(pick_space_open(probe_of(OP_gelu_tanh, DT_f32, 0, 1000, 256), &s));
	assert_true(same(&s, "plain", "cdf"));
	assert_false(same(&s, "plain", "half")); /* overflows */
	assert_false(same(&s, "plain", "left"));
	assert_false(same(&s, "plain", "ftz"));
	pick_space_close(&s);
}

static void nothing_of_halves_is_subnormal(void **state)
{
	struct pick_space s;

	(void)state;
	assert_true(pick_space_open(probe_of(OP_silu, DT_f16, 0, 1000, 256), &s));
	assert_true(same(&s, "plain", "ftz"));
	assert_false(same(&s, "plain", "divfast"));
	pick_space_close(&s);
	assert_true(pick_space_open(probe_of(OP_silu, DT_bf16, 0, 1000, 256), &s));
	assert_false(same(&s, "plain", "ftz"));
	pick_space_close(&s);
}

static void orders_are_trees(void **state)
{
	struct pick_space s;

	(void)state;
	/* Rows of 128 in a block of 128: a thread has one element, whatever it would do with more.
	 */
	assert_true(pick_space_open(probe_of(OP_softmax, DT_f32, 4, 128, 128), &s));
	for (unsigned i = 0; i < s.norder; i++)
		for (unsigned j = 0; j < i; j++)
			assert_false(pick_same(&s, i << 16, j << 16));
	assert_false(same(&s, "t128.desc.firstdesc/plain", "t128.desc.serial/plain"));
	assert_false(same(&s, "t128.desc.firstdesc/plain", "t128.desc.all/plain"));
	assert_true(same(&s, "t128.desc.firstdesc/plain", "t128.desc.firstdesc/maxnan"));
	pick_space_close(&s);
}

static void squares_of_short_numbers_are_exact(void **state)
{
	struct pick_space s;

	(void)state;
	assert_true(pick_space_open(probe_of(OP_rmsnorm, DT_f32, 4, 300, 64), &s));
	assert_false(same(&s, "t64.desc.firstdesc/plain", "t64.nofma.desc.firstdesc/plain"));
	assert_false(same(&s, "t64.desc.firstdesc/plain", "t64.desc.firstdesc/mmul"));
	pick_space_close(&s);
	assert_true(pick_space_open(probe_of(OP_rmsnorm, DT_bf16, 4, 256, 64), &s));
	for (unsigned i = 0; i < s.norder; i++)
		assert_int_equal(s.order[i].f.fma, FIELD_fma_YES);
	/* Dividing by a power of two is exact. */
	assert_true(same(&s, "t64.desc.firstdesc/plain", "t64.desc.firstdesc/mmul"));
	pick_space_close(&s);
}

static void welford_has_orders_of_its_own(void **state)
{
	struct pick_space s;
	uint32_t plain, by;

	(void)state;
	assert_true(pick_space_open(probe_of(OP_layernorm, DT_f32, 4, 100, 32), &s));
	assert_true(s.nwelford > 1 && s.norder > s.nwelford);
	plain = find(&s, "t32.desc/welford");
	assert_true(pick_welford(&s, plain & 0xffff));
	assert_true(pick_same(&s, plain, plain));
	/* What a thread's mean is updated by. */
	by = find(&s, "t32.desc.frcp/welford");
	assert_true(by >> 16 >= s.nwelford);
	assert_false(pick_same(&s, s.nwelford << 16 | (plain & 0xffff), by));
	for (unsigned i = s.nwelford; i < s.norder; i++)
		assert_true(!s.order[i].f.acc && !s.order[i].f.part);
	pick_space_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_program_is_there_once),
		cmocka_unit_test(halving_before_or_after_is_the_same),
		cmocka_unit_test(nothing_of_halves_is_subnormal),
		cmocka_unit_test(orders_are_trees),
		cmocka_unit_test(squares_of_short_numbers_are_exact),
		cmocka_unit_test(welford_has_orders_of_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
