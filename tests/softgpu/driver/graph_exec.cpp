/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs. */
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/observe.h"
#include "tests/softgpu/driver/stream.h"

namespace
{
/* Copies the nodes, each behind those it depends on. False if they depend on each other in a ring.
 */
bool order(const struct graph *g, std::vector<struct exec_node> *out)
{
	std::set<const struct node *> done;
	size_t before;

	do {
		before = out->size();
		for (const struct node *n : g->nodes) {
			bool ready = !done.count(n);

			for (const struct node *a : n->after)
				ready &= done.count(a) != 0;
			if (!ready)
				continue;
			out->push_back({n, n->work, true});
			done.insert(n);
		}
	} while (out->size() > before);
	return out->size() == g->nodes.size();
}

CUresult instantiate(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<struct exec_node> nodes;

	if (!out || !g || !order(g, &nodes))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct exec *x = object_new<struct exec>();
	x->nodes = nodes;
	x->flags = flags;
	*out = reinterpret_cast<CUgraphExec>(x);
	return CUDA_SUCCESS;
}

struct exec_node *find(CUgraphExec handle, CUgraphNode node)
{
	struct exec *x = object_find<struct exec>(handle);

	if (x)
		for (struct exec_node &n : x->nodes)
			if (reinterpret_cast<CUgraphNode>(const_cast<struct node *>(n.origin)) ==
			    node)
				return &n;
	return nullptr;
}
} // namespace

CUresult soft::cuGraphInstantiate(CUgraphExec *out, CUgraph g, CUgraphNode *, char *, size_t)
{
	return instantiate(out, g, 0);
}

CUresult soft::cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *, char *, size_t)
{
	return instantiate(out, g, 0);
}

CUresult soft::cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	return instantiate(out, g, flags);
}

CUresult soft::cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
					    CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult r = instantiate(out, g, p->flags);
	p->hErrNode_out = nullptr;
	p->result_out =
		r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
	return r;
}

CUresult soft::cuGraphExecDestroy(CUgraphExec handle)
{
	struct exec *x = object_find<struct exec>(handle);

	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	object_delete(x); /* launches under way hold their work */
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *out)
{
	struct exec *x = object_find<struct exec>(handle);

	if (!x || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = x->flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphNodeSetEnabled(CUgraphExec x, CUgraphNode node, unsigned enabled)
{
	struct exec_node *n = find(x, node);

	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	n->enabled = enabled != 0;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphNodeGetEnabled(CUgraphExec x, CUgraphNode node, unsigned *out)
{
	struct exec_node *n = find(x, node);

	if (!n || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = n->enabled;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphUpload(CUgraphExec x, CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	return object_find<struct exec>(x) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuGraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
	STREAM_OR_RETURN(s, stream_handle);
	struct exec *x = object_find<struct exec>(handle);
	std::vector<std::pair<std::shared_ptr<const struct work>, uint64_t>> todo; /* its number */

	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture)
		return CUDA_ERROR_NOT_SUPPORTED; /* no child graphs here */
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	for (const struct exec_node &n : x->nodes)
		if (n.enabled)
			todo.push_back({n.work, static_cast<uint64_t>(&n - x->nodes.data()) + 1});
	queue_make_room(s->queue); /* here, as it may give up the lock and x with it */
	x = object_find<struct exec>(handle);
	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	x->last = stream_submit(s, {{x->last}, [todo, call = observe_call()] {
					    CUresult result = CUDA_SUCCESS;

					    for (const auto &w : todo) {
						    struct observe_work o(call, w.second);

						    if (result == CUDA_SUCCESS)
							    result = w.first->run();
					    }
					    return result;
				    }});
	return CUDA_SUCCESS;
}
