/* SPDX-License-Identifier: Apache-2.0 */
/* The windows there are: found, made, counted, dropped. */
#include "shim/window.h"

#include <stdlib.h>
#include <unistd.h>

#include "shim/generated.h"
#include "shim/graph.h"
#include "shim/hot.h"
#include "shim/report.h"
#include "shim/window_chain.h"

HOT unsigned window_watch;
HOT unsigned window_waiting;
HOT unsigned window_ways;
HOT unsigned window_captures;
struct window *window_all[WINDOW_MAX];
HOT unsigned window_count;

static pthread_mutex_t make_lock = PTHREAD_MUTEX_INITIALIZER; /* guards creation and dropping */

static __thread struct {
	struct window *last; /* used last by this thread */
	int tid;
} here HOT_THREAD;

__thread unsigned *window_activity HOT_THREAD;

int window_thread(void)
{
	if (!here.tid)
		here.tid = gettid();
	return here.tid;
}

enum stream_kind window_resolve(CUstream *stream, bool ptsz)
{
	if (*stream == CU_STREAM_PER_THREAD || (!*stream && ptsz)) {
		*stream = CU_STREAM_PER_THREAD;
		return STREAM_PER_THREAD;
	}
	if (*stream == CU_STREAM_LEGACY || !*stream) {
		*stream = NULL;
		return STREAM_LEGACY;
	}
	return STREAM_BLOCKING; /* a created stream: fill asks for its flags */
}

static bool is(const struct window *w, const struct ours *o, CUstream stream, int thread)
{
	return w->used && w->stream == stream && w->ours == o && w->thread == thread;
}

struct window *window_find(const struct ours *o, CUstream stream, int thread)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	if (here.last && is(here.last, o, stream, thread))
		return here.last;
	for (unsigned i = 0; i < n; i++)
		if (is(window_all[i], o, stream, thread))
			return here.last = window_all[i];
	return NULL;
}

struct window *window_find_created(CUstream stream)
{
	unsigned n = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (window_all[i]->used && window_all[i]->stream == stream)
			return window_all[i];
	return NULL;
}

struct window *window_here(CUstream stream, bool ptsz)
{
	enum stream_kind kind = window_resolve(&stream, ptsz);
	const struct ours *o = ours_get(NULL);

	return o ? window_find(o, stream, kind == STREAM_PER_THREAD ? window_thread() : 0) : NULL;
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
	policy.chains = window_chains_on();
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

/* In a dropped one's place if there is one. */
struct window *window_make(const struct ours *o, CUstream stream, enum stream_kind kind, int thread)
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
	bool watched = held || seq_open(w->seq) || w->pending || w->nfree || w->check.arena ||
		       window_on_way(w);
	bool waiting = w->nrun || seq_waiting(w->seq);

	if (waiting != w->waiting) {
		__atomic_store_n(&w->waiting, waiting, __ATOMIC_RELEASE);
		__atomic_add_fetch(&window_waiting, waiting ? 1 : -1u, __ATOMIC_SEQ_CST);
	}
	if (w->held && !held && w->fused != w->fused_before)
		COUNT(sequences_fused, 1);
	if (!held)
		w->fused_before = w->fused;
	__atomic_store_n(&w->held, held, __ATOMIC_RELEASE);
	if (watched == w->watched)
		return;
	w->watched = watched;
	if (watched)
		__atomic_add_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
	else
		__atomic_sub_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
}

void window_touch(void)
{
	if (window_activity)
		__atomic_store_n(window_activity,
				 __atomic_load_n(window_activity, __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
}

void window_holds(struct window *w)
{
	if (!w->held) {
		window_activity = &w->activity;
		COUNT(sequences, 1);
	}
	COUNT(held, 1);
	wayout_arm(w);
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
	generated_drop_context(ctx);
}

void window_forked(void)
{
	/* Locks may be held by threads that do not exist here: touch nothing but the switch. */
	window_watch = window_waiting = window_ways = 0;
	graph_forked();
	window_activity = NULL;
	here.last = NULL;
}
