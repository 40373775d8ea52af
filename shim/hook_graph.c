// SPDX-License-Identifier: Apache-2.0
/* Executable graphs: made, launched, uploaded, destroyed; and the graphs they were made of. */
#include "shim/finish.h"
#include "shim/graph.h"
#include "shim/graph_loan.h"
#include "shim/hook.h"
#include "shim/record.h"
#include "shim/record_graph.h"

/* Nothing to do here. */
static bool through(void)
{
	process_start();
	return guard_held() ||
	       (!__atomic_load_n(&process.on, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) &&
		!__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE) && !graph_loan_any());
}

/* Before an exec is made. If the answer is not CUDA_SUCCESS, it is the hook's. */
static CUresult makes(unsigned call, CUgraph graph)
{
	CUresult r = hook_all(call);

	/* The new exec's record is made as if there were no other. */
	if (!r && __atomic_load_n(&graph_loans, __ATOMIC_ACQUIRE) && guard_enter()) {
		graph_loan_settle_graph(graph);
		guard_leave();
	}
	return r;
}

/* Returns what the hook then returns. */
static CUresult made(unsigned call, CUresult r, const CUgraphExec *exec, CUgraph graph,
		     unsigned long long flags)
{
	static unsigned count;

	if (!r && guard_enter()) {
		unsigned number = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);

		finish_arm();
		if (record_on)
			record_graph(call, graph, flags, number);
		graph_made(*exec, graph, flags, number);
		guard_leave();
	}
	return r;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log,
			    size_t bytes)
{
	CUresult r;

	if (through())
		return real.cuGraphInstantiate(exec, graph, node, log, bytes);
	if ((r = makes(CALL_cuGraphInstantiate, graph)))
		return r;
	r = real.cuGraphInstantiate(exec, graph, node, log, bytes);
	if (hook_retry(r))
		r = real.cuGraphInstantiate(exec, graph, node, log, bytes);
	return made(CALL_cuGraphInstantiate, r, exec, graph, 0);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log,
			       size_t bytes)
{
	CUresult r;

	if (through())
		return real.cuGraphInstantiate_v2(exec, graph, node, log, bytes);
	if ((r = makes(CALL_cuGraphInstantiate_v2, graph)))
		return r;
	r = real.cuGraphInstantiate_v2(exec, graph, node, log, bytes);
	if (hook_retry(r))
		r = real.cuGraphInstantiate_v2(exec, graph, node, log, bytes);
	return made(CALL_cuGraphInstantiate_v2, r, exec, graph, 0);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	CUresult r;

	if (through())
		return real.cuGraphInstantiateWithFlags(exec, graph, flags);
	if ((r = makes(CALL_cuGraphInstantiateWithFlags, graph)))
		return r;
	r = real.cuGraphInstantiateWithFlags(exec, graph, flags);
	if (hook_retry(r))
		r = real.cuGraphInstantiateWithFlags(exec, graph, flags);
	return made(CALL_cuGraphInstantiateWithFlags, r, exec, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult r;

	if (through())
		return real.cuGraphInstantiateWithParams(exec, graph, params);
	if ((r = makes(CALL_cuGraphInstantiateWithParams, graph)))
		return r;
	r = real.cuGraphInstantiateWithParams(exec, graph, params);
	if (hook_retry(r))
		r = real.cuGraphInstantiateWithParams(exec, graph, params);
	return r ? r : made(CALL_cuGraphInstantiateWithParams, r, exec, graph, params->flags);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult r;

	if (through())
		return real.cuGraphInstantiateWithParams_ptsz(exec, graph, params);
	if ((r = makes(CALL_cuGraphInstantiateWithParams_ptsz, graph)))
		return r;
	r = real.cuGraphInstantiateWithParams_ptsz(exec, graph, params);
	if (hook_retry(r))
		r = real.cuGraphInstantiateWithParams_ptsz(exec, graph, params);
	return r ? r : made(CALL_cuGraphInstantiateWithParams_ptsz, r, exec, graph, params->flags);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	bool ours;
	CUresult r;

	if (guard_held())
		return real.cuGraphDestroy(graph);
	if ((r = hook_all(CALL_cuGraphDestroy)))
		return r;
	if (!graph_loan_any() || !guard_enter())
		return real.cuGraphDestroy(graph);
	ours = graph_loan_destroyed(graph, &r);
	guard_leave();
	return ours ? r : real.cuGraphDestroy(graph);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	CUresult r;

	if (through())
		return real.cuGraphExecDestroy(exec);
	if ((r = hook_all(CALL_cuGraphExecDestroy)))
		return r;
	/* Before the driver does: its handle may be another thread's the moment it is free. */
	if (guard_enter()) {
		graph_gone(exec);
		guard_leave();
	}
	return real.cuGraphExecDestroy(exec);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	if (guard_held())
		return real.cuGraphChildGraphNodeGetGraph(node, graph);
	graph_loan_handed_out();
	hook_loans();
	if (!through())
		hook_query(CALL_cuGraphChildGraphNodeGetGraph);
	return real.cuGraphChildGraphNodeGetGraph(node, graph);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
					CUcontext ctx, unsigned value, unsigned flags)
{
	CUresult r;

	graph_loan_handed_out();
	hook_loans();
	if (through())
		return real.cuGraphConditionalHandleCreate(handle, graph, ctx, value, flags);
	if ((r = hook_all(CALL_cuGraphConditionalHandleCreate)))
		return r;
	return real.cuGraphConditionalHandleCreate(handle, graph, ctx, value, flags);
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned n, unsigned flags)
{
	CUresult r;

	graph_holds_object();
	hook_loans();
	if (through())
		return real.cuGraphRetainUserObject(graph, object, n, flags);
	if ((r = hook_all(CALL_cuGraphRetainUserObject)))
		return r;
	return real.cuGraphRetainUserObject(graph, object, n, flags);
}

static CUresult launch(CUgraphExec exec, CUstream stream, bool ptsz)
{
	CUresult r;

	if (through() || !guard_enter())
		return (ptsz ? real.cuGraphLaunch_ptsz : real.cuGraphLaunch)(exec, stream);
	record_call(ptsz ? CALL_cuGraphLaunch_ptsz : CALL_cuGraphLaunch, true, stream, ptsz);
	r = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) ? window_stream_call(stream, ptsz)
							     : CUDA_SUCCESS;
	if (!r)
		r = graph_launch(exec, stream, ptsz);
	guard_leave();
	return r;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	return launch(exec, stream, false);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	return launch(exec, stream, true);
}

static CUresult upload(CUgraphExec exec, CUstream stream, bool ptsz)
{
	CUresult (*const own)(CUgraphExec, CUstream) =
		ptsz ? real.cuGraphUpload_ptsz : real.cuGraphUpload;
	CUresult r;

	if (through() || !guard_enter())
		return own(exec, stream);
	record_call(ptsz ? CALL_cuGraphUpload_ptsz : CALL_cuGraphUpload, true, stream, ptsz);
	r = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) ? window_stream_call(stream, ptsz)
							     : CUDA_SUCCESS;
	guard_leave();
	if (r)
		return r;
	r = own(exec, stream);
	if (hook_retry(r))
		return own(exec, stream);
	if (!r && guard_enter()) {
		graph_uploaded(exec, stream, ptsz);
		guard_leave();
	}
	return r;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	return upload(exec, stream, false);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	return upload(exec, stream, true);
}
