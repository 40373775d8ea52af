/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to executable graphs. What was launched before goes on as it was. */
#include "tests/softgpu/driver/exec.h"

namespace
{
CUresult set(CUgraphExec handle, CUgraphNode node, const CUgraphNodeParams *p)
{
	struct exec_node *x = exec_find(object_find<struct exec>(handle), node);
	CUresult why;

	if (!x || !p || x->work->type() != p->type)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) {
		struct graph *g = object_find<struct graph>(p->graph.graph);

		return g && exec_take_over(&x->child, g).result == CU_GRAPH_EXEC_UPDATE_SUCCESS
			       ? CUDA_SUCCESS
			       : CUDA_ERROR_INVALID_VALUE;
	}
	std::shared_ptr<const struct work> w = node_work(p, x->work.get(), &why);
	if (!w)
		return why;
	if (exec_may_change(x->work.get(), w.get(), false) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		return CUDA_ERROR_INVALID_VALUE;
	x->work = w;
	return CUDA_SUCCESS;
}

template <class T> CUresult set_typed(CUgraphExec x, CUgraphNode node, const T *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUgraphNodeParams q = node_params(p);
	return set(x, node, &q);
}

CUresult set_event(CUgraphExec x, CUgraphNode node, CUgraphNodeType type, CUevent e)
{
	CUgraphNodeParams q = node_params_event(type, e);

	return set(x, node, &q);
}

/* Only these can be switched off. */
bool can_switch(const struct exec_node *x)
{
	CUgraphNodeType type = x ? x->work->type() : CU_GRAPH_NODE_TYPE_EMPTY;

	return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       type == CU_GRAPH_NODE_TYPE_MEMSET;
}

struct exec_update update(CUgraphExec handle, CUgraph graph_handle)
{
	struct exec *x = object_find<struct exec>(handle);
	struct graph *g = object_find<struct graph>(graph_handle);

	if (!x || !g)
		return {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
	struct exec_update u = exec_take_over(&x->nodes, g);
	if (u.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) { /* references move, too */
		std::map<struct user_object *, unsigned> old = x->objects;

		user_objects_retain(g->objects);
		x->objects = g->objects;
		user_objects_release(old, x->last);
	}
	return u;
}

CUresult update_answer(const struct exec_update *u)
{
	if (u->result == CU_GRAPH_EXEC_UPDATE_ERROR)
		return CUDA_ERROR_INVALID_VALUE;
	return u->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
							 : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUgraphNode handle_of(const struct node *n)
{
	return reinterpret_cast<CUgraphNode>(const_cast<struct node *>(n));
}
} // namespace

CUresult soft::cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode node,
						 const CUDA_KERNEL_NODE_PARAMS *p)
{
	return set_typed(x, node, p);
}

CUresult soft::cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node,
					      const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	return set_typed(x, node, p);
}

CUresult soft::cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node,
					      const CUDA_MEMCPY3D *p, CUcontext)
{
	return set_typed(x, node, p);
}

CUresult soft::cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
					      const CUDA_MEMSET_NODE_PARAMS *p, CUcontext)
{
	return set_typed(x, node, p);
}

CUresult soft::cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
					    const CUDA_HOST_NODE_PARAMS *p)
{
	return set_typed(x, node, p);
}

CUresult soft::cuGraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraph child)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_GRAPH;
	q.graph.graph = child;
	return set(x, node, &q);
}

CUresult soft::cuGraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent e)
{
	return set_event(x, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
}

CUresult soft::cuGraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode node, CUevent e)
{
	return set_event(x, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
}

CUresult soft::cuGraphExecNodeSetParams(CUgraphExec x, CUgraphNode node, CUgraphNodeParams *p)
{
	return set(x, node, p);
}

CUresult soft::cuGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned enabled)
{
	struct exec_node *n = exec_find(object_find<struct exec>(x), node);

	if (!can_switch(n))
		return CUDA_ERROR_INVALID_VALUE;
	n->enabled = enabled != 0;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *out)
{
	struct exec_node *n = exec_find(object_find<struct exec>(x), node);

	if (!can_switch(n) || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = n->enabled;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphExecUpdate_v2(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *out)
{
	struct exec_update u = update(x, g);

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {u.result, handle_of(u.node), handle_of(u.from)};
	return update_answer(&u);
}

CUresult soft::cuGraphExecUpdate(CUgraphExec x, CUgraph g, CUgraphNode *node,
				 CUgraphExecUpdateResult *result)
{
	struct exec_update u = update(x, g);

	if (node)
		*node = handle_of(u.node);
	if (result)
		*result = u.result;
	return update_answer(&u);
}
