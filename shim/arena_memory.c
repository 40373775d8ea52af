/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/arena_memory.h"

#include <string.h>

static CUmemAllocationProp prop_of(int device)
{
	CUmemAllocationProp p;

	memset(&p, 0, sizeof(p));
	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = device;
	return p;
}

static bool grain_of(int device, uint64_t *grain)
{
	const CUmemAllocationProp p = prop_of(device);
	size_t g = 0;

	if (real.cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM))
		return false;
	*grain = g;
	return g != 0;
}

/* Backs the addresses; the mapping alone keeps the memory. */
static bool map(int device, CUdeviceptr at, uint64_t bytes)
{
	const CUmemAllocationProp p = prop_of(device);
	const CUmemAccessDesc access = {.location = p.location,
					.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	bool mapped;

	if (real.cuMemCreate(&handle, bytes, &p, 0))
		return false;
	mapped = !real.cuMemMap(at, bytes, 0, handle, 0);
	real.cuMemRelease(handle);
	if (!mapped)
		return false;
	if (!real.cuMemSetAccess(at, bytes, &access, 1))
		return true;
	real.cuMemUnmap(at, bytes);
	return false;
}

static uint64_t up(uint64_t n, uint64_t grain)
{
	return (n + grain - 1) / grain * grain;
}

static void set_bytes(struct arena_memory *m, uint64_t bytes)
{
	__atomic_store_n(&m->bytes, bytes, __ATOMIC_RELEASE);
}

bool arena_memory_make(struct arena_memory *m, int device, uint64_t least, uint64_t want,
		       uint64_t most)
{
	uint64_t grain;
	CUdeviceptr base;

	if (grain_of(device, &grain) && up(least, grain) <= most &&
	    !real.cuMemAddressReserve(&base, up(most, grain), 0, 0, 0)) {
		if (map(device, base, up(least, grain))) {
			*m = (struct arena_memory){.base = base,
						   .reserved = up(most, grain),
						   .first = up(least, grain)};
			set_bytes(m, m->first);
			return true;
		}
		real.cuMemAddressFree(base, up(most, grain));
	}
	if (real.cuMemAlloc_v2(&base, want))
		return false;
	*m = (struct arena_memory){.base = base, .first = want};
	set_bytes(m, want);
	return true;
}

bool arena_memory_grow(struct arena_memory *m, int device, uint64_t bytes)
{
	size_t left = 0, all = 0;
	uint64_t grain, more;

	if (!m->reserved || !grain_of(device, &grain))
		return false;
	bytes = up(bytes, grain);
	arena_memory_shrink(m);
	if (bytes > m->reserved || bytes <= m->bytes || m->bytes > m->first)
		return false;
	more = bytes - m->first;
	if (real.cuMemGetInfo_v2(&left, &all) || left < 2 * more ||
	    !map(device, m->base + m->first, more))
		return false;
	set_bytes(m, bytes);
	return true;
}

void arena_memory_shrink(struct arena_memory *m)
{
	if (m->bytes > m->first && !real.cuMemUnmap(m->base + m->first, m->bytes - m->first))
		set_bytes(m, m->first);
}

bool arena_memory_free(struct arena_memory *m)
{
	bool freed;

	if (!m->bytes)
		return false;
	arena_memory_shrink(m);
	freed = m->reserved ? !real.cuMemUnmap(m->base, m->first) : !real.cuMemFree_v2(m->base);
	set_bytes(m, 0);
	if (freed && m->reserved)
		real.cuMemAddressFree(m->base, m->reserved);
	return freed;
}
