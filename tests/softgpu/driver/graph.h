/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes with work, in the order of their creation, and edges between them. What makes and
 * changes them; executable graphs are in exec.h.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_GRAPH_H
#define AF_TESTS_SOFTGPU_DRIVER_GRAPH_H

#include <string.h>
#include "tests/softgpu/driver/object.h"
#include "tests/softgpu/driver/queue.h"
#include "tests/softgpu/driver/work.h"

struct graph;
struct node;
struct user_object;

/* Nodes that something depends on, each with the edge's data. */
struct dependencies {
	std::vector<struct node *> nodes;
	std::vector<CUgraphEdgeData> edges;

	/* Is an edge from n with just that data there? */
	size_t find(const struct node *n, const CUgraphEdgeData &data) const
	{
		size_t i = 0;

		while (i < nodes.size() &&
		       (nodes[i] != n || memcmp(&edges[i], &data, sizeof(data)) != 0))
			i++;
		return i; /* size(): no */
	}
	/* Adds it unless it is there. */
	void add(struct node *n, const CUgraphEdgeData &data = {})
	{
		if (find(n, data) < nodes.size())
			return;
		nodes.push_back(n);
		edges.push_back(data);
	}
	void erase(size_t i)
	{
		nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(i));
		edges.erase(edges.begin() + static_cast<ptrdiff_t>(i));
	}
	/* Would a call that knows nothing of edge data lose some? */
	bool special() const
	{
		for (const CUgraphEdgeData &e : edges)
			if (e.type || e.from_port || e.to_port)
				return true;
		return false;
	}
};

struct node {
	static const enum object_kind KIND = OBJECT_NODE;
	uint64_t id;
	uint64_t cloned_from; /* id of the node that it is a copy of, or 0 */
	struct graph *graph;
	std::shared_ptr<const struct work> work;
	struct dependencies after;
	struct graph *child; /* of a child graph node: its own */
};

struct graph {
	static const enum object_kind KIND = OBJECT_GRAPH;
	std::vector<struct node *> nodes;
	unsigned execs; /* made of it and not destroyed */
	uint64_t id;
	struct node *owner; /* the child graph node whose graph it is, or NULL */
	std::map<struct user_object *, unsigned> objects; /* references that it holds */
};

struct graph *graph_new();
struct node *graph_add(struct graph *g, const std::shared_ptr<const struct work> &w,
		       const struct dependencies &after);
void graph_delete(struct graph *g);
/* A copy, child graphs included. */
struct graph *graph_clone(const struct graph *g);
/* Adds a child graph node that takes over `child`. */
struct node *graph_add_child(struct graph *g, struct graph *child,
			     const struct dependencies &after);
/* Memory nodes, its children's included: such a graph cannot be copied or rewired. */
bool graph_has_memory(const struct graph *g);

/*
 * Reads a call's list of nodes of g to depend on, where edges may be NULL. False: a handle that is
 * none of g's, the same edge twice, or edge data that its node cannot have.
 */
bool dependencies_read(struct dependencies *out, const struct graph *g, const CUgraphNode *nodes,
		       const CUgraphEdgeData *edges, size_t n);
/* May edges into work of that type have these data? Only kernels know programmatic ones. */
bool dependencies_fit(const struct dependencies &d, CUgraphNodeType to);

/*
 * Work as a node's parameters ask for it, all types but child graphs. `before`: what the node did
 * until now, whose launch attributes stay, or NULL. NULL, and *why.
 */
std::shared_ptr<const struct work> node_work(const CUgraphNodeParams *p, const struct work *before,
					     CUresult *why);
/* The older calls' parameters in the common form. */
CUgraphNodeParams node_params(const CUDA_KERNEL_NODE_PARAMS_v1 *p);
CUgraphNodeParams node_params(const CUDA_KERNEL_NODE_PARAMS *p);
CUgraphNodeParams node_params(const CUDA_MEMCPY3D *p);
CUgraphNodeParams node_params(const CUDA_MEMSET_NODE_PARAMS *p);
CUgraphNodeParams node_params(const CUDA_HOST_NODE_PARAMS *p);
CUgraphNodeParams node_params_event(CUgraphNodeType type, CUevent e);

/* An object with one reference; its destructor runs on a thread of the driver. */
struct user_object *user_object_new(void *data, CUhostFn destroy, unsigned references = 1);
/* User objects. A count of references goes; the last one calls the destructor, behind `last`. */
void user_objects_retain(const std::map<struct user_object *, unsigned> &held);
void user_objects_release(const std::map<struct user_object *, unsigned> &held,
			  const struct point &last);

#endif
