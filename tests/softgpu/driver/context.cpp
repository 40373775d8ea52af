/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/event.h"
#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/stream.h"

struct device *device_get(CUdevice dev)
{
	return dev >= 0 && static_cast<size_t>(dev) < driver.devices.size() ? &driver.devices[dev]
									    : nullptr;
}

struct context *context_current(CUresult *why)
{
	*why = CUDA_ERROR_INVALID_CONTEXT;
	if (!self.depth)
		return nullptr;
	struct context *ctx = object_find<struct context>(self.contexts[self.depth - 1]);
	*why = ctx ? *ctx->fault : CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return *why == CUDA_SUCCESS ? ctx : nullptr;
}

struct context *context_selectable(CUcontext handle)
{
	for (const struct device &d : driver.devices)
		if (d.last_primary == handle)
			return reinterpret_cast<struct context *>(handle);
	return object_find<struct context>(handle);
}

bool context_push(struct context *ctx)
{
	if (self.depth == CONTEXT_DEPTH)
		return false;
	self.contexts[self.depth++] = ctx;
	return true;
}

struct context *context_new(struct device *dev, unsigned flags, unsigned api_version, bool primary)
{
	struct context *ctx = object_new<struct context>();

	ctx->device = dev;
	ctx->flags = flags;
	ctx->api_version = api_version;
	ctx->primary = primary;
	ctx->id = ++driver.next_id;
	ctx->fault = std::make_shared<CUresult>(CUDA_SUCCESS);
	ctx->limits = {{CU_LIMIT_STACK_SIZE, 1024},
		       {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20},
		       {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
		       {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
		       {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
		       {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
		       {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
	ctx->legacy = stream_new(ctx, STREAM_LEGACY, CU_STREAM_DEFAULT, 0);
	return ctx;
}

void context_wait(struct context *ctx)
{
	std::vector<struct point> ends;

	for (struct stream *s : ctx->streams)
		ends.push_back(queue_end(s->queue));
	for (const struct orphan &o : ctx->orphans)
		ends.push_back(queue_end(o.queue));
	for (const struct point &p : ends)
		point_wait(p);
}

template <class T> static void delete_owned(struct context *ctx, void (*each)(T *))
{
	std::vector<T *> owned;

	for (const auto &entry : objects)
		if (entry.second == T::KIND) {
			T *object = static_cast<T *>(const_cast<void *>(entry.first));

			if (object->ctx == ctx)
				owned.push_back(object);
		}
	for (T *object : owned)
		each(object);
}

void context_delete(struct context *ctx)
{
	context_wait(ctx);
	delete_owned<struct module>(ctx, module_delete);
	delete_owned<struct event>(ctx, object_delete<struct event>);
	delete_owned<struct stream>(ctx, [](struct stream *s) {
		capture_forget(s);
		stream_delete(s);
	});
	library_forget_context(ctx);
	memory_forget_context(ctx);
	object_delete(ctx);
}
