/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "shim/outlook.h"

enum { LAPS = 4000 };

static uint64_t index_ = 1000;
static uintptr_t program; /* whose kernels */

/* One lap of a program of four kernels; returns how many launches were looked at. `head`: a group
 * of three launches begins with the second kernel whenever that is looked at. */
static unsigned lap(bool head, bool waits)
{
	unsigned looks = 0;
	uint32_t here;

	for (uintptr_t k = 1; k <= 4; k++, index_++) {
		here = outlook_here((const struct kernel_rec *)(program + (k << 12)), 7);
		assert_int_not_equal(here, 0);
		if (outlook_pass(here, index_))
			continue;
		looks++;
		if (!head || k != 2)
			continue;
		/* What follows in the group is not asked for: something is open. */
		outlook_promise(here, 2, waits);
		for (; k < 4; k++, index_++)
			outlook_here((const struct kernel_rec *)(program + ((k + 1) << 12)), 7);
	}
	return looks;
}

static unsigned laps(unsigned n, bool head, bool waits)
{
	unsigned looks = 0;

	while (n--)
		looks += lap(head, waits);
	return looks;
}

static void test_nothing(void **arg)
{
	program = 1 << 20;
	assert_int_equal(lap(false, false), 4);
	assert_in_range(laps(10, false, false), 4, 40);
	/* Ever fewer. */
	assert_in_range(laps(LAPS, false, false), 1, LAPS / 20);
}

static void test_promise(void **arg)
{
	program = 2 << 20;
	/* Where a group with a future begins, each is looked at once it is known; nothing else is.
	 */
	laps(LAPS, true, false);
	assert_in_range(laps(LAPS, true, false), LAPS, LAPS + LAPS / 20);
}

static void test_waits(void **arg)
{
	unsigned looks;

	program = 3 << 20;
	laps(LAPS, true, true);
	looks = laps(LAPS, true, true);
	/* One in four, and its other launches never begin anything meanwhile. */
	assert_in_range(looks, LAPS / 5, LAPS / 4 + LAPS / 20);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing),
					  cmocka_unit_test(test_promise),
					  cmocka_unit_test(test_waits)};

UNIT_MAIN(tests)
