/* SPDX-License-Identifier: Apache-2.0 */
/* A recording read as a whole: its listing and its times. */
#ifndef AF_TOOLS_RECORDING_H
#define AF_TOOLS_RECORDING_H

#include "tools/listing.h"
#include "tools/outcomes.h"

struct recording {
	struct trace *trace; /* owns the kernels */
	struct plan_result streams, graphs;
	struct listing *listing; /* of streams; of graphs, where these are what ran, as in plans */
	struct listing *graph;   /* of graphs besides, or NULL */
	struct times times;
	struct outcomes *outcomes, *graph_outcomes;
	char no_times[256]; /* why there are no device times; "" if there are */
};

/* 0; -1 if it cannot be opened or memory ran out (said so). Bad lines are counted by trace_errors.
 * progress: a line on stderr now and then, if that is a terminal. */
int recording_read(struct recording *r, const char *path, const bool on[PATTERN_COUNT],
		   enum stores stores, bool progress);
void recording_free(struct recording *r);

#endif
