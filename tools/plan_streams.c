// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "matcher/dead.h"
#include "matcher/decode.h"
#include "tools/plan.h"

#define PER_THREAD_STREAM 2 /* how recordings spell it */

struct stream {
	struct plan_streams *p;
	uint64_t context, handle, thread; /* thread: of a per-thread stream, else 0 */
	bool nonblocking;
	struct seq *seq;
	struct stream *next;
};

struct plan_streams {
	struct plan_result *result;
	struct plan_memory *memory;
	const bool *enabled;
	struct stream *first;
	unsigned captures; /* begun and not ended */
	bool chains, larger;
	bool failed;
};

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	const struct stream *s = arg;

	return s->handle != PER_THREAD_STREAM && !s->p->captures;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	const struct stream *s = arg;

	return plan_memory_check(s->p->memory, r, l->device, surviving);
}

static bool enabled(void *arg, const struct pattern *p)
{
	const struct stream *s = arg;

	return s->p->enabled[pattern_id(p)];
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	const struct stream *s = arg;

	if (s->handle == PER_THREAD_STREAM)
		return REASON_PER_THREAD_STREAM;
	if (s->p->captures)
		return REASON_CAPTURE;
	if (all_held && s->p->result->stores == STORES_ASSUME_DEAD)
		dead_apply(g, dead_assumed(g));
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	const struct stream *s = arg;

	plan_add_group(s->p->result, g, why);
}

struct plan_streams *plan_streams_new(struct plan_result *r, const bool on[PATTERN_COUNT])
{
	struct plan_streams *p = calloc(1, sizeof(*p));

	if (p) {
		p->result = r;
		p->enabled = on;
		p->memory = plan_memory_new();
	}
	if (p && p->memory)
		return p;
	plan_streams_free(p);
	return NULL;
}

void plan_streams_chains(struct plan_streams *p, bool larger)
{
	p->chains = true;
	p->larger = larger;
}

const struct plan_memory *plan_streams_memory(const struct plan_streams *p)
{
	return p->memory;
}

void plan_streams_free(struct plan_streams *p)
{
	if (!p)
		return;
	while (p->first) {
		struct stream *s = p->first;

		p->first = s->next;
		seq_free(s->seq);
		free(s);
	}
	plan_memory_free(p->memory);
	free(p);
}

static struct stream *stream_of(struct plan_streams *p, const struct trace_event *e)
{
	const struct seq_policy policy = {.may_hold = may_hold,
					  .memory = memory,
					  .enabled = enabled,
					  .verdict = verdict,
					  .done = done};
	const uint64_t thread = e->stream == PER_THREAD_STREAM ? e->thread : 0;
	struct seq_policy mine = policy;
	struct stream *s;

	for (s = p->first; s; s = s->next)
		if (s->context == e->context && s->handle == e->stream && s->thread == thread)
			return s;
	s = calloc(1, sizeof(*s));
	mine.arg = s;
	mine.chains = p->chains;
	mine.larger = p->larger;
	if (!s || !(s->seq = seq_new(&mine))) {
		free(s);
		return NULL;
	}
	s->p = p;
	s->context = e->context;
	s->handle = e->stream;
	s->thread = thread;
	s->next = p->first;
	p->first = s;
	return s;
}

static void barrier(struct stream *s, enum reason why)
{
	struct seq_out out;

	seq_barrier(s->seq, why, &out);
}

static void barrier_all(struct plan_streams *p, enum reason why)
{
	for (struct stream *s = p->first; s; s = s->next)
		barrier(s, why);
}

void plan_streams_finish(struct plan_streams *p)
{
	barrier_all(p, REASON_BARRIER);
}

/* The legacy stream waits for every blocking stream of its context, and they for it. */
static bool ordered(const struct stream *a, const struct stream *b)
{
	return a != b && a->context == b->context && !a->nonblocking && !b->nonblocking &&
	       (!a->handle || !b->handle);
}

