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

/* Makes the slot operand o, seen as g->rows x g->cols. False if it cannot be seen so, or if rows
 * share bytes in a way that their order would show. */
bool bound_set(struct group *g, unsigned slot, const struct operand *o, enum bound_use use);
/* The same for g->cols elements that every row reads. */
bool bound_set_row(struct group *g, unsigned slot, const struct operand *o);
/* Do the slots name the same elements, row by row? */
bool bound_same(const struct bound *x, const struct bound *y);
/* May the slots share a byte? */
bool bound_overlap(const struct group *g, unsigned slot, unsigned other);

#endif
