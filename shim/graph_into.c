// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_into.h"

static bool added(struct graph_into *to, CUgraphNode node)
{
	struct graph_added *a = to->added;

	if (!node)
		return false;
	if (a->n == GRAPH_ADDED) {
		real.cuGraphDestroyNode(node);
		return false;
	}
	a->node[a->n++] = node;
	if (!to->first)
		to->first = node;
	to->last = node;
	return true;
}

void graph_into_undo(struct graph_added *a)
{
	while (a->n)
		real.cuGraphDestroyNode(a->node[--a->n]);
}

static bool into_copy(void *arg, uint64_t dst, uint64_t src, uint64_t bytes)
{
	struct graph_into *to = arg;
	CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			   .srcDevice = src,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstDevice = dst,
			   .WidthInBytes = bytes,
			   .Height = 1,
			   .Depth = 1};
	CUgraphNode n = NULL;

	if (real.cuGraphAddMemcpyNode(&n, to->graph, &to->last, to->last != NULL, &p,
				      to->ours->ctx))
		return false;
	return added(to, n);
}

static bool into_fill(void *arg, uint64_t at, unsigned char value, uint64_t bytes)
{
	struct graph_into *to = arg;
	CUDA_MEMSET_NODE_PARAMS p = {
		.dst = at, .value = value, .elementSize = 1, .width = bytes, .height = 1};
	CUgraphNode n = NULL;

	if (real.cuGraphAddMemsetNode(&n, to->graph, &to->last, to->last != NULL, &p,
				      to->ours->ctx))
		return false;
	return added(to, n);
}

static bool into_launch(void *arg, const struct standin *s)
{
	struct graph_into *to = arg;
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphNode n = NULL;
	void *params;

	for (unsigned k = 0; k < s->n; k++) {
		standin_node(s, k, to->ours, &p, &params);
		if (real.cuGraphAddKernelNode_v2(&n, to->graph, &to->last, to->last != NULL, &p) ||
		    !added(to, n))
			return false;
	}
	return true;
}

static bool into_candidate(void *arg, const struct standin *s, int64_t rows)
{
	return into_launch(arg, s);
}

const struct check_sink graph_into = {
	.copy = into_copy, .fill = into_fill, .candidate = into_candidate, .launch = into_launch};
