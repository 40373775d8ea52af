/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/pool.h"
#include <algorithm>
#include <string.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/graph_memory.h"
#include "tests/softgpu/driver/stream.h"

namespace
{
/* Gives unused memory back until at most `keep` bytes are reserved. */
void trim(struct mempool *p, size_t keep)
{
	for (size_t i = 0; i < p->free.size() && p->reserved > keep;) {
		struct pool_block *b = &p->free[i];

		if (!b->freed.reached()) {
			i++;
			continue;
		}
		memory_return(p->device->ordinal, reinterpret_cast<void *>(b->base), b->bytes);
		p->reserved -= b->bytes;
		p->free.erase(p->free.begin() + static_cast<long>(i));
	}
}

/* A freed block of the right size, the latest one first; 0 if there is none. */
uintptr_t reuse(struct mempool *p, size_t bytes, const struct stream *s)
{
	for (auto b = p->free.rbegin(); b != p->free.rend(); ++b)
		if (b->bytes == bytes && (b->stream == s->queue.get() || b->freed.reached())) {
			uintptr_t base = b->base;

			p->free.erase(std::next(b).base());
			return base;
		}
	return 0;
}

CUresult allocate(CUdeviceptr *out, size_t bytes, struct mempool *p, CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture) {
		CUresult why =
			s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
		std::shared_ptr<const struct work> w;

		if (why == CUDA_SUCCESS)
			w = graph_memory_take(s->capture->graph, &p->props, bytes, out, &why);
		return w ? capture_add(s, w) : why;
	}
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	int device = p->device->ordinal;
	uintptr_t base = reuse(p, bytes, s);
	if (!base) {
		void *fresh = memory_take(device, bytes);

		if (!fresh) {
			trim(p, 0);
			fresh = memory_take(device, bytes);
		}
		if (!fresh)
			return CUDA_ERROR_OUT_OF_MEMORY;
		base = reinterpret_cast<uintptr_t>(fresh);
		p->reserved += bytes;
		p->reserved_high = std::max(p->reserved_high, p->reserved);
	}
	memory_enter(base, bytes, MEMORY_POOLED, device, nullptr)->pool = p;
	p->used += bytes;
	p->used_high = std::max(p->used_high, p->used);
	*out = base;
	return CUDA_SUCCESS;
}

void give_back(struct allocation *a, const struct pool_block &b)
{
	a->pool->used -= a->bytes;
	a->pool->free.push_back(b);
	memory_leave(a);
}
} // namespace

struct mempool *pool_new(struct device *d)
{
	struct mempool *p = object_new<struct mempool>();

	p->device = d;
	p->props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p->props.location = {CU_MEM_LOCATION_TYPE_DEVICE, d->ordinal};
	return p;
}

CUresult pool_free_now(struct allocation *a)
{
	struct mempool *p = a->pool;

	give_back(a, {a->base, a->bytes, nullptr, {}});
	trim(p, p->release_threshold);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	return allocate(out, bytes, s->ctx->device->current_pool, handle);
}

CUresult soft::cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
				       CUstream handle)
{
	struct mempool *p = object_find<struct mempool>(pool);

	return p ? allocate(out, bytes, p, handle) : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemFreeAsync(CUdeviceptr at, CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	if (s->capture) {
		CUresult why;
		std::shared_ptr<const struct work> w = graph_memory_free(at, &why);

		return w ? capture_add(s, w) : why;
	}
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	struct allocation *a = memory_at(at);
	if (a && a->kind == MEMORY_GRAPH)
		return CUDA_SUCCESS; /* it goes with its graph */
	if (!a || a->kind != MEMORY_POOLED)
		return CUDA_ERROR_INVALID_VALUE;
	/* An operation of its own, so that the point is also behind what the stream waits for. */
	struct point freed = stream_submit(s, {});
	a = memory_at(at);
	if (!a || a->kind != MEMORY_POOLED)
		return CUDA_ERROR_INVALID_VALUE;
	give_back(a, {a->base, a->bytes, s->queue.get(), freed});
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
	struct device *d = props ? device_get(props->location.id) : nullptr;

	if (!out || !d || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	struct mempool *p = pool_new(d);
	p->props = *props;
	*out = reinterpret_cast<CUmemoryPool>(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolDestroy(CUmemoryPool pool)
{
	struct mempool *p = object_find<struct mempool>(pool);

	if (!p || p == p->device->default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->device->current_pool == p)
		p->device->current_pool = p->device->default_pool;
	if (p->used) /* the memory that is out keeps the pool alive */
		return CUDA_SUCCESS;
	while (!p->free.empty()) {
		point_wait(p->free.back().freed);
		trim(p, 0);
	}
	object_delete(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	struct mempool *p = object_find<struct mempool>(pool);

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	trim(p, keep);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *out)
{
	struct mempool *p = object_find<struct mempool>(pool);
	uint64_t value = 0;
	int reuse_allowed = 1;

	if (!p || !out)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		memcpy(out, &reuse_allowed, sizeof(reuse_allowed));
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		value = p->release_threshold;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		value = p->reserved;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		value = p->reserved_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		value = p->used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		value = p->used_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(out, &value, sizeof(value));
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	struct mempool *p = object_find<struct mempool>(pool);

	if (!p || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		memcpy(&p->release_threshold, value, sizeof(p->release_threshold));
	return CUDA_SUCCESS;
}

CUresult soft::cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *, size_t)
{
	return object_find<struct mempool>(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool pool, CUmemLocation *)
{
	if (!out || !object_find<struct mempool>(pool))
		return CUDA_ERROR_INVALID_VALUE;
	*out = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!out || !d)
		return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	*out = reinterpret_cast<CUmemoryPool>(d->default_pool);
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetMemPool(CUmemoryPool *out, CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!out || !d)
		return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	*out = reinterpret_cast<CUmemoryPool>(d->current_pool);
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	struct device *d = device_get(dev);
	struct mempool *p = object_find<struct mempool>(pool);

	if (!d || !p || p->device != d)
		return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	d->current_pool = p;
	return CUDA_SUCCESS;
}
