/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/graph.h"
#include <algorithm>
#include "tests/softgpu/driver/capture.h"

struct graph *graph_new()
{
	struct graph *g = object_new<struct graph>();

	g->id = ++driver.next_id;
	return g;
}

struct node *graph_add(struct graph *g, const std::shared_ptr<const struct work> &w,
		       const struct dependencies &after)
{
	struct node *n = object_new<struct node>();

	n->id = ++driver.next_id;
	n->graph = g;
	n->work = w;
	n->after = after;
	g->nodes.push_back(n);
	return n;
}

struct node *graph_add_child(struct graph *g, struct graph *child, const struct dependencies &after)
{
	struct node *n = graph_add(g, std::make_shared<struct child_work>(), after);

	n->child = child;
	child->owner = n;
	return n;
}

void graph_delete(struct graph *g)
{
	for (struct node *n : g->nodes) {
		if (n->child)
			graph_delete(n->child);
		object_delete(n);
	}
	user_objects_release(g->objects, {});
	object_delete(g);
}

struct graph *graph_clone(const struct graph *g)
{
	struct graph *copy = graph_new();
	std::map<const struct node *, struct node *> twin;

	for (const struct node *n : g->nodes) {
		struct node *t = n->child ? graph_add_child(copy, graph_clone(n->child), {})
					  : graph_add(copy, n->work, {});

		t->cloned_from = n->id;
		twin[n] = t;
	}
	for (const struct node *n : g->nodes)
		for (size_t i = 0; i < n->after.nodes.size(); i++)
			twin[n]->after.add(twin[n->after.nodes[i]], n->after.edges[i]);
	copy->objects = g->objects;
	user_objects_retain(copy->objects);
	return copy;
}

bool graph_has_memory(const struct graph *g)
{
	for (const struct node *n : g->nodes)
		if (n->work->type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
		    n->work->type() == CU_GRAPH_NODE_TYPE_MEM_FREE ||
		    (n->child && graph_has_memory(n->child)))
			return true;
	return false;
}

bool dependencies_read(struct dependencies *out, const struct graph *g, const CUgraphNode *nodes,
		       const CUgraphEdgeData *edges, size_t n)
{
	if (!g || (n && !nodes))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct node *node = object_find<struct node>(nodes[i]);
		CUgraphEdgeData data = edges ? edges[i] : CUgraphEdgeData();

		if (!node || node->graph != g || out->find(node, data) < out->nodes.size())
			return false;
		if ((data.type || data.from_port) &&
		    node->work->type() != CU_GRAPH_NODE_TYPE_KERNEL)
			return false;
		if (data.type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC || data.to_port ||
		    data.from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ||
		    (data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) != (data.from_port != 0))
			return false;
		out->add(node, data);
	}
	return true;
}

bool dependencies_fit(const struct dependencies &d, CUgraphNodeType to)
{
	return to == CU_GRAPH_NODE_TYPE_KERNEL || !d.special();
}

CUresult soft::cuGraphCreate(CUgraph *out, unsigned flags)
{
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUgraph>(graph_new());
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphDestroy(CUgraph handle)
{
	struct graph *g = object_find<struct graph>(handle);

	if (!g || g->owner || capture_uses(g))
		return CUDA_ERROR_INVALID_VALUE;
	graph_delete(g);
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphClone(CUgraph *out, CUgraph handle)
{
	struct graph *g = object_find<struct graph>(handle);

	if (!out || !g)
		return CUDA_ERROR_INVALID_VALUE;
	if (graph_has_memory(g))
		return CUDA_ERROR_NOT_SUPPORTED;
	*out = reinterpret_cast<CUgraph>(graph_clone(g));
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone)
{
	struct node *n = object_find<struct node>(original);
	struct graph *g = object_find<struct graph>(clone);

	if (!out || !n || !g)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *twin : g->nodes)
		if (twin->cloned_from == n->id) {
			*out = reinterpret_cast<CUgraphNode>(twin);
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuGraphDestroyNode(CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	if (!n || capture_uses(n->graph))
		return CUDA_ERROR_INVALID_VALUE;
	if (graph_has_memory(n->graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	struct graph *g = n->graph;
	g->nodes.erase(std::find(g->nodes.begin(), g->nodes.end(), n));
	for (struct node *other : g->nodes)
		for (size_t i = other->after.nodes.size(); i-- > 0;)
			if (other->after.nodes[i] == n)
				other->after.erase(i);
	if (n->child)
		graph_delete(n->child);
	object_delete(n);
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from,
					 const CUgraphNode *to, const CUgraphEdgeData *edges,
					 size_t n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::map<struct node *, struct dependencies> added;

	if (!g || (n && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) { /* all or none */
		struct node *b = object_find<struct node>(to[i]);

		if (!b || b->graph != g || from[i] == to[i])
			return CUDA_ERROR_INVALID_VALUE;
		struct dependencies &d = added.insert({b, b->after}).first->second;
		if (!dependencies_read(&d, g, from + i, edges ? edges + i : nullptr, 1) ||
		    !dependencies_fit(d, b->work->type()))
			return CUDA_ERROR_INVALID_VALUE;
	}
	for (const auto &a : added)
		a.first->after = a.second;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
				      size_t n)
{
	return soft::cuGraphAddDependencies_v2(g, from, to, nullptr, n);
}

CUresult soft::cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode *from,
					    const CUgraphNode *to, const CUgraphEdgeData *edges,
					    size_t n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::map<struct node *, struct dependencies> left;

	if (!g || (n && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	if (graph_has_memory(g))
		return CUDA_ERROR_NOT_SUPPORTED;
	for (size_t i = 0; i < n; i++) {
		struct node *a = object_find<struct node>(from[i]),
			    *b = object_find<struct node>(to[i]);

		if (!a || !b || b->graph != g)
			return CUDA_ERROR_INVALID_VALUE;
		struct dependencies &d = left.insert({b, b->after}).first->second;
		size_t at = d.find(a, edges ? edges[i] : CUgraphEdgeData());
		if (at == d.nodes.size())
			return CUDA_ERROR_INVALID_VALUE;
		d.erase(at);
	}
	for (const auto &l : left)
		l.first->after = l.second;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
					 size_t n)
{
	return soft::cuGraphRemoveDependencies_v2(g, from, to, nullptr, n);
}
