/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, counted: the summary line at exit and the JSON of AUTOFUSE_REPORT. */
#ifndef AF_SHIM_REPORT_H
#define AF_SHIM_REPORT_H

#include "matcher/group.h"

enum outcome {
	OUTCOME_FUSED,
	OUTCOME_CHECKED, /* the program's own launches ran, our kernel was compared beside them */
	OUTCOME_REJECTED,
	OUTCOME_COUNT,
};

/* Relaxed counters that hot paths add to with __atomic_fetch_add. */
struct report_counts {
	unsigned long long nameless;   /* launches of handles without a record */
	unsigned long long removed;    /* program launches that were not sent */
	unsigned long long substitute; /* fused launches sent in their place */
	unsigned long long own;        /* snapshots, candidates and compares of live checks */
	unsigned long long held, completed, timed_out;
	/* Times that a stream came to hold launches; until it held none again something was fused,
	 * or the timer sent all of it as it was. */
	unsigned long long sequences, sequences_fused, sequences_timed_out;
	unsigned long long decoded;    /* launches that were decoded */
	unsigned long long remembered; /* fused launches made by what was remembered */
	unsigned long long unlooked;   /* launches passed over because nothing came of their like */
};
extern struct report_counts report_counts;

/* Registers the exit handler and decides whether groups are listed one by one. Once per process. */
void report_start(void);

/* One completed match. */
void report_group(const struct group *g, enum outcome outcome, enum reason why);
/* The same for a fused group of which only the launches' indices are at hand. */
void report_fused(const struct pattern *p, const uint64_t *launch, unsigned n);
/* A complete group that was not fused, counted and not listed. */
void report_refused(enum pattern_id p, enum reason why);
/* Is every group to be listed (until there are too many)? */
bool report_listing(void);

/* Fusion is about to be switched off or on (control.h): what was counted since the last switch is
 * listed by itself. */
void report_phase(void);

/* Writes summary and report; called at exit, after held launches were submitted. */
void report_exit(void);

/* Replaces %p by the process id. Returns path, or NULL if it does not fit. */
const char *report_path(const char *pattern, char *path, unsigned size);

#endif
