// SPDX-License-Identifier: Apache-2.0
/* A clone is rewritten and made executable. */
#include <stdlib.h>

#include "shim/graph_work.h"

/* Plain edges between nodes of one level, by number within it. */
static int add_edges(struct graph_work *w, unsigned level, const struct dag_edge *edge, size_t n)
{
	const struct work_form *f = &w->form[FORM_FUSED];
	const CUgraphNode *node = f->twin + w->shape->level[level].first;
	CUgraphNode *from = calloc(n + 1, sizeof(CUgraphNode)),
		    *to = calloc(n + 1, sizeof(CUgraphNode));
	int rc = -1;

	if (from && to) {
		for (size_t i = 0; i < n; i++) {
			from[i] = node[edge[i].from];
			to[i] = node[edge[i].to];
		}
		rc = n && real.cuGraphAddDependencies(f->level[level], from, to, n) ? -1 : 0;
	}
	free(from);
	free(to);
	return rc;
}

/* A node like `last` in all but what it launches, between that and what was before it. */
static int put_before(struct graph_work *w, const struct work_group *g, CUgraphNode last,
		      unsigned kernel)
{
	CUgraph graph = w->form[FORM_FUSED].level[g->level];
	CUgraphNode *before = NULL, *behind = NULL, node;
	CUDA_KERNEL_NODE_PARAMS p;
	void *params;
	size_t n = 0;
	int rc = -1;

	if (real.cuGraphNodeGetDependencies(last, NULL, &n))
		return -1;
	before = calloc(n + 1, sizeof(CUgraphNode));
	behind = calloc(n + 1, sizeof(CUgraphNode));
	standin_node(&g->launch, kernel, g->ours, &p, &params);
	if (before && behind && (!n || !real.cuGraphNodeGetDependencies(last, before, &n)) &&
	    !real.cuGraphAddKernelNode_v2(&node, graph, before, n, &p) &&
	    !real.cuGraphKernelNodeCopyAttributes(node, last)) {
		for (size_t i = 0; i < n; i++)
			behind[i] = last;
		rc = (n && real.cuGraphRemoveDependencies(graph, before, behind, n)) ||
				     real.cuGraphAddDependencies(graph, &node, &last, 1)
			     ? -1
			     : 0;
	}
	free(before);
	free(behind);
	return rc;
}

/*
 * The group's last node becomes our kernel's, with its edges and attributes; the others go. Of two
 * kernels it is the second; the first is a new node right before it.
 */
static int put_in(struct graph_work *w, const struct work_group *g)
{
	CUgraphNode *twin = w->form[FORM_FUSED].twin + w->shape->level[g->level].first,
		    last = twin[g->nodes.node[g->nodes.n - 1]];
	CUDA_KERNEL_NODE_PARAMS p;
	void *params;

	for (unsigned i = 0; i + 1 < g->nodes.n; i++) {
		if (real.cuGraphDestroyNode(twin[g->nodes.node[i]]))
			return -1;
		twin[g->nodes.node[i]] = NULL;
	}
	for (unsigned k = 0; k + 1 < g->launch.n; k++)
		if (put_before(w, g, last, k))
			return -1;
	standin_node(&g->launch, g->launch.n - 1, g->ours, &p, &params);
	return real.cuGraphKernelNodeSetParams_v2(last, &p) ? -1 : 0;
}

static int rewrite_level(struct graph_work *w, unsigned level)
{
	const struct graph_level *l = &w->shape->level[level];
	struct graph_group *g = calloc(w->ngroup + 1, sizeof(*g));
	struct graph_rewire r = {0};
	unsigned n = 0;
	int rc = -1;

	for (unsigned i = 0; g && i < w->ngroup; i++)
		if (w->group[i].level == level)
			g[n++] = w->group[i].nodes;
	if (g)
		rc = n ? graph_rewire(&r, w->node + l->first, &w->dag[level], l->edge, l->typed,
				      l->nedge, g, n)
		       : 0;
	if (!rc && n)
		rc = add_edges(w, level, r.edge, r.nedge);
	for (unsigned i = 0; i < w->ngroup && !rc; i++)
		if (w->group[i].level == level) {
			graph_witness(w, FORM_FUSED, level, &w->group[i].nodes);
			rc = put_in(w, &w->group[i]);
		}
	free(r.edge);
	free(g);
	return rc;
}

int graph_rewrite(struct graph_work *w)
{
	uint8_t *witness = w->form[FORM_FUSED].witness;

	for (unsigned i = 0; i < w->shape->nnode; i++)
		if (w->lean[i])
			witness[i] = WITNESS_STORES;
	for (unsigned i = 0; i < w->shape->nlevel; i++)
		if (rewrite_level(w, i))
			return -1;
	return 0;
}

CUresult graph_instantiate(struct graph_work *w, enum graph_form f, unsigned long long flags,
			   CUgraphExec *exec)
{
	CUresult r = real.cuGraphInstantiateWithFlags(
		exec, w->form[f].graph, flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);

	if (r)
		*exec = NULL;
	for (unsigned i = 0; !r && i < w->shape->nnode; i++)
		if (w->disabled[i] && w->form[f].twin[i])
			r = real.cuGraphNodeSetEnabled(*exec, w->form[f].twin[i], 0);
	return r;
}
