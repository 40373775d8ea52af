/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a live check does: copies of what the group reads and overwrites, our candidate on the
 * copies, its results against those that the group's own kernels left. The same on a stream and in
 * a graph.
 */
#ifndef AF_SHIM_CHECK_BODY_H
#define AF_SHIM_CHECK_BODY_H

#include "shim/check.h"

enum { CHECK_ALIGN = 256 }; /* copies keep their originals' alignment up to this */

/* Where the work goes. Each returns false if it could not. */
struct check_sink {
	bool (*copy)(void *arg, uint64_t to, uint64_t from, uint64_t bytes);
	bool (*fill)(void *arg, uint64_t at, unsigned char value, uint64_t bytes);
	bool (*candidate)(void *arg, const struct fused_launch *l, int64_t rows);
	bool (*launch)(void *arg, const struct fused_launch *l); /* compares */
};

/* Copies [r.lo, r.lo + most) to the arena, unless it is there. */
bool check_snapshot(struct check *c, struct range r, uint64_t most, const struct check_sink *sink,
		    void *arg);
/* Is the slot read, overwritten by the group, and not copied yet? */
bool check_overwritten(const struct check *c, const struct group *g, unsigned slot);
/* Behind the group's own kernels: candidate and compares. The counter then holds the result. */
bool check_body(const struct check *c, const struct group *g, const struct candidate *candidate,
		const struct ours *o, const struct check_sink *sink, void *arg);

#endif
