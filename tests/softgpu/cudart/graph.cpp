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
