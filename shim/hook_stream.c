/* SPDX-License-Identifier: Apache-2.0 */
/* Captures (nothing is held while one is under way anywhere in the process) and streams that go. */
#include <pthread.h>

#include "shim/attributed.h"
#include "shim/driver.h"
#include "shim/graph.h"
#include "shim/hook.h"
#include "shim/ours.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/window.h"
#include "shim/worker.h"

enum { CAPTURES_MAX = 256 };

static struct {
	pthread_mutex_t lock;
	CUstream stream[CAPTURES_MAX]; /* origin streams of captures under way */
	CUcontext ctx[CAPTURES_MAX];   /* current when they began */
	unsigned n;
	bool overflow; /* more than the table holds: nothing is held again in this process */
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void capture_add(CUstream s)
{
	CUcontext ctx = NULL;

	real.cuCtxGetCurrent(&ctx); /* to ask a stream may spoil what it captures */
	pthread_mutex_lock(&captures.lock);
	if (captures.n < CAPTURES_MAX) {
		captures.ctx[captures.n] = ctx;
		captures.stream[captures.n++] = s;
	} else {
		captures.overflow = true;
	}
	__atomic_store_n(&window_captures, captures.n + captures.overflow, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&captures.lock);
}

/* Lock held. */
static void take_out(unsigned i)
{
	captures.n--;
	captures.stream[i] = captures.stream[captures.n];
	captures.ctx[i] = captures.ctx[captures.n];
	__atomic_store_n(&window_captures, captures.n + captures.overflow, __ATOMIC_SEQ_CST);
}

static void capture_remove(CUstream s)
{
	pthread_mutex_lock(&captures.lock);
	for (unsigned i = 0; i < captures.n; i++)
		if (captures.stream[i] == s) {
			take_out(i);
			break;
		}
	pthread_mutex_unlock(&captures.lock);
}

void hook_captures_gone(CUcontext ctx)
{
	pthread_mutex_lock(&captures.lock);
	for (unsigned i = captures.n; i-- > 0;)
		if (captures.ctx[i] == ctx)
			take_out(i);
	pthread_mutex_unlock(&captures.lock);
}

/* Closes every window before the capture begins. The caller makes the driver's call and then
 * tells capture_begun how it went. */
static CUresult capture_begins(CUstream s)
{
	CUresult r;

	graph_expected();
	attributed_capture(s);
	capture_add(s);
	r = window_all_call();
	worker_driver_wait(false); /* what it allocates would spoil the capture */
	if (r)
		capture_remove(s);
	return r;
}

static CUresult capture_begun(CUstream s, CUresult r)
{
	if (r)
		capture_remove(s);
	return r;
}

/* Captures are counted as long as executable graphs have something beside them: the next launch of
 * one may have to be ordered behind one of ours, but not into a capture. */
static bool through(void)
{
	return (!process.on && !__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE) &&
		!__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE)) ||
	       guard_held();
}

/* One name for the per-thread stream, whichever entry point is told of it. */
static CUstream origin(CUstream s, bool ptsz)
{
	return !s && ptsz ? CU_STREAM_PER_THREAD : s;
}

/* The per-thread stream's captures are told apart by thread only in the driver; counting is enough.
 * before: of a graph that there is. */
#define CAPTURE_BEGIN(name, params, args, ptsz, before)                                            \
	CUresult name params                                                                       \
	{                                                                                          \
		CUresult r;                                                                        \
                                                                                                   \
		before;                                                                            \
		if (through())                                                                     \
			return real.name args;                                                     \
		record_call(CALL_##name, true, stream, ptsz);                                      \
		r = capture_begins(origin(stream, ptsz));                                          \
		return r ? r : capture_begun(origin(stream, ptsz), real.name args);                \
	}

CAPTURE_BEGIN(cuStreamBeginCapture, (CUstream stream), (stream), false, (void)0)
CAPTURE_BEGIN(cuStreamBeginCapture_ptsz, (CUstream stream), (stream), true, (void)0)
CAPTURE_BEGIN(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode),
	      false, (void)0)
CAPTURE_BEGIN(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
	      (stream, mode), true, (void)0)
#define TO_GRAPH_PARAMS                                                                            \
	(CUstream stream, CUgraph graph, const CUgraphNode *deps, const CUgraphEdgeData *edges,    \
	 size_t n, CUstreamCaptureMode mode)
CAPTURE_BEGIN(cuStreamBeginCaptureToGraph, TO_GRAPH_PARAMS, (stream, graph, deps, edges, n, mode),
	      false, hook_loans())
CAPTURE_BEGIN(cuStreamBeginCaptureToGraph_ptsz, TO_GRAPH_PARAMS,
	      (stream, graph, deps, edges, n, mode), true, hook_loans())

/* A capture that was invalidated ends too, with an error; one that is still under way does not. */
static CUresult capture_end(CUstream s, CUresult r, bool ptsz)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult q = ptsz ? real.cuStreamIsCapturing_ptsz(s, &status)
			  : real.cuStreamIsCapturing(s, &status);

	if (r == CUDA_SUCCESS || q != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)
		capture_remove(origin(s, ptsz));
	if (!__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		ours_seen();
	return r;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	CUresult r;

	if (through())
		return real.cuStreamEndCapture(stream, graph);
	record_call(CALL_cuStreamEndCapture, true, stream, false);
	r = window_stream_call(stream, false);
	return r ? r : capture_end(stream, real.cuStreamEndCapture(stream, graph), false);
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	CUresult r;

	if (through())
		return real.cuStreamEndCapture_ptsz(stream, graph);
	record_call(CALL_cuStreamEndCapture_ptsz, true, stream, true);
	r = window_stream_call(stream, true);
	return r ? r : capture_end(stream, real.cuStreamEndCapture_ptsz(stream, graph), true);
}

static CUresult destroy(CUstream stream, unsigned call, CUresult (*own)(CUstream))
{
	CUresult r;

	if (through())
		return own(stream);
	record_call(call, true, stream, false);
	r = window_stream_call(stream, false);
	if (r)
		return r;
	if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD) /* the driver refuses the others */
		window_drop_stream(NULL, stream);
	attributed_stream_goes(stream);
	r = own(stream);
	if (!r)
		capture_remove(stream);
	return r;
}

CUresult cuStreamDestroy(CUstream stream)
{
	return destroy(stream, CALL_cuStreamDestroy, real.cuStreamDestroy);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	return destroy(stream, CALL_cuStreamDestroy_v2, real.cuStreamDestroy_v2);
}
