// SPDX-License-Identifier: Apache-2.0
/*
 * Launches: which exec is taken, and that it runs behind the last launch of the same exec of the
 * program's, whichever was taken then and on whatever stream. The driver sees to that between
 * launches of one exec, a stream between its own launches; where neither does, the new launch waits
 * for an event that was recorded right behind the last one. Behind launches of ours there always is
 * one; where there is none, the last exec is taken again.
 */
#include "matcher/group.h"
#include "shim/check.h"
#include "shim/control.h"
#include "shim/graph_check.h"
#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/judge.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/window.h"

struct call {
	CUstream stream;
	bool ptsz;
	unsigned long long id; /* of the stream; 0: not to be had */
};

static CUresult send(CUgraphExec exec, const struct call *c)
{
	return (c->ptsz ? real.cuGraphLaunch_ptsz : real.cuGraphLaunch)(exec, c->stream);
}

/* Into a capture goes the program's own exec, as a node. */
static bool capturing(const struct call *c)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r;

	if (!__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return false;
	r = (c->ptsz ? real.cuStreamIsCapturing_ptsz : real.cuStreamIsCapturing)(c->stream,
										 &status);
	return r || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool side_holds(struct side *s)
{
	uint64_t events = memory_events(), changes = verdict_changes();

	for (unsigned i = 0; i < s->ngroup && s->held_changes != changes; i++)
		if (verdict_state(s->group[i].verdict) != VERDICT_USABLE)
			return false;
	for (unsigned i = 0; i < s->ngroup && s->held_events != events; i++) {
		const struct side_group *g = &s->group[i];

		for (unsigned k = 0; k < g->nrange; k++)
			if (memory_check(g->range[k], g->device, (int)g->surviving))
				return false;
	}
	s->held_events = events;
	s->held_changes = changes;
	return true;
}

/* Is a check due that the checking form makes? Otherwise one that it does not make is asked for. */
static bool check_due(struct side *s)
{
	bool due = false, missing = false;

	for (unsigned i = 0; i < s->ncheck; i++)
		due |= s->check[i].lean
			       ? !lean_passed(s->check[i].lean)
			       : judge_wants_check_of(s->check[i].verdict, s->check[i].rows);
	if (due || s->waits || s->stale || s->unchecked)
		return due;
	for (unsigned i = 0; i < s->nverdict; i++)
		missing |= judge_wants_check_of(s->verdict[i].verdict, s->verdict[i].rows);
	if (missing) {
		s->waits = true; /* for memory, then a form */
		side_want(s);
	}
	return false;
}

/* Our event is of the context in which the exec was made: is it the current one, and the stream's?
 */
static bool at_home(struct side *s, const struct call *c)
{
	CUcontext ctx = NULL;

	if (ours_get(NULL) != s->ours)
		return false;
	if (c->id && c->id == s->home_stream)
		return true;
	if ((c->ptsz ? real.cuStreamGetCtx_ptsz : real.cuStreamGetCtx)(c->stream, &ctx) ||
	    ctx != s->ours->ctx)
		return false;
	s->home_stream = c->id;
	return true;
}

static enum graph_form choose(struct side *s, const struct call *c)
{

	if (s->alone || side_lost(s) || !process.on || !control_on() || !s->ours->ready)
		return FORM_OWN;
	if (!at_home(s, c))
		return FORM_OWN;
	/* Nothing is made while a capture is under way, not even an event. */
	if (!s->event && __atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return FORM_OWN;
	if (check_due(s) && graph_check_claim(s))
		return FORM_CHECK;
	if (graph_trial_own(s) || !s->form[FORM_FUSED].exec ||
	    process.config.opt.verify == VERIFY_ALWAYS)
		return FORM_OWN;
	if (side_holds(s))
		return FORM_FUSED;
	side_stale(s);
	return FORM_OWN;
}

/* The form that can be launched there now; it is ordered then. */
static enum graph_form order(struct side *s, enum graph_form f, const struct call *c)
{
	if (!s->launched || f == s->last || (c->id && c->id == s->last_stream))
		return f;
	if (s->recorded && !(c->ptsz ? real.cuStreamWaitEvent_ptsz
				     : real.cuStreamWaitEvent)(c->stream, s->event, 0))
		return f;
	return s->last == FORM_NONE || s->last == FORM_CHECK ? f : s->last;
}

static void record(struct side *s, const struct call *c)
{
	s->recorded = false;
	if (!s->event && real.cuEventCreate(&s->event, CU_EVENT_DISABLE_TIMING)) {
		s->event = NULL;
		return;
	}
	s->recorded =
		!(c->ptsz ? real.cuEventRecord_ptsz : real.cuEventRecord)(s->event, c->stream);
}

/* Before and after the first launch of a fused form that a verdict is in. */
static void first_uses(struct side *s, const struct call *c, bool after)
{
	for (unsigned i = 0; i < s->nverdict; i++) {
		struct verdict *v = s->verdict[i].verdict;

		if (v->first_use_over || verdict_state(v) != VERDICT_USABLE)
			continue;
		if (!after)
			verdict_mark(v);
		else
			check_first_use(s->ours, c->stream, v);
	}
}

static void count(struct side *s, enum graph_form f)
{
	s->launches[f]++;
	s->edited_launches += s->edited;
	s->edited = false;
	graph_report_launched(s, f);
	if (f != FORM_FUSED)
		return;
	if (s->launches[FORM_FUSED] == 1)
		s->until = s->launches[FORM_OWN] + s->launches[FORM_CHECK];
	for (unsigned i = 0; i < s->ngroup; i++)
		s->group[i].verdict->fused++;
	for (unsigned i = 0; i < s->nverdict; i++)
		s->verdict[i].verdict->unchecked++;
}

static CUresult launch(struct side *s, enum graph_form f, const struct call *c)
{
	enum graph_form wanted = f;
	CUresult r;

	f = order(s, f, c);
	if (f != wanted && wanted == FORM_CHECK)
		graph_check_launched(s, false);
	if (f == FORM_FUSED)
		first_uses(s, c, false);
	graph_trial_before(s, (int)f, c->stream, c->ptsz);
	r = send(f == FORM_OWN ? s->own : s->form[f].exec, c);
	graph_trial_after(s, (int)f, c->stream, c->ptsz);
	if (f == FORM_CHECK)
		graph_check_launched(s, !r);
	if (r &&
	    f != FORM_OWN) { /* whether it can be launched at all is for the program's to say */
		side_alone(s, REASON_REFUSED);
		f = FORM_OWN;
		r = send(s->own, c);
	}
	if (r)
		return r;
	count(s, f);
	if (f == FORM_FUSED)
		first_uses(s, c, true);
	s->launched = true;
	s->last = f;
	s->last_stream = c->id;
	/* Behind ours always, for the day that the program's own must be taken; behind the
	 * program's where another was wanted. */
	if (f != FORM_OWN || wanted != FORM_OWN)
		record(s, c);
	else
		s->recorded = false;
	return r;
}

CUresult graph_launch(CUgraphExec exec, CUstream stream, bool ptsz)
{
	struct call c = {.stream = stream, .ptsz = ptsz};
	struct side *s = side_lock(exec);
	CUresult r;

	if (!s) {
		graph_report_launched(NULL, FORM_OWN);
		return send(exec, &c);
	}
	if (capturing(&c)) {
		r = send(exec, &c);
	} else {
		bool plain = s->alone && s->last == FORM_OWN; /* nothing to order */

		if (plain || (ptsz ? real.cuStreamGetId_ptsz : real.cuStreamGetId)(stream, &c.id))
			c.id = 0;
		r = launch(s, choose(s, &c), &c);
	}
	side_unlock(s);
	return r;
}

void graph_uploaded(CUgraphExec exec, CUstream stream, bool ptsz)
{
	struct side *s = side_lock(exec);

	if (!s)
		return;
	if (s->form[FORM_FUSED].exec)
		(ptsz ? real.cuGraphUpload_ptsz : real.cuGraphUpload)(s->form[FORM_FUSED].exec,
								      stream);
	side_unlock(s);
}
