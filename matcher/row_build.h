/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ops of a chain of launches to one row program. Operands that meet in memory become
 * values: what a member wrote and a later one reads is not loaded again, what a later one
 * overwrites is not stored.
 */
#ifndef AF_MATCHER_ROW_BUILD_H
#define AF_MATCHER_ROW_BUILD_H

#include "matcher/row.h"
#include "matcher/row_pick.h"

struct row_member {
	const struct op *op;
	struct row_pick pick;
};

/*
 * The program of n members in program order. NONE; SHAPE: an op that cannot be said, index spaces
 * that do not fit together, or too much of anything; OVERLAP: their memory forbids it (row.h), as
 * things are; if r->nmember is n, it is only that stores and loads lie across each other, which a
 * further member may cure by overwriting what is in the way. The result is canonical and, if NONE,
 * has passed row_check.
 */
enum reason row_build(struct row *r, const struct row_member *member, unsigned n);

/* The same, only tidied: for a look at what comes of more members. late: stores may be made late.
 */
enum reason row_build_roughly(struct row *r, const struct row_member *member, unsigned n,
			      bool late);

/* Can the op be said at all? A cheap no for most that cannot. */
bool row_op_known(const struct op *op);
/* Opcodes, one bit each, of which some ops can. */
uint64_t row_op_codes(void);

#endif
