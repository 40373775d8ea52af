/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows: one per (context, stream), each with the planner's view of that stream and the
 * launches it holds back. Every hook and thunk comes here before it makes its own call.
 *
 * Functions that return CUresult may have submitted held launches. If they return anything but
 * CUDA_SUCCESS, a held launch failed; the caller must not make its own call and must return that
 * value to the program (a launch that fails late reports its error at the next call on its stream).
 */
#ifndef AF_SHIM_WINDOW_H
#define AF_SHIM_WINDOW_H

#include <stdbool.h>
#include "matcher/reason.h"
#include "shim/driver.h"

/*
 * How many windows hold or track launches, plus 1 while calls are being recorded. Thunks and hooks
 * read it without a lock: at 0 a call has nothing to do here and goes straight to the driver.
 */
extern unsigned window_watch;
/* How many windows have open matches, dead ones included. */
extern unsigned window_waiting;
/* How many know ways (window_memo.c). */
extern unsigned window_ways;

/* Number of streams being captured in this process; atomic. */
extern unsigned window_captures;

/* A pure query: re-arms the way-out timer of what this thread holds. */
void window_touch(void);
/* What it counts in: `activity` of the window of this thread's last held launch, or NULL. Neutral
 * calls do that without it (entry.S); one that is lost is no harm. */
extern __thread unsigned *window_activity;

/* A call ordered on one stream, as the program passed it (ptsz: 0 means the per-thread stream). */
CUresult window_stream_call(CUstream stream, bool ptsz);

/* A call that may order or observe anything: submits everything held in the process. */
CUresult window_all_call(void);

/* As window_all_call, for one context, with another reason; used before contexts or modules go. */
CUresult window_context_call(CUcontext ctx, enum reason why);

/* A stream or context is gone: forget its windows (after a *_call submitted what they held). */
void window_drop_stream(CUcontext ctx, CUstream stream);
void window_drop_context(CUcontext ctx);

/*
 * cuMemFreeAsync on a stream. True: the window holds launches that touch the allocation, keeps the
 * free behind them and the hook answers CUDA_SUCCESS. False: the hook makes the call itself; if
 * *err is not CUDA_SUCCESS it returns that instead (a held launch failed).
 */
bool window_free_async(CUdeviceptr ptr, CUstream stream, bool ptsz, CUresult *err);

/* In a forked child: everything is off; no lock is taken. */
void window_forked(void);

#endif
