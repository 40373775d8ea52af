/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that comes to its window: the planner is asked, and what it says is done. */
#include "shim/window_launch.h"

#include "shim/budget.h"
#include "shim/report.h"
#include "shim/window_chain.h"

enum { CHECK_LAUNCHES = 64 };

/*
 * A launch on one stream may be what another stream's matches wait for: they are reported as
 * different-stream. A window that is busy now is left out; only its report loses by it.
 */
static void elsewhere(const struct window *self, const struct ours *o, const struct launch *l,
		      const struct op *op)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);
	struct seq_out out;
	CUresult r;

	for (unsigned i = 0; i < n; i++) {
		struct window *w = window_all[i];

		if (w == self || !w->used || w->ours != o ||
		    !__atomic_load_n(&w->waiting, __ATOMIC_ACQUIRE) ||
		    pthread_mutex_trylock(&w->lock))
			continue;
		if (w->used) {
			window_settle(w);
			w->finish_check = false;
			seq_elsewhere(w->seq, l, op, &out);
			r = window_submit(w, out.flush, out.nflush);
			w->pending = w->pending ? w->pending : r;
			window_update(w);
		}
		pthread_mutex_unlock(&w->lock);
	}
}

static CUresult act(struct window *w, const struct launch *l, const struct op *op,
		    const struct seq_out *out, const struct own_launch *own)
{
	CUresult r;

	switch (out->act) {
	case SEQ_HOLD:
		window_holds(w);
		return CUDA_SUCCESS;
	case SEQ_FUSE:
		if (window_fuse(w, out->group))
			return CUDA_SUCCESS;
		report_group(out->group, OUTCOME_REJECTED, REASON_NO_VERDICT);
		window_note_checked(w);
		r = window_submit(w, out->group->member, group_size(out->group) - 1u);
		return r ? r : own->send(own);
	case SEQ_PASS:
		break;
	}
	/* A match that never completes must not keep the memory of checks to itself. */
	if (w->want_check && w->check.arena && l->index - w->check_index > CHECK_LAUNCHES)
		check_cancel(&w->check, w->ours, w->stream);
	if (w->want_check && !w->check.arena) {
		struct member m = {.launch = *l, .op = *op};

		if (check_begin(&w->check, w->ours, w->stream, &m))
			w->check_index = l->index;
	}
	if (w->finish_check && !check_last(&w->check, w->ours, w->stream, &w->checked)) {
		check_cancel(&w->check, w->ours, w->stream);
		w->finish_check = false;
	}
	r = own->send(own);
	if (!w->finish_check)
		return r;
	if (r) {
		check_cancel(&w->check, w->ours, w->stream);
	} else {
		check_run(&w->check, w->ours, w->stream, &w->checked, w->verdict);
		/* The answer comes later; until then others need not stand back for it. */
		w->verdict->unchecked = 0;
		w->verdict->due = 0;
	}
	return r;
}

/* The launch in hand is refused because an earlier one failed late: send what else is held. */
static void drain_but(struct window *w, uint64_t index)
{
	struct seq_out out;

	seq_barrier(w->seq, REASON_BARRIER, &out);
	for (unsigned i = 0; i < out.nchain; i++)
		for (unsigned k = 0; k < out.chain[i]->nmember; k++)
			if (out.chain[i]->member[k]->launch.index != index)
				window_submit(w, &out.chain[i]->member[k], 1);
	for (unsigned i = 0; i < out.nflush; i++)
		if (out.flush[i]->launch.index != index)
			window_submit(w, &out.flush[i], 1);
}

/* What is held, and what is remembered, was let by others by what does not hold any more. */
static void doubt(struct window *w)
{
	const uint64_t now = window_doubts();
	CUresult r;

	if (w->doubts == now)
		return;
	w->doubts = now;
	r = window_flush(w, REASON_BARRIER);
	w->pending = w->pending ? w->pending : r;
	window_forget_all(w);
}

CUresult window_launch(const struct own_launch *own, struct launch *l, const struct op *op)
{
	CUstream stream = own->stream;
	enum stream_kind kind = window_resolve(&stream, own->ptsz);
	const struct ours *o = ours_get(NULL);
	int thread = kind == STREAM_PER_THREAD ? window_thread() : 0;
	struct window *w = o ? window_find(o, stream, thread) : NULL;
	struct seq_out out;
	uint64_t from, took;
	CUresult r, f;

	/* Asking a capturing stream for its flags spoils the capture (H200, driver 580); nothing is
	 * held during one anyway. */
	if (o && !w && op->code != OP_opaque &&
	    !__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		w = window_make(o, stream, kind, thread);
	if (!w || op->code == OP_opaque) {
		/* Nothing is held for this launch's sake; it still ends what it may conflict with.
		 */
		if (!w || !__atomic_load_n(&w->watched, __ATOMIC_ACQUIRE)) {
			r = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE)
				    ? window_stream_call(own->stream, own->ptsz)
				    : CUDA_SUCCESS;
			return r ? r : own->send(own);
		}
	}
	window_touch();
	l->context = o->generation;
	l->stream = (uint64_t)(uintptr_t)stream;
	l->device = o->device;
	if (op->code != OP_opaque && __atomic_load_n(&window_count, __ATOMIC_ACQUIRE) > 1)
		elsewhere(w, o, l, op);
	window_flush_related(o, w, w->kind);
	pthread_mutex_lock(&w->lock);
	if (!w->used) { /* another thread destroys the stream or its context just now */
		pthread_mutex_unlock(&w->lock);
		return own->send(own);
	}
	window_stray(w);
	doubt(w);
	if (w->pending) {
		r = w->pending;
		w->pending = CUDA_SUCCESS;
		goto out;
	}
	w->verdict = NULL;
	w->want_check = w->finish_check = false;
	from = budget_clock();
	window_note(w, l, op);
	seq_launch(w->seq, l, op, &out);
	r = window_chains(w, &out);
	took = budget_clock() - from;
	budget_planned(took);
	window_note_took(w, took);
	f = window_submit(w, out.flush, out.nflush);
	r = r ? r : f;
	if (!r && (out.nflush || out.nchain))
		r = window_frees(w);
	if (r)
		drain_but(w, l->index);
	else
		r = act(w, l, op, &out, own);
	window_noted(w, l, out.act, r);
	if (w->nfree && !r)
		r = window_frees(w);
out:
	window_update(w);
	pthread_mutex_unlock(&w->lock);
	return r;
}
