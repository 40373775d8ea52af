/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/report.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "config/pipe.h"
#include "matcher/sig.h"
#include "shim/control.h"
#include "shim/graph_report.h"
#include "shim/hot.h"
#include "shim/kernels.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report_json.h"
#include "shim/verdict.h"

enum { LISTED_MAX = 1 << 18 }; /* groups listed one by one in a report; the counts go on */

static struct {
	pthread_mutex_t lock; /* guards what follows */
	struct report_totals total;
	unsigned capacity;
	uint64_t started_ns;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};
static HOT bool listing;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void report_start(void)
{
	report.started_ns = now_ns();
	listing = process.config.opt.report && process.config.opt.report[0];
}

bool report_listing(void)
{
	return __atomic_load_n(&listing, __ATOMIC_RELAXED);
}

static void list_group(const struct pattern *p, const uint64_t *launch, unsigned n,
		       enum outcome outcome, enum reason why)
{
	struct report_item *item;

	if (report.total.nitem == report.capacity) {
		unsigned more = report.capacity ? 2 * report.capacity : 1024;
		void *to = more <= LISTED_MAX ? realloc(report.total.item, more * sizeof(*item))
					      : NULL;

		if (!to) {
			__atomic_store_n(&listing, false, __ATOMIC_RELAXED);
			report.total.cut = true;
			return;
		}
		report.total.item = to;
		report.capacity = more;
	}
	item = &report.total.item[report.total.nitem++];
	item->pattern = pattern_id(p);
	item->outcome = outcome;
	item->why = why;
	item->nmember = (uint8_t)n;
	memcpy(item->launch, launch, item->nmember * sizeof(*launch));
}

static void count(const struct pattern *p, const uint64_t *launch, unsigned n, enum outcome outcome,
		  enum reason why)
{
	const enum pattern_id id = pattern_id(p);

	COUNT(pattern[id].outcome[outcome], 1);
	if (outcome == OUTCOME_REJECTED)
		COUNT(pattern[id].rejected[why], 1);
	if (!report_listing())
		return;
	pthread_mutex_lock(&report.lock);
	if (listing)
		list_group(p, launch, n, outcome, why);
	pthread_mutex_unlock(&report.lock);
}

void report_group(const struct group *g, enum outcome outcome, enum reason why)
{
	uint64_t launch[GROUP_MAX_MEMBERS];

	for (unsigned i = 0; i < group_size(g); i++)
		launch[i] = g->member[i]->launch.index;
	count(g->pattern, launch, group_size(g), outcome, why);
	record_group(g, outcome != OUTCOME_REJECTED, outcome == OUTCOME_CHECKED, why);
}

void report_fused(const struct pattern *p, const uint64_t *launch, unsigned n)
{
	count(p, launch, n, OUTCOME_FUSED, REASON_NONE);
}

void report_refused(enum pattern_id p, enum reason why)
{
	COUNT(pattern[p].outcome[OUTCOME_REJECTED], 1);
	COUNT(pattern[p].rejected[why], 1);
}

const char *report_path(const char *pattern, char *path, unsigned size)
{
	unsigned n = 0;

	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			n += (unsigned)snprintf(path + n, size - n, "%d", (int)getpid());
			pattern++;
		} else {
			path[n++] = *pattern;
		}
		if (n + 1 >= size)
			return NULL;
	}
	path[n] = '\0';
	return path;
}

static void count_kernel(void *arg, const struct kernel_rec *r)
{
	struct report_totals *t = arg;
	uint64_t n = kernels_launches(r);

	t->launches += n;
	if (r->k.decoder)
		t->known_kernels += n > 0;
}

