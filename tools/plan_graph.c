// SPDX-License-Identifier: Apache-2.0
/* The graph that is being read from a trace, handed to the planner (matcher/graph_plan.h). */
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "matcher/decode.h"
#include "matcher/graph_plan.h"
#include "tools/plan.h"

enum { NODE_EMPTY = 5 }; /* CUgraphNodeType */

struct plan_graph {
	struct plan_result *result;
	const bool *enabled;
	struct graph_node *node; /* launch.params owned */
	unsigned nnode;
	size_t node_room;
	struct dag_edge *edge;
	size_t nedge, edge_room;
	bool broken; /* a line of it was lost */
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
	struct graph_node *n = grow(p->node, p->nnode, &p->node_room, sizeof(*n)), *mine;
	uint8_t *params = NULL;

	if (!n) {
		p->broken = true;
		return;
	}
	p->node = n;
	mine = &n[p->nnode++];
	memset(mine, 0, sizeof(*mine));
	mine->kind = e->kind == TRACE_NODE && e->flags == NODE_EMPTY ? GRAPH_EMPTY : GRAPH_OTHER;
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
	mine->kind = GRAPH_KERNEL;
}

static void add_edge(struct plan_graph *p, const struct trace_event *e)
{
	struct dag_edge *edge = grow(p->edge, p->nedge, &p->edge_room, sizeof(*edge));

	if (!edge) {
		p->broken = true;
		return;
	}
	p->edge = edge;
	edge[p->nedge++] = (struct dag_edge){e->from, e->to};
	if (!e->flags || e->from >= p->nnode || e->to >= p->nnode)
		return;
	p->node[e->to].launch.attrs |= LAUNCH_PROGRAMMATIC;
	p->node[e->from].typed = p->node[e->to].typed = true;
}

void plan_graph_event(struct plan_graph *p, const struct trace_event *e)
{
	switch (e->kind) {
	case TRACE_KERNEL:
	case TRACE_NODE:
		add_node(p, e);
		return;
	case TRACE_EDGE:
		add_edge(p, e);
		return;
	default:
		p->broken = true; /* numbers of later nodes and edges may be off */
	}
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

static enum reason verdict(void *arg, struct group *g, const unsigned *node)
{
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
	const struct plan_graph *p = arg;

	plan_add_group(p->result, g, why);
}

/* Numbers and decodes the kernel nodes. */
static void prepare(struct plan_graph *p)
{
	for (unsigned i = 0; i < p->nnode; i++) {
		struct graph_node *n = &p->node[i];
		enum reason why;

		if (n->kind != GRAPH_KERNEL)
			continue;
		n->launch.index = p->result->launches++;
		n->launch.stream = n->launch.context = 0; /* order is what the edges say */
		why = decode_launch(&n->launch, &n->op);
		plan_add_launch(p->result, &n->launch, 0, &n->op, why);
		n->op.vetted = n->op.code != OP_opaque; /* plan takes the evidence for given */
	}
}

void plan_graph_finish(struct plan_graph *p)
{
	const struct graph_policy policy = {
		.arg = p, .memory = memory, .enabled = enabled, .verdict = verdict, .done = done};
	const char *why = "a line of it cannot be read";
	struct dag dag = {0};

	prepare(p);
	if (p->broken || dag_make(&dag, p->nnode, p->edge, p->nedge, &why))
		log_warn("a graph of %u nodes was not planned: %s", p->nnode, why);
	else if (graph_plan(&policy, p->node, &dag))
		log_warn("a graph of %u nodes was not planned: out of memory", p->nnode);
	dag_free(&dag);
	clear(p);
}
