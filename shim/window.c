/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/window.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/graph.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/window_launch.h"
#include "shim/window_state.h"

/* Longest wait for a window whose holder is stuck in the driver (a full queue), see lock_other. */
enum { STUCK_S = 2, CHECK_LAUNCHES = 64 };

unsigned window_watch;
unsigned window_waiting;
unsigned window_captures;
struct window *window_all[WINDOW_MAX];
unsigned window_count;

static pthread_mutex_t make_lock = PTHREAD_MUTEX_INITIALIZER; /* guards creation and dropping */

static __thread struct {
	struct window *last; /* used last by this thread */
	struct window *held; /* where this thread's last held launch is */
	int tid;
} here;

static int my_tid(void)
{
	if (!here.tid)
		here.tid = gettid();
	return here.tid;
}

/* The program's stream argument, resolved as the entry point's flavour does. */
static enum stream_kind resolve(CUstream *stream, bool ptsz)
{
	if (*stream == CU_STREAM_PER_THREAD || (!*stream && ptsz)) {
		*stream = CU_STREAM_PER_THREAD;
		return STREAM_PER_THREAD;
	}
	if (*stream == CU_STREAM_LEGACY || !*stream) {
		*stream = NULL;
		return STREAM_LEGACY;
	}
	return STREAM_BLOCKING; /* a created stream: window_make asks for its flags */
}

static bool is(const struct window *w, const struct ours *o, CUstream stream, int thread)
{
	return w->used && w->stream == stream && w->ours == o && w->thread == thread;
}

static struct window *find(const struct ours *o, CUstream stream, int thread)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	if (here.last && is(here.last, o, stream, thread))
		return here.last;
	for (unsigned i = 0; i < n; i++)
		if (is(window_all[i], o, stream, thread))
			return here.last = window_all[i];
	return NULL;
}

/* A created stream may be named while any context is current. */
static struct window *find_created(CUstream stream)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (window_all[i]->used && window_all[i]->stream == stream)
			return window_all[i];
	return NULL;
}

struct window *window_here(CUstream stream, bool ptsz)
{
	enum stream_kind kind = resolve(&stream, ptsz);
	const struct ours *o = ours_get(NULL);

	return o ? find(o, stream, kind == STREAM_PER_THREAD ? my_tid() : 0) : NULL;
}

static bool fill(struct window *w, const struct ours *o, CUstream stream, enum stream_kind kind,
		 int thread)
{
	struct seq_policy policy = window_policy;
	unsigned flags = 0;
	CUcontext ctx;

	if (kind == STREAM_BLOCKING) {
		if (real.cuStreamGetFlags(stream, &flags) || real.cuStreamGetCtx(stream, &ctx) ||
		    ctx != o->ctx)
			return false;
		if (flags & CU_STREAM_NON_BLOCKING)
			kind = STREAM_NONBLOCKING;
	}
	policy.arg = w;
	w->seq = seq_new(&policy);
	if (!w->seq)
		return false;
	w->ours = o;
	w->stream = stream;
	w->kind = kind;
	w->thread = thread;
	__atomic_store_n(&w->used, true, __ATOMIC_RELEASE);
	return true;
}

/* Makes a window, in a dropped one's place if there is one. */
static struct window *make(const struct ours *o, CUstream stream, enum stream_kind kind, int thread)
{
	struct window *w = NULL;

	pthread_mutex_lock(&make_lock);
	for (unsigned i = 0; i < window_count; i++)
		if (is(window_all[i], o, stream, thread)) { /* another thread was faster */
			pthread_mutex_unlock(&make_lock);
			return here.last = window_all[i];
		}
	for (unsigned i = 0; i < window_count && !w; i++)
		if (!window_all[i]->used)
			w = window_all[i];
	if (!w && window_count < WINDOW_MAX && (w = calloc(1, sizeof(*w)))) {
		pthread_mutex_init(&w->lock, NULL);
		window_all[window_count] = w;
		__atomic_store_n(&window_count, window_count + 1, __ATOMIC_RELEASE);
	}
	if (w) {
		pthread_mutex_lock(&w->lock);
		if (!fill(w, o, stream, kind, thread))
			w->used = false;
		pthread_mutex_unlock(&w->lock);
	}
	pthread_mutex_unlock(&make_lock);
	return w && w->used ? (here.last = w) : NULL;
}