/* 1234567 -> "1,234,567" */
static const char *grouped(unsigned long long n, char *buf)
{
	char digits[24];
	int len = sprintf(digits, "%llu", n), out = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

/* Why nothing was fused, and the next step, for the summary's end. */
static void explain(const struct report_totals *t, char *text, size_t size)
{
	unsigned long long most = 0;
	enum reason why = REASON_NONE;

	for (unsigned p = 0; p < PATTERN_COUNT; p++)
		for (unsigned r = 0; r < REASON_COUNT; r++)
			if (t->counts.pattern[p].rejected[r] > most) {
				most = t->counts.pattern[p].rejected[r];
				why = (enum reason)r;
			}
	if (process.config.opt.verify == VERIFY_ALWAYS && t->checked &&
	    (why == REASON_UNPREDICTED || most < t->checked))
		snprintf(text, size,
			 "none fused, %llu checked: with verify = always every group runs the "
			 "program's own kernels",
			 t->checked);
	else if (most && most >= t->checked)
		snprintf(text, size, "none fused: %s (%s)", reason_word(why), reason_text(why));
	else if (t->checked)
		snprintf(text, size, "none fused, %llu checked", t->checked);
	else if (!sig_count())
		snprintf(text, size,
			 "none fused: no kernel signatures are configured "
			 "(AUTOFUSE_CONFIG=file.ini; README, \"Configuration\")");
	else if (!t->known_kernels)
		snprintf(text, size,
			 "none fused: no kernel of this program has a signature "
			 "(AUTOFUSE_REPORT=file lists its kernels)");
	else
		snprintf(text, size,
			 "none fused: no pattern was found among the kernels with signatures");
}

static void summary(const struct report_totals *t)
{
	char text[640], graphs[320] = "", before[32], after[32];
	unsigned long long graphs_fused = 0, alone = t->rejected;
	size_t n = 0;

	if (graph_report_text(graphs, sizeof(graphs), &graphs_fused) && !t->fused) {
		log_always("%s launches, %s", grouped(t->launches, before), graphs);
		return;
	}
	if (!t->fused) {
		explain(t, text, sizeof(text));
		log_always("%s launches, %s", grouped(t->launches, before), text);
		return;
	}
	/* What was captured did not run there and then. */
	for (unsigned p = 0; p < PATTERN_COUNT; p++)
		alone -= t->counts.pattern[p].rejected[REASON_CAPTURE];
	for (unsigned p = 0; p < PATTERN_COUNT && n < sizeof(text); p++)
		if (t->counts.pattern[p].outcome[OUTCOME_FUSED])
			n += (size_t)snprintf(
				text + n, sizeof(text) - n, "%s%s %s fused", n ? ", " : "",
				grouped(t->counts.pattern[p].outcome[OUTCOME_FUSED], before),
				pattern_get((enum pattern_id)p)->name);
	if (t->checked && n < sizeof(text))
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %llu checked", t->checked);
	if (alone && n < sizeof(text))
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %llu left alone", alone);
	if (t->counts.unlooked && n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, ", %llu launches no longer looked at",
			 t->counts.unlooked);
	n = strlen(text);
	if (process.config.opt.families == FAMILIES_YES && t->counts.sequences && n < sizeof(text))
		snprintf(text + n, sizeof(text) - n,
			 "; of %s held sequences %.0f%% completed, %.0f%% were sent by the timer",
			 grouped(t->counts.sequences, before),
			 100. * (double)t->counts.sequences_fused / (double)t->counts.sequences,
			 100. * (double)t->counts.sequences_timed_out /
				 (double)t->counts.sequences);
	log_always("%s launches became %s: %s%s%s", grouped(t->launches, before),
		   grouped(t->launches - t->counts.removed + t->counts.substitute, after), text,
		   graphs[0] ? "; " : "", graphs);
}

/* Lock held. */
static void add_up(struct report_totals *t)
{
	counts_sum(&t->counts);
	t->launches = t->counts.nameless;
	t->known_kernels = t->fused = t->checked = t->rejected = 0;
	kernels_each(count_kernel, t);
	for (unsigned p = 0; p < PATTERN_COUNT; p++) {
		t->fused += t->counts.pattern[p].outcome[OUTCOME_FUSED];
		t->checked += t->counts.pattern[p].outcome[OUTCOME_CHECKED];
		t->rejected += t->counts.pattern[p].outcome[OUTCOME_REJECTED];
	}
}

/* Ends the phase that began at the last switch. Lock held, totals added up. */
static void end_phase(struct report_totals *t)
{
	static struct report_phase before; /* sums up to the last switch */
	struct report_phase sum = {.ns = now_ns() - report.started_ns,
				   .launches = t->launches,
				   .sent = t->launches - t->counts.removed + t->counts.substitute,
				   .fused = t->counts.substitute,
				   .checked = t->checked};

	if (t->nphase == REPORT_PHASES)
		return;
	t->phase[t->nphase++] = (struct report_phase){.on = control_on(),
						      .ns = sum.ns - before.ns,
						      .launches = sum.launches - before.launches,
						      .sent = sum.sent - before.sent,
						      .fused = sum.fused - before.fused,
						      .checked = sum.checked - before.checked};
	before = sum;
}

void report_phase(void)
{
	pthread_mutex_lock(&report.lock);
	add_up(&report.total);
	/* The last place is for what runs until the end. */
	if (report.total.nphase + 1 < REPORT_PHASES)
		end_phase(&report.total);
	pthread_mutex_unlock(&report.lock);
}

void report_exit(void)
{
	const struct options *o = &process.config.opt;
	char path[4096];
	bool any, bad;
	FILE *f;

	pthread_mutex_lock(&report.lock);
	add_up(&report.total);
	if (report.total.nphase)
		end_phase(&report.total);
	any = report.total.launches || graph_report_any();
	if (any && o->summary)
		summary(&report.total);
	if (any && o->report && o->report[0]) {
		errno = ENAMETOOLONG;
		f = report_path(o->report, path, sizeof(path)) ? pipe_open(path) : NULL;
		bad = !f;
		if (f) {
			report_json(f, &report.total);
			bad = fflush(f) || ferror(f);
			bad |= fclose(f);
		}
		if (bad)
			log_warn("cannot write the report %s: %m", o->report);
	}
	pthread_mutex_unlock(&report.lock);
}
