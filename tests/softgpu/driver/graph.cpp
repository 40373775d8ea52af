/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/graph.h"
#include <algorithm>
#include <string.h>
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/launch.h"

struct node *graph_add(struct graph *g, const std::shared_ptr<const struct work> &w,
		       const std::vector<struct node *> &after)
{
	struct node *n = object_new<struct node>();

	n->graph = g;
	n->work = w;
	n->after = after;
	g->nodes.push_back(n);
	return n;
}

void graph_delete(struct graph *g)
{
	for (struct node *n : g->nodes)
		object_delete(n);
	object_delete(g);
}

namespace
{
/* Adds a node for work that was made from a call's parameters (NULL: they were bad). */
CUresult add(CUgraphNode *out, CUgraph handle, const CUgraphNode *after, size_t n, CUresult why,
	     const std::shared_ptr<const struct work> &w)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<struct node *> nodes;

	if (!w)
		return why;
	if (!out || !g || (n && !after))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		struct node *node = object_find<struct node>(after[i]);

		if (!node || node->graph != g)
			return CUDA_ERROR_INVALID_VALUE;
		nodes.push_back(node);
	}
	*out = reinterpret_cast<CUgraphNode>(graph_add(g, w, nodes));
	return CUDA_SUCCESS;
}
} // namespace

CUresult soft::cuGraphCreate(CUgraph *out, unsigned flags)
{
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUgraph>(object_new<struct graph>());
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphDestroy(CUgraph handle)
{
	struct graph *g = object_find<struct graph>(handle);

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	graph_delete(g);
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				       size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUresult why = CUDA_ERROR_INVALID_VALUE;
	std::shared_ptr<struct kernel_work> w;

	if (p) {
		struct launch_shape shape = {{p->gridDimX, p->gridDimY, p->gridDimZ},
					     {p->blockDimX, p->blockDimY, p->blockDimZ},
					     p->sharedMemBytes};

		struct context *ctx =
			p->ctx ? object_find<struct context>(p->ctx) : context_current(&why);

		if (ctx)
			w = launch_make(ctx,
					p->func ? p->func : reinterpret_cast<CUfunction>(p->kern),
					&shape, p->kernelParams, p->extra, nullptr, 0, &why);
	}
	return add(out, g, after, n, why, w);
}

CUresult soft::cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS q = {};

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	static_assert(sizeof(*p) <= sizeof(q), "the older layout is the newer one's beginning");
	memcpy(&q, p, sizeof(*p));
	return soft::cuGraphAddKernelNode_v2(out, g, after, n, &q);
}

CUresult soft::cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_MEMCPY3D *c, CUcontext)
{
	CUresult why = CUDA_ERROR_INVALID_VALUE;

	return add(out, g, after, n, why, c ? copy_make(c, &why) : nullptr);
}

CUresult soft::cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				    const CUDA_MEMSET_NODE_PARAMS *f, CUcontext)
{
	CUresult why = CUDA_ERROR_INVALID_VALUE;

	return add(out, g, after, n, why, f ? fill_make(f, &why) : nullptr);
}

CUresult soft::cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
				  const CUDA_HOST_NODE_PARAMS *p)
{
	std::shared_ptr<struct host_work> w;

	if (p && p->fn) {
		w = std::make_shared<struct host_work>();
		w->fn = p->fn;
		w->data = p->userData;
	}
	return add(out, g, after, n, CUDA_ERROR_INVALID_VALUE, w);
}

CUresult soft::cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n)
{
	return add(out, g, after, n, CUDA_SUCCESS, std::make_shared<struct empty_work>());
}

CUresult soft::cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from,
				      const CUgraphNode *to, size_t n)
{
	struct graph *g = object_find<struct graph>(handle);

	if (!g || (n && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		struct node *a = object_find<struct node>(from[i]),
			    *b = object_find<struct node>(to[i]);

		if (!a || !b || a->graph != g || b->graph != g || a == b)
			return CUDA_ERROR_INVALID_VALUE;
		b->after.push_back(a);
	}
	return CUDA_SUCCESS;
}
