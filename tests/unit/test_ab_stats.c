/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <math.h>

#include "tools/ab_stats.h"

static void medians(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};

	assert_true(ab_median(odd, 3) == 2);
	assert_true(ab_median(even, 4) == 2.5);
	assert_true(ab_median(one, 1) == 7);
}

/* Ranks and confidence as the usual tables of this interval have them. */
static void ranks(void **state)
{
	static const struct {
		unsigned n, low;
		double confidence;
	} row[] = {{1, 1, 0},         {2, 1, 0.5},    {5, 1, 0.9375},  {6, 1, 0.96875},
		   {8, 1, 0.9921875}, {9, 2, 0.9609}, {10, 2, 0.9785}, {15, 4, 0.9648},
		   {20, 6, 0.9586},   {25, 8, 0.9567}};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		double x[32];
		struct ab_interval r;

		for (unsigned k = 0; k < row[i].n; k++)
			x[k] = row[i].n - k; /* downwards: it sorts */
		r = ab_median_interval(x, row[i].n, 0.95);
		assert_true(r.low == row[i].low);
		assert_true(r.high == row[i].n + 1 - row[i].low);
		assert_true(fabs(r.confidence - row[i].confidence) < 1e-4);
	}
}

/* It does what it says: the interval holds the true median in that share of samples. */
static void coverage(void **state)
{
	unsigned held = 0, tries = 20000;
	uint64_t seed = 1;

	for (unsigned t = 0; t < tries; t++) {
		struct ab_interval r;
		double x[10];

		for (unsigned k = 0; k < 10; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			x[k] = pow((double)(seed >> 11) / (double)(1ull << 53), 3); /* skewed */
		}
		r = ab_median_interval(x, 10, 0.95);
		held += r.low <= 0.125 && 0.125 <= r.high;
	}
	assert_in_range(held, tries * 0.970, tries * 0.987);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(medians),
	cmocka_unit_test(ranks),
	cmocka_unit_test(coverage),
};
UNIT_MAIN(tests)
