// SPDX-License-Identifier: Apache-2.0
#include "tools/ab.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/log.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/preload.h"
#include "tools/program.h"
#include "tools/progress.h"

enum {
	PAIRS = 10, /* gives 97.9 % between the second and the ninth */
	PAIRS_MAX = 10000,
	WARMUPS_MAX = 6, /* where no number is given */
	SETTLE_S = 1,    /* about as long as a probe takes */
};
#define CONFIDENCE 0.95

/* Where two outputs differ, for people. */
static void first_difference(const struct ab_run *a, const struct ab_run *b, char *text,
			     unsigned size)
{
	unsigned line = 1, at = 0;

	if (a->status != b->status) {
		snprintf(text, size, "exit status %d became %d", WEXITSTATUS(a->status),
			 WEXITSTATUS(b->status));
		return;
	}
	while (at < a->out_kept && at < b->out_kept && a->out[at] == b->out[at])
		line += a->out[at++] == '\n';
	if (at < AB_KEPT)
		snprintf(text, size, "stdout, from line %u on", line);
	else
		snprintf(text, size, "stdout, behind its first %d bytes", AB_KEPT);
}

static bool same_output(const struct ab_run *a, const struct ab_run *b)
{
	return a->out_bytes == b->out_bytes && a->out_hash == b->out_hash;
}

static const char *const word[] = {
	[AB_OFF] = "without fusion", [AB_ON] = "with fusion", [AB_VERIFY] = "with verify = always"};

/* A run with fusion failed: is that the program's own doing? */
static void ask_without(const struct ab_request *q, struct ab_run *one, struct ab_result *r)
{
	char text[256];
	size_t n = strlen(r->failure);
	bool fails =
		!ab_run(q, AB_OFF, one) || ab_run_failed(one, word[AB_OFF], text, sizeof(text));

	snprintf(r->failure + n, sizeof(r->failure) - n, "; without fusion it %s",
		 fails ? "fails too" : "ends well");
}

/* One run; false if there can be no result any more. */
static bool run(const struct ab_request *q, enum ab_mode mode, struct ab_run *one,
		struct ab_result *r)
{
	bool ok = ab_run(q, mode, one);

	r->interrupted |= ab_interrupted != 0;
	if (r->interrupted)
		return false;
	if (!ok || ab_run_failed(one, word[mode], r->failure, sizeof(r->failure))) {
		if (!ok)
			snprintf(r->failure, sizeof(r->failure),
				 "the program could not be started: %s", strerror(errno));
		snprintf(r->err, sizeof(r->err), "%s", one->err);
		if (ok && mode != AB_OFF)
			ask_without(q, one, r);
		return false;
	}
	return true;
}

/* Runs with fusion until nothing is being learned any more, so that what follows is measured in one
 * state. */
static bool warm_up(const struct ab_request *q, struct ab_run *one, struct ab_result *r)
{
	unsigned most = q->warmup < 0 ? WARMUPS_MAX : (unsigned)q->warmup;

	while (r->warmups < most) {
		progress_show("warm-up", r->warmups, most);
		if (!run(q, AB_ON, one, r))
			return false;
		r->warmups++;
		if (q->warmup >= 0)
			continue;
		if (!one->counts.rejected[REASON_NO_VERDICT])
			break;
		sleep(SETTLE_S);
	}
	return true;
}

/* The statuses of all runs, and with --check their outputs, against the first one without fusion.
 */
static void compare(const struct ab_run *first, const struct ab_run *one, enum ab_mode mode,
		    struct ab_result *r)
{
	bool *which = mode == AB_OFF ? &r->varies : &r->differs;
	bool statuses = first->status != one->status, news = statuses && !r->statuses;

	r->statuses |= statuses;
	if (one->status && !r->err[0])
		snprintf(r->err, sizeof(r->err), "%s", one->err);
	if ((*which && !news) || (!statuses && (!r->checked || same_output(first, one))))
		return;
	*which = true;
	if (mode == AB_OFF || !r->difference[0] || news)
		first_difference(first, one, r->difference, sizeof(r->difference));
}

static void measure(const struct ab_request *q, struct ab_result *r)
{
	struct ab_run *first = calloc(1, sizeof(*first)), *one = calloc(1, sizeof(*one));
	bool have_first = false;

	if (!first || !one || !warm_up(q, one, r))
		goto out;
	r->checked = q->check;
	for (unsigned i = 0; i < q->pairs; i++) {
		double value[2] = {0};

		/* off on, on off, ...: a drift of the machine is the same to both. */
		for (unsigned k = 0; k < 2; k++) {
			enum ab_mode mode = (i + k) % 2 ? AB_ON : AB_OFF;

			progress_show(word[mode], 2 * i + k, 2ul * q->pairs);
			if (!run(q, mode, one, r))
				goto out;
			value[mode] = one->seconds;
			if (q->has_figure && !ab_figure(q, one, &value[mode])) {
				snprintf(r->failure, sizeof(r->failure),
					 "the run %s printed no number that --figure matches (in "
					 "the first %d KiB of stdout or the end of stderr)",
					 word[mode], AB_KEPT / 1024);
				goto out;
			}
			if (!have_first)
				memcpy(first, one, sizeof(*first));
			compare(first, one, mode, r);
			have_first = true;
			if (mode == AB_ON) {
				r->counts = one->counts;
				r->settled = !one->counts.rejected[REASON_NO_VERDICT];
			}
		}
		r->off[i] = value[AB_OFF];
		r->on[i] = value[AB_ON];
		r->ratio[i] = q->more ? value[AB_ON] / value[AB_OFF] : value[AB_OFF] / value[AB_ON];
		r->pairs = i + 1;
	}
	r->exit_status = WEXITSTATUS(first->status);
	if (q->check && run(q, AB_VERIFY, one, r)) {
		compare(first, one, AB_VERIFY, r);
		r->verify = one->counts;
		r->verified = true;
	}
	if (q->device && !r->failure[0] && !r->interrupted)
		ab_device(q, one, r);
out:
	progress_end();
	free(first);
	free(one);
}

