/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that somebody else may see: other devices, processes, interfaces. What was shared once
 * counts as shared until it is freed.
 */
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/ours.h"

enum { SEEN_ELSEWHERE = MEMORY_SHARED | MEMORY_ALIASED };

static struct range span(uint64_t base, uint64_t bytes)
{
	return (struct range){base, base + bytes};
}

/* Imported memory: the current context's, of a kind the driver tells. */
static void imported(uint64_t base, uint64_t bytes, unsigned flags)
{
	const struct ours *o;

	if (!guard_enter())
		return;
	o = ours_get(NULL);
	memory_add(base, bytes, o ? o->ctx : NULL, -1, flags);
	guard_leave();
}

/* Does anybody but the memory's own device get access? */
static bool others(CUdeviceptr ptr, const CUmemAccessDesc *desc, size_t n)
{
	int device = -1;

	if (guard_enter()) {
		device = memory_device(ptr);
		guard_leave();
	}
	for (size_t i = 0; desc && i < n; i++)
		if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
		    (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		     desc[i].location.id != device))
			return true;
	return false;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t n)
{
	CUresult r;

	if (hook_through())
		return real.cuMemSetAccess(ptr, bytes, desc, n);
	if ((r = hook_all(CALL_cuMemSetAccess)))
		return r;
	r = real.cuMemSetAccess(ptr, bytes, desc, n);
	if (!r && others(ptr, desc, n))
		memory_flag(span(ptr, bytes), MEMORY_SHARED);
	return r;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *desc, size_t n)
{
	CUresult r;

	if (hook_through())
		return real.cuMemPoolSetAccess(pool, desc, n);
	if ((r = hook_all(CALL_cuMemPoolSetAccess)))
		return r;
	memory_peer_enabled(); /* which allocations are of this pool is not kept */
	return real.cuMemPoolSetAccess(pool, desc, n);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuCtxEnablePeerAccess(peer, flags);
	if ((r = hook_all(CALL_cuCtxEnablePeerAccess)))
		return r;
	memory_peer_enabled();
	return real.cuCtxEnablePeerAccess(peer, flags);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuIpcGetMemHandle(handle, ptr);
	if ((r = hook_all(CALL_cuIpcGetMemHandle)))
		return r;
	memory_flag(span(ptr, 1), MEMORY_SHARED); /* a process cannot open its own handle (201) */
	return real.cuIpcGetMemHandle(handle, ptr);
}

/* The size of an opened allocation is the driver's to tell; its entry only carries the flags. */
static CUresult opened(CUdeviceptr ptr)
{
	CUdeviceptr base;
	size_t bytes;

	if (!real.cuMemGetAddressRange_v2(&base, &bytes, ptr))
		imported(base, bytes, MEMORY_SHARED);
	else
		memory_peer_enabled(); /* shared memory of unknown extent: all of it counts as
					  shared */
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuIpcOpenMemHandle(ptr, handle, flags);
	if ((r = hook_all(CALL_cuIpcOpenMemHandle)))
		return r;
	r = real.cuIpcOpenMemHandle(ptr, handle, flags);
	return r ? r : opened(*ptr);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuIpcOpenMemHandle_v2(ptr, handle, flags);
	if ((r = hook_all(CALL_cuIpcOpenMemHandle_v2)))
		return r;
	r = real.cuIpcOpenMemHandle_v2(ptr, handle, flags);
	return r ? r : opened(*ptr);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuIpcCloseMemHandle(ptr);
	if ((r = hook_all(CALL_cuIpcCloseMemHandle)))
		return r;
	/* It may be open a second time: the entry goes when its addresses are used again. */
	return real.cuIpcCloseMemHandle(ptr);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr ptr)
{
	CUresult r;

	if (hook_through())
		return real.cuMemPoolExportPointer(data, ptr);
	if ((r = hook_all(CALL_cuMemPoolExportPointer)))
		return r;
	memory_flag(span(ptr, 1), SEEN_ELSEWHERE);
	return real.cuMemPoolExportPointer(data, ptr);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
	CUresult r;

	if (hook_through())
		return real.cuMemPoolImportPointer(ptr, pool, data);
	if ((r = hook_all(CALL_cuMemPoolImportPointer)))
		return r;
	r = real.cuMemPoolImportPointer(ptr, pool, data);
	return r ? r : opened(*ptr);
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t bytes,
				       CUmemRangeHandleType type, unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemGetHandleForAddressRange(handle, ptr, bytes, type, flags);
	if ((r = hook_all(CALL_cuMemGetHandleForAddressRange)))
		return r;
	memory_flag(span(ptr, bytes), MEMORY_SHARED);
	return real.cuMemGetHandleForAddressRange(handle, ptr, bytes, type, flags);
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *ptr, CUexternalMemory memory,
					 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
	CUresult r;

	if (hook_through())
		return real.cuExternalMemoryGetMappedBuffer(ptr, memory, desc);
	if ((r = hook_all(CALL_cuExternalMemoryGetMappedBuffer)))
		return r;
	r = real.cuExternalMemoryGetMappedBuffer(ptr, memory, desc);
	if (!r)
		imported(*ptr, desc->size, SEEN_ELSEWHERE);
	return r;
}
