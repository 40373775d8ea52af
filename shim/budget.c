// SPDX-License-Identifier: Apache-2.0
#include "shim/budget.h"

#include "shim/hot.h"
#include "shim/process.h"

enum {
	US = 2500,          /* ticks; between 2 and 3 GHz are usual */
	MOST = 10000 * US,  /* there is never more; to begin with, there is that */
	ENOUGH = 1000 * US, /* once it is used up: for groups that are met once to be met whole */
	LAUNCH = 3 * US,    /* of the program's and the driver's time */
	ONE_MOST = 50 * US, /* more than that, and the thread did not run */
};

static HOT int64_t left = MOST;
static HOT bool gone;      /* used up, and not enough again yet */
static HOT uint64_t since; /* when it was last added to for the time that went by; 0: never */

static void add(int64_t ticks)
{
	int64_t sum = __atomic_load_n(&left, __ATOMIC_RELAXED) + ticks;

	__atomic_store_n(&left, sum < MOST ? sum : MOST, __ATOMIC_RELAXED);
}

void budget_planned(uint64_t ticks)
{
	add(ticks < ONE_MOST ? -(int64_t)ticks : -ONE_MOST);
}

void budget_saved(unsigned launches)
{
	add((int64_t)launches * LAUNCH);
}

bool budget_left(void)
{
	const int64_t share = process.config.opt.plan_share;
	const bool was = __atomic_load_n(&gone, __ATOMIC_RELAXED);
	uint64_t now, then;
	bool is;

	if ((!was && __atomic_load_n(&left, __ATOMIC_RELAXED) > 0) || share >= 100)
		return true;
	now = budget_clock();
	then = __atomic_exchange_n(&since, now, __ATOMIC_RELAXED);
	if (then && now > then)
		add((now - then < (uint64_t)MOST * 100 ? (int64_t)(now - then)
						       : (int64_t)MOST * 100) *
		    share / 100);
	is = __atomic_load_n(&left, __ATOMIC_RELAXED) < (was ? ENOUGH : 1);
	if (is != was)
		__atomic_store_n(&gone, is, __ATOMIC_RELAXED);
	return !is;
}
