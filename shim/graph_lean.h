/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains in graphs without the stores that nobody sees: the kernel that leaves them out is another
 * one than the verdict's, so it passes a live check of its own before it is used.
 */
#ifndef AF_SHIM_GRAPH_LEAN_H
#define AF_SHIM_GRAPH_LEAN_H

#include "shim/standin.h"

struct lean {
	const struct verdict *verdict;
	CUfunction function[GEN_PARTS];
	uint64_t generation; /* of its context */
	int passed;          /* atomic */
	struct lean *next;
};

/* What is known of the kernels in that context; made at first sight, never freed. NULL if out of
 * memory. For the graph worker. */
struct lean *lean_of(const struct verdict *v, const struct standin *s, const struct ours *o);

static inline bool lean_passed(const struct lean *l)
{
	return __atomic_load_n(&l->passed, __ATOMIC_ACQUIRE);
}

#endif
