/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions in their order, for row_interp.c. */
#ifndef AF_TESTS_UNIT_ROW_INTERP_SUM_H
#define AF_TESTS_UNIT_ROW_INTERP_SUM_H

#include "matcher/row.h"

/* Sum of x, or of x * y; f32 or f64, as their bits. */
uint64_t interp_sum(const struct row_order *o, enum dtype t, bool ftz, int64_t cols,
		    const uint64_t *x, const uint64_t *y);
void interp_welford(const struct row_order *o, bool ftz, int64_t cols, const uint64_t *x,
		    uint64_t *mean, uint64_t *m2);

#endif
