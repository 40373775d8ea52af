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

/* Answers a list the way the graph calls do: only the count if there is no room for any. */
CUresult answer_list(const std::vector<CUgraphNode> &list, CUgraphNode *out, size_t *n)
{
	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	if (!out) {
		*n = list.size();
		return CUDA_SUCCESS;
	}
	for (size_t i = 0; i < *n; i++)
		out[i] = i < list.size() ? list[i] : nullptr;
	*n = std::min(*n, list.size());
	return CUDA_SUCCESS;
}

CUgraphNode handle_of(struct node *n)
{
	return reinterpret_cast<CUgraphNode>(n);
}

template <class T> const T *work_of(CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	return n ? dynamic_cast<const T *>(n->work.get()) : nullptr;
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

CUresult soft::cuGraphGetNodes(CUgraph handle, CUgraphNode *out, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> list;

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		list.push_back(handle_of(node));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphGetRootNodes(CUgraph handle, CUgraphNode *out, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> list;

	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		if (node->after.empty())
			list.push_back(handle_of(node));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<CUgraphNode> a, b;
	size_t room = n ? *n : 0;

	if (!g || !n || (!from) != (!to))
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *node : g->nodes)
		for (struct node *before : node->after) {
			a.push_back(handle_of(before));
			b.push_back(handle_of(node));
		}
	answer_list(a, from, &room);
	return answer_list(b, to, n);
}

CUresult soft::cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to,
				  CUgraphEdgeData *data, size_t *n)
{
	CUresult r = soft::cuGraphGetEdges(g, from, to, n);

	if (r == CUDA_SUCCESS && data)
		std::fill(data, data + *n, CUgraphEdgeData());
	return r;
}

CUresult soft::cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *out, size_t *n)
{
	struct node *node = object_find<struct node>(handle);
	std::vector<CUgraphNode> list;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *before : node->after)
		list.push_back(handle_of(before));
	return answer_list(list, out, n);
}

CUresult soft::cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out,
					     CUgraphEdgeData *data, size_t *n)
{
	CUresult r = soft::cuGraphNodeGetDependencies(node, out, n);

	if (r == CUDA_SUCCESS && data)
		std::fill(data, data + *n, CUgraphEdgeData());
	return r;
}

CUresult soft::cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
	struct node *node = object_find<struct node>(handle);

	if (!node || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->work->type();
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
	const struct kernel_work *w = work_of<struct kernel_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->function,
		w->grid.x,
		w->grid.y,
		w->grid.z,
		w->block.x,
		w->block.y,
		w->block.z,
		w->shared_bytes,
		w->from_extra ? nullptr : const_cast<void **>(w->pointers.data()),
		w->from_extra ? const_cast<void **>(w->extra) : nullptr,
		w->handle,
		w->ctx};
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
	CUDA_KERNEL_NODE_PARAMS q;
	CUresult r = soft::cuGraphKernelNodeGetParams_v2(handle, &q);

	if (r == CUDA_SUCCESS)
		memcpy(out, &q, sizeof(*out));
	return r;
}

CUresult soft::cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *out)
{
	const struct copy_work *w = work_of<struct copy_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *out)
{
	const struct fill_work *w = work_of<struct fill_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *out)
{
	const struct host_work *w = work_of<struct host_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->fn, w->data};
	return CUDA_SUCCESS;
}
