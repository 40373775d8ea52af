// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include <string.h>

#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"

struct planning {
	struct plan_result streams, graphs;
	struct plan_streams *by_stream;
	struct plan_graph *graph;
	bool in_graph; /* nodes and edges of an inst line are coming */
};

static void event(struct planning *p, const struct trace_event *e)
{
	switch (e->kind) {
	case TRACE_GRAPH:
		if (p->in_graph)
			plan_graph_finish(p->graph);
		p->in_graph = p->graphs.graph = true;
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
		if (p->in_graph)
			plan_graph_finish(p->graph);
		p->in_graph = false;
		plan_streams_event(p->by_stream, e);
	}
}

int plan_file(const char *path, bool json, const bool on[PATTERN_COUNT], FILE *out)
{
	struct planning p = {0};
	struct trace_event e;
	struct trace *t = trace_open(path);
	struct plan_result *r;
	int rc = EXIT_FAILED;

	if (!t)
		return EXIT_USAGE;
	p.by_stream = plan_streams_new(&p.streams, on);
	p.graph = plan_graph_new(&p.graphs, on);
	if (p.by_stream && p.graph) {
		while (trace_next(t, &e))
			event(&p, &e);
		if (p.in_graph)
			plan_graph_finish(p.graph);
		/* Launches of a trace with a graph went into it: the graph is what runs. */
		r = p.graphs.graph ? &p.graphs : &p.streams;
		plan_sort(r);
		(json ? plan_print_json : plan_print_text)(r, out);
		if (!sig_count() && !json)
			fprintf(out,
				"\nNo signatures are known: name the program's kernels in [kernel] "
				"sections.\n");
		rc = trace_errors(t) ? EXIT_BAD_INPUT : 0;
	}
	plan_graph_free(p.graph);
	plan_streams_free(p.by_stream);
	plan_result_free(&p.streams);
	plan_result_free(&p.graphs);
	trace_close(t);
	return rc;
}

int command_plan(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false, on[PATTERN_COUNT], bad = false;
	struct config c;
	int rc;

	for (int i = 1; i < argc && !bad;) {
		enum args_got got = args_take(argc, argv, &i);

		if (got != ARGS_OTHER) {
			bad = got == ARGS_BAD;
		} else {
			const char *arg = argv[i++];

			if (!strcmp(arg, "--json"))
				json = true;
			else if (*arg == '-' || path)
				bad = true;
			else
				path = arg;
		}
	}
	if (bad || !path) {
		log_warn("usage: autofuse plan FILE [--json] [-f FILE.ini]");
		return EXIT_USAGE;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	pattern_switches(&c, on);
	rc = plan_file(path, json, on, stdout);
	config_free(&c);
	return rc;
}