void window_update(struct window *w)
{
	unsigned held = seq_held(w->seq) + w->nrun;
	bool watched = held || seq_open(w->seq) || w->pending || w->nfree || w->check.arena;
	bool waiting = w->nrun || seq_waiting(w->seq);

	if (waiting != w->waiting) {
		__atomic_store_n(&w->waiting, waiting, __ATOMIC_RELEASE);
		__atomic_add_fetch(&window_waiting, waiting ? 1 : -1u, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&w->held, held, __ATOMIC_RELEASE);
	if (watched == w->watched)
		return;
	w->watched = watched;
	if (watched)
		__atomic_add_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
	else
		__atomic_sub_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
}

/*
 * Locks another stream's window. Its holder may be stuck in the driver, because the stream's queue
 * is full, and the call in hand may be what un-sticks it: after a while we go on without, switch
 * fusion off for good and say so.
 */
static bool lock_other(struct window *w)
{
	struct timespec t;

	if (!pthread_mutex_trylock(&w->lock))
		return true;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += STUCK_S;
	if (!pthread_mutex_timedlock(&w->lock, &t))
		return true;
	process_off("a stream did not take a held launch for 2 seconds");
	return false;
}

/* keep: an error stays with the window, for the next call on its stream. */
static CUresult flush_other(struct window *w, enum reason why, bool keep)
{
	CUresult r = CUDA_SUCCESS;

	if (!__atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) || !lock_other(w))
		return r;
	if (w->used) {
		r = window_flush(w, why);
		r = w->pending ? w->pending : r;
		w->pending = keep ? r : CUDA_SUCCESS;
		window_update(w);
	}
	pthread_mutex_unlock(&w->lock);
	return keep ? CUDA_SUCCESS : r;
}

/* Flushes what the legacy default stream's rules order before work on a stream of that kind. */
static void flush_related(const struct ours *o, const struct window *self, enum stream_kind kind)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	if (kind == STREAM_NONBLOCKING || !__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE))
		return;
	for (unsigned i = 0; i < n; i++) {
		struct window *w = window_all[i];

		if (w == self || !w->used || w->ours != o || w->kind == STREAM_NONBLOCKING ||
		    (kind != STREAM_LEGACY && w->kind != STREAM_LEGACY))
			continue;
		flush_other(w, REASON_BARRIER, true);
	}
}

static CUresult all(const struct ours *only, enum reason why)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);
	CUresult first = CUDA_SUCCESS;

	for (unsigned i = 0; i < n; i++) {
		CUresult r = !only || window_all[i]->ours == only
				     ? flush_other(window_all[i], why, false)
				     : CUDA_SUCCESS;

		first = first ? first : r;
	}
	return first;
}

CUresult window_all_call(void)
{
	window_touch();
	return __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) ? all(NULL, REASON_BARRIER)
								: CUDA_SUCCESS;
}

CUresult window_context_call(CUcontext ctx, enum reason why)
{
	const struct ours *o =
		__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) ? ours_get(ctx) : NULL;

	return o ? all(o, why) : CUDA_SUCCESS;
}

void window_touch(void)
{
	if (here.held)
		__atomic_add_fetch(&here.held->activity, 1, __ATOMIC_RELAXED);
}

CUresult window_stream_call(CUstream stream, bool ptsz)
{
	enum stream_kind kind = resolve(&stream, ptsz);
	const struct ours *o;
	struct window *w;
	CUresult r = CUDA_SUCCESS;

	window_touch();
	if (!(o = ours_get(NULL)))
		return window_all_call();
	w = find(o, stream, kind == STREAM_PER_THREAD ? my_tid() : 0);
	if (!w && kind == STREAM_BLOCKING && (w = find_created(stream)))
		o = w->ours;
	if (w)
		kind = w->kind;
	flush_related(o, w, kind);
	if (w && __atomic_load_n(&w->watched, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&w->lock);
		if (w->used) {
			r = window_flush(w, REASON_BARRIER);
			if (w->pending) {
				r = w->pending;
				w->pending = CUDA_SUCCESS;
			}
			window_update(w);
		}
		pthread_mutex_unlock(&w->lock);
	}
	return r;
}

/* Other streams' held launches that touch memory about to be freed go first. */
static void flush_touching(const struct window *self, struct range r)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++) {
		struct window *w = window_all[i];
		bool touches;

		if (w == self || !__atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) || !lock_other(w))
			continue;
		if (w->used) {
			window_settle(w);
			window_update(w);
		}
		touches = w->used && seq_touches(w->seq, r);
		pthread_mutex_unlock(&w->lock);
		if (touches)
			flush_other(w, REASON_BARRIER, true);
	}
}

