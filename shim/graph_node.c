// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_node.h"

#include <string.h>

#include "shim/attributed.h"
#include "shim/params.h"

struct kernel_rec *graph_kernel(const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct kernel_rec *rec = kernels_peek(p->func);

	/* The record whose image is known can have a verdict. The function's is there where it was
	 * launched; that of the kernel may be one more, and takes microseconds to make. */
	if (rec && rec->image)
		return rec;
	rec = p->kern ? kernels_get_kernel(p->kern) : NULL;
	if (rec && rec->image)
		return rec;
	return p->func ? kernels_get(p->func) : rec;
}

bool graph_pack(const CUDA_KERNEL_NODE_PARAMS *p, const struct kernel_rec *rec, uint8_t *out)
{
	return params_pack(p->kernelParams, p->extra, &rec->k, out);
}

static bool kernel_same(const CUDA_KERNEL_NODE_PARAMS *a, const CUDA_KERNEL_NODE_PARAMS *b)
{
	const struct kernel_rec *rec;
	const void *x, *y;
	size_t nx, ny;

	if ((a->func && b->func ? a->func != b->func : a->kern != b->kern) || a->ctx != b->ctx ||
	    a->gridDimX != b->gridDimX || a->gridDimY != b->gridDimY ||
	    a->gridDimZ != b->gridDimZ || a->blockDimX != b->blockDimX ||
	    a->blockDimY != b->blockDimY || a->blockDimZ != b->blockDimZ ||
	    a->sharedMemBytes != b->sharedMemBytes || !a->kernelParams != !b->kernelParams)
		return false;
	if (!a->kernelParams) {
		x = params_extra(a->extra, &nx);
		y = params_extra(b->extra, &ny);
		return x && y && nx == ny && !memcmp(x, y, nx);
	}
	rec = graph_kernel(a);
	for (uint32_t i = 0; rec && i < rec->k.nparam; i++)
		if (memcmp(a->kernelParams[i], b->kernelParams[i], rec->k.param[i].bytes) != 0)
			return false;
	return rec && rec->k.nparam;
}

bool graph_copyable(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return true;
	default:
		return false;
	}
}

