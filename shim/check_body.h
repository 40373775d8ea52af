/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a live check does: copies of what the group reads and overwrites, our candidate on the
 * copies, its results against those that the group's own kernels left. The same on a stream and in
 * a graph.
 */
#ifndef AF_SHIM_CHECK_BODY_H
#define AF_SHIM_CHECK_BODY_H

#include "shim/check.h"
#include "shim/standin.h"

enum { CHECK_ALIGN = 256 }; /* copies keep their originals' alignment up to this */

/* Where the work goes. Each returns false if it could not. */
struct check_sink {
	bool (*copy)(void *arg, uint64_t to, uint64_t from, uint64_t bytes);
	bool (*fill)(void *arg, uint64_t at, unsigned char value, uint64_t bytes);
	bool (*candidate)(void *arg, const struct standin *s, int64_t rows);
	bool (*launch)(void *arg, const struct standin *s); /* compares */
};

/* Copies [r.lo, r.lo + most) to the arena, unless it is there. */
bool check_snapshot(struct check *c, struct range r, uint64_t most, const struct check_sink *sink,
		    void *arg);
/* Memory that the group reads and overwrites and that is not copied yet: to be copied before the
 * first member that writes any of it. r: room for GROUP_MAX_SLOTS. How many. */
unsigned check_copies(const struct check *c, const struct group *g, struct range *r);
/* Memory that a check of the whole group takes, copies and outputs. */
uint64_t check_bytes(const struct group *g);
/* Behind the group's own kernels: candidate and compares. The counter then holds the result. */
bool check_body(const struct check *c, const struct group *g, const struct verdict *v,
		const struct ours *o, const struct check_sink *sink, void *arg);

/* Bytes of the arena that copies take; room for another one of `bytes`, aligned as lo is, behind
 * *used, which goes on: its address, or 0. */
uint64_t check_used(const struct check *c);
uint64_t check_place(const struct arena *a, uint64_t *used, uint64_t lo, uint64_t bytes);

#endif
