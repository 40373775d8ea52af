// SPDX-License-Identifier: Apache-2.0
/* Ways are left: what is held by then is the planner's. Declared in window_state.h. */
#include <stdlib.h>

#include "matcher/decode.h"
#include "shim/report.h"
#include "shim/window_chain.h"
#include "shim/window_memo.h"

enum { LOST_OFTEN = 2 /* times that a way was left at a place; then that is how it is there */ };

void window_forget_all(struct window *w)
{
	if (w->memo)
		memo_forget(w->memo);
	free(w->memo);
	w->memo = NULL;
}

/* Shows the planner what is held. */
static void show(struct window *w)
{
	unsigned n = w->nrun;

	w->nrun = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member m = {.launch = w->memo->run[i]};
		const struct member *one = &m;
		struct seq_out out;
		CUresult r;

		m.launch.context = w->ours->generation;
		m.launch.stream = (uint64_t)(uintptr_t)w->stream;
		m.launch.device = w->ours->device;
		decode_launch(&m.launch, &m.op);
		COUNT(decoded, 1);
		w->finish_check = false;
		seq_launch(w->seq, &m.launch, &m.op, &out);
		r = window_chains(w, &out);
		if (!r)
			r = window_submit(w, out.flush, out.nflush);
		if (!r && out.act == SEQ_FUSE) /* its earlier members are the planner's no longer */
			r = window_submit(w, out.group->member, group_size(out.group) - 1u);
		if (!r && out.act != SEQ_HOLD)
			r = window_submit(w, &one, 1);
		w->pending = w->pending ? w->pending : r;
		w->want_check = false;
	}
}

static void leave(struct memo *m)
{
	m->at = m->first = NULL;
	m->used = 0;
}

void window_stray(struct window *w)
{
	struct memo *m = w->memo;

	if (!m || !m->at)
		return;
	if (m->refused) { /* it is the next, at a bad time */
		m->refused = false;
	} else if (++m->at->lost > LOST_OFTEN) {
		m->astray = m->skip = true;
	} else { /* to be written with both branches */
		m->first->waits = true;
		m->first->rest = 0;
	}
	leave(m);
	show(w);
}

void window_halt(struct window *w)
{
	if (!w->memo || !w->memo->at)
		return;
	leave(w->memo);
	show(w);
}

void window_settle(struct window *w)
{
	window_halt(w);
	if (w->memo)
		memo_end(w->memo);
}
