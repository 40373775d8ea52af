// SPDX-License-Identifier: Apache-2.0
/* What the planner remembers of chains is of these very members: whatever is another, it asks
 * again. */
#include "unit.h"

#include <stdlib.h>

#include "matcher/decode.h"
#include "matcher/row_build.h"
#include "matcher/seq_chain_state.h"

enum { COLS = 4096, ROWS = 8 };

static struct chains *chains;
static struct seq_member member[2];
static struct seq_member *const both[] = {&member[0], &member[1]};
static bool ordered; /* the second one says how it adds up */
static struct kernel kernel = {.name = (char *)"any"};

static void operand(struct op *op, enum role role, enum access access, uint64_t addr)
{
	operand_dense(&op->operand[op->noperand++], role, access, DT_f32, addr, ROWS, COLS);
}

static void make(void)
{
	struct op *add = &member[0].m.op, *mul = &member[1].m.op;

	memset(member, 0, sizeof(member));
	for (unsigned i = 0; i < 2; i++)
		member[i].m.launch = (struct launch){
			.kernel = &kernel, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i};
	*add = (struct op){.code = OP_add, .rows = ROWS, .cols = COLS, .nscalar = 1, .scalar = {1}};
	operand(add, ROLE_out, ACCESS_WRITE, 0x1000000);
	operand(add, ROLE_in0, ACCESS_READ, 0x2000000);
	operand(add, ROLE_in1, ACCESS_READ, 0x3000000);
	*mul = (struct op){.code = OP_mul, .rows = ROWS, .cols = COLS};
	operand(mul, ROLE_out, ACCESS_WRITE, 0x4000000);
	operand(mul, ROLE_in0, ACCESS_READ, 0x1000000);
	operand(mul, ROLE_in1, ACCESS_READ, 0x5000000);
	mul->order.height = 7; /* means nothing */
	if (ordered)
		mul->order = (struct op_order){.width = 16};
}

static int setup(void **arg)
{
	chains = calloc(1, sizeof(*chains));
	return chains ? 0 : -1;
}

static int teardown(void **arg)
{
	chain_known_free(chains);
	free(chains);
	ordered = false;
	return 0;
}

static void ask(bool made)
{
	struct outcome is, shall = {.traffic = 0};

	for (unsigned i = 0; i < 2; i++)
		member[i].summed = false;
	assert_int_equal(chain_outcome(chains, both, 2, &is), made);
	shall.why = chain_build(&chains->row, &shall.traffic, both, 2, false);
	assert_int_equal(is.why, shall.why);
	if (is.why && is.why != REASON_OVERLAP)
		return;
	assert_int_equal(is.traffic, shall.traffic);
	assert_int_equal(is.cols, chains->row.cols);
}

static void test_same(void **arg)
{
	make();
	ask(true);
	ask(false);
	member[0].m.launch.index = 17;
	member[0].m.op.nslot = 2; /* where things are in the parameters does not matter */
	member[1].m.op.order.along_x = true;
	ask(false);
}

#define OTHER(what)                                                                                \
	do {                                                                                       \
		make();                                                                            \
		ask(false);                                                                        \
		op->what;                                                                          \
		ask(true);                                                                         \
	} while (0)

static void test_other(void **arg)
{
	struct op *op = &member[1].m.op;

	make();
	ask(true);
	OTHER(code = OP_sub);
	OTHER(rows = ROWS - 1);
	OTHER(cols = COLS - 1);
	OTHER(has_eps = true);
	OTHER(plus_one = true);
	OTHER(noperand = 2);
	OTHER(nscalar = 1);
	OTHER(compute = DT_f32);
	OTHER(scalar[0] = 2);
	OTHER(scalar[1] = 2);
	OTHER(order.width = 64);
	ordered = true;
	make();
	ask(true);
	OTHER(order.width = 32);
	OTHER(order.height = 64);
	OTHER(order.vt = 4);
	OTHER(order.vector = 4);
	OTHER(order.along_x = true);
	OTHER(order.along_y = true);
	OTHER(order.blocks = 2);
	OTHER(order.mult[0] = 2);
	OTHER(order.mult[1] = 2);
	OTHER(order.mult[2] = 2);
	OTHER(order.step = 2);
	OTHER(operand[2].addr += 4);
	OTHER(operand[2].dtype = DT_bf16);
	OTHER(operand[2].role = ROLE_bias);
	OTHER(operand[2].access |= ACCESS_WRITE);
	OTHER(operand[2].ndim = 1);
	OTHER(operand[2].size[0] = 1);
	OTHER(operand[2].size[1] = 1);
	OTHER(operand[2].stride[0] = 0);
	OTHER(operand[2].stride[1] = 0);
	OTHER(operand[0].addr += 4);
	op = &member[0].m.op;
	OTHER(scalar[0] = 2);
	OTHER(operand[1].addr += 4);
}

static void test_norm(void **arg)
{
	make();
	member[0].m.op.has_eps = true;
	member[0].m.op.eps = 1e-5;
	ask(true);
	ask(false);
	member[0].m.op.eps = 1e-6;
	ask(true);
}

/* Spelling and order are guessed by these. */
static void test_launch(void **arg)
{
	static const struct decoder decoder = {.name = "some"};
	struct kernel known = kernel;

	make();
	ask(true);
	member[0].m.launch.block[1] = 2;
	ask(true);
	member[0].m.launch.block[1] = 1;
	ask(false);
	known.decoder = &decoder;
	member[0].m.launch.kernel = &known;
	ask(true);
}

static void test_row(void **arg)
{
	static struct row made, got;
	uint64_t traffic;

	make();
	assert_false(chain_recall(chains, both, 2, &got));
	ask(true);
	assert_int_equal(chain_build(&made, &traffic, both, 2, false), REASON_NONE);
	row_canon(&made);
	chain_know(chains, both, 2, &made);
	memset(&got, 0xff, sizeof(got));
	assert_true(chain_recall(chains, both, 2, &got));
	assert_int_equal(row_check(&got), REASON_NONE);
	assert_int_equal(row_hash(&got), row_hash(&made));
	assert_memory_equal(got.stmt, made.stmt, made.nstmt * sizeof(made.stmt[0]));
	assert_memory_equal(got.operand, made.operand, made.noperand * sizeof(made.operand[0]));
	assert_false(chain_recall(chains, both, 1, &got));
	member[1].m.op.operand[2].addr += 4;
	member[1].summed = false;
	assert_false(chain_recall(chains, both, 2, &got));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
static const struct CMUnitTest tests[] = {
	EACH(test_same), EACH(test_other), EACH(test_norm), EACH(test_launch), EACH(test_row),
};

UNIT_MAIN(tests)
