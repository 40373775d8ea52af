/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: our module goes into each one when it is first seen, and all we know of it goes before
 * it does, because its handle may come back for another.
 */
#include <pthread.h>

#include "shim/check.h"
#include "shim/graph.h"
#include "shim/hook.h"
#include "shim/kernels.h"
#include "shim/memory.h"
#include "shim/ours.h"

enum { DEVICES = 128 };

/* Primary contexts by device, so that a release or reset finds the context it ends. */
static struct {
	CUcontext ctx;
	int retains; /* by the program, since we look */
} primary[DEVICES];

/* The current context may be new. Returns what the hook then returns. */
static CUresult current(CUresult r)
{
	if (!r && guard_enter()) {
		ours_seen();
		guard_leave();
	}
	return r;
}

/* ctx is about to be destroyed (or, !lives, just was); what it held has been submitted. */
static void drop(CUcontext ctx, bool lives)
{
	if (!ctx || !guard_enter())
		return;
	graph_drop_context(ctx, lives);
	window_drop_context(ctx);
	ours_drop(ctx);
	kernels_forget(NULL);
	memory_drop_context(ctx);
	guard_leave();
}

/* What was dropped is destroyed, if the driver says so. Returns what the hook then returns. */
static CUresult gone(CUcontext ctx, CUresult r)
{
	if (!r && ctx && guard_enter()) {
		check_context_gone(ctx);
		hook_captures_gone(ctx);
		guard_leave();
	}
	return r;
}

CUresult cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxCreate(ctx, flags, device);
	if ((r = hook_all(CALL_cuCtxCreate)))
		return r;
	return current(real.cuCtxCreate(ctx, flags, device));
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxCreate_v2(ctx, flags, device);
	if ((r = hook_all(CALL_cuCtxCreate_v2)))
		return r;
	return current(real.cuCtxCreate_v2(ctx, flags, device));
}

CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int n, unsigned flags,
			CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxCreate_v3(ctx, affinity, n, flags, device);
	if ((r = hook_all(CALL_cuCtxCreate_v3)))
		return r;
	return current(real.cuCtxCreate_v3(ctx, affinity, n, flags, device));
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxCreate_v4(ctx, params, flags, device);
	if ((r = hook_all(CALL_cuCtxCreate_v4)))
		return r;
	return current(real.cuCtxCreate_v4(ctx, params, flags, device));
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUcontext now;
	CUresult r;

	if (hook_through())
		return real.cuCtxSetCurrent(ctx);
	/* Libraries set the context that already is current before each of their calls. */
	if (!real.cuCtxGetCurrent(&now) && now == ctx)
		hook_query(CALL_cuCtxSetCurrent);
	else if ((r = hook_all(CALL_cuCtxSetCurrent)))
		return r;
	return current(real.cuCtxSetCurrent(ctx));
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxPushCurrent(ctx);
	if ((r = hook_all(CALL_cuCtxPushCurrent)))
		return r;
	return current(real.cuCtxPushCurrent(ctx));
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxPushCurrent_v2(ctx);
	if ((r = hook_all(CALL_cuCtxPushCurrent_v2)))
		return r;
	return current(real.cuCtxPushCurrent_v2(ctx));
}

/* The driver refuses to destroy a primary context, and others go on with it meanwhile. */
static CUresult destroy(CUcontext ctx, CUresult (*driver)(CUcontext))
{
	bool shared = false;
	CUresult r;

	for (unsigned i = 0; i < DEVICES && !shared; i++)
		shared = ctx && __atomic_load_n(&primary[i].ctx, __ATOMIC_ACQUIRE) == ctx &&
			 __atomic_load_n(&primary[i].retains, __ATOMIC_ACQUIRE) > 0;
	if (!shared)
		drop(ctx, true);
	r = driver(ctx);
	if (shared && !r)
		drop(ctx, false);
	return gone(ctx, r);
}

CUresult cuCtxDestroy(CUcontext ctx)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxDestroy(ctx);
	if ((r = hook_all(CALL_cuCtxDestroy)))
		return r;
	return destroy(ctx, real.cuCtxDestroy);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxDestroy_v2(ctx);
	if ((r = hook_all(CALL_cuCtxDestroy_v2)))
		return r;
	return destroy(ctx, real.cuCtxDestroy_v2);
}

