// SPDX-License-Identifier: Apache-2.0
/*
 * The program's exec took over all of another graph. Programs that capture anew for every launch do
 * that; most nodes then do what they did. Those that do not are treated as if each had been edited.
 */
#include "shim/graph_node.h"
#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/graph_trial.h"

/*
 * An update takes references to user objects from the new graph and gives up those of the old one.
 * Clones of ours go on holding the old ones, and never get the new ones: once there are such
 * objects at all, an exec that is updated is left alone.
 */
static bool objects; /* atomic */

void graph_holds_object(void)
{
	__atomic_store_n(&objects, true, __ATOMIC_RELEASE);
}

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

/* False: this cannot be followed. */
static bool follow_node(struct side *s, unsigned i, CUgraphNode now)
{
	struct side_node *n = &s->node[i];
	CUgraphNode base = s->shape.node[i];
	CUgraphNodeType type = s->shape.type[i];
	union graph_content c;

	if (type == CU_GRAPH_NODE_TYPE_GRAPH) /* its nodes are looked at */
		return true;
	if (!graph_copyable(type) || graph_get(now, type, &c))
		return false;
	if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
		if (!n->clustered)
			n->cluster = graph_cluster(base);
		n->clustered = true;
		if (graph_cluster(now) != n->cluster)
			return false;
	}
	if (graph_base_same(s, i, &c))
		return true;
	if (graph_set(base, type, &c))
		return false;
	graph_follow(s, i, &c);
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
	if (__atomic_load_n(&objects, __ATOMIC_ACQUIRE))
		side_alone(s, REASON_EDITED);
	if (!s->alone && side_base(s) && side_nodes(s))
		side_alone(s, REASON_NO_MEMORY);
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
