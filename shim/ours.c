/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/ours.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/log.h"
#include "matcher/sig.h"
#include "shim/arena.h"
#include "shim/hot.h"
#include "shim/process.h"
#include "shim/verdict.h"
#include "shim/window.h"
#include "shim/worker.h"

struct record {
	struct ours pub; /* first: const struct ours * is record * */
	int tried;       /* loading was begun by some thread */
	CUmodule module;
	CUfunction *function; /* as fused_kernels, once pub.ready */
	struct record *next;
};

static struct {
	pthread_mutex_t lock; /* guards the list against other writers */
	struct record *live;
	uint64_t generation; /* of the newest record */
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static HOT uint64_t drops_now; /* bumped when a context goes */
static __thread struct {
	struct record *r;
	uint64_t drops;
} last HOT_THREAD;

static struct record *find(CUcontext ctx)
{
	struct record *r;

	for (r = contexts.live; r && r->pub.ctx != ctx; r = r->next)
		;
	return r;
}

/* What the context may use: under MPS or an affinity that is less than the device has. */
static int sm_count(CUcontext ctx, CUdevice device)
{
	CUexecAffinityParam affinity;
	int n = 0;

	if (!real.cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT) &&
	    affinity.param.smCount.val)
		return (int)affinity.param.smCount.val;
	real.cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	return n ? n : 1;
}

/* Fills in what the driver says of the context, which must be current. -1 if it is no context. */
static int describe(struct ours *o, CUcontext ctx)
{
	int major = 0, minor = 0, shmem = 0;
	CUdevice device;

	if (real.cuCtxGetDevice(&device) ||
	    real.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
				      device) ||
	    real.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
		return -1;
	real.cuDeviceGetAttribute(&shmem, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
				  device);
	o->ctx = ctx;
	o->device = device;
	o->cc = major * 10 + minor;
	o->limits.max_shmem = (unsigned)shmem;
	o->limits.sm_count = sm_count(ctx, device);
	return 0;
}

static struct record *make(CUcontext ctx)
{
	struct record *r = calloc(1, sizeof(*r)), *other;
	CUcontext now = NULL, old;
	bool pushed = false;
	int rc = -1;

	if (!r)
		return NULL;
	if (real.cuCtxGetCurrent(&now) || now != ctx)
		pushed = !real.cuCtxPushCurrent_v2(ctx);
	if (now == ctx || pushed)
		rc = describe(&r->pub, ctx);
	if (pushed)
		real.cuCtxPopCurrent_v2(&old);
	if (rc) {
		free(r);
		return NULL;
	}
	pthread_mutex_lock(&contexts.lock);
	other = find(ctx);
	if (!other) {
		r->pub.generation = ++contexts.generation;
		r->next = contexts.live;
		contexts.live = r;
	}
	pthread_mutex_unlock(&contexts.lock);
	if (!other)
		return r;
	free(r);
	return other;
}

static struct record *get(CUcontext ctx)
{
	uint64_t drops = __atomic_load_n(&drops_now, __ATOMIC_ACQUIRE);
	struct record *r;

	if (!ctx && (real.cuCtxGetCurrent(&ctx) || !ctx))
		return NULL;
	if (last.r && last.drops == drops && last.r->pub.ctx == ctx)
		return last.r;
	pthread_mutex_lock(&contexts.lock);
	r = find(ctx);
	pthread_mutex_unlock(&contexts.lock);
	if (!r)
		r = make(ctx);
	last.r = r;
	last.drops = drops;
	return r;
}

const struct ours *ours_get(CUcontext ctx)
{
	struct record *r = get(ctx);

	return r ? &r->pub : NULL;
}

/* Shared memory beyond 48 KiB must be asked for, in every context anew. */
static void allow_shmem(CUfunction f, const struct ours *o)
{
	int own = 0;

	real.cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
	if (o->limits.max_shmem > (unsigned)own)
		real.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					(int)o->limits.max_shmem - own);
}

static double ms(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) * 1e3 +
	       (double)(to->tv_nsec - from->tv_nsec) / 1e6;
}

