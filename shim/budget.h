/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host time that the planner may take of the program's threads: a little to begin with, then
 * plan_share percent of the time, and what the launches would have taken that fusing saved. When
 * that is used up, launches are passed over until there is a millisecond of it again. Shared and
 * racy: times are those of the time stamp counter, and rough.
 */
#ifndef AF_SHIM_BUDGET_H
#define AF_SHIM_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t budget_clock(void)
{
	return __rdtsc();
}

/* The planner took so long for a launch, by budget_clock(). */
void budget_planned(uint64_t ticks);
/* So many launches less were made. */
void budget_saved(unsigned launches);
/* Is there any left? */
bool budget_left(void);

#endif
