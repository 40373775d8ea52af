/* SPDX-License-Identifier: Apache-2.0 */
/* The report's figures, and how they are written as JSON. */
#ifndef AF_SHIM_REPORT_JSON_H
#define AF_SHIM_REPORT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "shim/report.h"

struct report_item {
	uint8_t pattern, outcome, why, nmember;
	uint64_t launch[GROUP_MAX_MEMBERS]; /* launch indices, as recordings count them */
};

/* From one switch of fusion to the next. */
struct report_phase {
	bool on;
	uint64_t ns;
	unsigned long long launches, sent, fused, checked;
};

enum { REPORT_PHASES = 256 };

struct report_totals {
	struct report_phase phase[REPORT_PHASES]; /* the last one goes on to the end */
	unsigned nphase;
	struct report_item *item;
	unsigned nitem;
	bool cut; /* more groups than are listed */
	struct counts counts;
	unsigned long long launches; /* by the program */
	unsigned long long known_kernels;
	unsigned long long fused, checked, rejected;
};

void report_json(FILE *f, const struct report_totals *t);

#endif
