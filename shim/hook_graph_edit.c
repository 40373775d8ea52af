// SPDX-License-Identifier: Apache-2.0
/*
 * Changes to executable graphs. The program's exec first; its answer is the program's. They name
 * nodes of the graph that it was made of, or another graph: no graph is lent while they are made.
 */
#include "shim/graph.h"
#include "shim/hook.h"

static bool through(void)
{
	process_start();
	hook_loans();
	return guard_held() || (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) &&
				!__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE));
}

/* Before an edit by node. If the answer is not CUDA_SUCCESS, it is the hook's. */
static CUresult edits(unsigned call, CUgraphExec exec)
{
	CUresult r = hook_all(call);

	if (!r && guard_enter()) {
		graph_edits(exec);
		guard_leave();
	}
	return r;
}

static CUresult edited(CUresult r, CUgraphExec exec, CUgraphNode node, const struct graph_edit *e)
{
	if (!r && guard_enter()) {
		graph_edited(exec, node, e);
		guard_leave();
	}
	return r;
}

/* A hook: what it calls, and what of its arguments the edit is. */
#define EDIT(name, params, args, exec, node, ...)                                                  \
	CUresult name params                                                                       \
	{                                                                                          \
		CUresult r;                                                                        \
                                                                                                   \
		if (through())                                                                     \
			return real.name args;                                                     \
		if ((r = edits(CALL_##name, exec)))                                                \
			return r;                                                                  \
		return edited(real.name args, exec, node, &(struct graph_edit){__VA_ARGS__});      \
	}

EDIT(cuGraphExecKernelNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1 *p), (x, n, p), x, n,
     .type = CU_GRAPH_NODE_TYPE_KERNEL, .params = p, .v1 = true)
EDIT(cuGraphExecKernelNodeSetParams_v2,
     (CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p), (x, n, p), x, n,
     .type = CU_GRAPH_NODE_TYPE_KERNEL, .params = p)
EDIT(cuGraphExecMemcpyNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_MEMCPY3D *p, CUcontext ctx), (x, n, p, ctx), x, n,
     .type = CU_GRAPH_NODE_TYPE_MEMCPY, .params = p, .ctx = ctx)
EDIT(cuGraphExecMemsetNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx),
     (x, n, p, ctx), x, n, .type = CU_GRAPH_NODE_TYPE_MEMSET, .params = p, .ctx = ctx)
EDIT(cuGraphExecHostNodeSetParams, (CUgraphExec x, CUgraphNode n, const CUDA_HOST_NODE_PARAMS *p),
     (x, n, p), x, n, .type = CU_GRAPH_NODE_TYPE_HOST, .params = p)
EDIT(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec x, CUgraphNode n, CUevent e), (x, n, e), x, n,
     .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = e)
EDIT(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec x, CUgraphNode n, CUevent e), (x, n, e), x, n,
     .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = e)
/* Not followed: the exec is left alone from then on. */
EDIT(cuGraphExecChildGraphNodeSetParams, (CUgraphExec x, CUgraphNode n, CUgraph g), (x, n, g), x, n,
     .type = CU_GRAPH_NODE_TYPE_GRAPH)
EDIT(cuGraphExecExternalSemaphoresSignalNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *p), (x, n, p), x, n,
     .type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL)
EDIT(cuGraphExecExternalSemaphoresWaitNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *p), (x, n, p), x, n,
     .type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)
EDIT(cuGraphExecBatchMemOpNodeSetParams,
     (CUgraphExec x, CUgraphNode n, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p), (x, n, p), x, n,
     .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)

static CUcontext context_of(const CUgraphNodeParams *p)
{
	return p->type == CU_GRAPH_NODE_TYPE_MEMCPY   ? p->memcpy.copyCtx
	       : p->type == CU_GRAPH_NODE_TYPE_MEMSET ? p->memset.ctx
						      : NULL;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
	CUresult r;

	if (through())
		return real.cuGraphExecNodeSetParams(exec, node, p);
	if ((r = edits(CALL_cuGraphExecNodeSetParams, exec)))
		return r;
	r = real.cuGraphExecNodeSetParams(exec, node, p);
	return r ? r
		 : edited(r, exec, node,
			  &(struct graph_edit){.type = p->type,
					       .params = p,
					       .ctx = context_of(p),
					       .common = true});
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
	CUresult r;

	if (through())
		return real.cuGraphNodeSetEnabled(exec, node, enabled);
	if ((r = edits(CALL_cuGraphNodeSetEnabled, exec)))
		return r;
	r = real.cuGraphNodeSetEnabled(exec, node, enabled);
	if (!r && guard_enter()) {
		graph_switched(exec, node, enabled);
		guard_leave();
	}
	return r;
}

static CUresult updated(CUresult r, CUgraphExec exec, CUgraph graph)
{
	if (!guard_enter())
		return r;
	if (r)
		graph_update_failed(exec);
	else
		graph_updated(exec, graph);
	guard_leave();
	return r;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node,
			   CUgraphExecUpdateResult *result)
{
	CUresult r;

	if (through())
		return real.cuGraphExecUpdate(exec, graph, node, result);
	if ((r = hook_all(CALL_cuGraphExecUpdate)))
		return r;
	return updated(real.cuGraphExecUpdate(exec, graph, node, result), exec, graph);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	CUresult r;

	if (through())
		return real.cuGraphExecUpdate_v2(exec, graph, info);
	if ((r = hook_all(CALL_cuGraphExecUpdate_v2)))
		return r;
	return updated(real.cuGraphExecUpdate_v2(exec, graph, info), exec, graph);
}
