/* SPDX-License-Identifier: Apache-2.0 */
/* The search, inside: candidates that are left, and the steps that every pattern's search takes. */
#ifndef AF_SHIM_PROBE_CHILD_SEARCH_H
#define AF_SHIM_PROBE_CHILD_SEARCH_H

#include "shim/probe_child_bench.h"

struct search {
	struct probe *p;
	struct bench bench;
	struct probe_batch one, many; /* a single row or few; as many as the types ask for */
	struct trial *trial;
	unsigned n;
	bool close;
	bool table; /* of silu: every gate there is was tried, so those left agree on all */
	uint64_t seed;
};

/* Does the `inputs` option leave this family in? */
bool search_allowed(const struct probe *p, enum probe_family f);
/* Fills the batch with rows of the family and keeps the candidates that leave what the program's
 * kernels leave. False once the answer is known. */
bool search_filter(struct search *s, struct probe_batch *batch, enum probe_family f);
/* Is more than one kind of arithmetic left? *other: the first that is not like the first. */
bool search_ambiguous(const struct search *s, unsigned *other);
/* numerics = close has no end of candidates within a unit: the best few go on. */
void search_keep_best(struct search *s);
/* Every family once, for what it checks; then those that separate, while more than one is left. */
bool search_all_families(struct search *s);

/* silu -> mul (probe_child_search_silu.c): rows of a small batch and of a large one. */
bool search_silu(struct search *s);
int64_t search_silu_few(const struct probe *p);
int64_t search_silu_rows(const struct probe *p);
/* Every float there is through the candidates that are left, where the program's kernels can be
 * launched with as many elements as that takes; sets table (probe_child_sweep.c). */
bool search_sweep(struct search *s);

#endif