CUresult graph_get(CUgraphNode node, CUgraphNodeType type, union graph_content *c)
{
	memset(c, 0, sizeof(*c));
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return real.cuGraphKernelNodeGetParams_v2(node, &c->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return real.cuGraphMemcpyNodeGetParams(node, &c->copy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return real.cuGraphMemsetNodeGetParams(node, &c->fill);
	case CU_GRAPH_NODE_TYPE_HOST:
		return real.cuGraphHostNodeGetParams(node, &c->host);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return real.cuGraphEventRecordNodeGetEvent(node, &c->event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return real.cuGraphEventWaitNodeGetEvent(node, &c->event);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

bool graph_same(CUgraphNodeType type, const union graph_content *a, const union graph_content *b)
{
	return type == CU_GRAPH_NODE_TYPE_KERNEL ? kernel_same(&a->kernel, &b->kernel)
						 : !memcmp(a, b, sizeof(*a));
}

CUresult graph_set(CUgraphNode node, CUgraphNodeType type, const union graph_content *c)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return real.cuGraphKernelNodeSetParams_v2(node, &c->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return real.cuGraphMemcpyNodeSetParams(node, &c->copy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return real.cuGraphMemsetNodeSetParams(node, &c->fill);
	case CU_GRAPH_NODE_TYPE_HOST:
		return real.cuGraphHostNodeSetParams(node, &c->host);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return real.cuGraphEventRecordNodeSetEvent(node, c->event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return real.cuGraphEventWaitNodeSetEvent(node, c->event);
	default:
		return CUDA_SUCCESS;
	}
}

CUresult graph_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, CUcontext ctx,
			const union graph_content *c)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return real.cuGraphExecKernelNodeSetParams_v2(exec, node, &c->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return real.cuGraphExecMemcpyNodeSetParams(exec, node, &c->copy, ctx);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return real.cuGraphExecMemsetNodeSetParams(exec, node, &c->fill, ctx);
	case CU_GRAPH_NODE_TYPE_HOST:
		return real.cuGraphExecHostNodeSetParams(exec, node, &c->host);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return real.cuGraphExecEventRecordNodeSetEvent(exec, node, c->event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return real.cuGraphExecEventWaitNodeSetEvent(exec, node, c->event);
	default:
		return CUDA_SUCCESS;
	}
}

/* One end of a copy. An address of the host's is like any other: it is not the device's memory. */
static bool end(struct graph_box *b, const CUDA_MEMCPY3D *p, CUmemorytype type, const void *host,
		CUdeviceptr device, const size_t at[3], size_t pitch, size_t height)
{
	uint64_t base = type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device;

	*b = (struct graph_box){base + at[0] + at[1] * pitch + at[2] * pitch * height,
				(int64_t)p->WidthInBytes,
				(int64_t)p->Height,
				p->Height > 1 ? (int64_t)pitch : 0,
				(int64_t)p->Depth,
				p->Depth > 1 ? (int64_t)(pitch * height) : 0};
	return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
	       type == CU_MEMORYTYPE_UNIFIED;
}

bool graph_boxes(CUgraphNodeType type, const union graph_content *c, struct graph_box *to,
		 struct graph_box *from)
{
	const CUDA_MEMCPY3D *p = &c->copy;
	const CUDA_MEMSET_NODE_PARAMS *f = &c->fill;

	memset(from, 0, sizeof(*from));
	if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
		*to = (struct graph_box){f->dst,
					 (int64_t)(f->width * f->elementSize),
					 (int64_t)f->height,
					 f->height > 1 ? (int64_t)f->pitch : 0,
					 1,
					 0};
		return true;
	}
	return type == CU_GRAPH_NODE_TYPE_MEMCPY &&
	       end(to, p, p->dstMemoryType, p->dstHost, p->dstDevice,
		   (size_t[]){p->dstXInBytes, p->dstY, p->dstZ}, p->dstPitch, p->dstHeight) &&
	       end(from, p, p->srcMemoryType, p->srcHost, p->srcDevice,
		   (size_t[]){p->srcXInBytes, p->srcY, p->srcZ}, p->srcPitch, p->srcHeight);
}

uint64_t graph_cluster(CUgraphNode node)
{
	CUlaunchAttributeValue v;

	if (real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v))
		return 0;
	return (uint64_t)v.clusterDim.x << 42 ^ (uint64_t)v.clusterDim.y << 21 ^ v.clusterDim.z;
}

uint32_t graph_attributes(CUgraphNode node, struct kernel_rec *rec, int *priority)
{
	CUlaunchAttributeValue v;
	uint32_t attrs = 0;

	*priority = 0;
	if (attributed_priority(rec) &&
	    !real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v))
		*priority = v.priority;
	if (!attributed(rec))
		return 0;
	if (!real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v) &&
	    v.cooperative)
		attrs |= LAUNCH_COOPERATIVE;
	if (!real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v) &&
	    (v.clusterDim.x > 1 || v.clusterDim.y > 1 || v.clusterDim.z > 1))
		attrs |= LAUNCH_CLUSTER;
	if (!real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
						&v) &&
	    v.accessPolicyWindow.num_bytes)
		attrs |= LAUNCH_OTHER_ATTR;
	if (!real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v) &&
	    v.memSyncDomain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT)
		attrs |= LAUNCH_OTHER_ATTR;
	return attrs;
}

bool graph_device_updatable(CUgraphNode node, struct kernel_rec *rec)
{
	CUlaunchAttributeValue v;

	return attributed(rec) &&
	       !real.cuGraphKernelNodeGetAttribute(
		       node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v) &&
	       v.deviceUpdatableKernelNode.deviceUpdatable;
}
