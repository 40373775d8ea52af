/* SPDX-License-Identifier: Apache-2.0 */
/* What patterns and those who switch them need beyond group.h. */
#ifndef AF_MATCHER_PATTERN_H
#define AF_MATCHER_PATTERN_H

#include "config/config.h"
#include "matcher/group.h"

/* Which patterns the configuration switches on; names that no pattern has are warned about and
 * counted. */
unsigned pattern_switches(const struct config *c, bool on[PATTERN_COUNT]);

/* A bound slot as a box of g->rows x g->cols elements. */
struct operand bound_operand(const struct group *g, const struct bound *b);

#endif
