/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/vmm.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/softgpu/driver/capture.h"

namespace
{
enum : size_t { GRANULARITY = 2 << 20 };

/* Reserved address ranges: base and size. */
std::map<uintptr_t, size_t> &reserved = *new std::map<uintptr_t, size_t>();

bool inside_reserved(uintptr_t p, size_t bytes)
{
	auto above = reserved.upper_bound(p);

	if (above == reserved.begin())
		return false;
	auto range = std::prev(above);
	return p - range->first <= range->second && bytes <= range->second - (p - range->first);
}

struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	return object_find<struct physical>(reinterpret_cast<const void *>(handle));
}

void release(struct physical *p)
{
	if (--p->references)
		return;
	if (p->prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
		driver.devices[p->prop.location.id].used -= p->bytes;
	close(p->fd);
	object_delete(p);
}

/* Calls f for every mapping inside [p, p + bytes). */
template <class F> void each_mapping(uintptr_t p, size_t bytes, F f)
{
	for (uintptr_t at = p; at < p + bytes;) {
		struct allocation *a = memory_at(at);

		if (!a || a->kind != MEMORY_MAPPED) {
			at += GRANULARITY;
			continue;
		}
		at += a->bytes;
		f(a);
	}
}
} // namespace

CUresult soft::cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
					     CUmemAllocationGranularity_flags)
{
	if (!out || !prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*out = GRANULARITY;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr hint,
				   unsigned long long flags)
{
	if (!out || !bytes || bytes % GRANULARITY || flags || (align & (align - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	align = align < GRANULARITY ? GRANULARITY : align;
	char *p = static_cast<char *>(mmap(reinterpret_cast<void *>(hint), bytes + align, PROT_NONE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	if (p == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	char *aligned = p + (align - reinterpret_cast<uintptr_t>(p) % align) % align;
	if (aligned > p)
		munmap(p, static_cast<size_t>(aligned - p));
	if (p + align > aligned)
		munmap(aligned + bytes, static_cast<size_t>(p + align - aligned));
	reserved[reinterpret_cast<uintptr_t>(aligned)] = bytes;
	*out = reinterpret_cast<CUdeviceptr>(aligned);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemAddressFree(CUdeviceptr p, size_t bytes)
{
	auto range = reserved.find(p);

	if (range == reserved.end() || range->second != bytes)
		return CUDA_ERROR_INVALID_VALUE;
	munmap(reinterpret_cast<void *>(p), bytes);
	reserved.erase(range);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
			   const CUmemAllocationProp *prop, unsigned long long)
{
	if (!out || !prop || !bytes || bytes % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
		struct device *d = device_get(prop->location.id);

		if (!d)
			return CUDA_ERROR_INVALID_DEVICE;
		if (bytes > driver.device_memory - d->used)
			return CUDA_ERROR_OUT_OF_MEMORY;
		d->used += bytes;
	}
	int fd = memfd_create("softgpu", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	struct physical *p = object_new<struct physical>();
	*p = {fd, bytes, *prop, 1, ++driver.next_id};
	*out = reinterpret_cast<CUmemGenericAllocationHandle>(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	release(p);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemMap(CUdeviceptr at, size_t bytes, size_t offset,
			CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct physical *p = physical_of(handle);

	if (!p || flags || !bytes || offset > p->bytes || bytes > p->bytes - offset ||
	    !inside_reserved(at, bytes) || memory_find(at))
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap(reinterpret_cast<void *>(at), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, p->fd,
		 static_cast<off_t>(offset)) == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct allocation *a = memory_enter(at, bytes, MEMORY_MAPPED, p->prop.location.id, nullptr);
	a->physical = p;
	p->references++;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *desc, size_t n)
{
	int prot = PROT_NONE;

	if (!desc || !inside_reserved(at, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++)
		prot |= desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
			: desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
									    : PROT_NONE;
	return mprotect(reinterpret_cast<void *>(at), bytes, prot) == 0 ? CUDA_SUCCESS
									: CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
			      CUdeviceptr at)
{
	struct allocation *a = memory_find(at);

	if (!flags || !location || !a || a->kind != MEMORY_MAPPED)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemUnmap(CUdeviceptr at, size_t bytes)
{
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	if (!inside_reserved(at, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	each_mapping(at, bytes, [](struct allocation *a) {
		mmap(reinterpret_cast<void *>(a->base), a->bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		release(a->physical);
		memory_leave(a);
	});
	return CUDA_SUCCESS;
}

CUresult soft::cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *at)
{
	struct allocation *a = memory_find(reinterpret_cast<uintptr_t>(at));

	if (!out || !a || !a->physical)
		return CUDA_ERROR_INVALID_VALUE;
	a->physical->references++;
	*out = reinterpret_cast<CUmemGenericAllocationHandle>(a->physical);
	return CUDA_SUCCESS;
}

CUresult soft::cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
						      CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);

	if (!out || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*out = p->prop;
	return CUDA_SUCCESS;
}

CUresult soft::cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
					    CUmemAllocationHandleType type, unsigned long long)
{
	struct physical *p = physical_of(handle);

	if (!out || !p || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !(p->prop.requestedHandleTypes & type))
		return CUDA_ERROR_INVALID_VALUE;
	int fd = dup(p->fd);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	memcpy(out, &fd, sizeof(fd));
	return CUDA_SUCCESS;
}

CUresult soft::cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *shared,
					      CUmemAllocationHandleType type)
{
	int fd = dup(static_cast<int>(reinterpret_cast<intptr_t>(shared)));
	off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || bytes <= 0) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_INVALID_VALUE;
	}
	struct physical *p = object_new<struct physical>();
	*p = {fd, static_cast<size_t>(bytes), {}, 1, ++driver.next_id};
	p->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p->prop.requestedHandleTypes = type;
	*out = reinterpret_cast<CUmemGenericAllocationHandle>(p);
	return CUDA_SUCCESS;
}
