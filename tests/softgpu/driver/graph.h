/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes with work and dependencies, in the order of their creation; an executable graph is
 * a copy in an order that respects the dependencies, run as one operation of a stream.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_GRAPH_H
#define AF_TESTS_SOFTGPU_DRIVER_GRAPH_H

#include "tests/softgpu/driver/object.h"
#include "tests/softgpu/driver/queue.h"
#include "tests/softgpu/driver/work.h"

struct graph;

struct node {
	static const enum object_kind KIND = OBJECT_NODE;
	struct graph *graph;
	std::shared_ptr<const struct work> work;
	std::vector<struct node *> after;
};

struct graph {
	static const enum object_kind KIND = OBJECT_GRAPH;
	std::vector<struct node *> nodes;
};

struct exec_node {
	const struct node *origin; /* identifies it; may be gone */
	std::shared_ptr<const struct work> work;
	bool enabled;
};

struct exec {
	static const enum object_kind KIND = OBJECT_EXEC;
	std::vector<struct exec_node> nodes; /* each behind all that it depends on */
	unsigned long long flags;
	struct point last; /* launches of one executable graph follow each other on all streams */
};

struct node *graph_add(struct graph *g, const std::shared_ptr<const struct work> &w,
		       const std::vector<struct node *> &after);
void graph_delete(struct graph *g);

#endif
