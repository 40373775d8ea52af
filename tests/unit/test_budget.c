/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <time.h>

#include "shim/budget.h"
#include "shim/process.h"

struct process process;

enum { TICKS_MS = 2500000, PIECE = 100000 }; /* ticks */

static void spend(unsigned ms)
{
	for (unsigned i = 0; i < ms * (TICKS_MS / PIECE); i++)
		budget_planned(PIECE);
}

static void sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Ten milliseconds to begin with, and again after a long while: never more. */
static void test_some(void **arg)
{
	(void)arg;
	process.config.opt.plan_share = 50;
	assert_true(budget_left());
	spend(9);
	assert_true(budget_left());
	spend(2);
	assert_false(budget_left());
	sleep_ms(100);
	assert_true(budget_left());
	spend(11);
	assert_false(budget_left());
}

static void test_share(void **arg)
{
	unsigned times = 0;

	(void)arg;
	process.config.opt.plan_share = 1;
	spend(10);
	assert_false(budget_left());
	for (unsigned i = 0; i < 100; i++) { /* 0.01 ms for each of 1 ms: it is less than it owes */
		sleep_ms(1);
		times += budget_left();
	}
	assert_int_equal(times, 0);
	process.config.opt.plan_share = 100; /* all that it can get */
	assert_true(budget_left());
	process.config.opt.plan_share = 0;
	sleep_ms(20);
	assert_false(budget_left());
}

static void test_saved(void **arg)
{
	(void)arg;
	process.config.opt.plan_share = 0;
	spend(5);
	assert_false(budget_left());
	budget_saved(100000);
	assert_true(budget_left());
	spend(11);
	assert_false(budget_left());
	budget_saved(500); /* three microseconds each: there is half a millisecond, */
	assert_false(budget_left());
	budget_saved(300); /* and 1.4 */
	assert_true(budget_left());
	spend(1);
	assert_true(budget_left());
	spend(1);
	assert_false(budget_left());
}

/* A thread that did not run took no time. */
static void test_preempted(void **arg)
{
	(void)arg;
	process.config.opt.plan_share = 0;
	budget_saved(100000);
	for (unsigned i = 0; i < 100; i++)
		budget_planned((uint64_t)1000 * TICKS_MS);
	assert_true(budget_left());
	for (unsigned i = 0; i < 100; i++)
		budget_planned((uint64_t)1000 * TICKS_MS);
	assert_false(budget_left());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_preempted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
