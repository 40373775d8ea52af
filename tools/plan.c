// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include <string.h>

#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"

static void print(const struct plan_result *r, const struct plan_result *graphs, bool json,
		  FILE *out)
{
	if (json) {
		plan_print_json(r, graphs, out);
		return;
	}
	plan_print_text(r, out);
	if (graphs && graphs != r) {
		fputc('\n', out);
		plan_print_text(graphs, out);
	}
}

int plan_file(const char *path, bool json, enum plan_chains chains, const bool on[PATTERN_COUNT],
	      enum stores stores, FILE *out)
{
	struct plan_result streams = {.stores = stores}, graphs = {.stores = stores}, *r;
	struct planning *p;
	struct trace_event e;
	struct trace *t = trace_open(path);
	int rc = EXIT_FAILED;

	if (!t)
		return EXIT_USAGE;
	p = planning_new(&streams, &graphs, on);
	if (p) {
		if (chains != PLAN_NAMED)
			planning_chains(p, chains == PLAN_LARGER);
		while (trace_next(t, &e))
			planning_event(p, &e);
		planning_end(p);
		r = planning_is_graphs(&streams, &graphs, trace_is_recording(t)) ? &graphs
										 : &streams;
		plan_sort(&streams);
		plan_sort(&graphs);
		print(r, graphs.graph ? &graphs : NULL, json, out);
		if (!sig_count() && !json)
			fprintf(out,
				"\nNo signatures are known: name the program's kernels in [kernel] "
				"sections.\n");
		rc = trace_errors(t) ? EXIT_BAD_INPUT : 0;
	}
	planning_free(p);
	plan_result_free(&streams);
	plan_result_free(&graphs);
	trace_close(t);
	return rc;
}

int command_plan(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false, on[PATTERN_COUNT], bad = false;
	enum plan_chains chains = PLAN_CHAINS;
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
			else if (!strcmp(arg, "--larger"))
				chains = PLAN_LARGER;
			else if (!strcmp(arg, "--named"))
				chains = PLAN_NAMED;
			else if (*arg == '-' || path)
				bad = true;
			else
				path = arg;
		}
	}
	if (bad || !path) {
		log_warn("usage: autofuse plan FILE [--json] [--larger|--named] [-f FILE.ini]");
		return EXIT_USAGE;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	pattern_switches(&c, on);
	rc = plan_file(path, json, chains, on, (enum stores)c.opt.stores, stdout);
	config_free(&c);
	return rc;
}
