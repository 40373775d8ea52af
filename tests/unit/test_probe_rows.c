/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "shim/probe_child.h"

static struct param layout[5] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}, {24, 4}};

/* out, in0 and numbers of that role; blocks of 256 threads. */
static void member(struct probe_member *pm, unsigned nnumber, const enum role role[],
		   const int32_t number[], int64_t n, uint32_t grid)
{
	struct op *op = &pm->m.op;

	memset(pm, 0, sizeof(*pm));
	pm->kernel.nparam = 2 + nnumber;
	pm->kernel.param = layout;
	pm->m.launch = (struct launch){.kernel = &pm->kernel,
				       .grid = {grid, 1, 1},
				       .block = {256, 1, 1},
				       .params = pm->params[0]};
	op->code = OP_silu;
	op->rows = 1;
	op->cols = n;
	for (unsigned i = 0; i < 2; i++) {
		enum role r = i ? ROLE_in0 : ROLE_out;

		op->slot[op->nslot++] = (struct slot){(uint16_t)(8 * i), 8, (uint8_t)r};
		operand_dense(&op->operand[op->noperand++], r, i ? ACCESS_READ : ACCESS_WRITE,
			      DT_f32, 0x10000 * (i + 1), 0, n);
	}
	for (unsigned i = 0; i < nnumber; i++) {
		memcpy(pm->params[0] + 16 + 4 * i, &number[i], 4);
		op->slot[op->nslot++] = (struct slot){(uint16_t)(16 + 4 * i), 4, (uint8_t)role[i]};
	}
}

static struct probe *probe_of(unsigned nnumber, const enum role role[], const int32_t number[],
			      int64_t n, uint32_t grid)
{
	static struct probe p;

	memset(&p, 0, sizeof(p));
	p.nmember = 1;
	p.asked.rows = n;
	p.asked.cols = 1;
	member(&p.member[0], nnumber, role, number, n, grid);
	return &p;
}

static int32_t number(const struct probe *p, unsigned i)
{
	int32_t v;

	memcpy(&v, p->member[0].params[1] + 16 + 4 * i, 4);
	return v;
}

static void extent_and_grid_follow(void **state)
{
	struct probe *p = probe_of(1, (enum role[]){ROLE_n}, (int32_t[]){5000}, 5000, 20);

	assert_true(probe_rows_set(p, 100000));
	assert_int_equal(number(p, 0), 100000);
	assert_int_equal(p->member[0].run.launch.grid[0], 391);
	assert_int_equal(p->member[0].run.op.cols, 100000);
	assert_int_equal(p->member[0].run.op.operand[1].size[0], 100000);
	assert_true(probe_rows_set(p, 5000));
	assert_int_equal(number(p, 0), 5000);
	assert_int_equal(p->member[0].run.launch.grid[0], 20);
	/* More than an int holds. */
	assert_false(probe_rows_set(p, INT64_C(1) << 31));
}

static void rows_of_an_argument_with_columns(void **state)
{
	struct probe *p =
		probe_of(2, (enum role[]){ROLE_rows, ROLE_cols}, (int32_t[]){50, 100}, 5000, 20);

	assert_true(probe_rows_set(p, 100000));
	assert_int_equal(number(p, 0), 1000);
	assert_int_equal(number(p, 1), 100);
	assert_false(probe_rows_set(p, 100001)); /* no whole row */
	assert_int_equal(probe_rows_near(p, 100001) % 100, 0);
	assert_true(probe_rows_set(p, probe_rows_near(p, 100001)));
}

static void a_number_of_unknown_meaning_stops_it(void **state)
{
	struct probe *p = probe_of(1, (enum role[]){ROLE_n}, (int32_t[]){4999}, 5000, 20);

	assert_false(probe_rows_set(p, 100000));
}

static void grids_without_a_rule_grow_by_whole_times(void **state)
{
	struct probe *p = probe_of(1, (enum role[]){ROLE_n}, (int32_t[]){5000}, 5000, 20);

	p->member[0].m.launch.grid[1] = 3;
	assert_false(probe_rows_set(p, 100000));
	p->scale = PROBE_SCALE_GRID;
	assert_true(probe_rows_set(p, 100000));
	assert_int_equal(p->member[0].run.launch.grid[0], 400);
	assert_int_equal(p->member[0].run.launch.grid[1], 3);
	assert_int_equal(number(p, 0), 100000);
	assert_false(probe_rows_set(p, 100001));
	assert_int_equal(probe_rows_near(p, 100001), 21 * 5000);
}

/* Loops over four or eight at a time see the same remainders. */
static void near_leaves_the_remainder(void **state)
{
	static const int64_t n[] = {1, 5632, 1000, 100003};

	for (unsigned i = 0; i < sizeof(n) / sizeof(*n); i++) {
		struct probe *p = probe_of(1, (enum role[]){ROLE_n}, (int32_t[]){(int32_t)n[i]},
					   n[i], (uint32_t)(n[i] + 255) / 256);
		int64_t rows = probe_rows_near(p, 1 << 23);

		assert_int_equal(rows % 32, n[i] % 32);
		assert_in_range(rows, 1 << 23, (1 << 23) + 31);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extent_and_grid_follow),
		cmocka_unit_test(rows_of_an_argument_with_columns),
		cmocka_unit_test(a_number_of_unknown_meaning_stops_it),
		cmocka_unit_test(grids_without_a_rule_grow_by_whole_times),
		cmocka_unit_test(near_leaves_the_remainder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
