// SPDX-License-Identifier: Apache-2.0
/* autofuse trace: what could be fused in a program or a recording, what it brings, why not. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fused/fused.h"
#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "shim/cache.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/infer.h"
#include "tools/outputs.h"
#include "tools/profile.h"
#include "tools/recording.h"
#include "tools/timeline.h"
#include "tools/trace_app.h"

enum { LINES = 40, PERFETTO_LAUNCHES = 300000 };

struct request {
	const char *file; /* a recording, or NULL */
	char **program;   /* argv of a program to run, or NULL */
	const char *record, *perfetto, *html, *output;
	bool json, all, infer;
	const char *sections; /* of kernels that were inferred: a file, or NULL */
	const struct config *config;
	bool on[PATTERN_COUNT];
	const char *cache; /* the option */
	FILE *out;
};

static int usage(void)
{
	log_warn("usage: autofuse trace [--json] [--all] [-o FILE] [--record FILE] [--perfetto "
		 "FILE] "
		 "[--html FILE] [--infer[=FILE]] [--option=value ...] [-f FILE.ini] RECORDING | -- "
		 "app [args]");
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
	    file_word("-o", &q->output, argc, argv, i) ||
	    file_word("--perfetto", &q->perfetto, argc, argv, i) ||
	    file_word("--html", &q->html, argc, argv, i))
		return true;
	if (!strcmp(argv[*i], "--json"))
		q->json = true;
	else if (!strcmp(argv[*i], "--all"))
		q->all = true;
	else if (!strcmp(argv[*i], "--infer"))
		q->infer = true;
	else if (!strncmp(argv[*i], "--infer=", 8) && argv[*i][8])
		q->infer = (q->sections = argv[*i] + 8);
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
	if (q->infer && !q->program) {
		log_warn("--infer needs the program: a recording has not the code of its kernels");
		return -1;
	}
	return q->program || (q->file && !q->record) ? 0 : -1;
}

/* What this run taught later ones. */
static void learn(const struct request *q, const struct recording *r)
{
	unsigned slower;
	int n = profile_save(r, q->cache, &slower);

	if (n <= 0 || q->json)
		return;
	fprintf(q->out, "\nProfile: measured at %d shape%s, ", n, n == 1 ? "" : "s");
	if (slower)
		fprintf(q->out,
			"slower at %u of them, where later runs do not fuse "
			"(not-profitable).\n",
			slower);
	else
		fprintf(q->out, "slower at none.\n");
}

/* %p in a name stands for the process whose recording `file` is. */
static void path_of(char *to, unsigned size, const char *name, const char *file)
{
	const char *p = strstr(name, "%p");

	if (p)
		snprintf(to, size, "%.*s%ld%s", (int)(p - name), name, trace_app_pid(file), p + 2);
	else
		snprintf(to, size, "%s", name);
}

/* A file that is wanted of every process, or of the one that did most? */
static bool wanted(const char *name, bool first)
{
	return name && (first || strstr(name, "%p"));
}

static void perfetto(const struct listing *l, const struct listing_view *v, FILE *f)
{
	perfetto_write(l, PERFETTO_LAUNCHES, f);
}

/* One of the files beside the listing. With several processes each has its own (%p). */
static int write_file(const char *name, const char *mode, const char *source,
		      const struct listing *l, const struct listing_view *v,
		      void (*write)(const struct listing *l, const struct listing_view *v, FILE *f))
{
	char to[PATH_MAX];
	FILE *f;

	if (!name)
		return 0;
	path_of(to, sizeof(to), name, source);
	f = fopen(to, mode);
	if (!f) {
		log_warn("%s: %m", to);
		return -1;
	}
	write(l, v, f);
	return outputs_close(f, to);
}

static void sections(const struct listing *l, const struct listing_view *v, FILE *f)
{
	if (v->inferred)
		inferred_file(v->inferred, f);
}

