/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checking form: the program's graph with all its nodes in place, and beside one group of each
 * verdict that wants it our candidate on copies, compared with what the group's own nodes left.
 */
#ifndef AF_SHIM_GRAPH_CHECK_H
#define AF_SHIM_GRAPH_CHECK_H

#include "shim/graph_work.h"

/* Cuts the checks to those that the next form makes. */
void graph_check_pick(struct graph_work *w);
/* Adds the checks to the form's graph and makes an exec of it. NULL: not now. */
CUgraphExec graph_check_build(struct graph_work *w, unsigned long long flags);
/* The exec is the record's now. Lock held. */
void graph_check_take(struct side *s, const struct graph_work *w);

/* Shall, and can, the checking form be launched now? Claims the memory of checks. Lock held. */
bool graph_check_claim(struct side *s);
/* It was launched, or, after all, not. */
void graph_check_launched(struct side *s, bool launched);

#endif
