/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and edges of a graph as the driver tells them, the graphs of its child graph nodes
 * included. */
#ifndef AF_SHIM_GRAPH_READ_H
#define AF_SHIM_GRAPH_READ_H

#include "matcher/dag.h"
#include "shim/driver.h"

enum { GRAPH_NODES = 1 << 17 /* a larger graph is left alone */ };

/* The graph itself, or that of a child graph node. */
struct graph_level {
	CUgraph graph;
	unsigned first, n;     /* its nodes: shape.node[first] ... */
	unsigned parent;       /* the child graph node; of level 0: nothing */
	struct dag_edge *edge; /* by number within the level; after graph_read_edges */
	bool *typed;           /* which have data */
	CUgraphEdgeData *data;
	size_t nedge;
};

struct graph_shape {
	CUgraphNode *node; /* level by level, each in the order of cuGraphGetNodes */
	CUgraphNodeType *type;
	unsigned nnode;
	struct graph_level *level;
	unsigned nlevel;
};

/* Both 0, or -1: an error, no memory, or too large. The shape has to be freed in any case. */
int graph_read_nodes(CUgraph graph, struct graph_shape *out);
int graph_read_edges(struct graph_shape *s);
void graph_shape_free(struct graph_shape *s);
/* The level that a node lies in. */
unsigned graph_level_of(const struct graph_shape *s, unsigned node);
/* The same nodes by number and type, and the same edges? Edges of both have been read. */
bool graph_shape_same(const struct graph_shape *a, const struct graph_shape *b);

/* The nodes that stand in a clone of a graph of that shape for its nodes node[]; graph[]: the
 * clone's levels. */
int graph_twins(const struct graph_shape *s, const CUgraphNode *node, CUgraph clone,
		CUgraphNode *twin, CUgraph *graph);

/* Node handles -> numbers. */
struct graph_index {
	const CUgraphNode *node; /* not owned */
	unsigned *slot;
	unsigned nslot; /* a power of two */
};
int graph_index_make(struct graph_index *x, const CUgraphNode *node, unsigned n);
int graph_index_find(const struct graph_index *x, CUgraphNode node); /* -1: not there */
void graph_index_free(struct graph_index *x);

#endif
