// SPDX-License-Identifier: Apache-2.0
/*
 * Plans one instantiated graph: its kernel nodes, in an order that its edges allow, as one stream.
 * Whatever is not ordered against a member of a group could run at the same time as the fused
 * kernel, so it must not conflict with any member either.
 */
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "matcher/decode.h"
#include "matcher/legal.h"
#include "tools/dag.h"
#include "tools/plan.h"

enum { NODE_EMPTY = 5, EDGE_PROGRAMMATIC = 1 }; /* CUgraphNodeType, CUgraphDependencyType */

struct node {
	bool kernel, empty;
	struct launch launch; /* params owned */
	struct op op;
};

struct plan_graph {
	struct plan_result *result;
	const bool *enabled;
	struct node *node;
	unsigned nnode, node_room;
	struct dag_edge *edge;
	size_t nedge, edge_room;
	bool broken; /* a line of it was lost */
	uint64_t first_launch;
	unsigned *node_of; /* kernel node number - first_launch -> node; while planning */
	struct dag dag;
};

static void *grow(void *p, size_t n, size_t *room, size_t size)
{
	void *grown = p;

	if (n == *room) {
		grown = realloc(p, (*room ? 2 * *room : 64) * size);
		if (grown)
			*room = *room ? 2 * *room : 64;
	}
	return grown;
}

struct plan_graph *plan_graph_new(struct plan_result *r, const bool on[PATTERN_COUNT])
{
	struct plan_graph *p = calloc(1, sizeof(*p));

	if (p) {
		p->result = r;
		p->enabled = on;
	}
	return p;
}

static void clear(struct plan_graph *p)
{
	for (unsigned i = 0; i < p->nnode; i++)
		free((void *)p->node[i].launch.params);
	p->nnode = 0;
	p->nedge = 0;
	p->broken = false;
}

void plan_graph_free(struct plan_graph *p)
{
	if (!p)
		return;
	clear(p);
	free(p->node);
	free(p->edge);
	free(p);
}

static void add_node(struct plan_graph *p, const struct trace_event *e)
{
	size_t room = p->node_room;
	struct node *n = grow(p->node, p->nnode, &room, sizeof(*n)), *mine;
	uint8_t *params = NULL;

	if (!n) {
		p->broken = true;
		return;
	}
	p->node = n;
	p->node_room = (unsigned)room;
	mine = &n[p->nnode++];
	memset(mine, 0, sizeof(*mine));
	mine->empty = e->kind == TRACE_NODE && e->flags == NODE_EMPTY;
	if (e->kind != TRACE_KERNEL)
		return;
	mine->launch = e->launch;
	mine->launch.params = NULL;
	params = malloc(e->launch.kernel->param_bytes + 1);
	if (!params) {
		p->broken = true;
		return;
	}
	memcpy(params, e->launch.params, e->launch.kernel->param_bytes);
	mine->launch.params = params;
	mine->kernel = true;
}

void plan_graph_event(struct plan_graph *p, const struct trace_event *e)
{
	struct dag_edge *edge;

	switch (e->kind) {
	case TRACE_KERNEL:
	case TRACE_NODE:
		add_node(p, e);
		return;
	case TRACE_EDGE:
		edge = grow(p->edge, p->nedge, &p->edge_room, sizeof(*edge));
		if (!edge) {
			p->broken = true;
			return;
		}
		p->edge = edge;
		edge[p->nedge++] = (struct dag_edge){e->from, e->to};
		if (e->flags == EDGE_PROGRAMMATIC && e->to < p->nnode)
			p->node[e->to].launch.attrs |= LAUNCH_PROGRAMMATIC;
		return;
	default:
		p->broken = true; /* numbers of later nodes and edges may be off */
	}
}

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return true;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE; /* traces of graphs say nothing of memory */
}

static bool enabled(void *arg, const struct pattern *p)
{
	const struct plan_graph *g = arg;

	return g->enabled[pattern_id(p)];
}

static unsigned node_of(const struct plan_graph *p, const struct member *m)
{
	return p->node_of[m->launch.index - p->first_launch];
}

/* Does any node that may run beside this member conflict with it? */
static enum reason concurrent(const struct plan_graph *p, const struct member *m)
{
	unsigned mine = node_of(p, m);
	enum reason why;

	for (unsigned i = 0; i < p->nnode && !p->dag.linear; i++) {
		if (dag_ordered(&p->dag, i, mine) || p->node[i].empty)
			continue;
		if (!p->node[i].kernel)
			return REASON_BARRIER;
		if (!legal_cross(&m->op, &p->node[i].op, &why))
			return why;
	}
	return REASON_NONE;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	const struct plan_graph *p = arg;

	enum reason why = REASON_NONE;

	for (unsigned i = 1; i < g->pattern->nnode; i++)
		if (!dag_ordered(&p->dag, node_of(p, g->member[i - 1]), node_of(p, g->member[i])))
			return REASON_DIFFERENT_STREAM;
	for (unsigned i = 0; i < g->pattern->nnode && !why; i++)
		why = concurrent(p, g->member[i]);
	return why;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	const struct plan_graph *p = arg;

	plan_add_group(p->result, g, why);
}

/* Numbers and decodes the kernel nodes. */
static void prepare(struct plan_graph *p)
{
	p->first_launch = p->result->launches;
	for (unsigned i = 0; i < p->nnode; i++) {
		struct node *n = &p->node[i];
		enum reason why;

		if (!n->kernel)
			continue;
		n->launch.index = p->result->launches++;
		n->launch.stream = n->launch.context = 0; /* order is what the edges say */
		p->node_of[n->launch.index - p->first_launch] = i;
		why = decode_launch(&n->launch, &n->op);
		plan_add_launch(p->result, &n->launch, 0, &n->op, why);
		n->op.vetted = n->op.code != OP_opaque; /* plan takes the evidence for given */
	}
}

static void plan(struct plan_graph *p, struct seq *s)
{
	struct seq_out out;

	for (unsigned i = 0; i < p->nnode; i++) {
		const struct node *n = &p->node[p->dag.order[i]];

		if (n->kernel)
			seq_launch(s, &n->launch, &n->op, &out);
		else if (!n->empty)
			seq_barrier(s, REASON_BARRIER, &out);
	}
}

void plan_graph_finish(struct plan_graph *p)
{
	const struct seq_policy policy = {.arg = p,
					  .may_hold = may_hold,
					  .memory = memory,
					  .enabled = enabled,
					  .verdict = verdict,
					  .done = done};
	const char *why = "a line of it cannot be read";
	struct seq *s = seq_new(&policy);

	p->node_of = calloc(p->nnode + 1, sizeof(*p->node_of));
	if (s && p->node_of) {
		prepare(p);
		if (!p->broken && !dag_make(&p->dag, p->nnode, p->edge, p->nedge, &why))
			plan(p, s);
		else
			log_warn("a graph of %u nodes was not planned: %s", p->nnode, why);
	}
	seq_free(s);
	dag_free(&p->dag);
	free(p->node_of);
	p->node_of = NULL;
	clear(p);
}
