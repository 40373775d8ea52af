/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs take over parameters from a graph of the same shape. */
#include <algorithm>
#include "tests/softgpu/driver/exec.h"

namespace
{
bool cooperative(const struct kernel_work *k)
{
	for (const CUlaunchAttribute &a : k->attributes)
		if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			return a.value.cooperative != 0;
	return false;
}

CUgraphExecUpdateResult kernel_may_change(const struct kernel_work *from,
					  const struct kernel_work *to)
{
	if (from->ctx != to->ctx)
		return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
	return cooperative(from) == cooperative(to) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
						    : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

bool copy_may_change(const CUDA_MEMCPY3D *from, const CUDA_MEMCPY3D *to, bool whole)
{
	bool line = from->Height == 1 && from->Depth == 1 && to->Height == 1 && to->Depth == 1;
	bool same = from->WidthInBytes == to->WidthInBytes && from->Height == to->Height &&
		    from->Depth == to->Depth;

	return from->srcMemoryType == to->srcMemoryType &&
	       from->dstMemoryType == to->dstMemoryType && to->WidthInBytes && to->Height &&
	       to->Depth && (line || (whole && same));
}

/* A rectangle may only move and change its value. */
bool fill_may_change(const CUDA_MEMSET_NODE_PARAMS *from, const CUDA_MEMSET_NODE_PARAMS *to)
{
	return (from->height == 1 && to->height == 1) ||
	       (from->height == to->height && from->width == to->width &&
		from->elementSize == to->elementSize && from->pitch == to->pitch);
}

struct exec_update update(std::vector<struct exec_node> *nodes, const struct graph *g, bool apply);

struct exec_update bad(CUgraphExecUpdateResult result, const struct node *n = nullptr,
		       const struct node *from = nullptr)
{
	return {result, n, from};
}

bool is_sink(const struct graph *g, const struct node *n)
{
	for (const struct node *other : g->nodes)
		for (const struct node *a : other->after.nodes)
			if (a == n)
				return false;
	return true;
}

size_t sinks(const std::vector<struct exec_node> &nodes)
{
	std::set<unsigned> before;

	for (const struct exec_node &x : nodes)
		before.insert(x.after.begin(), x.after.end());
	return nodes.size() - before.size();
}

/* Nodes pair up by the order of their creation. */
struct exec_update shape(const std::vector<struct exec_node> &nodes, const struct graph *g)
{
	std::map<const struct node *, unsigned> index;
	size_t ends = 0;

	if (nodes.size() != g->nodes.size())
		return bad(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	for (const struct node *n : g->nodes)
		index.insert({n, static_cast<unsigned>(index.size())});
	for (const struct node *n : g->nodes) {
		const struct exec_node *x = &nodes[index[n]];

		if (x->after.size() != n->after.nodes.size())
			return bad(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n);
		for (size_t i = 0; i < x->after.size(); i++) {
			const struct node *a = n->after.nodes[i];

			if (x->after[i] != index[a] ||
			    memcmp(&x->edges[i], &n->after.edges[i], sizeof(x->edges[i])) != 0)
				return bad(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n, a);
		}
		ends += is_sink(g, n);
		if (ends > sinks(nodes))
			return bad(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n);
	}
	return bad(CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

struct exec_update update(std::vector<struct exec_node> *nodes, const struct graph *g, bool apply)
{
	struct exec_update u = shape(*nodes, g);

	for (size_t i = 0; i < nodes->size() && u.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
		struct exec_node *x = &(*nodes)[i];
		const struct node *n = g->nodes[i];
		CUgraphExecUpdateResult r = exec_may_change(x->work.get(), n->work.get(), true);

		if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			return bad(r, n);
		if (n->child)
			u = update(&x->child, n->child, apply);
		if (apply)
			x->work = n->work; /* what is disabled stays so */
	}
	return u;
}
} // namespace

CUgraphExecUpdateResult exec_may_change(const struct work *from, const struct work *to, bool whole)
{
	bool may = true;

	if (from->type() != to->type())
		return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
	switch (from->type()) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel_may_change(dynamic_cast<const struct kernel_work *>(from),
					 dynamic_cast<const struct kernel_work *>(to));
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		may = copy_may_change(&dynamic_cast<const struct copy_work *>(from)->params,
				      &dynamic_cast<const struct copy_work *>(to)->params, whole);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		may = fill_may_change(&dynamic_cast<const struct fill_work *>(from)->params,
				      &dynamic_cast<const struct fill_work *>(to)->params);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return from == to ? CU_GRAPH_EXEC_UPDATE_SUCCESS
				  : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
	default:
		break;
	}
	return may ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

struct exec_update exec_take_over(std::vector<struct exec_node> *nodes, const struct graph *g)
{
	struct exec_update u = update(nodes, g, false);

	return u.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? update(nodes, g, true) : u;
}
