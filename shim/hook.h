/* SPDX-License-Identifier: Apache-2.0 */
/* What the hooks have in common. A hook is the driver function's own name and signature. */
#ifndef AF_SHIM_HOOK_H
#define AF_SHIM_HOOK_H

#include "shim/driver.h"
#include "shim/process.h"
#include "shim/window.h"

/* True: the hook has nothing to do, the call is the driver's alone (switched off and nothing held,
 * or made by our own code). Starts the process if need be. */
static inline bool hook_through(void)
{
	process_start();
	return (!__atomic_load_n(&process.on, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE)) ||
	       guard_held();
}

/* Before a call that may order or observe anything: records it and submits what is held. If the
 * answer is not CUDA_SUCCESS, the hook returns it and makes no call. */
CUresult hook_all(unsigned call);
CUresult hook_all_stream(unsigned call, CUstream stream, bool ptsz);
/* Before a call that orders nothing, or (stream) whose order the hook sees to: records it and
 * re-arms the way-out timer. */
void hook_query(unsigned call);
void hook_query_stream(unsigned call, CUstream stream, bool ptsz);

/* Before a call that may touch any graph of the program's: settles all loans (graph_loan.h). */
void hook_loans(void);

/* The context was destroyed, and captures on its streams with it. (hook_stream.c) */
void hook_captures_gone(CUcontext ctx);

/* A call answered `r` for want of device memory: gives back what live checks and side execs hold.
 * True: try again. */
bool hook_retry(CUresult r);

#endif