static int conclude(const struct ab_request *q, struct ab_result *r)
{
	if (r->pairs) {
		double *copy = malloc(r->pairs * sizeof(*copy));

		r->interval = ab_median_interval(r->ratio, r->pairs, CONFIDENCE);
		if (copy) {
			memcpy(copy, r->off, r->pairs * sizeof(*copy));
			r->off_median = ab_median(copy, r->pairs);
			memcpy(copy, r->on, r->pairs * sizeof(*copy));
			r->on_median = ab_median(copy, r->pairs);
		}
		free(copy);
	}
	(q->json ? ab_print_json : ab_print_text)(q, r, stdout);
	if (r->failure[0] || r->statuses || r->exit_status || (r->differs && !r->varies) ||
	    r->verify.rejected[REASON_QUARANTINED])
		return EXIT_BAD_INPUT;
	return r->interrupted ? 128 + ab_interrupted : 0;
}

static int compare_program(struct ab_request *q)
{
	const char *tmp = getenv("TMPDIR");
	struct ab_result r = {0};
	char dir[4096];
	int rc = EXIT_FAILED;

	snprintf(dir, sizeof(dir), "%s/autofuse-ab-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		log_warn("%s: %m", dir);
		return EXIT_FAILED;
	}
	q->dir = dir;
	r.off = calloc(q->pairs, sizeof(double));
	r.on = calloc(q->pairs, sizeof(double));
	r.ratio = calloc(q->pairs, sizeof(double));
	if (r.off && r.on && r.ratio) {
		ab_catch_signals();
		measure(q, &r);
		rc = conclude(q, &r);
	}
	free(r.off);
	free(r.on);
	free(r.ratio);
	rmdir(dir);
	return rc;
}

/* A whole number in [low, high]; said if it is none. */
static bool number(const char *option, const char *text, long low, long high, long *value)
{
	char *end;

	*value = strtol(text ? text : "", &end, 10);
	if (text && end != text && !*end && *value >= low && *value <= high)
		return true;
	log_warn("%s: expected a whole number from %ld to %ld, not \"%s\"", option, low, high,
		 text ? text : "");
	return false;
}

/* Takes argv[*i] if it is ab's own. 1, 0, or -1 where its value is wrong. */
static int own_flag(struct ab_request *q, int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *value = *i + 1 < argc ? argv[*i + 1] : NULL;
	long n;
	const struct {
		const char *word;
		bool *flag, value;
	} flags[] = {{"--check", &q->check, true},
		     {"--json", &q->json, true},
		     {"--more-is-better", &q->more, true},
		     {"--no-device", &q->device, false}};

	for (unsigned k = 0; k < sizeof(flags) / sizeof(*flags); k++)
		if (!strcmp(arg, flags[k].word)) {
			*flags[k].flag = flags[k].value;
			*i += 1;
			return 1;
		}
	if (!strcmp(arg, "-n")) {
		if (!number(arg, value, 1, PAIRS_MAX, &n))
			return -1;
		q->pairs = (unsigned)n;
	} else if (!strcmp(arg, "--warmup")) {
		if (!number(arg, value, 0, PAIRS_MAX, &n))
			return -1;
		q->warmup = (int)n;
	} else if (!strcmp(arg, "--timeout")) {
		if (!number(arg, value, 1, INT_MAX, &n))
			return -1;
		q->timeout = (double)n;
	} else if (!strcmp(arg, "--figure")) {
		if (!value || q->has_figure || regcomp(&q->figure, value, REG_EXTENDED) ||
		    !q->figure.re_nsub) {
			log_warn("--figure wants an extended regular expression with a group, "
				 "such as 'speed: ([0-9.]+)'");
			return -1;
		}
		q->has_figure = true;
	} else {
		return 0;
	}
	*i += 2;
	return 1;
}

int command_ab(int argc, char **argv)
{
	struct ab_request q = {.pairs = PAIRS, .warmup = -1, .device = true};
	char path[PATH_MAX], why[2 * PATH_MAX];
	int i = 1, rc, own;

	while (i < argc && strcmp(argv[i], "--")) {
		enum args_got got;

		own = own_flag(&q, argc, argv, &i);
		if (own > 0)
			continue;
		got = own < 0 ? ARGS_BAD : args_take(argc, argv, &i);
		if (got == ARGS_BAD && own >= 0)
			return EXIT_USAGE;
		if (got != ARGS_TAKEN)
			break;
	}
	i += i < argc && !strcmp(argv[i], "--");
	if (i >= argc || argv[i][0] == '-' || (q.more && !q.has_figure)) {
		log_warn("usage: autofuse ab [-n PAIRS] [--warmup RUNS] [--check] [--json] "
			 "[--timeout SECONDS] [--figure REGEX [--more-is-better]] [--no-device] "
			 "[--option=value ...] [-f FILE.ini] -- app [args]");
		return EXIT_USAGE;
	}
	rc = program_check(argv[i], path, sizeof(path), why, sizeof(why));
	if (rc) {
		log_warn("%s", why);
		return rc;
	}
	if (preload_set())
		return EXIT_FAILED;
	q.argv = argv + i;
	q.path = path;
	rc = compare_program(&q);
	if (q.has_figure)
		regfree(&q.figure);
	return rc;
}
