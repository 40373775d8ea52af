/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a trace, parsed. */
#ifndef AF_TOOLS_TRACE_LINE_H
#define AF_TOOLS_TRACE_LINE_H

#include <jansson.h>

#include "tools/trace.h"
#include "tools/trace_kernels.h"

/* Parameter bytes of the launch of one line; grows as needed. */
struct trace_params {
	uint8_t *bytes;
	uint32_t room;
};

/*
 * Turns a parsed line into an event. 1: *e is filled in (strings belong to `line`, parameters to
 * p); 0: a line that says nothing to us; -1: bad, with what was expected in err.
 */
int trace_line(json_t *line, struct trace_kernels *kernels, struct trace_params *p,
	       struct trace_event *e, char *err, unsigned errsize);

/* Most lines of a recording with times are `t` and `c` lines: those that look exactly as the
 * recorder writes them are read without the detour. False: it is none, or looks otherwise. */
bool trace_times_quick(const char *text, struct trace_event *e);
/* As trace_line for the lines of kind SENT, RAN and OUTCOME. */
int trace_line_times(json_t *line, struct trace_event *e, char *err, unsigned errsize);

#endif
