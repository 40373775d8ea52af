// SPDX-License-Identifier: Apache-2.0
/*
 * The program's exec took over all of another graph. Programs that capture anew for every launch do
 * that; most nodes then do what they did. Those that do not are treated as if each had been edited.
 */
#include "shim/graph_node.h"
#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/graph_trial.h"

/* One chain: there is only one way to pair its nodes with those of another. Asked once. */
static bool is_chain(struct side *s)
{
	const struct graph_level *l = &s->shape.level[0];
	const char *why;
	struct dag d;

	if (s->chain == CHAIN_UNKNOWN) {
		s->chain = CHAIN_NO;
		if (s->shape.nlevel == 1 && !dag_make(&d, l->n, l->edge, l->nedge, &why)) {
			s->chain = d.linear ? CHAIN_YES : CHAIN_NO;
			dag_free(&d);
		}
	}
	return s->chain == CHAIN_YES;
}

static bool any_disabled(const struct side *s)
{
	for (unsigned i = 0; i < s->shape.nnode; i++)
		if (s->node[i].disabled)
			return true;
	return false;
}

/* An attribute that decides what a kernel does, and that no edit of an exec can change. */
static bool cluster_same(CUgraphNode a, CUgraphNode b)
{
	CUlaunchAttributeValue x, y;

	if (real.cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &x) ||
	    real.cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &y))
		return false;
	return x.clusterDim.x == y.clusterDim.x && x.clusterDim.y == y.clusterDim.y &&
	       x.clusterDim.z == y.clusterDim.z;
}

/* False: this cannot be followed. */
static bool follow_node(struct side *s, unsigned i, CUgraphNode now)
{
	CUgraphNode base = s->shape.node[i];
	CUgraphNodeType type = s->shape.type[i];

	if (type == CU_GRAPH_NODE_TYPE_GRAPH) /* its nodes are looked at */
		return true;
	if (!graph_copyable(type))
		return false;
	if (graph_node_same(base, now, type))
		return true;
	if ((type == CU_GRAPH_NODE_TYPE_KERNEL && !cluster_same(base, now)) ||
	    graph_copy_to_node(now, type, base))
		return false;
	graph_follow(s, i);
	return true;
}

static bool follow(struct side *s, const struct graph_shape *now)
{
	if (graph_read_edges(&s->shape) || !graph_shape_same(&s->shape, now))
		return false;
	if (!is_chain(s)) {
		if (any_disabled(s))
			return false;
		s->mixed = true;
	}
	for (unsigned i = 0; i < now->nnode && !s->alone; i++)
		if (!follow_node(s, i, now->node[i]))
			return false;
	return true;
}

void graph_updated(CUgraphExec exec, CUgraph graph)
{
	uint64_t from = graph_now();
	struct side *s = side_lock(exec);
	struct graph_shape now;

	if (!s)
		return;
	s->edits++;
	s->edited = true;
	if (!s->alone) {
		if (graph_read_nodes(graph, &now) || graph_read_edges(&now) || !follow(s, &now))
			side_alone(s, REASON_EDITED);
		else if (!s->alone)
			graph_trial_cost(s, graph_now() - from);
		graph_shape_free(&now);
	}
	side_unlock(s);
}

void graph_update_failed(CUgraphExec exec)
{
	struct side *s = side_lock(exec);

	if (!s)
		return;
	side_alone(s, REASON_EDITED); /* nobody says how much of it was taken over */
	side_unlock(s);
}
