/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <string.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/stream.h"

CUresult soft::cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
	CONTEXT_OR_RETURN(ctx);
	if (!out || flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	priority = std::max(-5, std::min(0, priority));
	*out = reinterpret_cast<CUstream>(stream_new(ctx, STREAM_CREATED, flags, priority));
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamCreate(CUstream *out, unsigned flags)
{
	return soft::cuStreamCreateWithPriority(out, flags, 0);
}

CUresult soft::cuStreamDestroy_v2(CUstream handle)
{
	struct stream *s = object_find<struct stream>(handle);

	if (!s || s->what != STREAM_CREATED)
		return CUDA_ERROR_INVALID_HANDLE;
	capture_forget(s);
	stream_delete(s);
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamDestroy(CUstream handle)
{
	return soft::cuStreamDestroy_v2(handle);
}

/* Asking for the state of a captured stream ends its capture. */
static CUresult observable(struct stream *s)
{
	if (s->capture)
		return capture_breaks(s->capture);
	CUresult r = capture_implicit(s);
	return r == CUDA_SUCCESS ? capture_forbids() : r;
}

/* What a stream's state depends on: the legacy stream stands for blocking streams, too. */
static std::vector<struct point> ends(struct stream *s)
{
	std::vector<struct point> at = {queue_end(s->queue)};

	if (s->what == STREAM_LEGACY)
		for (struct stream *other : s->ctx->streams)
			if (other->blocking())
				at.push_back(queue_end(other->queue));
	return at;
}

CUresult soft::cuStreamQuery(CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	CUresult r = observable(s);

	if (r != CUDA_SUCCESS)
		return r;
	for (const struct point &p : ends(s))
		if (!p.reached())
			return CUDA_ERROR_NOT_READY;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamSynchronize(CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	CUresult r = observable(s);

	if (r != CUDA_SUCCESS)
		return r;
	std::shared_ptr<CUresult> fault = s->ctx->fault;
	for (const struct point &p : ends(s))
		point_wait(p);
	return *fault;
}

CUresult soft::cuStreamGetFlags(CUstream handle, unsigned *out)
{
	STREAM_OR_RETURN(s, handle);
	if (s->capture)
		return capture_breaks(s->capture);
	*out = s->flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamGetPriority(CUstream handle, int *out)
{
	STREAM_OR_RETURN(s, handle);
	*out = s->priority;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamGetId(CUstream handle, unsigned long long *out)
{
	STREAM_OR_RETURN(s, handle);
	*out = s->id;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamGetCtx(CUstream handle, CUcontext *out)
{
	STREAM_OR_RETURN(s, handle);
	*out = reinterpret_cast<CUcontext>(s->ctx);
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
	if (green)
		*green = nullptr;
	return soft::cuStreamGetCtx(handle, out);
}

CUresult soft::cuStreamGetDevice(CUstream handle, CUdevice *out)
{
	STREAM_OR_RETURN(s, handle);
	*out = s->ctx->device->ordinal;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *out)
{
	STREAM_OR_RETURN(s, handle);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	auto found = s->attributes.find(id);
	if (found != s->attributes.end()) {
		*out = found->second;
		return CUDA_SUCCESS;
	}
	memset(out, 0, sizeof(*out));
	if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		out->priority = s->priority;
	else if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
		out->syncPolicy = CU_SYNC_POLICY_AUTO;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamSetAttribute(CUstream handle, CUstreamAttrID id,
				    const CUstreamAttrValue *value)
{
	STREAM_OR_RETURN(s, handle);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	s->attributes[id] = *value;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamCopyAttributes(CUstream to, CUstream from)
{
	STREAM_OR_RETURN(t, to);
	STREAM_OR_RETURN(f, from);
	t->attributes = f->attributes;
	return CUDA_SUCCESS;
}

CUresult soft::cuStreamAttachMemAsync(CUstream handle, CUdeviceptr, size_t, unsigned)
{
	STREAM_OR_RETURN(s, handle);
	return s->capture ? capture_breaks(s->capture) : CUDA_SUCCESS;
}
