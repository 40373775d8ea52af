/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels generated of candidates, in the place of those by hand where a probe found them faster.
 */
#ifndef AF_SHIM_STANDIN_PATTERN_H
#define AF_SHIM_STANDIN_PATTERN_H

#include "shim/standin.h"

/*
 * The launch of what is chosen for a pattern's group of so many rows (the group may be a part of
 * it). LATER: it must not be the kernel by hand, and the other is not there yet.
 */
enum standin_answer standin_of_pattern(const struct group *g, int64_t rows, const struct verdict *v,
				       const struct ours *o, struct standin *to);

/* Is the generated kernel chosen at all, and there? MADE where the one by hand is. */
enum standin_answer standin_generated(const struct group *g, const struct verdict *v,
				      const struct ours *o);

#endif
