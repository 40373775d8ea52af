/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does it pay to follow a program that edits its exec before almost every launch? Following costs
 * host time, which is measured; what a launch of the fused form gains over the program's own is
 * measured, too, with events around some launches of each. Whoever loses is left alone.
 */
#ifndef AF_SHIM_GRAPH_TRIAL_H
#define AF_SHIM_GRAPH_TRIAL_H

#include <stdint.h>

#include "shim/driver.h"

struct side;

enum { TRIAL_LAUNCHES = 4 }; /* timed, of each of two forms */

struct graph_trial {
	uint64_t cost_ns; /* host time of the edits since the last launch */
	uint64_t costs;   /* a running mean of what precedes a launch, ns; 0: not known */
	unsigned seen;    /* launches that edits preceded */
	bool over;        /* decided: it pays */
	CUevent from, to;
	int timing;    /* form whose launch is between the events, -1: none */
	unsigned n[2]; /* timed launches: own, fused */
	float least_ms[2];
};

uint64_t graph_now(void); /* ns */

/* Following edits took so long. */
void graph_trial_cost(struct side *s, uint64_t ns);
/* Before a launch: may decide that following does not pay. True: the program's own exec shall be
 * launched although there is a fused form, to be timed. */
bool graph_trial_own(struct side *s);
/* Around the launch itself; form: that is launched. */
void graph_trial_before(struct side *s, int form, CUstream stream, bool ptsz);
void graph_trial_after(struct side *s, int form, CUstream stream, bool ptsz);
/* The events go. */
void graph_trial_end(struct side *s);

#endif
