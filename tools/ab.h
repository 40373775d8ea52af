/* SPDX-License-Identifier: Apache-2.0 */
/* `autofuse ab`: what its parts hand to each other. */
#ifndef AF_TOOLS_AB_H
#define AF_TOOLS_AB_H

#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "matcher/reason.h"
#include "tools/ab_stats.h"

enum { AB_KEPT = 1 << 16 };

/* What the reports of one run say, all its processes together. */
struct ab_counts {
	unsigned reports;
	uint64_t launches, sent, fused, checked, known_kernels;
	uint64_t rejected[REASON_COUNT];
};

/* How one run of the program went. */
struct ab_run {
	double seconds;
	bool started, timed_out;
	int status; /* as waitpid gives it */
	uint64_t out_bytes, out_hash;
	char out[AB_KEPT]; /* the beginning of its stdout, out_kept bytes */
	unsigned out_kept;
	char err[4096]; /* the end of its stderr, as text */
	struct ab_counts counts;
};

/* TIMED: with device times recorded; off is then the library at work with every pattern off. */
enum ab_mode { AB_OFF, AB_ON, AB_VERIFY, AB_TIMED_OFF, AB_TIMED_ON };

/* What the kernels of one run took together. */
struct ab_device {
	double seconds;
	uint64_t kernels;
};

struct ab_request {
	char **argv;            /* of the program */
	const char *path, *dir; /* of the program; for reports */
	unsigned pairs;
	int warmup;     /* -1: as many as it takes to learn */
	double timeout; /* seconds, 0: none */
	bool check, json;
	bool device;     /* take device times */
	bool has_figure; /* compare by a number that the program prints, not by wall time: */
	bool more;       /* more of it is better */
	regex_t figure;  /* its last match in a line, first group */
};

/* What is known at the end. */
struct ab_result {
	unsigned pairs, warmups; /* that were run */
	/* Of each pair: seconds, or the figure; and how many times faster on is, sorted. */
	double *off, *on, *ratio;
	double off_median, on_median;
	struct ab_interval interval; /* of the ratio */
	struct ab_counts counts;     /* of the last run that was on */
	int exit_status;             /* of the first run; of every run, unless `statuses` */
	bool statuses;               /* exit statuses differ */
	bool settled;                /* and nothing was being learned any more in it */
	bool interrupted;
	char failure[512]; /* why there is no result; "" */
	char err[4096];    /* what the program that failed said last */
	bool varies,
		differs; /* statuses and, where checked, outputs; varies: also without fusion */
	/* --check. */
	bool checked;
	char difference[256];
	struct ab_counts verify;
	bool verified;
	struct ab_device device_off, device_on;
	char no_device[256]; /* why there are none; "" */
};

/* Runs the program once. False, with why in r->failure, if that cannot be a sample. */
bool ab_run(const struct ab_request *q, enum ab_mode mode, struct ab_run *out);
/* The sentence for a run that did not end well, in text; false: it did. */
bool ab_run_failed(const struct ab_run *run, const char *what, char *text, unsigned size);
/* Set by SIGINT and SIGTERM, which are passed on to the program that runs. */
extern volatile sig_atomic_t ab_interrupted;
void ab_catch_signals(void);

/* The figure of a run, from the beginning of its stdout or the end of its stderr. False: none. */
bool ab_figure(const struct ab_request *q, const struct ab_run *r, double *value);
/* Fills in the result's device times, or why there are none. one: scratch. */
void ab_device(const struct ab_request *q, struct ab_run *one, struct ab_result *r);

/* Reads and removes the reports in dir, and adds them up. */
void ab_read_reports(const char *dir, struct ab_counts *c);

/* The sentence that says it all. */
void ab_verdict(const struct ab_result *r, char *text, unsigned size);
void ab_print_text(const struct ab_request *q, const struct ab_result *r, FILE *f);
void ab_print_json(const struct ab_request *q, const struct ab_result *r, FILE *f);

#endif