bool window_free_async(CUdeviceptr ptr, CUstream stream, bool ptsz, CUresult *err)
{
	enum stream_kind kind = resolve(&stream, ptsz);
	const struct ours *o = ours_get(NULL);
	struct window *w = o ? find(o, stream, kind == STREAM_PER_THREAD ? my_tid() : 0) : NULL;
	struct range r = {ptr, ptr + 1};
	unsigned flags;
	bool kept = false;

	window_touch();
	*err = CUDA_SUCCESS;
	if (memory_find(ptr, &r, &flags))
		flush_touching(w, r);
	if (!w || !__atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) || r.hi == ptr + 1) {
		*err = window_stream_call(stream, ptsz);
		return false;
	}
	pthread_mutex_lock(&w->lock);
	window_settle(w);
	if (w->pending) {
		*err = w->pending;
		w->pending = CUDA_SUCCESS;
	} else if (seq_touches(w->seq, r)) {
		if (w->nfree == WINDOW_FREES)
			*err = window_flush(w, REASON_BARRIER);
		else
			w->free_[w->nfree++] = ptr;
		kept = w->nfree && !*err;
	} else {
		seq_forget(w->seq, r);
	}
	window_update(w);
	pthread_mutex_unlock(&w->lock);
	return kept;
}

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

void window_holds(struct window *w)
{
	if (!w->held)
		here.held = w;
	__atomic_add_fetch(&report_counts.held, 1, __ATOMIC_RELAXED);
	wayout_arm(w);
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
		r = window_submit(w, out->group->member, out->group->pattern->nnode - 1u);
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
		w->verdict->sampled_at = w->verdict->fused;
		w->verdict->due = 0;
	}
	return r;
}

/* The launch in hand is refused because an earlier one failed late: send what else is held. */
static void drain_but(struct window *w, uint64_t index)
{
	struct seq_out out;

	seq_barrier(w->seq, REASON_BARRIER, &out);
	for (unsigned i = 0; i < out.nflush; i++)
		if (out.flush[i]->launch.index != index)
			window_submit(w, &out.flush[i], 1);
}

CUresult window_launch(const struct own_launch *own, struct launch *l, const struct op *op)
{
	CUstream stream = own->stream;
	enum stream_kind kind = resolve(&stream, own->ptsz);
	const struct ours *o = ours_get(NULL);
	int thread = kind == STREAM_PER_THREAD ? my_tid() : 0;
	struct window *w = o ? find(o, stream, thread) : NULL;
	struct seq_out out;
	CUresult r;

	/* Asking a capturing stream for its flags spoils the capture (H200, driver 580); nothing is
	 * held during one anyway. */
	if (o && !w && op->code != OP_opaque &&
	    !__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		w = make(o, stream, kind, thread);
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
	flush_related(o, w, w->kind);
	pthread_mutex_lock(&w->lock);
	window_settle(w);
	if (w->pending) {
		r = w->pending;
		w->pending = CUDA_SUCCESS;
		goto out;
	}
	w->verdict = NULL;
	w->want_check = w->finish_check = false;
	seq_launch(w->seq, l, op, &out);
	r = window_submit(w, out.flush, out.nflush);
	if (!r && out.nflush)
		r = window_frees(w);
	if (r)
		drain_but(w, l->index);
	else
		r = act(w, l, op, &out, own);
	if (w->nfree && !r)
		r = window_frees(w);
out:
	window_update(w);
	pthread_mutex_unlock(&w->lock);
	return r;
}

static void drop(struct window *w)
{
	struct seq_out out;

	pthread_mutex_lock(&w->lock);
	if (w->used) {
		window_settle(w);
		window_forget_all(w);
		seq_barrier(w->seq, REASON_BARRIER, &out);
		seq_free(w->seq);
		if (w->watched)
			__atomic_sub_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
		if (w->waiting)
			__atomic_sub_fetch(&window_waiting, 1, __ATOMIC_SEQ_CST);
		w->watched = w->waiting = false;
		w->held = w->nfree = 0;
		w->pending = CUDA_SUCCESS;
		w->check.arena = NULL;
		w->seq = NULL;
		w->used = false;
	}
	pthread_mutex_unlock(&w->lock);
}

void window_drop_stream(CUcontext ctx, CUstream stream)
{
	pthread_mutex_lock(&make_lock);
	for (unsigned i = 0; i < window_count; i++)
		if (window_all[i]->used && window_all[i]->stream == stream &&
		    (!ctx || window_all[i]->ours->ctx == ctx))
			drop(window_all[i]);
	pthread_mutex_unlock(&make_lock);
}

void window_drop_context(CUcontext ctx)
{
	pthread_mutex_lock(&make_lock);
	for (unsigned i = 0; i < window_count; i++)
		if (window_all[i]->used && window_all[i]->ours->ctx == ctx)
			drop(window_all[i]);
	pthread_mutex_unlock(&make_lock);
	check_drop_context(ctx);
}

void window_forked(void)
{
	/* Locks may be held by threads that do not exist here: touch nothing but the switch. */
	window_watch = window_waiting = 0;
	graph_forked();
	here.held = here.last = NULL;
}
