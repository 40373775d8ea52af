// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline.h"

#define WITHOUT_TIMES_NS 1000.0

static const struct listing_group *fused_group(const struct listing *l,
					       const struct listing_launch *m)
{
	const struct listing_group *g = m->group == LISTING_NONE ? NULL : &l->group[m->group];

	return g && g->state == LISTED_FUSED ? g : NULL;
}

static double mean(const struct listing *l, const struct listing_launch *m)
{
	const struct listing_kernel *k = &l->kernel[m->kernel];

	return !l->ns ? WITHOUT_TIMES_NS : k->timed ? (double)k->ns / (double)k->timed : 0;
}

/* When the stream's clock starts: the first known start of these launches. */
static uint64_t origin(const struct listing *l, const struct listing_stream *s, uint64_t first,
		       uint64_t end)
{
	uint64_t least = UINT64_MAX;

	for (uint64_t i = first; i < end; i++) {
		const struct listing_launch *m = &l->launch[s->launch[i]];
		const struct listing_group *g = fused_group(l, m);

		if (m->at.ns && m->at.start < least)
			least = m->at.start;
		if (g && g->at.ns && g->at.start < least)
			least = g->at.start;
	}
	return least == UINT64_MAX ? 0 : least;
}

static double place(double cursor, const struct time_span *at, uint64_t zero)
{
	double start = at->ns ? (double)(at->start - zero) : cursor;

	return start > cursor ? start : cursor;
}

void timeline_each(const struct listing *l, uint32_t stream, uint64_t first, uint64_t n,
		   void (*fn)(void *arg, const struct timeline_span *s), void *arg)
{
	const struct listing_stream *s = &l->stream[stream];
	uint64_t end = first + n < s->launches ? first + n : s->launches, zero;
	double before = 0, after = 0;

	zero = origin(l, s, first, end);
	for (uint64_t i = first; i < end; i++) {
		const struct listing_launch *m = &l->launch[s->launch[i]];
		const struct listing_group *g = fused_group(l, m);
		struct timeline_span span = {.launch = s->launch[i]};

		span.guessed = !m->at.ns;
		span.ns = m->at.ns ? m->at.ns : mean(l, m);
		span.start = place(before, &m->at, zero);
		if (g && !m->at.ns && after > before) /* not behind what it was fused from */
			span.start = after;
		before = span.start + span.ns;
		fn(arg, &span);
		if (g && span.launch != g->launch[g->n - 1])
			continue;
		span.after = true;
		span.group = g;
		if (g) {
			span.guessed = !g->at.ns;
			span.ns = g->at.ns ? g->at.ns : l->ns ? 0 : WITHOUT_TIMES_NS;
			span.start = place(after, &g->at, zero);
		} else {
			span.start = place(after, &m->at, zero);
		}
		after = span.start + span.ns;
		fn(arg, &span);
	}
}

static void add(void *arg, const struct timeline_span *span)
{
	struct timeline_sums *s = arg;

	if (span->after) {
		s->after++;
		s->after_ns += span->ns;
	} else {
		s->before++;
		s->before_ns += span->ns;
		s->guessed |= span->guessed;
	}
}

void timeline_sum(const struct listing *l, struct timeline_sums *s)
{
	*s = (struct timeline_sums){0};
	for (uint32_t i = 0; i < l->nstream; i++)
		timeline_each(l, i, 0, l->stream[i].launches, add, s);
}