/* *loaded: when the module was, before its functions. */
static CUresult load(struct record *r, struct timespec *loaded)
{
	unsigned n = 0;
	size_t bytes;
	CUresult rc;

	while (fused_kernels[n])
		n++;
	free(r->function); /* of an earlier try */
	r->function = calloc(n + 1, sizeof(*r->function));
	if (!r->function)
		return CUDA_ERROR_OUT_OF_MEMORY;
	rc = real.cuModuleLoadData(&r->module, fused_image(&bytes));
	clock_gettime(CLOCK_MONOTONIC, loaded);
	for (unsigned i = 0; !rc && i < n; i++) {
		rc = real.cuModuleGetFunction(&r->function[i], r->module, fused_kernels[i]);
		if (rc)
			break;
		/* Under lazy loading the first launch would load it, and might wait for the device;
		 * before 12.4 asking for an attribute has the same effect as cuFuncLoad. */
		real.cuFuncLoad(r->function[i]);
		allow_shmem(r->function[i], &r->pub);
	}
	return rc;
}

/* Will the first launches want checks? A short program is over before memory that is asked for with
 * the first of them is there. */
static bool checks_due(void)
{
	enum foreseen f = verdict_foreseen();

	return f == FORESEEN_CHECKS || (f && process.config.opt.verify == VERIFY_ALWAYS);
}

void ours_load(CUcontext ctx)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct record *r = get(ctx);
	struct timespec from, loaded, to;
	bool relaxed;
	CUresult rc;

	if (!r)
		return;
	if (r->pub.cc < FUSED_LEAST_CC) {
		log_warn_once(
			"device %d has compute capability %d.%d, our kernels need 8.0: nothing is "
			"fused there",
			r->pub.device, r->pub.cc / 10, r->pub.cc % 10);
		return;
	}
	/* A load may wait for the device, which no thread may do during a capture, however relaxed
	 * (H200, driver 580: the capture is spoilt); the end of the capture asks again. */
	if (!worker_driver_enter())
		return;
	if (__atomic_load_n(&window_captures, __ATOMIC_SEQ_CST) ||
	    __atomic_exchange_n(&r->tried, 1, __ATOMIC_ACQ_REL)) {
		worker_driver_leave();
		return;
	}
	relaxed = !real.cuThreadExchangeStreamCaptureMode(&mode);
	clock_gettime(CLOCK_MONOTONIC, &from);
	rc = load(r, &loaded);
	if (!rc && checks_due())
		arena_make(&r->pub);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (relaxed)
		real.cuThreadExchangeStreamCaptureMode(&mode);
	worker_driver_leave();
	if (rc == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
		/* The runtime makes a primary context current before it retains it. */
		__atomic_store_n(&r->tried, 0, __ATOMIC_RELEASE);
	} else if (rc) {
		log_info("our kernels do not load on device %d (error %d): nothing is fused there",
			 r->pub.device, (int)rc);
	} else {
		__atomic_store_n(&r->pub.ready, true, __ATOMIC_RELEASE);
		log_debug("our kernels are loaded on device %d, in %.1f ms: image %.1f, functions "
			  "%.1f",
			  r->pub.device, ms(&from, &to), ms(&from, &loaded), ms(&loaded, &to));
		if (verdict_foreseen() == FORESEEN_USE)
			arena_get(&r->pub, 1);
	}
}

void ours_seen(void)
{
	struct record *r;

	if (!__atomic_load_n(&process.on, __ATOMIC_RELAXED) || !sig_count())
		return;
	r = get(NULL);
	if (r && !__atomic_load_n(&r->tried, __ATOMIC_RELAXED))
		ours_load(r->pub.ctx);
}

CUfunction ours_function(const struct ours *o, const char *kernel)
{
	const struct record *r = (const struct record *)o;

	if (!__atomic_load_n(&o->ready, __ATOMIC_ACQUIRE))
		return NULL;
	for (unsigned i = 0; fused_kernels[i]; i++)
		if (fused_kernels[i] == kernel || !strcmp(fused_kernels[i], kernel))
			return r->function[i];
	return NULL;
}

void ours_drop(CUcontext ctx)
{
	struct record **at, *r;

	pthread_mutex_lock(&contexts.lock);
	for (at = &contexts.live; (r = *at) && r->pub.ctx != ctx; at = &r->next)
		;
	if (r) {
		*at = r->next;
		__atomic_store_n(&r->pub.ready, false, __ATOMIC_RELEASE);
		__atomic_add_fetch(&drops_now, 1, __ATOMIC_SEQ_CST);
	}
	pthread_mutex_unlock(&contexts.lock);
}
