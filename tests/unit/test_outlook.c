/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <time.h>

#include "shim/outlook.h"

enum { LAPS = 4000 };

static uint64_t index_ = 1000;
static uintptr_t program;           /* whose kernels */
static unsigned at_group, in_parts; /* looks at a group's first launch, and at others of it */
static double look_takes_s;         /* at a group */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One lap of a program of four kernels; returns how many launches were looked at. `head`: a group
 * of three launches begins with the second kernel whenever that is looked at. */
static unsigned lap(bool head, bool waits)
{
	unsigned looks = 0;
	uint32_t here;

	for (uintptr_t k = 1; k <= 4; k++, index_++) {
		outlook_seen((const struct kernel_rec *)(program + (k << 12)));
		here = outlook_here(7);
		assert_int_not_equal(here, 0);
		if (outlook_waits(here, index_) || outlook_pass(here))
			continue;
		looks++;
		at_group += k == 2;
		in_parts += k > 2;
		if (!head || k != 2)
			continue;
		for (const double from = now_s(); now_s() - from < look_takes_s;)
			;
		/* What follows in the group is not asked for: something is open. */
		outlook_promise(here, 2, waits);
		for (; k < 4; k++, index_++)
			outlook_seen((const struct kernel_rec *)(program + ((k + 1) << 12)));
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

/* Between looks at the group there is `gap` at least; there are some. */
static void assert_gap(double gap)
{
	const double from = now_s();

	for (at_group = 0; now_s() - from < 0.2 || (!at_group && now_s() - from < 10);)
		lap(true, true);
	assert_in_range(at_group, 1, (unsigned)((now_s() - from) / gap) + 3);
}

static void test_waits(void **arg)
{
	program = 3 << 20;
	laps(LAPS, true, true); /* the lone kernel in front is left alone by then */
	in_parts = 0;
	/* One in a millisecond at most, and its other launches never begin anything meanwhile. */
	assert_gap(1e-3);
	assert_int_equal(in_parts, 0);
	/* What takes 0.3 ms has to wait for 64 times as long. */
	look_takes_s = 0.3e-3;
	laps(1, true, true);
	assert_gap(64 * look_takes_s);
	look_takes_s = 0;
	/* Evidence is there: each is looked at. */
	for (at_group = 0; !at_group;)
		lap(true, false);
	assert_in_range(laps(LAPS, true, false), LAPS, LAPS + LAPS / 20);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing),
					  cmocka_unit_test(test_promise),
					  cmocka_unit_test(test_waits)};

UNIT_MAIN(tests)
