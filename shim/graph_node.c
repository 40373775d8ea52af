// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_node.h"

#include <string.h>

struct kernel_rec *graph_kernel(const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct kernel_rec *rec = p->kern ? kernels_get((CUfunction)p->kern) : NULL;

	/* The record whose image is known can have a verdict. */
	if (rec && rec->image)
		return rec;
	return p->func ? kernels_get(p->func) : rec;
}

const void *graph_extra(void **extra, size_t *bytes)
{
	const void *buf = NULL;

	*bytes = 0;
	for (unsigned i = 0; extra && i < 16 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buf = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
			*bytes = *(const size_t *)extra[i + 1];
		else
			return NULL;
	}
	return buf;
}

bool graph_pack(const CUDA_KERNEL_NODE_PARAMS *p, const struct kernel_rec *rec, uint8_t *out)
{
	const struct kernel *k = &rec->k;
	const void *buf;
	size_t bytes;

	if (!k->nparam)
		return false;
	memset(out, 0, k->param_bytes);
	if (p->kernelParams) {
		for (uint32_t i = 0; i < k->nparam; i++)
			memcpy(out + k->param[i].offset, p->kernelParams[i], k->param[i].bytes);
		return true;
	}
	buf = graph_extra(p->extra, &bytes);
	if (!buf || bytes < k->param_bytes)
		return false;
	memcpy(out, buf, k->param_bytes);
	return true;
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
		x = graph_extra(a->extra, &nx);
		y = graph_extra(b->extra, &ny);
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

uint64_t graph_cluster(CUgraphNode node)
{
	CUlaunchAttributeValue v;

	if (real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v))
		return 0;
	return (uint64_t)v.clusterDim.x << 42 ^ (uint64_t)v.clusterDim.y << 21 ^ v.clusterDim.z;
}

uint32_t graph_attributes(CUgraphNode node, int *priority)
{
	CUlaunchAttributeValue v;
	uint32_t attrs = 0;

	*priority = 0;
	if (!real.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v))
		*priority = v.priority;
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

bool graph_device_updatable(CUgraphNode node)
{
	CUlaunchAttributeValue v;

	return !real.cuGraphKernelNodeGetAttribute(
		       node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v) &&
	       v.deviceUpdatableKernelNode.deviceUpdatable;
}
