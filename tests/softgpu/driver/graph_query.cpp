/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph's nodes are and how they depend on each other. */
#include <algorithm>
#include "tests/softgpu/driver/graph.h"

namespace
{
/* Answers a list the way the graph calls do: only the count if there is no room for any. */
CUresult answer_list(const std::vector<CUgraphNode> &list, CUgraphNode *out, size_t *n)
{
	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	if (!out) {
		*n = list.size();
		return CUDA_SUCCESS;
	}
	for (size_t i = 0; i < *n; i++)
		out[i] = i < list.size() ? list[i] : nullptr;
	*n = std::min(*n, list.size());
	return CUDA_SUCCESS;
}

CUgraphNode handle_of(struct node *n)
{
	return reinterpret_cast<CUgraphNode>(n);
}

/* A list of nodes with edges, as the calls that know edges answer it, and those that do not. */
CUresult answer_edges(const std::vector<CUgraphNode> &list, const struct dependencies &d,
		      CUgraphNode *out, CUgraphEdgeData *data, size_t *n)
{
	if (out && !data && d.special())
		return CUDA_ERROR_LOSSY_QUERY;
	if (data && !out)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult r = answer_list(list, out, n);
	if (r == CUDA_SUCCESS && data)
		std::copy_n(d.edges.begin(), *n, data);
	return r;
}
} // namespace

CUresult soft::cuGraphGetNodes(CUgraph handle, CUgraphNode *out, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> list;

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		list.push_back(handle_of(node));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphGetRootNodes(CUgraph handle, CUgraphNode *out, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> list;

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		if (node->after.nodes.empty())
			list.push_back(handle_of(node));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
				  CUgraphEdgeData *data, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> a, b;
	struct dependencies all; /* only their data count */
	size_t room = n ? *n : 0;

	if (!g || !n || (!from) != (!to))
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		for (size_t i = 0; i < node->after.nodes.size(); i++) {
			a.push_back(handle_of(node->after.nodes[i]));
			b.push_back(handle_of(node));
			all.edges.push_back(node->after.edges[i]);
		}
	CUresult r = answer_edges(b, all, to, data, n);
	return r == CUDA_SUCCESS ? answer_list(a, from, &room) : r;
}

CUresult soft::cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	return soft::cuGraphGetEdges_v2(g, from, to, nullptr, n);
}

CUresult soft::cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *out,
					     CUgraphEdgeData *data, size_t *n)
{
	struct node *node = object_find<struct node>(handle);
	std::vector<CUgraphNode> list;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *before : node->after.nodes)
		list.push_back(handle_of(before));
	return answer_edges(list, node->after, out, data, n);
}

CUresult soft::cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	return soft::cuGraphNodeGetDependencies_v2(node, out, nullptr, n);
}

CUresult soft::cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *out,
					       CUgraphEdgeData *data, size_t *n)
{
	struct node *node = object_find<struct node>(handle);
	std::vector<CUgraphNode> list;
	struct dependencies found;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *other : node->graph->nodes)
		for (size_t i = 0; i < other->after.nodes.size(); i++)
			if (other->after.nodes[i] == node) {
				list.push_back(handle_of(other));
				found.edges.push_back(other->after.edges[i]);
			}
	return answer_edges(list, found, out, data, n);
}

CUresult soft::cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	return soft::cuGraphNodeGetDependentNodes_v2(node, out, nullptr, n);
}

CUresult soft::cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
	struct node *node = object_find<struct node>(handle);

	if (!node || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->work->type();
	return CUDA_SUCCESS;
}
