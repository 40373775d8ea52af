/* SPDX-License-Identifier: Apache-2.0 */
/* What verdict.c asks of the disk. */
#ifndef AF_SHIM_VERDICT_DISK_H
#define AF_SHIM_VERDICT_DISK_H

#include "shim/cache.h"
#include "shim/verdict.h"

/* Fills in state, candidate, rows and the like of a new verdict, from what was read when the
 * process began. */
void verdict_adopt(struct verdict *v);
/* What other processes are to know of it: false if nothing. */
bool verdict_record(const struct verdict *v, struct cache_record *r);

#endif