CUresult cuCtxDetach(CUcontext ctx)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxDetach(ctx);
	if ((r = hook_all(CALL_cuCtxDetach)))
		return r;
	drop(ctx, true); /* if it lives on, it is met anew */
	return real.cuCtxDetach(ctx);
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
	CUcontext ctx = NULL;
	CUresult r;

	if (hook_through())
		return real.cuGreenCtxDestroy(green);
	if ((r = hook_all(CALL_cuGreenCtxDestroy)))
		return r;
	if (!real.cuCtxFromGreenCtx(&ctx, green))
		drop(ctx, true);
	return gone(ctx, real.cuGreenCtxDestroy(green));
}

/* Retains it; where it begins with that, what was asked about its handle while it was dead goes.
 * Two threads may be the first: the second one finds it active. */
static CUresult retain(CUcontext *ctx, CUdevice device)
{
	/* Tools that the driver calls meanwhile may retain it, too. */
	static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	unsigned flags;
	int active = 0;
	CUresult r;

	pthread_mutex_lock(&lock);
	real.cuDevicePrimaryCtxGetState(device, &flags, &active);
	r = real.cuDevicePrimaryCtxRetain(ctx, device);
	if (!r && device >= 0 && device < DEVICES) {
		if (!active)
			drop(*ctx, false);
		__atomic_store_n(&primary[device].ctx, *ctx, __ATOMIC_RELEASE);
		__atomic_add_fetch(&primary[device].retains, 1, __ATOMIC_SEQ_CST);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuDevicePrimaryCtxRetain(ctx, device);
	if ((r = hook_all(CALL_cuDevicePrimaryCtxRetain)))
		return r;
	r = retain(ctx, device);
	if (r || device < 0 || device >= DEVICES)
		return r;
	return current(r); /* the runtime makes it current first, and retains it then */
}

static CUcontext primary_of(CUdevice device)
{
	return device >= 0 && device < DEVICES
		       ? __atomic_load_n(&primary[device].ctx, __ATOMIC_ACQUIRE)
		       : NULL;
}

/* Ends the device's primary context if `ends` says so or the driver then finds it inactive. */
static void primary_ends(CUdevice device, bool ends, bool lives)
{
	if (ends)
		drop(primary_of(device), lives);
}

static bool last_release(CUdevice device)
{
	return device >= 0 && device < DEVICES &&
	       __atomic_sub_fetch(&primary[device].retains, 1, __ATOMIC_SEQ_CST) == 0;
}

/* Somebody whose calls we do not see may hold it, or may have let it go. */
static CUresult released(CUresult r, CUdevice device)
{
	unsigned flags;
	int active = 1;

	if (r || real.cuDevicePrimaryCtxGetState(device, &flags, &active))
		return r;
	primary_ends(device, !active, false);
	return active ? r : gone(primary_of(device), r);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuDevicePrimaryCtxRelease(device);
	if ((r = hook_all(CALL_cuDevicePrimaryCtxRelease)))
		return r;
	primary_ends(device, last_release(device), true);
	return released(real.cuDevicePrimaryCtxRelease(device), device);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuDevicePrimaryCtxRelease_v2(device);
	if ((r = hook_all(CALL_cuDevicePrimaryCtxRelease_v2)))
		return r;
	primary_ends(device, last_release(device), true);
	return released(real.cuDevicePrimaryCtxRelease_v2(device), device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuDevicePrimaryCtxReset(device);
	if ((r = hook_all(CALL_cuDevicePrimaryCtxReset)))
		return r;
	primary_ends(device, true, true);
	return gone(primary_of(device), real.cuDevicePrimaryCtxReset(device));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	CUresult r;

	if (hook_through())
		return real.cuDevicePrimaryCtxReset_v2(device);
	if ((r = hook_all(CALL_cuDevicePrimaryCtxReset_v2)))
		return r;
	primary_ends(device, true, true);
	return gone(primary_of(device), real.cuDevicePrimaryCtxReset_v2(device));
}
