// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "tools/plan.h"

struct planning {
	struct plan_result *graphs;
	struct plan_streams *by_stream;
	struct plan_graph *graph;
	bool in_graph; /* nodes and edges of an inst line are coming */
};

struct planning *planning_new(struct plan_result *streams, struct plan_result *graphs,
			      const bool on[PATTERN_COUNT])
{
	struct planning *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->graphs = graphs;
	p->by_stream = plan_streams_new(streams, on);
	if (p->by_stream)
		p->graph = plan_graph_new(graphs, plan_streams_memory(p->by_stream), on);
	if (p->by_stream && p->graph)
		return p;
	planning_free(p);
	return NULL;
}

void planning_chains(struct planning *p, bool larger)
{
	plan_streams_chains(p->by_stream, larger);
	plan_graph_chains(p->graph, larger);
}

void planning_event(struct planning *p, const struct trace_event *e)
{
	switch (e->kind) {
	case TRACE_GRAPH:
		plan_graph_begin(p->graph, e);
		p->in_graph = p->graphs->graph = true;
		return;
	case TRACE_KERNEL:
	case TRACE_NODE:
	case TRACE_EDGE:
		if (p->in_graph)
			plan_graph_event(p->graph, e);
		return;
	case TRACE_BAD:
		if (p->in_graph)
			plan_graph_event(p->graph, e);
		plan_streams_event(p->by_stream, e);
		return;
	default:
		planning_finish(p);
		plan_streams_event(p->by_stream, e);
	}
}

void planning_finish(struct planning *p)
{
	if (p->in_graph)
		plan_graph_finish(p->graph);
	p->in_graph = false;
}

void planning_end(struct planning *p)
{
	planning_finish(p);
	plan_streams_finish(p->by_stream);
}

void planning_free(struct planning *p)
{
	if (!p)
		return;
	plan_graph_free(p->graph);
	plan_streams_free(p->by_stream);
	free(p);
}

bool planning_is_graphs(const struct plan_result *streams, const struct plan_result *graphs,
			bool recording)
{
	return graphs->graph && (!recording || streams->launches == streams->captured);
}
