// SPDX-License-Identifier: Apache-2.0
/* The worker looks for records that want something, one at a time. */
#include "shim/graph_state.h"
#include "shim/process.h"
#include "shim/window.h"
#include "shim/worker.h"

enum {
	PATIENCE_FIRST = 16, /* polls, about a millisecond each */
	PATIENCE_MOST = 2048,
};

/* Is it time to look at this one? Lock held. */
static bool due(struct side *s)
{
	bool news;

	if (side_lost(s))
		side_alone(s, REASON_CONTEXT_GONE);
	if (s->gone || s->alone || s->building || graph_loan_early(s->loan))
		return false;
	if (s->want || s->stale)
		return true;
	if (!s->waits)
		return false;
	s->ticks++;
	news = verdict_changes() != s->changes;
	if (s->ticks < (news ? s->pace : s->patience))
		return false;
	if (news)
		s->patience = 0;
	s->ticks = 0;
	return true;
}

struct scan {
	struct side *found;
	bool waiting;
};

/* The one that is due stays locked. */
static bool look(void *arg, struct side *s)
{
	struct scan *scan = arg;

	if (due(s)) {
		scan->found = s;
		scan->waiting = true;
		__atomic_add_fetch(&s->refs, 1, __ATOMIC_ACQ_REL);
		return true;
	}
	scan->waiting |= s->waits || s->want || s->stale;
	return false;
}

bool graph_poll(void)
{
	struct scan scan = {NULL, false};
	bool inside = true;

	if (!process.on)
		return false;
	if (__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE))
		verdict_load(); /* reads a file, so it is not for the program's calls */
	/* While a capture is under way nothing is made: its begin waits for us to leave. */
	if (!worker_driver_enter())
		return false;
	if (__atomic_load_n(&window_captures, __ATOMIC_SEQ_CST)) {
		worker_driver_leave();
		return true;
	}
	scan.waiting |= side_try_each(look, NULL, &scan);
	if (scan.found) {
		struct side *s = scan.found;

		s->patience = s->patience ? s->patience * 2 : PATIENCE_FIRST;
		if (s->patience > PATIENCE_MOST)
			s->patience = PATIENCE_MOST;
		inside = !side_base(s) || graph_build(s);
		side_unlock(s);
	}
	if (inside)
		worker_driver_leave();
	return inside && scan.waiting;
}
