// SPDX-License-Identifier: Apache-2.0
/* autofuse trace: what could be fused in a program or a recording, what it brings, why not. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/recording.h"
#include "tools/trace_app.h"

enum { LINES = 40 };

struct request {
	const char *file; /* a recording, or NULL */
	char **program;   /* argv of a program to run, or NULL */
	const char *record, *perfetto, *html, *output;
	bool json, all;
	bool on[PATTERN_COUNT];
	FILE *out;
};

static int usage(void)
{
	log_warn("usage: autofuse trace [--json] [--all] [-o FILE] [--record FILE] "
		 "[--option=value ...] [-f FILE.ini] RECORDING | -- app [args]");
	return EXIT_USAGE;
}

/* "--name FILE" or "--name=FILE". */
static bool file_word(const char *name, const char **to, int argc, char **argv, int *i)
{
	size_t len = strlen(name);

	if (strncmp(argv[*i], name, len))
		return false;
	if (argv[*i][len] == '=') {
		*to = argv[*i] + len + 1;
		*i += 1;
		return true;
	}
	if (argv[*i][len] || *i + 1 == argc || !strcmp(argv[*i + 1], "--"))
		return false;
	*to = argv[*i + 1];
	*i += 2;
	return true;
}

/* argv[*i] is one of trace's own words. */
static bool own_word(struct request *q, int argc, char **argv, int *i)
{
	if (file_word("--record", &q->record, argc, argv, i) ||
	    file_word("-o", &q->output, argc, argv, i))
		return true;
	if (!strcmp(argv[*i], "--json"))
		q->json = true;
	else if (!strcmp(argv[*i], "--all"))
		q->all = true;
	else
		return false;
	*i += 1;
	return true;
}

static int parse(struct request *q, int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		if (!strcmp(argv[i], "--")) {
			q->program = argv + i + 1;
			break;
		}
		if (own_word(q, argc, argv, &i))
			continue;
		switch (args_take(argc, argv, &i)) {
		case ARGS_TAKEN:
			continue;
		case ARGS_BAD:
			return -1;
		case ARGS_OTHER:
			if (*argv[i] == '-' || q->file)
				return -1;
			q->file = argv[i++];
		}
	}
	if (q->program && (!*q->program || q->file))
		return -1;
	return q->program || (q->file && !q->record) ? 0 : -1;
}

static int list(const struct request *q, const char *path, const char *source)
{
	struct listing_view v = {.lines = q->all ? UINT_MAX : LINES, .source = source};
	struct recording r;
	int rc;

	if (recording_read(&r, path, q->on, true))
		return EXIT_USAGE;
	if (r.no_times[0])
		v.times_note = r.no_times;
	(q->json ? listing_json : listing_text)(r.listing, &v, q->out);
	if (!sig_count() && !q->json)
		fprintf(q->out, "\nNo signatures are known: name the program's kernels in [kernel] "
				"sections.\n");
	rc = trace_errors(r.trace) ? EXIT_BAD_INPUT : 0;
	recording_free(&r);
	return rc;
}

/* Where the recording of a process goes; one that is not wanted goes nowhere. */
static void keep(const struct request *q, const char *file, bool first)
{
	const char *p = strstr(q->record, "%p");
	char to[PATH_MAX];

	if (p)
		snprintf(to, sizeof(to), "%.*s%ld%s", (int)(p - q->record), q->record,
			 trace_app_pid(file), p + 2);
	else if (first)
		snprintf(to, sizeof(to), "%s", q->record);
	else
		return;
	trace_app_keep(file, to);
}

static int trace_program(const struct request *q)
{
	struct trace_app a;
	char source[64];
	int rc;

	if (!trace_app_run(&a, q->program, q->json && q->out == stdout)) {
		for (unsigned i = 0; i < a.nfile; i++) {
			if (q->record)
				keep(q, a.file[i], i == 0);
			if (i)
				fputc('\n', q->out);
			snprintf(source, sizeof(source), "process %ld", trace_app_pid(a.file[i]));
			list(q, a.file[i], a.nfile > 1 ? source : NULL);
		}
		if (!a.nfile)
			log_warn("%s used no CUDA driver that could be recorded", q->program[0]);
		else if (a.nfile > 1 && q->record && !strstr(q->record, "%p"))
			log_warn(
				"%u processes used CUDA; %s has the one that did most (with %%p in "
				"its name there is a file for each)",
				a.nfile, q->record);
	}
	rc = a.status;
	trace_app_free(&a);
	return rc;
}

int command_trace(int argc, char **argv)
{
	struct request q = {.out = stdout};
	struct config c;
	int rc;

	if (parse(&q, argc, argv))
		return usage();
	if (q.output && !(q.out = fopen(q.output, "we"))) {
		log_warn("%s: %m", q.output);
		return EXIT_FAILED;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	pattern_switches(&c, q.on);
	rc = q.program ? trace_program(&q) : list(&q, q.file, q.file);
	if (q.output && fclose(q.out)) {
		log_warn("%s: %m", q.output);
		rc = rc ? rc : EXIT_FAILED;
	}
	config_free(&c);
	return rc;
}
