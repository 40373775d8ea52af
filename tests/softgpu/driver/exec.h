/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: a copy of a graph's nodes, run as one operation of a stream. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_EXEC_H
#define AF_TESTS_SOFTGPU_DRIVER_EXEC_H

#include "tests/softgpu/driver/graph.h"

struct exec_node {
	uint64_t origin; /* id of the node that it was made from: calls name it by that one's handle
			  */
	std::shared_ptr<const struct work> work;
	std::vector<unsigned> after; /* indices among its siblings */
	std::vector<CUgraphEdgeData> edges;
	bool enabled;
	std::vector<struct exec_node> child; /* of a child graph node */
};

struct exec {
	static const enum object_kind KIND = OBJECT_EXEC;
	std::vector<struct exec_node> nodes; /* in the order of their creation */
	unsigned long long flags;
	const void *graph; /* that it was made of, if that still has this id */
	uint64_t graph_id;
	struct point last; /* launches of one executable graph follow each other on all streams */
	std::map<struct user_object *, unsigned> objects;
};

/* False if nodes depend on each other in a ring. */
bool exec_copy(const struct graph *g, std::vector<struct exec_node> *out);
/* A graph that does what the executable one does, for a launch into a capture. */
struct graph *exec_graph(const std::vector<struct exec_node> &nodes);
/* The node of x made from that one, children's nodes included; NULL if there is none. */
struct exec_node *exec_find(struct exec *x, CUgraphNode node);

/* What an edit met. */
struct exec_update {
	CUgraphExecUpdateResult result;
	const struct node *node, *from; /* of the new graph; NULL: none to blame */
};
/* Takes over the graph's work if all of it pairs up with the executable one's; else no change. */
struct exec_update exec_take_over(std::vector<struct exec_node> *nodes, const struct graph *g);
/* May a node's work change so? `whole`: in an update of everything, which allows a little more. */
CUgraphExecUpdateResult exec_may_change(const struct work *from, const struct work *to, bool whole);

#endif
