/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hot paths count. Each thread has counters of its own, which are added up when somebody wants
 * to know: an atomic addition would wait for every store before it to reach memory.
 */
#ifndef AF_SHIM_COUNTS_H
#define AF_SHIM_COUNTS_H

#include "matcher/group.h"

enum outcome {
	OUTCOME_FUSED,
	OUTCOME_CHECKED, /* the program's own launches ran, our kernel was compared beside them */
	OUTCOME_REJECTED,
	OUTCOME_COUNT,
};

struct counts_pattern {
	unsigned long long outcome[OUTCOME_COUNT];
	unsigned long long rejected[REASON_COUNT];
};

struct counts {
	unsigned long long nameless;   /* launches of handles without a record */
	unsigned long long removed;    /* program launches that were not sent */
	unsigned long long substitute; /* fused launches sent in their place */
	unsigned long long own;        /* snapshots, candidates and compares of live checks */
	unsigned long long held, completed, timed_out;
	/* Times that a stream came to hold launches; until it held none again something was fused,
	 * or the timer sent all of it as it was. */
	unsigned long long sequences, sequences_fused, sequences_timed_out;
	unsigned long long decoded;    /* launches that were decoded */
	unsigned long long remembered; /* fused launches made by what was remembered */
	unsigned long long unlooked;   /* launches passed over because nothing came of their like */
	struct counts_pattern pattern[PATTERN_COUNT];
};

/* Adds to one of one's own: they have no other writer. */
static inline void counts_add(unsigned long long *to, unsigned long long n)
{
	__atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}
#define COUNT(field, n) counts_add(&counts_mine()->field, n)

/* The calling thread's; never NULL. */
struct counts *counts_make(void);
extern __thread struct counts *counts_thread;
static inline struct counts *counts_mine(void)
{
	return counts_thread ? counts_thread : counts_make();
}

/* All threads' so far, those that are over included. */
void counts_sum(struct counts *to);

#endif
