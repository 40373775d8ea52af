/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are no launches: what has to go out before them. */
#include <pthread.h>
#include <time.h>

#include "shim/memory.h"
#include "shim/process.h"
#include "shim/window_state.h"

/* Longest wait for a window whose holder is stuck in the driver (a full queue), see lock_other. */
enum { STUCK_S = 2 };

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

void window_flush_related(const struct ours *o, const struct window *self, enum stream_kind kind)
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

CUresult window_stream_call(CUstream stream, bool ptsz)
{
	enum stream_kind kind = window_resolve(&stream, ptsz);
	const struct ours *o;
	struct window *w;
	CUresult r = CUDA_SUCCESS;

	window_touch();
	if (!(o = ours_get(NULL)))
		return window_all_call();
	w = window_find(o, stream, kind == STREAM_PER_THREAD ? window_thread() : 0);
	if (!w && kind == STREAM_BLOCKING && (w = window_find_created(stream)))
		o = w->ours;
	if (w)
		kind = w->kind;
	window_flush_related(o, w, kind);
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
	enum stream_kind kind = window_resolve(&stream, ptsz);
	const struct ours *o = ours_get(NULL);
	struct window *w =
		o ? window_find(o, stream, kind == STREAM_PER_THREAD ? window_thread() : 0) : NULL;
	struct range r = {ptr, ptr + 1};
	unsigned flags;
	bool kept = false;

	window_touch();
	*err = CUDA_SUCCESS;
	if (memory_find(ptr, &r, &flags))
		flush_touching(w, r);
	/* Nothing that is known begins there: it is the driver's to say so, now. */
	if (!w || !__atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) || r.hi == ptr + 1 ||
	    r.lo != ptr) {
		*err = window_stream_call(stream, ptsz);
		return false;
	}
	pthread_mutex_lock(&w->lock);
	if (!w->used) { /* another thread destroys the stream just now */
		pthread_mutex_unlock(&w->lock);
		return false;
	}
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
