/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts other than primary ones, and the calling thread's stack. */
#include <algorithm>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/driver/event.h"

namespace
{
CUresult create(CUcontext *out, unsigned flags, unsigned api_version, CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	struct context *ctx = context_new(d, flags, api_version, false);
	if (!context_push(ctx)) {
		context_delete(ctx);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*out = reinterpret_cast<CUcontext>(ctx);
	return CUDA_SUCCESS;
}

/* The one meant by a handle, where 0 is the current one. */
struct context *meant(CUcontext handle, CUresult *why)
{
	if (!handle)
		return context_current(why);
	struct context *ctx = object_find<struct context>(handle);
	*why = ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
	return ctx;
}

CUresult synchronize(struct context *ctx)
{
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	for (struct stream *s : ctx->streams) /* whatever the mode, of either thread */
		if (s->capture)
			r = capture_breaks(s->capture);
	if (r != CUDA_SUCCESS)
		return r;
	context_wait(ctx);
	return *ctx->fault;
}
} // namespace

CUresult soft::cuCtxCreate(CUcontext *out, unsigned flags, CUdevice dev)
{
	return create(out, flags, 3010, dev);
}

CUresult soft::cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice dev)
{
	return create(out, flags, 3020, dev);
}

CUresult soft::cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *, int, unsigned flags,
			      CUdevice dev)
{
	return create(out, flags, 3020, dev);
}

CUresult soft::cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *, unsigned flags, CUdevice dev)
{
	return create(out, flags, 3020, dev);
}

CUresult soft::cuCtxDestroy_v2(CUcontext handle)
{
	struct context *ctx = object_find<struct context>(handle);

	if (!ctx || ctx->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (self.depth && self.contexts[self.depth - 1] == ctx)
		self.depth--;
	context_delete(ctx);
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxDestroy(CUcontext handle)
{
	return soft::cuCtxDestroy_v2(handle);
}

CUresult soft::cuCtxPushCurrent_v2(CUcontext handle)
{
	struct context *ctx = context_selectable(handle);

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return context_push(ctx) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult soft::cuCtxPushCurrent(CUcontext handle)
{
	return soft::cuCtxPushCurrent_v2(handle);
}

CUresult soft::cuCtxPopCurrent_v2(CUcontext *out)
{
	if (!self.depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	self.depth--;
	if (out)
		*out = reinterpret_cast<CUcontext>(self.contexts[self.depth]);
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxPopCurrent(CUcontext *out)
{
	return soft::cuCtxPopCurrent_v2(out);
}

CUresult soft::cuCtxSetCurrent(CUcontext handle)
{
	struct context *ctx = handle ? context_selectable(handle) : nullptr;

	if (handle && !ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (self.depth)
		self.depth--;
	if (ctx)
		context_push(ctx);
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxGetCurrent(CUcontext *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = self.depth ? reinterpret_cast<CUcontext>(self.contexts[self.depth - 1]) : nullptr;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxGetDevice_v2(CUdevice *out, CUcontext handle)
{
	CUresult why;
	struct context *ctx = meant(handle, &why);

	if (ctx)
		*out = ctx->device->ordinal;
	return why;
}

CUresult soft::cuCtxGetDevice(CUdevice *out)
{
	return soft::cuCtxGetDevice_v2(out, nullptr);
}

CUresult soft::cuCtxGetFlags(unsigned *out)
{
	CONTEXT_OR_RETURN(ctx);
	*out = ctx->flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxSetFlags(unsigned flags)
{
	CONTEXT_OR_RETURN(ctx);
	ctx->flags = flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxGetId(CUcontext handle, unsigned long long *out)
{
	CUresult why;
	struct context *ctx = meant(handle, &why);

	if (ctx)
		*out = ctx->id;
	return why;
}

CUresult soft::cuCtxGetApiVersion(CUcontext handle, unsigned *out)
{
	CUresult why;
	struct context *ctx = meant(handle, &why);

	if (ctx)
		*out = ctx->api_version;
	return why;
}

CUresult soft::cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxGetLimit(size_t *out, CUlimit limit)
{
	CONTEXT_OR_RETURN(ctx);
	if (!ctx->limits.count(limit))
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*out = ctx->limits[limit];
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxSetLimit(CUlimit limit, size_t value)
{
	CONTEXT_OR_RETURN(ctx);
	if (!ctx->limits.count(limit))
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	ctx->limits[limit] = value;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxGetCacheConfig(CUfunc_cache *out)
{
	CONTEXT_OR_RETURN(ctx);
	*out = ctx->cache_config;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxSetCacheConfig(CUfunc_cache config)
{
	CONTEXT_OR_RETURN(ctx);
	ctx->cache_config = config;
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxResetPersistingL2Cache()
{
	CONTEXT_OR_RETURN(ctx);
	return CUDA_SUCCESS;
}

CUresult soft::cuCtxSynchronize()
{
	CONTEXT_OR_RETURN(ctx);
	return synchronize(ctx);
}

CUresult soft::cuCtxSynchronize_v2(CUcontext handle)
{
	CUresult why;
	struct context *ctx = meant(handle, &why);

	return ctx ? synchronize(ctx) : why;
}

/* All devices share one memory, so peers see each other anyway. */
CUresult soft::cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	CONTEXT_OR_RETURN(ctx);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct context *other = object_find<struct context>(peer);
	return !other || other->device == ctx->device ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult soft::cuCtxDisablePeerAccess(CUcontext peer)
{
	return object_find<struct context>(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult soft::cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	std::swap(*mode, self.capture_mode);
	return CUDA_SUCCESS;
}
