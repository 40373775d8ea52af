/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels, GPU and verdict say of a legal group: the same question on streams and in graphs.
 */
#ifndef AF_SHIM_JUDGE_H
#define AF_SHIM_JUDGE_H

#include "shim/verdict.h"

/*
 * Finds the group's verdict (*v; NULL if it did not come so far) and starts the probe of a new one.
 * NONE: the verdict is CHECKING or USABLE, the caller goes on from its state and rows. Else why the
 * group is left alone for now.
 */
enum reason judge(const struct group *g, const struct ours *o, struct verdict **v);

/* Does the verdict want a live check of one of its groups? */
bool judge_wants_check(const struct verdict *v);
/* One with so many rows? */
bool judge_wants_check_of(const struct verdict *v, int64_t rows);

/* The probe ran every member between canaries: other launches of these kernels at the sites of a
 * usable verdict may be crossed. True if any of them is news. */
bool judge_vet(struct verdict *v);

#endif
