/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned and registered host memory. Its device address is its host address. */
#include <stdlib.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/memory.h"

CUresult soft::cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (posix_memalign(out, 4096, bytes) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory_enter(reinterpret_cast<uintptr_t>(*out), bytes, MEMORY_HOST, ctx->device->ordinal,
		     ctx)
		->flags = flags | CU_MEMHOSTALLOC_DEVICEMAP; /* always, with unified addresses */
	return CUDA_SUCCESS;
}

CUresult soft::cuMemAllocHost_v2(void **out, size_t bytes)
{
	return soft::cuMemHostAlloc(out, bytes, 0);
}

CUresult soft::cuMemFreeHost(void *p)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS || !p)
		return r;
	struct allocation *a = memory_at(reinterpret_cast<uintptr_t>(p));
	if (!a || a->kind != MEMORY_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	context_wait(a->ctx);
	a = memory_at(reinterpret_cast<uintptr_t>(p));
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	memory_leave(a);
	free(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	if (!p || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (memory_find(reinterpret_cast<uintptr_t>(p)))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	memory_enter(reinterpret_cast<uintptr_t>(p), bytes, MEMORY_REGISTERED, ctx->device->ordinal,
		     ctx)
		->flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemHostUnregister(void *p)
{
	CONTEXT_OR_RETURN(ctx);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	struct allocation *a = memory_at(reinterpret_cast<uintptr_t>(p));
	if (!a || a->kind != MEMORY_REGISTERED)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	context_wait(a->ctx);
	a = memory_at(reinterpret_cast<uintptr_t>(p));
	if (a)
		memory_leave(a);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned)
{
	CONTEXT_OR_RETURN(ctx);
	struct allocation *a = memory_find(reinterpret_cast<uintptr_t>(p));

	if (!out || !a || (a->kind != MEMORY_HOST && a->kind != MEMORY_REGISTERED))
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUdeviceptr>(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemHostGetFlags(unsigned *out, void *p)
{
	struct allocation *a = memory_find(reinterpret_cast<uintptr_t>(p));

	if (!out || !a || a->kind != MEMORY_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	*out = a->flags;
	return CUDA_SUCCESS;
}
