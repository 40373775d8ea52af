/* SPDX-License-Identifier: Apache-2.0 */
/* Graph nodes and their parameters, which the runtime writes down in its own way. */
#include <cstring>
#include "tests/softgpu/cudart/runtime.h"

namespace
{
/* A kernel is named by its host stub. */
CUDA_KERNEL_NODE_PARAMS kernel_params(const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS q = {};

	q.gridDimX = p->gridDim.x;
	q.gridDimY = p->gridDim.y;
	q.gridDimZ = p->gridDim.z;
	q.blockDimX = p->blockDim.x;
	q.blockDimY = p->blockDim.y;
	q.blockDimZ = p->blockDim.z;
	q.sharedMemBytes = p->sharedMemBytes;
	q.kernelParams = p->kernelParams;
	q.extra = p->extra;
	q.kern = kernel_of(p->func);
	return q;
}

CUDA_MEMSET_NODE_PARAMS fill_params(const struct cudaMemsetParams *p)
{
	return {device_pointer(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
}

CUmemorytype source_type(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
	       : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice
		       ? CU_MEMORYTYPE_DEVICE
		       : CU_MEMORYTYPE_HOST;
}

CUmemorytype target_type(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
	       : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice
		       ? CU_MEMORYTYPE_DEVICE
		       : CU_MEMORYTYPE_HOST;
}

CUDA_MEMCPY3D copy_params(void *to, const void *from, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = {};

	c.srcMemoryType = source_type(kind);
	c.srcHost = from;
	c.srcDevice = device_pointer(from);
	c.dstMemoryType = target_type(kind);
	c.dstHost = to;
	c.dstDevice = device_pointer(to);
	c.Height = c.Depth = 1;
	return c;
}

CUDA_MEMCPY3D copy_params(const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c = copy_params(p->dstPtr.ptr, p->srcPtr.ptr, p->kind);

	c.srcXInBytes = p->srcPos.x;
	c.srcY = p->srcPos.y;
	c.srcZ = p->srcPos.z;
	c.srcPitch = p->srcPtr.pitch;
	c.srcHeight = p->srcPtr.ysize;
	c.dstXInBytes = p->dstPos.x;
	c.dstY = p->dstPos.y;
	c.dstZ = p->dstPos.z;
	c.dstPitch = p->dstPtr.pitch;
	c.dstHeight = p->dstPtr.ysize;
	c.WidthInBytes = p->extent.width;
	c.Height = p->extent.height;
	c.Depth = p->extent.depth;
	return c;
}

CUcontext current()
{
	CUcontext ctx = nullptr;

	legacy.cuCtxGetCurrent(&ctx);
	return ctx;
}
} // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t g,
				   const cudaGraphNode_t *after, size_t n,
				   const struct cudaKernelNodeParams *p)
{
	cudaError_t entered = runtime_enter(); /* now: kernels are found in it */

	if (entered != cudaSuccess || !p)
		return runtime_error(p ? entered : cudaErrorInvalidValue);
	CUDA_KERNEL_NODE_PARAMS q = kernel_params(p);
	if (!q.kern)
		return runtime_error(cudaErrorInvalidDeviceFunction);
	return runtime_result(legacy.cuGraphAddKernelNode_v2(out, g, after, n, &q));
}

/* As func comes back the driver's kernel, which the calls here take as well. */
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *out)
{
	CUDA_KERNEL_NODE_PARAMS q = {};
	cudaError_t entered = runtime_enter();

	if (entered != cudaSuccess || !out)
		return runtime_error(out ? entered : cudaErrorInvalidValue);
	cudaError_t r = runtime_result(legacy.cuGraphKernelNodeGetParams_v2(node, &q));
	if (r != cudaSuccess)
		return r;
	out->func = q.kern;
	out->gridDim = {q.gridDimX, q.gridDimY, q.gridDimZ};
	out->blockDim = {q.blockDimX, q.blockDimY, q.blockDimZ};
	out->sharedMemBytes = q.sharedMemBytes;
	out->kernelParams = q.kernelParams;
	out->extra = q.extra;
	return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID which,
					    const cudaKernelNodeAttrValue *v)
{
	cudaError_t entered = runtime_enter();

	if (entered != cudaSuccess || !v)
		return runtime_error(v ? entered : cudaErrorInvalidValue);
	return runtime_result(legacy.cuGraphKernelNodeSetAttribute(
		node, (CUkernelNodeAttrID)which, (const CUkernelNodeAttrValue *)v));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS q;

	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	RUNTIME_CALL((q = kernel_params(p), legacy.cuGraphKernelNodeSetParams_v2(node, &q)));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS q;

	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	RUNTIME_CALL((q = kernel_params(p), legacy.cuGraphExecKernelNodeSetParams_v2(x, node, &q)));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t g,
				   const cudaGraphNode_t *after, size_t n,
				   const struct cudaMemcpy3DParms *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_MEMCPY3D c = copy_params(p);
	RUNTIME_CALL(legacy.cuGraphAddMemcpyNode(out, g, after, n, &c, current()));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g,
				     const cudaGraphNode_t *after, size_t n, void *to,
				     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = copy_params(to, from, kind);

	c.WidthInBytes = bytes;
	RUNTIME_CALL(legacy.cuGraphAddMemcpyNode(out, g, after, n, &c, current()));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t node, void *to,
					       const void *from, size_t bytes,
					       enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = copy_params(to, from, kind);

	c.WidthInBytes = bytes;
	RUNTIME_CALL(legacy.cuGraphExecMemcpyNodeSetParams(x, node, &c, current()));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
					   size_t bytes, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = copy_params(to, from, kind);

	c.WidthInBytes = bytes;
	RUNTIME_CALL(legacy.cuGraphMemcpyNodeSetParams(node, &c));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t g,
				   const cudaGraphNode_t *after, size_t n,
				   const struct cudaMemsetParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_MEMSET_NODE_PARAMS q = fill_params(p);
	RUNTIME_CALL(legacy.cuGraphAddMemsetNode(out, g, after, n, &q, current()));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
					     const struct cudaMemsetParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_MEMSET_NODE_PARAMS q = fill_params(p);
	RUNTIME_CALL(legacy.cuGraphExecMemsetNodeSetParams(x, node, &q, current()));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_MEMSET_NODE_PARAMS q = fill_params(p);
	RUNTIME_CALL(legacy.cuGraphMemsetNodeSetParams(node, &q));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after,
				 size_t n, const struct cudaHostNodeParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_HOST_NODE_PARAMS q = {p->fn, p->userData};
	RUNTIME_CALL(legacy.cuGraphAddHostNode(out, g, after, n, &q));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
					   const struct cudaHostNodeParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_HOST_NODE_PARAMS q = {p->fn, p->userData};
	RUNTIME_CALL(legacy.cuGraphExecHostNodeSetParams(x, node, &q));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p)
{
	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	CUDA_HOST_NODE_PARAMS q = {p->fn, p->userData};
	RUNTIME_CALL(legacy.cuGraphHostNodeSetParams(node, &q));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after,
				  size_t n)
{
	RUNTIME_CALL(legacy.cuGraphAddEmptyNode(out, g, after, n));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t g,
					const cudaGraphNode_t *after, size_t n, cudaEvent_t e)
{
	RUNTIME_CALL(legacy.cuGraphAddEventRecordNode(out, g, after, n, e));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t g,
				      const cudaGraphNode_t *after, size_t n, cudaEvent_t e)
{
	RUNTIME_CALL(legacy.cuGraphAddEventWaitNode(out, g, after, n, e));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g,
				       const cudaGraphNode_t *after, size_t n, cudaGraph_t child)
{
	RUNTIME_CALL(legacy.cuGraphAddChildGraphNode(out, g, after, n, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out)
{
	RUNTIME_CALL(legacy.cuGraphChildGraphNodeGetGraph(node, out));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
						 cudaGraph_t child)
{
	RUNTIME_CALL(legacy.cuGraphExecChildGraphNodeSetParams(x, node, child));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t g,
				     const cudaGraphNode_t *after, size_t n,
				     struct cudaMemAllocNodeParams *p)
{
	CUDA_MEM_ALLOC_NODE_PARAMS q;

	if (!p)
		return runtime_error(cudaErrorInvalidValue);
	static_assert(sizeof(*p) == sizeof(q), "one layout, two names");
	memcpy(&q, p, sizeof(q));
	cudaError_t entered = runtime_enter();
	if (entered != cudaSuccess)
		return runtime_error(entered);
	CUresult r = legacy.cuGraphAddMemAllocNode(out, g, after, n, &q);
	p->dptr = reinterpret_cast<void *>(q.dptr);
	return runtime_result(r);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t g,
				    const cudaGraphNode_t *after, size_t n, void *at)
{
	RUNTIME_CALL(legacy.cuGraphAddMemFreeNode(out, g, after, n,
						  reinterpret_cast<CUdeviceptr>(at)));
}
