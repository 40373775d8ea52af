/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/event.h"
#include <time.h>

int64_t event_now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

namespace
{
struct capture *capture_of(const struct event *e)
{
	return e->capture_id ? capture_find(e->capture_id) : nullptr;
}

/* An event that other streams of the program wait for, or record, becomes a node. */
CUresult capture_event(struct stream *s, CUevent e, bool wait)
{
	auto w = std::make_shared<struct event_work>();

	w->event = e;
	w->wait = wait;
	return capture_add(s, w);
}

CUresult record(CUevent handle, CUstream stream_handle, bool external)
{
	STREAM_OR_RETURN(s, stream_handle);
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (e->ctx != s->ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	if (s->capture) {
		if (s->capture->invalid)
			return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		if (external)
			return capture_event(s, handle, false);
		e->capture_id = s->capture->id;
		e->captured = s->tails;
		return CUDA_SUCCESS;
	}
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	e->capture_id = 0;
	event_record(e, s);
	return CUDA_SUCCESS;
}
} // namespace

void event_record(struct event *e, struct stream *s)
{
	std::shared_ptr<int64_t> time = std::make_shared<int64_t>(0);

	e->recorded = true;
	e->time = time;
	e->at = stream_submit(s, {{}, [time] {
					  *time = event_now();
					  return CUDA_SUCCESS;
				  }});
}

CUresult soft::cuEventCreate(CUevent *out, unsigned flags)
{
	CONTEXT_OR_RETURN(ctx);
	if (!out || flags & ~static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC |
						   CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_VALUE;
	struct event *e = object_new<struct event>();
	e->ctx = ctx;
	e->flags = flags;
	*out = reinterpret_cast<CUevent>(e);
	return CUDA_SUCCESS;
}

CUresult soft::cuEventDestroy_v2(CUevent handle)
{
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	object_delete(e);
	return CUDA_SUCCESS;
}

CUresult soft::cuEventDestroy(CUevent handle)
{
	return soft::cuEventDestroy_v2(handle);
}

CUresult soft::cuEventRecord(CUevent e, CUstream s)
{
	return record(e, s, false);
}

CUresult soft::cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags)
{
	return flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)
		       ? CUDA_ERROR_INVALID_VALUE
		       : record(e, s, (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
}

CUresult soft::cuEventQuery(CUevent handle)
{
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (capture_of(e)) {
		capture_breaks(capture_of(e));
		return CUDA_ERROR_CAPTURED_EVENT;
	}
	CUresult r = capture_forbids();
	if (r != CUDA_SUCCESS)
		return r;
	if (!e->at.reached())
		return CUDA_ERROR_NOT_READY;
	return *e->ctx->fault;
}

CUresult soft::cuEventSynchronize(CUevent handle)
{
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (capture_of(e)) {
		capture_breaks(capture_of(e));
		return CUDA_ERROR_CAPTURED_EVENT;
	}
	CUresult r = capture_forbids();
	if (r != CUDA_SUCCESS)
		return r;
	std::shared_ptr<CUresult> fault = e->ctx->fault;
	struct point at = e->at;
	point_wait(at);
	return *fault;
}

CUresult soft::cuEventElapsedTime_v2(float *out, CUevent first, CUevent second)
{
	struct event *a = object_find<struct event>(first), *b = object_find<struct event>(second);

	if (!a || !b)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || a->capture_id || b->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	if (!a->recorded || !b->recorded || a->flags & CU_EVENT_DISABLE_TIMING ||
	    b->flags & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!a->at.reached() || !b->at.reached())
		return CUDA_ERROR_NOT_READY;
	*out = static_cast<float>(static_cast<double>(*b->time - *a->time) * 1e-6);
	return CUDA_SUCCESS;
}

CUresult soft::cuEventElapsedTime(float *out, CUevent first, CUevent second)
{
	return soft::cuEventElapsedTime_v2(out, first, second);
}

CUresult soft::cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags)
{
	STREAM_OR_RETURN(s, stream_handle);
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (s->capture && s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (s->capture && flags & CU_EVENT_WAIT_EXTERNAL)
		return capture_event(s, handle, true);
	struct capture *c = capture_of(e);
	if (c) {
		if (c->invalid)
			return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		if (s->what == STREAM_LEGACY)
			return capture_breaks(c);
		if (s->capture && s->capture != c) {
			s->capture->invalid = c->invalid = true;
			return CUDA_ERROR_STREAM_CAPTURE_MERGE;
		}
		capture_join(c, s, e->captured);
		return CUDA_SUCCESS;
	}
	if (s->capture &&
	    e->recorded) { /* what happens outside the capture cannot be waited for inside */
		s->capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	if (e->recorded)
		stream_submit(s, {{e->at}, {}});
	return CUDA_SUCCESS;
}
