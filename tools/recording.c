// SPDX-License-Identifier: Apache-2.0
#include "tools/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "config/log.h"
#include "tools/status.h"

enum { LOOK_EVERY = 4096 }; /* lines between looks at the clock */

/* Of a group in a graph that was read before. */
static void in_graph(struct recording *r, const struct trace_event *e)
{
	uint64_t first = plan_first_node(&r->graphs, e->sent.id);
	uint32_t node[GROUP_MAX_MEMBERS];

	for (unsigned i = 0; i < e->sent.n; i++)
		node[i] = (uint32_t)(first + e->sent.launch[i]);
	if (first != UINT64_MAX)
		outcomes_set(r->graph_outcomes, node, e->sent.n,
			     &(struct outcome_of){e->state != TRACE_REFUSED,
						  e->state == TRACE_CHECKED, e->why});
}

static void event(struct recording *r, struct planning *p, const struct trace_event *e)
{
	uint32_t launch[GROUP_MAX_MEMBERS];

	switch (e->kind) {
	case TRACE_SENT:
		times_sent(&r->times, &e->sent);
		break;
	case TRACE_RAN:
		times_ran(&r->times, &e->ran);
		break;
	case TRACE_CLOCK:
		snprintf(r->no_times, sizeof(r->no_times), "%s", e->name ? e->name : "");
		break;
	case TRACE_IN_GRAPH:
		planning_finish(p); /* its graph may be the one before */
		in_graph(r, e);
		break;
	case TRACE_OUTCOME:
		for (unsigned i = 0; i < e->sent.n; i++)
			launch[i] = (uint32_t)e->sent.launch[i];
		outcomes_add(r->outcomes, launch, e->sent.n,
			     &(struct outcome_of){e->state != TRACE_REFUSED,
						  e->state == TRACE_CHECKED, e->why});
		break;
	default:
		break;
	}
}

static int read_all(struct recording *r, struct planning *p, bool progress)
{
	struct status say;
	struct trace_event e;
	unsigned lines = 0;

	status_start(&say, progress);
	while (trace_next(r->trace, &e)) {
		if (e.kind >= TRACE_SENT && e.kind < TRACE_BAD)
			event(r, p, &e);
		else
			planning_event(p, &e);
		if (++lines % LOOK_EVERY == 0)
			status_say(&say, "reading: %" PRIu64 " launches",
				   r->streams.launches + r->graphs.launches);
	}
	planning_finish(p);
	status_end(&say);
	return 0;
}

/* Times and outcomes are those of launches on streams. */
static void finish(struct recording *r, struct listing *of_streams, struct listing *of_graphs)
{
	bool graphs = planning_is_graphs(&r->streams, &r->graphs, trace_is_recording(r->trace));

	listing_finish(of_streams, &r->times, r->outcomes);
	of_graphs->graphs = r->graphs.ngraph;
	if (r->graphs.off)
		listing_switch_off(of_graphs);
	listing_finish(of_graphs, NULL, r->graph_outcomes);
	if (graphs) {
		of_graphs->graph_ns = of_streams->graph_ns;
		of_graphs->graph_kernels = of_streams->graph_kernels;
		of_graphs->ran = of_streams->ran;
	}
	if (r->times.nran)
		r->no_times[0] = 0;
	r->listing = graphs ? of_graphs : of_streams;
	if (!graphs && r->graphs.graph)
		r->graph = of_graphs;
	else
		listing_free(graphs ? of_streams : of_graphs);
}

int recording_read(struct recording *r, const char *path, const bool on[PATTERN_COUNT],
		   enum stores stores, bool progress)
{
	struct listing *of_streams = listing_new(), *of_graphs = listing_new();
	struct planning *p;

	memset(r, 0, sizeof(*r));
	snprintf(r->no_times, sizeof(r->no_times), "the recording has none");
	r->outcomes = outcomes_new();
	r->graph_outcomes = outcomes_new();
	r->trace = trace_open(path);
	if (of_streams && of_graphs && r->outcomes && r->graph_outcomes && r->trace) {
		r->streams.stores = r->graphs.stores = stores;
		r->streams.watch = &of_streams->watch;
		r->graphs.watch = &of_graphs->watch;
		p = planning_new(&r->streams, &r->graphs, on);
		if (p) {
			read_all(r, p, progress);
			planning_free(p);
			finish(r, of_streams, of_graphs);
			return 0;
		}
	}
	if (r->trace)
		log_warn("out of memory");
	listing_free(of_streams);
	listing_free(of_graphs);
	recording_free(r);
	return -1;
}

void recording_free(struct recording *r)
{
	listing_free(r->listing);
	listing_free(r->graph);
	plan_result_free(&r->streams);
	plan_result_free(&r->graphs);
	times_free(&r->times);
	outcomes_free(r->outcomes);
	outcomes_free(r->graph_outcomes);
	trace_close(r->trace);
	memset(r, 0, sizeof(*r));
}
