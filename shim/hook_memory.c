/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and frees: they keep the allocation table. */
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/ours.h"
#include "shim/record.h"

/* Memory of the current context appeared. Returns what the hook then returns. */
static CUresult added(uint64_t base, size_t bytes, unsigned flags)
{
	const struct ours *o;

	if (!guard_enter())
		return CUDA_SUCCESS;
	o = ours_get(NULL);
	if (o)
		memory_add(base, bytes, o->ctx, o->device, flags);
	guard_leave();
	return CUDA_SUCCESS;
}

/* Stream-ordered memory appeared: of whatever device its pool is. */
static CUresult added_async(uint64_t base, size_t bytes)
{
	if (!guard_enter())
		return CUDA_SUCCESS;
	memory_add(base, bytes, NULL, -1, 0);
	guard_leave();
	return CUDA_SUCCESS;
}

/* The table's entry goes before the memory does, so that another thread's new allocation at the
 * same address is not lost; a free that fails leaves an unknown address. */
static void removed(uint64_t base)
{
	if (!guard_enter())
		return;
	memory_remove(base);
	guard_leave();
}

/* A stream-ordered allocation failed: what is held may keep frees back, and checks hold memory. */
static bool retry_async(CUresult r, CUresult *late)
{
	*late = CUDA_SUCCESS;
	if (r != CUDA_ERROR_OUT_OF_MEMORY)
		return false;
	if (!__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE))
		return hook_retry(r);
	if (guard_enter()) {
		*late = window_all_call();
		guard_leave();
	}
	hook_retry(r);
	return true;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	CUresult r;

	if (hook_through())
		return real.cuMemAlloc_v2(ptr, bytes);
	if ((r = hook_all(CALL_cuMemAlloc_v2)))
		return r;
	r = real.cuMemAlloc_v2(ptr, bytes);
	if (hook_retry(r))
		r = real.cuMemAlloc_v2(ptr, bytes);
	return r ? r : added(*ptr, bytes, MEMORY_DEVICE);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
			    unsigned element)
{
	CUresult r;

	if (hook_through())
		return real.cuMemAllocPitch_v2(ptr, pitch, width, height, element);
	if ((r = hook_all(CALL_cuMemAllocPitch_v2)))
		return r;
	r = real.cuMemAllocPitch_v2(ptr, pitch, width, height, element);
	if (hook_retry(r))
		r = real.cuMemAllocPitch_v2(ptr, pitch, width, height, element);
	return r ? r : added(*ptr, *pitch * height, MEMORY_DEVICE);
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemAllocManaged(ptr, bytes, flags);
	if ((r = hook_all(CALL_cuMemAllocManaged)))
		return r;
	r = real.cuMemAllocManaged(ptr, bytes, flags);
	return r ? r : added(*ptr, bytes, MEMORY_MANAGED);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuMemFree_v2(ptr);
	if ((r = hook_all(CALL_cuMemFree_v2)))
		return r;
	removed(ptr);
	return real.cuMemFree_v2(ptr);
}

CUresult cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	CUresult r;

	if (hook_through())
		return real.cuMemAllocHost_v2(ptr, bytes);
	if ((r = hook_all(CALL_cuMemAllocHost_v2)))
		return r;
	r = real.cuMemAllocHost_v2(ptr, bytes);
	return r ? r : added((uintptr_t)*ptr, bytes, MEMORY_HOST);
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemHostAlloc(ptr, bytes, flags);
	if ((r = hook_all(CALL_cuMemHostAlloc)))
		return r;
	r = real.cuMemHostAlloc(ptr, bytes, flags);
	return r ? r : added((uintptr_t)*ptr, bytes, MEMORY_HOST);
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemHostRegister_v2(ptr, bytes, flags);
	if ((r = hook_all(CALL_cuMemHostRegister_v2)))
		return r;
	r = real.cuMemHostRegister_v2(ptr, bytes, flags);
	return r ? r : added((uintptr_t)ptr, bytes, MEMORY_HOST);
}

CUresult cuMemHostUnregister(void *ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuMemHostUnregister(ptr);
	if ((r = hook_all(CALL_cuMemHostUnregister)))
		return r;
	removed((uintptr_t)ptr);
	return real.cuMemHostUnregister(ptr);
}

CUresult cuMemFreeHost(void *ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuMemFreeHost(ptr);
	if ((r = hook_all(CALL_cuMemFreeHost)))
		return r;
	removed((uintptr_t)ptr);
	return real.cuMemFreeHost(ptr);
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	CUresult r, late;

	if (hook_through())
		return real.cuMemAllocAsync(ptr, bytes, stream);
	hook_query_stream(CALL_cuMemAllocAsync, stream, false);
	r = real.cuMemAllocAsync(ptr, bytes, stream);
	if (retry_async(r, &late))
		r = late ? late : real.cuMemAllocAsync(ptr, bytes, stream);
	return r ? r : added_async(*ptr, bytes);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	CUresult r, late;

	if (hook_through())
		return real.cuMemAllocAsync_ptsz(ptr, bytes, stream);
	hook_query_stream(CALL_cuMemAllocAsync_ptsz, stream, true);
	r = real.cuMemAllocAsync_ptsz(ptr, bytes, stream);
	if (retry_async(r, &late))
		r = late ? late : real.cuMemAllocAsync_ptsz(ptr, bytes, stream);
	return r ? r : added_async(*ptr, bytes);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	CUresult r, late;

	if (hook_through())
		return real.cuMemAllocFromPoolAsync(ptr, bytes, pool, stream);
	hook_query_stream(CALL_cuMemAllocFromPoolAsync, stream, false);
	r = real.cuMemAllocFromPoolAsync(ptr, bytes, pool, stream);
	if (retry_async(r, &late))
		r = late ? late : real.cuMemAllocFromPoolAsync(ptr, bytes, pool, stream);
	return r ? r : added_async(*ptr, bytes);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool,
				      CUstream stream)
{
	CUresult r, late;

	if (hook_through())
		return real.cuMemAllocFromPoolAsync_ptsz(ptr, bytes, pool, stream);
	hook_query_stream(CALL_cuMemAllocFromPoolAsync_ptsz, stream, true);
	r = real.cuMemAllocFromPoolAsync_ptsz(ptr, bytes, pool, stream);
	if (retry_async(r, &late))
		r = late ? late : real.cuMemAllocFromPoolAsync_ptsz(ptr, bytes, pool, stream);
	return r ? r : added_async(*ptr, bytes);
}

/* True: the window keeps the free behind what it holds, or *r is the error of a held launch. */
static bool freed_by_window(unsigned call, CUdeviceptr ptr, CUstream stream, bool ptsz, CUresult *r)
{
	struct range alloc = {ptr, ptr};
	unsigned flags;
	bool kept = false;

	*r = CUDA_SUCCESS;
	if (!guard_enter())
		return false;
	if (__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE)) {
		memory_find(ptr, &alloc, &flags);
		record_range_call(call, stream, ptsz, alloc.lo, alloc.hi - alloc.lo);
		kept = window_free_async(ptr, stream, ptsz, r);
	}
	if (kept || !*r)
		memory_remove(ptr);
	guard_leave();
	return kept || *r;
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	CUresult r;

	if (hook_through() || !freed_by_window(CALL_cuMemFreeAsync, ptr, stream, false, &r))
		return real.cuMemFreeAsync(ptr, stream);
	return r;
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream)
{
	CUresult r;

	if (hook_through() || !freed_by_window(CALL_cuMemFreeAsync_ptsz, ptr, stream, true, &r))
		return real.cuMemFreeAsync_ptsz(ptr, stream);
	return r;
}
