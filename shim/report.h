/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, counted: the summary line at exit and the JSON of AUTOFUSE_REPORT. */
#ifndef AF_SHIM_REPORT_H
#define AF_SHIM_REPORT_H

#include "shim/counts.h"

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
