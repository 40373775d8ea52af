/* SPDX-License-Identifier: Apache-2.0 */
/* Where one thing that people have a name for ends and the next begins, so that a chain is one. */
#ifndef AF_MATCHER_CHAIN_UNIT_H
#define AF_MATCHER_CHAIN_UNIT_H

#include "matcher/group.h"

/*
 * Is what the n members do complete without op, which begins something else? So a norm takes one
 * weight, one bias and a conversion of its result, but neither the sum with a residual that another
 * norm may follow, nor a rotary embedding.
 */
bool chain_unit_ends(const struct member *const *m, unsigned n, const struct op *op);

/* Is op the conversion of a weight for the norm that the n members have begun? Rows of the norm
 * have `cols` columns. */
bool chain_unit_weight(const struct member *const *m, unsigned n, const struct op *op,
		       int64_t cols);

#endif
