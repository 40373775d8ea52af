/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes made by calls. Parameters are copied when a node is made. */
#include "tests/softgpu/driver/graph_memory.h"

namespace
{
CUresult add_child(CUgraphNode *out, struct graph *g, const struct dependencies &after,
		   CUgraph handle)
{
	struct graph *child = object_find<struct graph>(handle);

	if (!child || child == g || child->owner)
		return CUDA_ERROR_INVALID_VALUE;
	if (graph_has_memory(child))
		return CUDA_ERROR_NOT_SUPPORTED;
	*out = reinterpret_cast<CUgraphNode>(graph_add_child(g, graph_clone(child), after));
	return CUDA_SUCCESS;
}

CUresult add(CUgraphNode *out, CUgraph handle, const CUgraphNode *nodes,
	     const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p)
{
	struct graph *g = object_find<struct graph>(handle);
	struct dependencies after;
	CUresult why;

	if (!out || !p || !dependencies_read(&after, g, nodes, edges, n) ||
	    !dependencies_fit(after, p->type))
		return CUDA_ERROR_INVALID_VALUE;
	if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) {
		if (p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
			return CUDA_ERROR_NOT_SUPPORTED;
		why = add_child(out, g, after, p->graph.graph);
		if (why == CUDA_SUCCESS)
			p->graph.graph = reinterpret_cast<CUgraph>(
				reinterpret_cast<struct node *>(*out)->child);
		return why;
	}
	std::shared_ptr<const struct work> w =
		p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC
			? graph_memory_take(g, &p->alloc.poolProps, p->alloc.bytesize,
					    &p->alloc.dptr, &why)
		: p->type == CU_GRAPH_NODE_TYPE_MEM_FREE ? graph_memory_free(p->free.dptr, &why)
							 : node_work(p, nullptr, &why);
	if (!w)
		return why;
	*out = reinterpret_cast<CUgraphNode>(graph_add(g, w, after));
	return CUDA_SUCCESS;
}

template <class T>
CUresult add_typed(CUgraphNode *out, CUgraph g, const CUgraphNode *nodes, size_t n, const T *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUgraphNodeParams q = node_params(p);
	return add(out, g, nodes, nullptr, n, &q);
}

CUresult add_event(CUgraphNode *out, CUgraph g, const CUgraphNode *nodes, size_t n,
		   CUgraphNodeType type, CUevent e)
{
	CUgraphNodeParams q = node_params_event(type, e);

	return add(out, g, nodes, nullptr, n, &q);
}
} // namespace

CUresult soft::cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				       size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return add_typed(out, g, after, n, p);
}

CUresult soft::cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	return add_typed(out, g, after, n, p);
}

CUresult soft::cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_MEMCPY3D *p, CUcontext)
{
	return add_typed(out, g, after, n, p);
}

CUresult soft::cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_MEMSET_NODE_PARAMS *p, CUcontext)
{
	return add_typed(out, g, after, n, p);
}

CUresult soft::cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				  const CUDA_HOST_NODE_PARAMS *p)
{
	return add_typed(out, g, after, n, p);
}

CUresult soft::cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_EMPTY;
	return add(out, g, after, nullptr, n, &q);
}

CUresult soft::cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
					 size_t n, CUevent e)
{
	return add_event(out, g, after, n, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
}

CUresult soft::cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				       size_t n, CUevent e)
{
	return add_event(out, g, after, n, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
}

CUresult soft::cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
					size_t n, CUgraph child)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_GRAPH;
	q.graph.graph = child;
	return add(out, g, after, nullptr, n, &q);
}

CUresult soft::cuGraphAddNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				 const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p)
{
	return add(out, g, after, edges, n, p);
}

CUresult soft::cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
			      CUgraphNodeParams *p)
{
	return add(out, g, after, nullptr, n, p);
}

CUresult soft::cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out)
{
	struct node *n = object_find<struct node>(handle);

	if (!n || !n->child || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUgraph>(n->child);
	return CUDA_SUCCESS;
}
