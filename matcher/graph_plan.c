// SPDX-License-Identifier: Apache-2.0
#include "matcher/graph_plan.h"

#include <stdlib.h>

#include "matcher/dead.h"
#include "matcher/legal.h"
#include "matcher/seq.h"

struct plan {
	const struct graph_policy *policy;
	const struct graph_node *node;
	const struct dag *dag;
	unsigned *kernel; /* the kernel nodes */
	unsigned nkernel;
	uint8_t *lean; /* of the group in hand */
	struct dead_reach *reach;
};

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return true;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	const struct plan *p = arg;

	return p->policy->memory(p->policy->arg, r, l, surviving);
}

static bool enabled(void *arg, const struct pattern *pattern)
{
	const struct plan *p = arg;

	return p->policy->enabled(p->policy->arg, pattern);
}

static unsigned node_of(const struct plan *p, const struct launch *l)
{
	unsigned lo = 0, hi = p->nkernel;

	while (hi - lo > 1) {
		unsigned mid = lo + (hi - lo) / 2;

		if (p->node[p->kernel[mid]].launch.index <= l->index)
			lo = mid;
		else
			hi = mid;
	}
	return p->kernel[lo];
}

static void nodes_of(const struct plan *p, const struct group *g, unsigned *node)
{
	for (unsigned i = 0; i < group_size(g); i++)
		node[i] = node_of(p, &g->member[i]->launch);
}

/* Does any node that may run beside this member conflict with it? proven: those of which it is only
 * not proven do not count. */
static enum reason concurrent(const struct plan *p, unsigned mine, bool proven)
{
	enum reason why;

	for (unsigned i = 0; i < p->dag->n && !p->dag->linear; i++) {
		const struct graph_node *n = &p->node[i];

		if (dag_ordered(p->dag, i, mine) || n->kind == GRAPH_EMPTY)
			continue;
		if (n->kind != GRAPH_KERNEL)
			return REASON_BARRIER;
		if (!legal_cross(&p->node[mine].op, &n->op, &why) &&
		    !(proven && why == REASON_UNPROVEN_KERNEL))
			return why;
	}
	return REASON_NONE;
}

/* What keeps a node out of every group would only keep a chain from being one. */
static bool may_chain(void *arg, const struct launch *l, const struct op *op)
{
	const struct plan *p = arg;
	const unsigned mine = node_of(p, l);

	return !p->node[mine].typed && !concurrent(p, mine, true) &&
	       (!p->policy->may_chain || p->policy->may_chain(p->policy->arg, l, op));
}

static bool may_join(void *arg, const struct member *last, const struct member *m)
{
	const struct plan *p = arg;

	return p->policy->may_join(p->policy->arg, last, m);
}

static bool follows(void *arg, const struct launch *first, const struct launch *second)
{
	const struct plan *p = arg;

	return dag_before(p->dag, node_of(p, first), node_of(p, second));
}

/* A group with one surviving output may write shared memory; what nobody sees lies elsewhere. */
static enum reason unshared(void *arg, struct range r, const struct launch *l)
{
	enum { MORE_THAN_ONE = 2 };

	return memory(arg, r, l, MORE_THAN_ONE);
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	const struct plan *p = arg;
	struct graph_dead dead = {.lean = p->lean};
	unsigned node[GROUP_MAX_MEMBERS];
	enum reason why = REASON_NONE;

	nodes_of(p, g, node);
	for (unsigned i = 0; i < group_size(g); i++) {
		if (i && !dag_before(p->dag, node[i - 1], node[i]))
			return REASON_DIFFERENT_STREAM;
		if (p->node[node[i]].typed)
			return REASON_ATTRIBUTES;
	}
	for (unsigned i = 0; i < group_size(g) && !why; i++)
		why = concurrent(p, node[i], false);
	if (why)
		return why;
	if (dead_stores(&(struct dead_question){.node = p->node,
						.reach = p->reach,
						.dag = p->dag,
						.group = g,
						.member = node,
						.stores = p->policy->stores,
						.memory = unshared,
						.arg = arg},
			&dead.slots, p->lean))
		dead.slots = 0;
	return p->policy->verdict(p->policy->arg, g, node, &dead);
}

static void done(void *arg, const struct group *g, enum reason why)
{
	const struct plan *p = arg;
	unsigned node[GROUP_MAX_MEMBERS];

	nodes_of(p, g, node);
	p->policy->done(p->policy->arg, g, node, why);
}

static void walk(const struct plan *p, struct seq *s)
{
	struct seq_out out;

	for (unsigned i = 0; i < p->dag->n; i++) {
		const struct graph_node *n = &p->node[p->dag->order[i]];

		if (n->kind == GRAPH_KERNEL)
			seq_launch(s, &n->launch, &n->op, &out);
		else if (n->kind != GRAPH_EMPTY)
			seq_barrier(s, REASON_BARRIER, &out);
	}
}

int graph_plan(const struct graph_policy *policy, const struct graph_node *node,
	       const struct dag *d)
{
	struct plan p = {.policy = policy, .node = node, .dag = d};
	const struct seq_policy seq = {.arg = &p,
				       .may_hold = may_hold,
				       .memory = memory,
				       .enabled = enabled,
				       .verdict = verdict,
				       .done = done,
				       .chains = policy->chains,
				       .larger = policy->larger,
				       .siblings = true,
				       .may_chain = may_chain,
				       .may_join = policy->may_join ? may_join : NULL,
				       .follows = d->linear ? NULL : follows};
	struct seq *s = seq_new(&seq);
	struct seq_out out;
	int rc = -1;

	p.kernel = calloc(d->n + 1, sizeof(*p.kernel));
	p.lean = calloc(d->n + 1, 1);
	p.reach = calloc(d->n + 1, sizeof(*p.reach));
	if (s && p.kernel && p.lean && p.reach) {
		for (unsigned i = 0; i < d->n; i++)
			dead_reach_of(&p.reach[i], &node[i]);
		for (unsigned i = 0; i < d->n; i++)
			if (node[i].kind == GRAPH_KERNEL)
				p.kernel[p.nkernel++] = i;
		walk(&p, s);
		if (policy->chains)
			seq_barrier(s, REASON_BARRIER, &out);
		rc = 0;
	}
	seq_free(s);
	free(p.kernel);
	free(p.lean);
	free(p.reach);
	return rc;
}
