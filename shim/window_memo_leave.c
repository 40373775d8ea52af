// SPDX-License-Identifier: Apache-2.0
/* Ways are left: what is held by then is the planner's. Declared in window_state.h,
 * window_launch.h. */
#include <stdlib.h>

#include "matcher/decode.h"
#include "shim/report.h"
#include "shim/window_chain.h"
#include "shim/window_launch.h"
#include "shim/window_memo.h"

enum { LOST_OFTEN = 8 /* times that a way was left at a place; then that is how it is there */ };

void window_forget_all(struct window *w)
{
	if (!w->memo)
		return;
	memo_forget(w->memo);
	free(w->memo);
	w->memo = NULL;
	__atomic_sub_fetch(&window_ways, 1, __ATOMIC_RELAXED);
}

/* Shows the planner what is held. True: it holds all that and has done nothing else. */
static bool show(struct window *w)
{
	const unsigned n = w->nrun;
	bool all = true;

	w->nrun = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member m = {.launch = w->memo->run[i]};
		const struct member *one = &m;
		struct seq_out out;
		CUresult r, f;

		m.launch.context = w->ours->generation;
		m.launch.stream = (uint64_t)(uintptr_t)w->stream;
		m.launch.device = w->ours->device;
		decode_launch(&m.launch, &m.op);
		COUNT(decoded, 1);
		w->finish_check = false;
		seq_launch(w->seq, &m.launch, &m.op, &out);
		r = window_chains(w, &out);
		f = window_submit(w, out.flush, out.nflush);
		r = r ? r : f;
		if (out.act == SEQ_FUSE) { /* its earlier members are the planner's no longer */
			f = window_submit(w, out.group->member, group_size(out.group) - 1u);
			r = r ? r : f;
		}
		if (out.act != SEQ_HOLD) {
			f = window_submit(w, &one, 1);
			r = r ? r : f;
		}
		w->pending = w->pending ? w->pending : r;
		w->want_check = false;
		all &= !r && out.act == SEQ_HOLD && !out.nflush && !out.nchain;
	}
	return all;
}

void memo_leave(struct memo *m)
{
	m->at = m->first = NULL;
	m->used = 0;
}

/* The way is written on from where it was left: the planner holds the n launches held there. */
static void resume(struct memo *m, unsigned n, struct entry *first, struct entry *at)
{
	struct entry *e = at;
	unsigned place = m->count - 1;

	for (unsigned i = n; i-- > 0;) {
		for (; place > m->place[i]; place--)
			e = e->before;
		m->held[i].index = m->run[i].index;
		m->held[i].place = m->place[i];
		m->held[i].entry = e;
	}
	m->nheld = n;
	m->writing = true;
	m->begun = first;
	m->behind = at;
	m->from = m->started;
	m->written = m->resumed = m->count;
	m->waits = first->waits;
	m->changes = first->changes;
}

void window_stray(struct window *w)
{
	struct memo *m = w->memo;
	const unsigned n = w->nrun;
	struct entry *first, *at;
	bool on;

	if (!m || !m->at)
		return;
	first = m->first;
	at = m->at;
	on = !m->refused || m->torn; /* else it is the next, at a bad time */
	if (on && ++at->lost > LOST_OFTEN) {
		m->astray = true;
		m->skip = !m->refused;
		on = false;
	}
	m->refused = false;
	memo_end(m);
	memo_leave(m);
	if (show(w) && on) {
		resume(m, n, first, at);
	} else if (on) { /* to be written once more from its beginning */
		first->waits = true;
		first->rest = 0;
	}
}

void window_halt(struct window *w)
{
	if (!w->memo || !w->memo->at)
		return;
	memo_leave(w->memo);
	show(w);
}

void window_settle(struct window *w)
{
	window_halt(w);
	if (w->memo)
		memo_end(w->memo);
}

bool window_rest(const struct own_launch *own)
{
	struct window *w = window_here(own->stream, own->ptsz);

	if (w && __atomic_load_n(&w->watched, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&w->lock);
		if (w->used && !w->pending && !w->nfree && !w->check.arena && !w->nrun &&
		    !seq_held(w->seq)) {
			window_settle(w);
			seq_clear(w->seq);
			window_update(w);
		}
		pthread_mutex_unlock(&w->lock);
	}
	return !__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE);
}
