/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a graph in which groups became one node each. The fused node sits at the last
 * member's place and waits for what any member waited for; the other members go, and what came
 * before one of them comes before what came after it; what is after a member that went, beside the
 * fused node, and conflicts with that member waits for the fused node.
 *
 * Why there is no circle: in the planner's order (dag.order) every edge leads from an earlier place
 * to a later one, and stays so, as a member that goes hands its edges to its group's last member
 * or to its own successors, and whatever comes between the members in that order does not conflict
 * with the earlier ones.
 */
#ifndef AF_MATCHER_GRAPH_REWIRE_H
#define AF_MATCHER_GRAPH_REWIRE_H

#include "matcher/graph_plan.h"

struct graph_group {
	unsigned n; /* members */
	unsigned node[GROUP_MAX_MEMBERS];
};

struct graph_rewire {
	struct dag_edge *edge; /* plain edges to add; owned */
	size_t nedge;
};

/*
 * What has to be added once all but the last member of each group are taken out. edge: of the whole
 * graph; typed (or NULL): which of them are not plain, none of them a member's. 0; -1 if out of
 * memory, or the edges would be far more than there were.
 */
int graph_rewire(struct graph_rewire *out, const struct graph_node *node, const struct dag *d,
		 const struct dag_edge *edge, const bool *typed, size_t nedge,
		 const struct graph_group *group, unsigned ngroup);

#endif
