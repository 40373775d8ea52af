/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's launches as spans of time, twice: before (every launch of the program by itself) and
 * after (as they ran, fused kernels in place of their members). What ran fused has no time of its
 * own before: there it is drawn with the mean of its kernel's other runs. Without device times each
 * launch is drawn one microsecond wide.
 */
#ifndef AF_TOOLS_TIMELINE_H
#define AF_TOOLS_TIMELINE_H

#include "tools/listing.h"

struct timeline_span {
	double start, ns;
	uint32_t launch;                   /* its number; the last member's of a fused kernel */
	const struct listing_group *group; /* after: the fused group that it stands for */
	bool after, guessed;               /* guessed: the duration is no measurement */
};

/* Calls fn for the launches [first, first + n) of the stream, in order; the first one starts at 0.
 */
void timeline_each(const struct listing *l, uint32_t stream, uint64_t first, uint64_t n,
		   void (*fn)(void *arg, const struct timeline_span *s), void *arg);

/* Sums over everything that is listed. */
struct timeline_sums {
	uint64_t before, after; /* launches */
	double before_ns, after_ns;
	bool guessed; /* some of before_ns is */
};
void timeline_sum(const struct listing *l, struct timeline_sums *s);

/* As JSON that Perfetto and chrome://tracing open: streams as tracks, before and after as
 * processes, flow arrows from the members of a group to its fused kernel. At most `launches`; says
 * if that was not all. */
void perfetto_write(const struct listing *l, uint64_t launches, FILE *f);
/* A page that needs nothing else. */
void page_write(const struct listing *l, const struct listing_view *v, FILE *f);

#endif
