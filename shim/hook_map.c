/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory by handle, and the addresses at which it shows (mappings.h). */
#include "shim/hook.h"
#include "shim/mappings.h"
#include "shim/memory.h"

enum { SEEN_ELSEWHERE = MEMORY_SHARED | MEMORY_ALIASED };

static struct range span(uint64_t base, uint64_t bytes)
{
	return (struct range){base, base + bytes};
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemCreate(handle, bytes, prop, flags);
	if ((r = hook_all(CALL_cuMemCreate)))
		return r;
	r = real.cuMemCreate(handle, bytes, prop, flags);
	return hook_retry(r) ? real.cuMemCreate(handle, bytes, prop, flags) : r;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
		  unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemMap(ptr, bytes, offset, handle, flags);
	if ((r = hook_all(CALL_cuMemMap)))
		return r;
	r = real.cuMemMap(ptr, bytes, offset, handle, flags);
	if (!r)
		mappings_add(handle, span(ptr, bytes));
	return r;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes)
{
	CUresult r;

	if (hook_through())
		return real.cuMemUnmap(ptr, bytes);
	if ((r = hook_all(CALL_cuMemUnmap)))
		return r;
	mappings_remove(span(ptr, bytes));
	return real.cuMemUnmap(ptr, bytes);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	CUresult r;

	if (hook_through())
		return real.cuMemRetainAllocationHandle(handle, addr);
	if ((r = hook_all(CALL_cuMemRetainAllocationHandle)))
		return r;
	r = real.cuMemRetainAllocationHandle(handle, addr);
	if (!r)
		mappings_reference(*handle, 1);
	return r;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult r;

	if (hook_through())
		return real.cuMemRelease(handle);
	if ((r = hook_all(CALL_cuMemRelease)))
		return r;
	mappings_reference(handle, -1);
	return real.cuMemRelease(handle);
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type, unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMemExportToShareableHandle(shareable, handle, type, flags);
	if ((r = hook_all(CALL_cuMemExportToShareableHandle)))
		return r;
	mappings_flag(handle, SEEN_ELSEWHERE); /* this process may import it, too */
	return real.cuMemExportToShareableHandle(shareable, handle, type, flags);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
					CUmemAllocationHandleType type)
{
	CUresult r;

	if (hook_through())
		return real.cuMemImportFromShareableHandle(handle, shareable, type);
	if ((r = hook_all(CALL_cuMemImportFromShareableHandle)))
		return r;
	r = real.cuMemImportFromShareableHandle(handle, shareable, type);
	if (!r)
		mappings_flag(*handle, SEEN_ELSEWHERE);
	return r;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop)
{
	CUresult r;

	if (hook_through())
		return real.cuMulticastCreate(handle, prop);
	if ((r = hook_all(CALL_cuMulticastCreate)))
		return r;
	r = real.cuMulticastCreate(handle, prop);
	if (!r)
		mappings_flag(*handle, SEEN_ELSEWHERE);
	return r;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle multicast, size_t at,
			    CUmemGenericAllocationHandle handle, size_t offset, size_t bytes,
			    unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMulticastBindMem(multicast, at, handle, offset, bytes, flags);
	if ((r = hook_all(CALL_cuMulticastBindMem)))
		return r;
	mappings_flag(handle, SEEN_ELSEWHERE);
	return real.cuMulticastBindMem(multicast, at, handle, offset, bytes, flags);
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle multicast, size_t at, CUdeviceptr ptr,
			     size_t bytes, unsigned long long flags)
{
	CUresult r;

	if (hook_through())
		return real.cuMulticastBindAddr(multicast, at, ptr, bytes, flags);
	if ((r = hook_all(CALL_cuMulticastBindAddr)))
		return r;
	memory_flag(span(ptr, bytes), SEEN_ELSEWHERE);
	return real.cuMulticastBindAddr(multicast, at, ptr, bytes, flags);
}
