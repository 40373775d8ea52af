/* SPDX-License-Identifier: Apache-2.0 */
/* The work of live checks as nodes of a graph. */
#ifndef AF_SHIM_GRAPH_INTO_H
#define AF_SHIM_GRAPH_INTO_H

#include "shim/check_body.h"

/* Into a graph: each piece of work is a node behind the one before it. */
struct graph_into {
	CUgraph graph;
	const struct ours *ours;
	CUgraphNode first, last; /* of this chain; NULL: none yet */
};

/* Its argument is a struct graph_into. */
extern const struct check_sink graph_into;

#endif
