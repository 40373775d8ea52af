/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph's nodes are and how they depend on each other. */
#include <algorithm>
#include <string.h>
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

template <class T> const T *work_of(CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	return n ? dynamic_cast<const T *>(n->work.get()) : nullptr;
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
		if (node->after.empty())
			list.push_back(handle_of(node));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> a, b;
	size_t room = n ? *n : 0;

	if (!g || !n || (!from) != (!to))
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		for (struct node *before : node->after) {
			a.push_back(handle_of(before));
			b.push_back(handle_of(node));
		}
	answer_list(a, from, &room);
	return answer_list(b, to, n);
}

CUresult soft::cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to,
				  CUgraphEdgeData *data, size_t *n)
{
	CUresult r = soft::cuGraphGetEdges(g, from, to, n);

	if (r == CUDA_SUCCESS && data)
		std::fill(data, data + *n, CUgraphEdgeData());
	return r;
}

CUresult soft::cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *out, size_t *n)
{
	struct node *node = object_find<struct node>(handle);
	std::vector<CUgraphNode> list;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *before : node->after)
		list.push_back(handle_of(before));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out,
					     CUgraphEdgeData *data, size_t *n)
{
	CUresult r = soft::cuGraphNodeGetDependencies(node, out, n);

	if (r == CUDA_SUCCESS && data)
		std::fill(data, data + *n, CUgraphEdgeData());
	return r;
}

CUresult soft::cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
	struct node *node = object_find<struct node>(handle);

	if (!node || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->work->type();
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
	const struct kernel_work *w = work_of<struct kernel_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->function,
		w->grid.x,
		w->grid.y,
		w->grid.z,
		w->block.x,
		w->block.y,
		w->block.z,
		w->shared_bytes,
		w->from_extra ? nullptr : const_cast<void **>(w->pointers.data()),
		w->from_extra ? const_cast<void **>(w->extra) : nullptr,
		w->handle,
		w->ctx};
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
	CUDA_KERNEL_NODE_PARAMS q;
	CUresult r = soft::cuGraphKernelNodeGetParams_v2(handle, &q);

	if (r == CUDA_SUCCESS)
		memcpy(out, &q, sizeof(*out));
	return r;
}

CUresult soft::cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *out)
{
	const struct copy_work *w = work_of<struct copy_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *out)
{
	const struct fill_work *w = work_of<struct fill_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *out)
{
	const struct host_work *w = work_of<struct host_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->fn, w->data};
	return CUDA_SUCCESS;
}