static int list(const struct request *q, const char *path, const char *source)
{
	struct listing_view v = {.lines = q->all ? UINT_MAX : LINES, .source = source};
	bool added = q->sections && inferred_in_use(q->config, q->sections);
	struct inferred *inferred = NULL;
	struct recording r;
	bool bad = false;
	int rc;

	if (recording_read(&r, path, q->on, (enum stores)q->config->opt.stores, true))
		return EXIT_USAGE;
	if (r.no_times[0])
		v.times_note = r.no_times;
	if (q->infer)
		v.inferred = inferred = infer(path, r.listing, q->config);
	(q->json ? listing_json : listing_text)(r.listing, r.graph, &v, q->out);
	if (!sig_count() && !q->json)
		fprintf(q->out, "\nNo signatures are known: name the program's kernels in [kernel] "
				"sections.\n");
	if (q->program)
		learn(q, &r);
	if (q->program && !q->infer && !q->json)
		infer_offer(r.listing, q->out);
	if (inferred && !q->json)
		inferred_text(inferred, q->out);
	rc = trace_errors(r.trace) ? EXIT_BAD_INPUT : 0;
	/* One that cannot be written is no reason to go without the others. */
	bad |= write_file(q->perfetto, "we", path, r.listing, &v, perfetto);
	bad |= write_file(q->html, "we", path, r.listing, &v, page_write);
	bad |= write_file(q->sections, added ? "ae" : "we", path, r.listing, &v, sections);
	if (bad)
		rc = EXIT_FAILED;
	inferred_free(inferred);
	recording_free(&r);
	return rc;
}

static void source_of(char *source, unsigned size, const char *program, const struct trace_app *a,
		      unsigned i)
{
	const char *slash = strrchr(program, '/');

	if (a->nfile > 1)
		snprintf(source, size, "%s, process %ld", slash ? slash + 1 : program,
			 trace_app_pid(a->file[i]));
	else
		snprintf(source, size, "%s", slash ? slash + 1 : program);
}

/* A process that was in the first use of a fused kernel when it was ended did not crash in it. */
static void forgive(const struct request *q, const struct trace_app *a)
{
	if (!a->interrupted || cache_open(q->cache, fused_build_id()))
		return;
	for (unsigned i = 0; i < a->nfile; i++)
		cache_forgive((int)trace_app_pid(a->file[i]));
}

static int trace_program(const struct request *q)
{
	struct trace_app a;
	char source[256], to[PATH_MAX];
	bool bad = false;
	int rc;

	if (!trace_app_run(&a, q->program, q->json && q->out == stdout, q->infer)) {
		forgive(q, &a);
		for (unsigned i = 0; i < a.nfile; i++) {
			struct request mine = *q;

			if (wanted(q->record, i == 0)) {
				path_of(to, sizeof(to), q->record, a.file[i]);
				bad |= trace_app_keep(a.file[i], to);
			}
			if (!wanted(q->perfetto, i == 0))
				mine.perfetto = NULL;
			if (!wanted(q->html, i == 0))
				mine.html = NULL;
			if (!wanted(q->sections, i == 0))
				mine.sections = NULL;
			if (i)
				fputc('\n', q->out);
			source_of(source, sizeof(source), q->program[0], &a, i);
			bad |= list(&mine, a.file[i], source) > EXIT_BAD_INPUT;
		}
		if (!a.nfile)
			log_warn("%s used no CUDA driver that could be recorded", q->program[0]);
		else if (a.nfile > 1 && q->record && !strstr(q->record, "%p"))
			log_warn(
				"%u processes used CUDA; %s has the one that did most (with %%p in "
				"its name there is a file for each)",
				a.nfile, q->record);
	}
	rc = a.status ? a.status : bad ? EXIT_FAILED : 0;
	trace_app_free(&a);
	return rc;
}

static int check_outputs(const struct request *q)
{
	const struct output o[] = {{"-o", q->output},
				   {"--record", q->record},
				   {"--perfetto", q->perfetto},
				   {"--html", q->html},
				   {"--infer", q->sections}};

	return outputs_check(o, sizeof(o) / sizeof(*o), q->file);
}

int command_trace(int argc, char **argv)
{
	struct request q = {.out = stdout};
	struct config c;
	int rc;

	if (parse(&q, argc, argv))
		return usage();
	rc = check_outputs(&q);
	if (rc)
		return rc;
	if (q.output && !(q.out = fopen(q.output, "we"))) {
		log_warn("%s: %m", q.output);
		return EXIT_FAILED;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	pattern_switches(&c, q.on);
	q.cache = c.opt.cache;
	q.config = &c;
	rc = q.program ? trace_program(&q) : list(&q, q.file, q.file);
	if (q.output && outputs_close(q.out, q.output) && !rc)
		rc = EXIT_FAILED;
	config_free(&c);
	return rc;
}
