// SPDX-License-Identifier: Apache-2.0
/* autofuse trace: what could be fused in a program or a recording, what it brings, why not. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/recording.h"

enum { LINES = 40 };

struct request {
	const char *file; /* a recording, or NULL */
	char **program;   /* argv of a program to run, or NULL */
	const char *record, *perfetto, *html;
	bool json, all;
};

static int usage(void)
{
	log_warn("usage: autofuse trace [--json] [--all] [--option=value ...] [-f FILE.ini] "
		 "FILE | -- app [args]");
	return EXIT_USAGE;
}

/* argv[*i] is one of trace's own words. */
static bool own_word(struct request *r, int argc, char **argv, int *i)
{
	const char *arg = argv[*i];

	if (!strcmp(arg, "--json"))
		r->json = true;
	else if (!strcmp(arg, "--all"))
		r->all = true;
	else
		return false;
	*i += 1;
	return true;
}

static int parse(struct request *r, int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		if (!strcmp(argv[i], "--")) {
			r->program = argv + i + 1;
			break;
		}
		if (own_word(r, argc, argv, &i))
			continue;
		switch (args_take(argc, argv, &i)) {
		case ARGS_TAKEN:
			continue;
		case ARGS_BAD:
			return -1;
		case ARGS_OTHER:
			if (*argv[i] == '-' || r->file)
				return -1;
			r->file = argv[i++];
		}
	}
	if (r->program && (!*r->program || r->file))
		return -1;
	return r->program || r->file ? 0 : -1;
}

static int list(const struct request *q, const char *path, const bool on[PATTERN_COUNT])
{
	struct listing_view v = {.lines = q->all ? UINT_MAX : LINES, .source = q->file};
	struct recording r;
	int rc;

	if (recording_read(&r, path, on, true))
		return EXIT_USAGE;
	if (r.no_times[0])
		v.times_note = r.no_times;
	(q->json ? listing_json : listing_text)(r.listing, &v, stdout);
	if (!sig_count() && !q->json)
		printf("\nNo signatures are known: name the program's kernels in [kernel] "
		       "sections.\n");
	rc = trace_errors(r.trace) ? EXIT_BAD_INPUT : 0;
	recording_free(&r);
	return rc;
}

int command_trace(int argc, char **argv)
{
	struct request q = {0};
	bool on[PATTERN_COUNT];
	struct config c;
	int rc;

	if (parse(&q, argc, argv))
		return usage();
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	pattern_switches(&c, on);
	rc = list(&q, q.file, on);
	config_free(&c);
	return rc;
}