static void on_launch(struct plan_streams *p, const struct trace_event *e)
{
	struct stream *mine = stream_of(p, e);
	struct launch l = e->launch;
	struct seq_out out;
	enum reason why;
	struct op op;

	l.index = p->result->launches++;
	p->result->captured += p->captures > 0;
	if (!mine)
		return;
	why = decode_launch(&l, &op);
	plan_add_launch(p->result, &l, mine->thread, &op, why);
	op.vetted = op.code != OP_opaque; /* plan takes the evidence for given */
	for (struct stream *s = p->first; s; s = s->next) {
		if (s != mine)
			seq_elsewhere(s->seq, &l, &op, &out);
		if (ordered(s, mine))
			barrier(s, REASON_BARRIER);
	}
	seq_launch(mine->seq, &l, &op, &out);
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static void on_free(struct plan_streams *p, struct range r)
{
	plan_memory_free_range(p->memory, r);
	for (struct stream *s = p->first; s; s = s->next)
		seq_forget(s->seq, r);
}

/* Is the call on this stream? Recordings do not say the context of every call: it may be any. */
static bool concerns(const struct stream *s, const struct trace_event *e)
{
	return e->has_stream && s->handle == e->stream &&
	       (!e->context || s->context == e->context) && (!s->thread || s->thread == e->thread);
}

/* Does the call's stream order itself against this one, as the legacy one does? */
static bool orders(const struct plan_streams *p, const struct trace_event *e,
		   const struct stream *s)
{
	if (s->nonblocking || (s->handle && e->stream) || (e->context && s->context != e->context))
		return false;
	for (const struct stream *o = p->first; o; o = o->next)
		if (concerns(o, e) && o->nonblocking)
			return false;
	return true;
}

/* cuMemFreeAsync is queued behind what its own stream holds; others must not touch the range. */
static void on_free_async(struct plan_streams *p, const struct trace_event *e)
{
	for (struct stream *s = p->first; s; s = s->next)
		if (!concerns(s, e) &&
		    (e->range.lo == e->range.hi || seq_touches(s->seq, e->range)))
			barrier(s, REASON_BARRIER);
}

static void on_call(struct plan_streams *p, const struct trace_event *e)
{
	if (starts_with(e->name, "cuMemAllocAsync") ||
	    starts_with(e->name, "cuMemAllocFromPoolAsync"))
		return;
	if (starts_with(e->name, "cuMemFreeAsync")) {
		on_free_async(p, e);
		return;
	}
	if (starts_with(e->name, "cuCtxEnablePeerAccess"))
		plan_memory_share(p->memory);
	if (starts_with(e->name, "cuStreamBeginCapture")) {
		barrier_all(p, REASON_CAPTURE);
		p->captures++;
		return;
	}
	if (starts_with(e->name, "cuStreamEndCapture")) {
		barrier_all(p, REASON_CAPTURE);
		p->captures -= p->captures > 0;
		return;
	}
	switch (plan_class(e->name, e->has_stream)) {
	case PLAN_neutral:
		return;
	case PLAN_stream:
		if (!e->has_stream) {
			barrier_all(p, REASON_BARRIER);
			return;
		}
		for (struct stream *s = p->first; s; s = s->next)
			if (concerns(s, e) || orders(p, e, s))
				barrier(s, REASON_BARRIER);
		return;
	case PLAN_all:
		barrier_all(p, REASON_BARRIER);
	}
}

void plan_streams_event(struct plan_streams *p, const struct trace_event *e)
{
	struct stream *s;

	switch (e->kind) {
	case TRACE_LAUNCH:
		on_launch(p, e);
		break;
	case TRACE_CALL:
		on_call(p, e);
		break;
	case TRACE_ALLOC:
		on_free(p, e->range);
		plan_memory_alloc(p->memory, e->range, e->device, e->flags);
		break;
	case TRACE_FREE:
		on_free(p, e->range);
		break;
	case TRACE_STREAM:
		s = stream_of(p, e);
		if (s)
			s->nonblocking = e->flags & 1;
		break;
	case TRACE_TIMER:
		s = stream_of(p, e);
		if (s)
			barrier(s, REASON_TIMER);
		break;
	case TRACE_BAD:
		barrier_all(p, REASON_UNKNOWN_KERNEL);
		p->result->launches += e->launched;
		break;
	default:
		break;
	}
}
