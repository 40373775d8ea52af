// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/op.h"

/* An f32 box at addr; size and stride (in elements) of up to three dimensions, outermost first. */
static struct operand box(uint64_t addr, unsigned ndim, const int64_t *size, const int64_t *stride)
{
	struct operand o = {.addr = addr, .ndim = (uint8_t)ndim, .dtype = DT_f32};

	for (unsigned i = 0; i < ndim; i++) {
		o.size[i] = size[i];
		o.stride[i] = 4 * stride[i];
	}
	return o;
}
#define BOX1(addr, n, s) box(addr, 1, (int64_t[]){n}, (int64_t[]){s})
#define BOX2(addr, r, c, sr, sc) box(addr, 2, (int64_t[]){r, c}, (int64_t[]){sr, sc})
#define BOX3(addr, a, b, c, sa, sb, sc) box(addr, 3, (int64_t[]){a, b, c}, (int64_t[]){sa, sb, sc})

static void test_rows(void **arg)
{
	static const int64_t no = -99;
	const struct {
		struct operand o;
		int64_t rows, cols, pitch; /* pitch in bytes, or no */
	} row[] = {
		{BOX1(64, 12, 1), 3, 4, 16},
		{BOX1(64, 12, 1), 1, 12, 48},
		{BOX1(64, 12, 1), 12, 1, 4},
		{BOX1(64, 12, 1), 5, 2, no},
		{BOX1(64, 4, 1), 3, 4, 0}, /* one row for all */
		{BOX1(64, 12, 2), 3, 4, no},
		{BOX1(64, 12, 2), 12, 1, 8},
		{BOX2(64, 3, 4, 4, 1), 3, 4, 16},
		{BOX2(64, 3, 4, 4, 1), 1, 12, 48},
		{BOX2(64, 3, 4, 4, 1), 6, 2, 8}, /* dense: any rows */
		{BOX2(64, 3, 4, 9, 1), 3, 4, 36},
		{BOX2(64, 3, 4, 9, 1), 1, 12, no},
		{BOX2(64, 3, 4, 9, 1), 6, 2, no},
		{BOX2(64, 3, 4, 0, 1), 3, 4, 0},
		{BOX2(64, 3, 4, 1, 3), 3, 4, no}, /* transposed */
		{BOX2(64, 1, 4, 99, 1), 1, 4, 16},
		{BOX3(64, 2, 3, 4, 12, 4, 1), 6, 4, 16},
		{BOX3(64, 2, 3, 4, 27, 9, 1), 6, 4, 36},
		{BOX3(64, 2, 3, 4, 30, 9, 1), 6, 4, no},
		{BOX2(64, 0, 4, 4, 1), 0, 4, no},
		{BOX1(64, 1, 1), 1, 1, 4},
		{BOX1(64, 1, 1), 5, 1, 0},
		{BOX2(64, 3, 4, -9, 1), 3, 4, -36},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int64_t pitch = 12345;
		bool is = operand_rows(&row[i].o, row[i].rows, row[i].cols, &pitch);

		if (is != (row[i].pitch != no) || (is && pitch != row[i].pitch))
			fail_msg("row %zu: %d, pitch %lld", i, is, (long long)pitch);
	}
}

static void test_range(void **arg)
{
	struct operand o = BOX2(1000, 3, 4, 9, 1);
	struct range r = operand_range(&o);

	assert_int_equal(r.lo, 1000);
	assert_int_equal(r.hi, 1000 + 2 * 36 + 16);
	assert_int_equal(operand_bytes(&o), 48);
	o = BOX2(1000, 3, 4, -9, 1);
	r = operand_range(&o);
	assert_int_equal(r.lo, 1000 - 72);
	assert_int_equal(r.hi, 1016);
	o = BOX2(1000, 0, 4, 4, 1);
	r = operand_range(&o);
	assert_int_equal(r.lo, r.hi);
	assert_int_equal(operand_bytes(&o), 0);
	o = BOX2(1000, 7, 4, 0, 1);
	assert_int_equal(operand_bytes(&o), 16);
	o = BOX1(1000, 4, 1);
	assert_true(operand_covers(&o, (struct range){1000, 1016}));
	assert_true(operand_covers(&o, (struct range){1004, 1008}));
	assert_false(operand_covers(&o, (struct range){996, 1008}));
	o = BOX2(1000, 3, 4, 9, 1);
	assert_false(operand_covers(&o, (struct range){1000, 1004}));
	o = BOX2(1000, 3, 4, 4, 1);
	assert_true(operand_covers(&o, (struct range){1000, 1048}));
}

/* Against counting elements one by one. */
static void test_overlap_and_same(void **arg)
{
	struct operand list[200];
	unsigned n = 0, overlap = 0, apart_by_columns = 0;

	for (int64_t addr = 0; addr < 5; addr++)
		for (int64_t r = 1; r < 4; r++)
			for (int64_t pitch = 2; pitch < 6; pitch++)
				list[n++] = BOX2(4096 + 4 * (uint64_t)addr, r, 2, pitch, 1);
	list[n++] = BOX1(4096, 6, 1);
	list[n++] = BOX1(4096, 6, 2);
	list[n++] = BOX1(4100, 1, 1);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			char used[64] = {0};
			const struct operand *o[2] = {&list[i], &list[j]};
			bool really = false, same = true;
			uint64_t first[64], count[2] = {0, 0};

			for (unsigned k = 0; k < 2; k++)
				for (int64_t r = 0; r < o[k]->size[0]; r++)
					for (int64_t c = 0;
					     c < (o[k]->ndim == 2 ? o[k]->size[1] : 1); c++) {
						uint64_t at =
							(o[k]->addr - 4096 +
							 (uint64_t)(r * o[k]->stride[0]) +
							 (uint64_t)(c *
								    (o[k]->ndim == 2 ? 4 : 0))) /
							4;

						if (!k)
							first[count[0]] = at;
						else
							same &= count[1] < count[0] &&
								first[count[1]] == at;
						count[k]++;
						really |= k && used[at];
						if (!k)
							used[at] = 1;
					}
			same &= count[0] == count[1];
			assert_int_equal(operand_same(o[0], o[1]), same);
			if (really)
				assert_true(operand_overlap(o[0], o[1]));
			overlap += really;
			apart_by_columns += !operand_overlap(o[0], o[1]) &&
					    range_overlap(operand_range(o[0]), operand_range(o[1]));
		}
	assert_true(overlap > 1000);
	assert_true(apart_by_columns > 100);
}

/* The two halves of one table, as a merged gate-and-up projection leaves them. */
static void test_halves(void **arg)
{
	struct operand gate = BOX2(4096, 100, 8, 16, 1), up = BOX2(4096 + 32, 100, 8, 16, 1),
		       off = BOX2(4096 + 28, 100, 8, 16, 1), one = BOX1(4096 + 32, 8, 1);

	assert_false(operand_overlap(&gate, &up));
	assert_true(operand_overlap(&gate, &off));
	assert_false(operand_overlap(&gate, &one));
	assert_true(operand_overlap(&up, &one));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rows),
	cmocka_unit_test(test_range),
	cmocka_unit_test(test_overlap_and_same),
	cmocka_unit_test(test_halves),
};
UNIT_MAIN(tests)
