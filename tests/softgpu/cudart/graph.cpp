/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture and graphs. */
#include "tests/softgpu/cudart/runtime.h"

RUNTIME_BOTH(cudaStreamBeginCapture, _ptsz, (cudaStream_t s, enum cudaStreamCaptureMode mode),
	     d.cuStreamBeginCapture_v2(s, static_cast<CUstreamCaptureMode>(mode)))
RUNTIME_BOTH(cudaStreamEndCapture, _ptsz, (cudaStream_t s, cudaGraph_t *out),
	     d.cuStreamEndCapture(s, out))
RUNTIME_BOTH(cudaStreamIsCapturing, _ptsz, (cudaStream_t s, enum cudaStreamCaptureStatus *out),
	     d.cuStreamIsCapturing(s, reinterpret_cast<CUstreamCaptureStatus *>(out)))
RUNTIME_BOTH(cudaStreamGetCaptureInfo, _ptsz,
	     (cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	      cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
	      size_t *n),
	     d.cuStreamGetCaptureInfo_v3(s, reinterpret_cast<CUstreamCaptureStatus *>(status),
					 reinterpret_cast<cuuint64_t *>(id), graph, nodes,
					 reinterpret_cast<const CUgraphEdgeData **>(edges), n))
RUNTIME_BOTH(cudaStreamUpdateCaptureDependencies, _ptsz,
	     (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n,
	      unsigned flags),
	     d.cuStreamUpdateCaptureDependencies_v2(
		     s, nodes, reinterpret_cast<const CUgraphEdgeData *>(edges), n, flags))
RUNTIME_BOTH(cudaStreamBeginCaptureToGraph, _ptsz,
	     (cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *nodes,
	      const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode),
	     d.cuStreamBeginCaptureToGraph(s, g, nodes,
					   reinterpret_cast<const CUgraphEdgeData *>(edges), n,
					   static_cast<CUstreamCaptureMode>(mode)))
RUNTIME_BOTH(cudaGraphInstantiateWithParams, _ptsz,
	     (cudaGraphExec_t * out, cudaGraph_t g, cudaGraphInstantiateParams *p),
	     d.cuGraphInstantiateWithParams(out, g,
					    reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS *>(p)))
RUNTIME_BOTH(cudaGraphLaunch, _ptsz, (cudaGraphExec_t x, cudaStream_t s), d.cuGraphLaunch(x, s))
RUNTIME_BOTH(cudaGraphUpload, _ptsz, (cudaGraphExec_t x, cudaStream_t s), d.cuGraphUpload(x, s))

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	RUNTIME_CALL(legacy.cuThreadExchangeStreamCaptureMode(
		reinterpret_cast<CUstreamCaptureMode *>(mode)));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
	RUNTIME_CALL(legacy.cuGraphInstantiateWithFlags(out, g, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g,
					  unsigned long long flags)
{
	RUNTIME_CALL(legacy.cuGraphInstantiateWithFlags(out, g, flags));
}

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
	RUNTIME_CALL(legacy.cuGraphCreate(out, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
	RUNTIME_CALL(legacy.cuGraphDestroy(g));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
	RUNTIME_CALL(legacy.cuGraphExecDestroy(x));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n)
{
	RUNTIME_CALL(legacy.cuGraphGetNodes(g, nodes, n));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *out)
{
	RUNTIME_CALL(legacy.cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType *>(out)));
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
	RUNTIME_CALL(legacy.cuGraphClone(out, g));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t clone)
{
	RUNTIME_CALL(legacy.cuGraphNodeFindInClone(out, node, clone));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
	RUNTIME_CALL(legacy.cuGraphDestroyNode(node));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n)
{
	RUNTIME_CALL(legacy.cuGraphGetRootNodes(g, nodes, n));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to,
			      cudaGraphEdgeData *data, size_t *n)
{
	RUNTIME_CALL(legacy.cuGraphGetEdges_v2(g, from, to,
					       reinterpret_cast<CUgraphEdgeData *>(data), n));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out,
					 cudaGraphEdgeData *data, size_t *n)
{
	RUNTIME_CALL(legacy.cuGraphNodeGetDependencies_v2(
		node, out, reinterpret_cast<CUgraphEdgeData *>(data), n));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out,
					   cudaGraphEdgeData *data, size_t *n)
{
	RUNTIME_CALL(legacy.cuGraphNodeGetDependentNodes_v2(
		node, out, reinterpret_cast<CUgraphEdgeData *>(data), n));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
				     size_t n)
{
	RUNTIME_CALL(legacy.cuGraphAddDependencies_v2(
		g, from, to, reinterpret_cast<const CUgraphEdgeData *>(data), n));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t *from,
					const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
					size_t n)
{
	RUNTIME_CALL(legacy.cuGraphRemoveDependencies_v2(
		g, from, to, reinterpret_cast<const CUgraphEdgeData *>(data), n));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g,
				cudaGraphExecUpdateResultInfo *out)
{
	static_assert(sizeof(*out) == sizeof(CUgraphExecUpdateResultInfo), "one layout, two names");
	RUNTIME_CALL(legacy.cuGraphExecUpdate_v2(
		x, g, reinterpret_cast<CUgraphExecUpdateResultInfo *>(out)));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned enabled)
{
	RUNTIME_CALL(legacy.cuGraphNodeSetEnabled(x, node, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned *out)
{
	RUNTIME_CALL(legacy.cuGraphNodeGetEnabled(x, node, out));
}
