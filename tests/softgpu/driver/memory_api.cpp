/* SPDX-License-Identifier: Apache-2.0 */
/* Device, pitched and managed memory. */
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/pool.h"

namespace
{
CUresult allocate(CUdeviceptr *out, size_t bytes, enum memory_kind kind)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	void *p = memory_take(ctx->device->ordinal, bytes);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = reinterpret_cast<CUdeviceptr>(p);
	memory_enter(*out, bytes, kind, ctx->device->ordinal, ctx);
	return CUDA_SUCCESS;
}
} // namespace

CUresult soft::cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	return allocate(out, bytes, MEMORY_DEVICE);
}

CUresult soft::cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
				  unsigned element)
{
	if (!pitch || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	*pitch = (width + 511) / 512 * 512;
	return allocate(out, *pitch * height, MEMORY_DEVICE);
}

CUresult soft::cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(out, bytes, MEMORY_MANAGED);
}

CUresult soft::cuMemFree_v2(CUdeviceptr p)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS || !p)
		return r;
	struct allocation *a = memory_at(p);
	if (a && a->kind == MEMORY_GRAPH)
		return CUDA_SUCCESS; /* it goes with its graph */
	if (!a ||
	    (a->kind != MEMORY_DEVICE && a->kind != MEMORY_MANAGED && a->kind != MEMORY_POOLED))
		return CUDA_ERROR_INVALID_VALUE;
	context_wait(a->ctx ? a->ctx : ctx); /* the driver synchronises here, too */
	a = memory_at(p);
	if (!a)
		return CUDA_ERROR_INVALID_VALUE; /* freed twice, by two threads */
	if (a->kind == MEMORY_POOLED)
		return pool_free_now(a);
	memory_return(a->device, reinterpret_cast<void *>(a->base), a->bytes);
	memory_leave(a);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemGetInfo_v2(size_t *available, size_t *total)
{
	CONTEXT_OR_RETURN(ctx);
	if (available)
		*available = driver.device_memory - ctx->device->used;
	if (total)
		*total = driver.device_memory;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	struct allocation *a = memory_find(p);

	if (!a)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = a->base;
	if (bytes)
		*bytes = a->bytes;
	return CUDA_SUCCESS;
}

/* One memory for all: prefetches and hints have nothing to do. */
CUresult soft::cuMemPrefetchAsync(CUdeviceptr p, size_t, CUdevice, CUstream)
{
	return memory_find(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemPrefetchAsync_v2(CUdeviceptr p, size_t, CUmemLocation, unsigned, CUstream)
{
	return memory_find(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemAdvise(CUdeviceptr p, size_t, CUmem_advise, CUdevice)
{
	return memory_find(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemAdvise_v2(CUdeviceptr p, size_t, CUmem_advise, CUmemLocation)
{
	return memory_find(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
