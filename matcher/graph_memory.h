/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills in graphs as ops: what they write and read. */
#ifndef AF_MATCHER_GRAPH_MEMORY_H
#define AF_MATCHER_GRAPH_MEMORY_H

#include "matcher/graph_plan.h"

/* `slices` times `rows` times `bytes` adjacent bytes. bytes == 0: nothing. */
struct graph_box {
	uint64_t addr;
	int64_t bytes, rows, pitch, slices, slice; /* pitch, slice: from one to the next */
};

/* Are the numbers such that nothing overflows? */
bool graph_box_sane(const struct graph_box *b);
/* Makes n a node of kind GRAPH_MEMORY, or GRAPH_OTHER where a box is not sane or touches nothing.
 */
void graph_memory(struct graph_node *n, const struct graph_box *to, const struct graph_box *from);

#endif
