// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_trial.h"

#include <time.h>

#include "config/log.h"
#include "shim/graph_state.h"
#include "shim/process.h"
#include "shim/window.h"

enum {
	OFTEN = 16, /* launches that edits preceded before the trial begins */
	MEAN = 8,   /* weight of the past in the running mean */
};

uint64_t graph_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void graph_trial_cost(struct side *s, uint64_t ns)
{
	s->trial.cost_ns += ns;
}

/* Edited before almost every launch of the last ones? */
static bool often(const struct side *s)
{
	unsigned long long launches =
		s->launches[FORM_OWN] + s->launches[FORM_FUSED] + s->launches[FORM_CHECK];

	return s->trial.seen >= OFTEN && 4 * s->edited_launches > 3 * launches;
}

static bool under_way(const struct side *s)
{
	return !s->trial.over && process.config.opt.graphs != GRAPHS_ALWAYS &&
	       s->form[FORM_FUSED].exec && often(s);
}

static void decide(struct side *s)
{
	struct graph_trial *t = &s->trial;
	double gain_ns = ((double)t->least_ms[0] - (double)t->least_ms[1]) * 1e6;

	t->over = true;
	log_debug("a graph that is edited before each launch: following costs %llu ns, the fused "
		  "form gains %.0f ns",
		  (unsigned long long)t->costs, gain_ns);
	if (gain_ns <= (double)t->costs)
		side_alone(s, REASON_UPDATED_OFTEN);
}

/* Takes the time of the launch between the events, if it is over. */
static void collect(struct side *s)
{
	struct graph_trial *t = &s->trial;
	float ms;

	/* Asking an event spoils a capture, whoever captures. */
	if (t->timing < 0 || __atomic_load_n(&window_captures, __ATOMIC_ACQUIRE) ||
	    real.cuEventQuery(t->to))
		return;
	if (!real.cuEventElapsedTime(&ms, t->from, t->to)) {
		unsigned which = t->timing == FORM_FUSED;

		if (!t->n[which]++ || ms < t->least_ms[which])
			t->least_ms[which] = ms;
	}
	t->timing = -1;
	if (t->n[0] >= TRIAL_LAUNCHES && t->n[1] >= TRIAL_LAUNCHES)
		decide(s);
}

static bool events(struct graph_trial *t)
{
	if (t->from)
		return true;
	if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return false;
	t->timing = -1;
	/* Not to be measured: as good as no trial. */
	t->over = real.cuEventCreate(&t->from, CU_EVENT_DEFAULT) ||
		  real.cuEventCreate(&t->to, CU_EVENT_DEFAULT);
	return !t->over;
}

bool graph_trial_own(struct side *s)
{
	struct graph_trial *t = &s->trial;

	if (t->cost_ns) {
		t->costs = t->costs ? (t->costs * (MEAN - 1) + t->cost_ns) / MEAN : t->cost_ns;
		t->seen++;
		t->cost_ns = 0;
	}
	if (!under_way(s) || !events(t))
		return false;
	collect(s);
	return !t->over && t->n[0] < TRIAL_LAUNCHES;
}

void graph_trial_before(struct side *s, int form, CUstream stream, bool ptsz)
{
	struct graph_trial *t = &s->trial;

	if (!t->from || t->over || t->timing >= 0 || (form != FORM_OWN && form != FORM_FUSED))
		return;
	if (!(ptsz ? real.cuEventRecord_ptsz : real.cuEventRecord)(t->from, stream))
		t->timing = form;
}

void graph_trial_after(struct side *s, int form, CUstream stream, bool ptsz)
{
	struct graph_trial *t = &s->trial;

	if (!t->from || t->over || t->timing != form)
		return;
	if ((ptsz ? real.cuEventRecord_ptsz : real.cuEventRecord)(t->to, stream))
		t->timing = -1;
}

void graph_trial_end(struct side *s)
{
	struct graph_trial *t = &s->trial;

	if (t->from && !side_homeless(s))
		real.cuEventDestroy_v2(t->from);
	if (t->to && !side_homeless(s))
		real.cuEventDestroy_v2(t->to);
	t->from = t->to = NULL;
	t->over = true;
}
