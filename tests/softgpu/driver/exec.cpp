/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/exec.h"

namespace
{
/* Can all nodes be run, each behind those it depends on? */
bool acyclic(const std::vector<struct exec_node> &nodes)
{
	std::vector<std::vector<unsigned>> next(nodes.size());
	std::vector<size_t> missing(nodes.size());
	std::vector<unsigned> ready;
	size_t done = 0;

	for (unsigned i = 0; i < nodes.size(); i++) {
		missing[i] = nodes[i].after.size();
		if (!missing[i])
			ready.push_back(i);
		for (unsigned a : nodes[i].after)
			next[a].push_back(i);
	}
	for (; !ready.empty(); done++) {
		unsigned i = ready.back();

		ready.pop_back();
		for (unsigned n : next[i])
			if (--missing[n] == 0)
				ready.push_back(n);
	}
	return done == nodes.size();
}

struct exec_node *find(std::vector<struct exec_node> *nodes, uint64_t id)
{
	for (struct exec_node &n : *nodes) {
		if (n.origin == id)
			return &n;
		struct exec_node *below = find(&n.child, id);
		if (below)
			return below;
	}
	return nullptr;
}
} // namespace

bool exec_copy(const struct graph *g, std::vector<struct exec_node> *out)
{
	std::map<const struct node *, unsigned> index;

	for (const struct node *n : g->nodes)
		index.insert({n, static_cast<unsigned>(index.size())});
	for (const struct node *n : g->nodes) {
		struct exec_node x = {n->id, n->work, {}, n->after.edges, true, {}};

		for (const struct node *a : n->after.nodes)
			x.after.push_back(index[a]);
		if (n->child && !exec_copy(n->child, &x.child))
			return false;
		out->push_back(x);
	}
	return acyclic(*out);
}

struct graph *exec_graph(const std::vector<struct exec_node> &nodes)
{
	struct graph *g = graph_new();

	for (const struct exec_node &x : nodes)
		if (x.work->type() == CU_GRAPH_NODE_TYPE_GRAPH)
			graph_add_child(g, exec_graph(x.child), {});
		else if (x.enabled)
			graph_add(g, x.work, {});
		else
			graph_add(g, std::make_shared<struct empty_work>(), {});
	for (size_t i = 0; i < nodes.size(); i++)
		for (size_t k = 0; k < nodes[i].after.size(); k++)
			g->nodes[i]->after.add(g->nodes[nodes[i].after[k]], nodes[i].edges[k]);
	return g;
}

struct exec_node *exec_find(struct exec *x, CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	return x && n ? find(&x->nodes, n->id) : nullptr;
}
