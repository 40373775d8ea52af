/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/stream.h"
#include <algorithm>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/observe.h"

struct stream *stream_new(struct context *ctx, enum stream_what what, unsigned flags, int priority)
{
	struct stream *s = object_new<struct stream>();

	s->ctx = ctx;
	s->what = what;
	s->flags = flags;
	s->priority = priority;
	s->id = ++driver.next_id;
	s->queue = std::make_shared<struct queue>();
	s->queue->fault = ctx->fault;
	ctx->streams.insert(s);
	return s;
}

void stream_delete(struct stream *s)
{
	struct context *ctx = s->ctx;

	ctx->streams.erase(s);
	ctx->orphans.erase(
		std::remove_if(ctx->orphans.begin(), ctx->orphans.end(),
			       [](const struct orphan &o) { return queue_end(o.queue).reached(); }),
		ctx->orphans.end());
	if (!queue_end(s->queue).reached())
		ctx->orphans.push_back({s->queue, s->blocking()});
	object_delete(s);
}

struct stream *stream_of(CUstream handle, CUresult *why)
{
	*why = CUDA_SUCCESS;
	if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
		struct stream *s = object_find<struct stream>(handle);

		*why = !s ? CUDA_ERROR_INVALID_HANDLE : *s->ctx->fault;
		return *why == CUDA_SUCCESS ? s : nullptr;
	}
	struct context *ctx = context_current(why);
	if (!ctx)
		return nullptr;
	if (handle == CU_STREAM_LEGACY || (!handle && !self.per_thread_default))
		return ctx->legacy;
	struct stream *&s = ctx->per_thread[thread_id()];
	if (!s)
		s = stream_new(ctx, STREAM_PER_THREAD, CU_STREAM_DEFAULT, 0);
	return s;
}

struct point stream_submit(struct stream *s, struct operation &&op)
{
	queue_make_room(s->queue);
	if (s->what == STREAM_LEGACY) {
		for (struct stream *other : s->ctx->streams)
			if (other->blocking() && !queue_end(other->queue).reached())
				op.after.push_back(queue_end(other->queue));
		for (const struct orphan &o : s->ctx->orphans)
			if (o.blocking)
				op.after.push_back(queue_end(o.queue));
	} else if (s->blocking() && !queue_end(s->ctx->legacy->queue).reached()) {
		op.after.push_back(queue_end(s->ctx->legacy->queue));
	}
	return queue_submit(s->queue, std::move(op));
}

CUresult stream_give(struct stream *s, const std::shared_ptr<const struct work> &w,
		     struct point *at)
{
	CUresult r;

	if (s->capture)
		return capture_add(s, w);
	r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	struct point p = stream_submit(s, {{}, [w, call = observe_call()] {
						   struct observe_work o(call);

						   return w->run();
					   }});
	if (driver.launch_blocking && w->type() == CU_GRAPH_NODE_TYPE_KERNEL)
		point_wait(p);
	if (at)
		*at = p;
	return CUDA_SUCCESS;
}
