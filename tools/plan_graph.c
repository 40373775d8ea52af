// SPDX-License-Identifier: Apache-2.0
/* The graph that is being read from a trace, handed to the planner (matcher/graph_plan.h), each of
 * its levels by itself: the graph, and those of its child graph nodes. */
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "matcher/dead.h"
#include "matcher/decode.h"
#include "matcher/graph_plan.h"
#include "tools/plan.h"

enum { /* CUgraphNodeType, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH */
       NODE_EMPTY = 5,
       NODE_ALLOC = 10,
       NODE_FREE = 11,
       NODE_CONDITIONAL = 13,
       DEVICE_LAUNCH = 4,
};

struct level {
	struct graph_node *node; /* launch.params owned */
	unsigned nnode;
	size_t node_room;
	struct dag_edge *edge;
	size_t nedge, edge_room;
	struct dag dag;
	bool child; /* of node in[1] of level in[0] */
	unsigned in[2];
	bool aside; /* something may run beside all of it */
};

struct plan_graph {
	struct plan_result *result;
	const struct plan_memory *memory;
	const bool *enabled;
	struct level *level;
	unsigned nlevel;
	size_t level_room;
	int64_t number;
	const struct level *at; /* being planned */
	enum reason alone;      /* why the graph is left alone, or NONE */
	bool broken;            /* a line of it was lost */
	bool chains, larger;
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

struct plan_graph *plan_graph_new(struct plan_result *r, const struct plan_memory *m,
				  const bool on[PATTERN_COUNT])
{
	struct plan_graph *p = calloc(1, sizeof(*p));

	if (p) {
		p->result = r;
		p->memory = m;
		p->enabled = on;
	}
	return p;
}

void plan_graph_chains(struct plan_graph *p, bool larger)
{
	p->chains = true;
	p->larger = larger;
}

static void clear(struct plan_graph *p)
{
	for (unsigned i = 0; i < p->nlevel; i++) {
		struct level *l = &p->level[i];

		for (unsigned k = 0; k < l->nnode; k++)
			free((void *)l->node[k].launch.params);
		free(l->node);
		free(l->edge);
		dag_free(&l->dag);
	}
	p->nlevel = 0;
	p->alone = REASON_NONE;
	p->broken = false;
}

void plan_graph_free(struct plan_graph *p)
{
	if (!p)
		return;
	clear(p);
	free(p->level);
	free(p);
}

void plan_graph_begin(struct plan_graph *p, const struct trace_event *e)
{
	const struct trace_graph *g = &e->graph;
	bool child = g->child && p->nlevel;
	struct level *grown;

	if (!child) {
		plan_graph_finish(p);
		p->number = g->number < 0 ? p->result->ngraph : g->number;
		p->result->ngraph++;
		p->result->off |= g->off;
		if (e->flags & DEVICE_LAUNCH)
			p->alone = REASON_DEVICE_GRAPH;
		if (g->why) {
			p->result->nlost++;
			log_warn("a graph was not recorded: %s", g->why);
		}
	}
	grown = grow(p->level, p->nlevel, &p->level_room, sizeof(*grown));
	if (!grown) {
		p->broken = true;
		return;
	}
	p->level = grown;
	grown[p->nlevel] = (struct level){.child = child, .in = {g->in[0], g->in[1]}};
	if (child && (g->in[0] >= p->nlevel || g->in[1] >= grown[g->in[0]].nnode))
		p->broken = true;
	p->nlevel++;
}

static void add_node(struct plan_graph *p, struct level *l, const struct trace_event *e)
{
	struct graph_node *n = grow(l->node, l->nnode, &l->node_room, sizeof(*n)), *mine;
	uint8_t *params = NULL;

	if (!n) {
		p->broken = true;
		return;
	}
	l->node = n;
	mine = &n[l->nnode++];
	memset(mine, 0, sizeof(*mine));
	mine->kind = e->kind == TRACE_NODE && e->flags == NODE_EMPTY ? GRAPH_EMPTY : GRAPH_OTHER;
	if (e->kind == TRACE_NODE &&
	    (e->flags == NODE_ALLOC || e->flags == NODE_FREE || e->flags == NODE_CONDITIONAL))
		p->alone = REASON_NOT_CLONEABLE;
	if (e->kind == TRACE_NODE && e->touches)
		graph_memory(mine, &e->written, &e->copied);
	if (e->kind != TRACE_KERNEL)
		return;
	if (e->updatable)
		p->alone = REASON_DEVICE_GRAPH;
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

static void add_edge(struct plan_graph *p, struct level *l, const struct trace_event *e)
{
	struct dag_edge *edge = grow(l->edge, l->nedge, &l->edge_room, sizeof(*edge));

	if (!edge) {
		p->broken = true;
		return;
	}
	l->edge = edge;
	edge[l->nedge++] = (struct dag_edge){e->from, e->to};
	if (!e->flags || e->from >= l->nnode || e->to >= l->nnode)
		return;
	l->node[e->to].launch.attrs |= LAUNCH_PROGRAMMATIC;
	l->node[e->from].typed = l->node[e->to].typed = true;
}

void plan_graph_event(struct plan_graph *p, const struct trace_event *e)
{
	struct level *l = p->nlevel ? &p->level[p->nlevel - 1] : NULL;

	switch (l ? e->kind : TRACE_BAD) {
	case TRACE_KERNEL:
	case TRACE_NODE:
		add_node(p, l, e);
		return;
	case TRACE_EDGE:
		add_edge(p, l, e);
		return;
	default:
		p->broken = true; /* numbers of later nodes and edges may be off */
	}
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	const struct plan_graph *p = arg;

	return plan_memory_check(p->memory, r, l->device, surviving);
}

static bool enabled(void *arg, const struct pattern *p)
{
	const struct plan_graph *g = arg;

	return g->enabled[pattern_id(p)];
}

static enum reason verdict(void *arg, struct group *g, const unsigned *node,
			   const struct graph_dead *dead)
{
	const struct plan_graph *p = arg;

	if (p->at->aside || p->alone)
		return p->at->aside ? REASON_BARRIER : p->alone;
	dead_apply(g, dead->slots);
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
	const struct plan_graph *p = arg;

	plan_add_group(p->result, g, why);
}

/* Numbers and decodes the kernel nodes. */
static void prepare(struct plan_graph *p, struct level *l)
{
	for (unsigned i = 0; i < l->nnode; i++) {
		struct graph_node *n = &l->node[i];
		enum reason why;

		if (n->kind != GRAPH_KERNEL)
			continue;
		n->launch.index = p->result->launches++;
		n->launch.stream = 0; /* order is what the edges say */
		why = decode_launch(&n->launch, &n->op);
		plan_add_launch(p->result, &n->launch, 0, &n->op, why);
		n->op.vetted = n->op.code != OP_opaque; /* plan takes the evidence for given */
	}
}

/* May something run beside the child graph node whose graph it is? */
static bool is_aside(const struct plan_graph *p, const struct level *l)
{
	const struct level *up = &p->level[l->in[0]];

	if (!l->child)
		return false;
	for (unsigned i = 0; i < up->nnode; i++)
		if (!dag_ordered(&up->dag, i, l->in[1]))
			return true;
	return up->aside;
}

/* NULL, or why not. */
static const char *plan_level(struct plan_graph *p, struct level *l)
{
	const struct graph_policy policy = {.arg = p,
					    .stores = p->result->stores,
					    .memory = memory,
					    .enabled = enabled,
					    .verdict = verdict,
					    .done = done,
					    .chains = p->chains,
					    .larger = p->larger};
	const char *why = NULL;

	if (dag_make(&l->dag, l->nnode, l->edge, l->nedge, &why))
		return why;
	l->aside = is_aside(p, l);
	p->at = l;
	return graph_plan(&policy, l->node, &l->dag) ? "out of memory" : NULL;
}

void plan_graph_finish(struct plan_graph *p)
{
	const char *why = p->broken ? "a line of it cannot be read" : NULL;
	unsigned nodes = 0;

	if (p->nlevel)
		plan_add_graph(p->result, p->number);
	for (unsigned i = 0; i < p->nlevel; i++) {
		prepare(p, &p->level[i]);
		nodes += p->level[i].nnode;
	}
	for (unsigned i = 0; i < p->nlevel && !why; i++)
		why = plan_level(p, &p->level[i]);
	if (why)
		log_warn("a graph of %u nodes was not planned: %s", nodes, why);
	clear(p);
}
