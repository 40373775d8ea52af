/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of one graph: nodes and edges in, groups out. Its kernel nodes go through the planner
 * of a stream (seq.h) in an order that the edges allow; what the edges leave open is looked at
 * besides: whatever is not ordered against a member of a group could run at the same time as the
 * fused kernel, so it must not conflict with any member either. `autofuse plan` and the shim's
 * side execs drive the same code.
 */
#ifndef AF_MATCHER_GRAPH_PLAN_H
#define AF_MATCHER_GRAPH_PLAN_H

#include "config/config.h"
#include "matcher/dag.h"
#include "matcher/group.h"

enum graph_kind {
	GRAPH_OTHER, /* a host function, a child graph...: may touch anything */
	GRAPH_EMPTY, /* does nothing but order */
	GRAPH_KERNEL,
	GRAPH_MEMORY, /* a copy or fill: all that it touches is in op (graph_memory.h) */
};

struct graph_node {
	uint8_t kind; /* enum graph_kind */
	bool typed;   /* an edge of it is not a plain one (programmatic): no member of a group */
	/* Of a kernel (op: of a copy or fill, too). launch.index increases from node to node;
	 * stream is the same for all. op comes from decode_launch, `vetted` says whether it may be
	 * crossed. */
	struct launch launch;
	struct op op;
};

/* Stores of a group that nobody sees (dead.h). */
struct graph_dead {
	uint32_t slots;
	const uint8_t *lean; /* 1 for each node besides the members that this rests on */
};

/* As in struct seq_policy. */
struct graph_policy {
	void *arg;
	enum stores stores;
	enum reason (*memory)(void *arg, struct range r, const struct launch *l, int surviving);
	bool (*enabled)(void *arg, const struct pattern *p);
	/* The group is complete and nothing in the graph stands against it. node: its members.
	 * dead: for dead_apply, where the group is fused. */
	enum reason (*verdict)(void *arg, struct group *g, const unsigned *node,
			       const struct graph_dead *dead);
	/* Every group that completed, once. */
	void (*done)(void *arg, const struct group *g, const unsigned *node, enum reason why);
	bool chains, larger; /* as there; a chain that is to be fused is said by `done` */
	bool (*may_chain)(void *arg, const struct launch *l, const struct op *op);
	bool (*may_join)(void *arg, const struct member *last, const struct member *m);
};

/* d: of the nodes' edges. 0, or -1 if out of memory. */
int graph_plan(const struct graph_policy *policy, const struct graph_node *node,
	       const struct dag *d);

#endif
