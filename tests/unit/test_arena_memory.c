/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of live checks, on a driver that maps one range and knows what is left. */
#include "tests/unit/unit.h"

#include "shim/arena_memory.h"

struct driver real;

enum { MIB = 1 << 20, GRAIN = 2 * MIB };
#define BASE UINT64_C(0x7f0000000000)

static struct {
	uint64_t left, reserved, mapped, created, allocated;
	bool maps, access;
	int unmaps, frees;
} device;

static CUresult grain(size_t *to, const CUmemAllocationProp *p, CUmemAllocationGranularity_flags f)
{
	*to = GRAIN;
	return device.maps && p->location.id == 3 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult reserve(CUdeviceptr *to, size_t bytes, size_t align, CUdeviceptr hint,
			unsigned long long flags)
{
	assert_int_equal(bytes % GRAIN, 0);
	device.reserved = bytes;
	*to = BASE;
	return CUDA_SUCCESS;
}

static CUresult give_up(CUdeviceptr at, size_t bytes)
{
	assert_int_equal(at, BASE);
	assert_int_equal(bytes, device.reserved);
	device.reserved = 0;
	return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *to, size_t bytes, const CUmemAllocationProp *p,
		       unsigned long long flags)
{
	if (bytes > device.left)
		return CUDA_ERROR_OUT_OF_MEMORY;
	device.created = *to = bytes;
	return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
		    unsigned long long flags)
{
	assert_int_equal(at, BASE + device.mapped); /* each part behind the one before */
	assert_int_equal(h, bytes);
	device.mapped += bytes;
	device.left -= bytes;
	assert_true(device.mapped <= device.reserved);
	return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle h)
{
	assert_int_equal(h, device.created);
	device.created = 0;
	return CUDA_SUCCESS;
}

static CUresult set_access(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *d, size_t n)
{
	return device.access ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult unmap(CUdeviceptr at, size_t bytes)
{
	assert_int_equal(at + bytes, BASE + device.mapped); /* the last part, whole */
	device.mapped -= bytes;
	device.left += bytes;
	device.unmaps++;
	return CUDA_SUCCESS;
}

static CUresult info(size_t *left, size_t *all)
{
	*left = device.left;
	*all = UINT64_C(1) << 40;
	return CUDA_SUCCESS;
}

static CUresult alloc(CUdeviceptr *to, size_t bytes)
{
	if (bytes > device.left)
		return CUDA_ERROR_OUT_OF_MEMORY;
	device.allocated = bytes;
	*to = 0x1000;
	return CUDA_SUCCESS;
}

static CUresult free_(CUdeviceptr at)
{
	assert_int_equal(at, 0x1000);
	device.frees++;
	return CUDA_SUCCESS;
}

static int fresh(void **state)
{
	memset(&device, 0, sizeof(device));
	device.left = 1024 * (uint64_t)MIB;
	device.maps = device.access = true;
	real.cuMemGetAllocationGranularity = grain;
	real.cuMemAddressReserve = reserve;
	real.cuMemAddressFree = give_up;
	real.cuMemCreate = create;
	real.cuMemMap = map;
	real.cuMemRelease = release;
	real.cuMemSetAccess = set_access;
	real.cuMemUnmap = unmap;
	real.cuMemGetInfo_v2 = info;
	real.cuMemAlloc_v2 = alloc;
	real.cuMemFree_v2 = free_;
	return 0;
}

static void grows_and_shrinks(void **state)
{
	struct arena_memory m;

	assert_true(arena_memory_make(&m, 3, 8 * MIB, 64 * MIB, 256 * MIB));
	assert_int_equal(m.bytes, 8 * MIB);
	assert_true(arena_memory_grow(&m, 3, 99 * MIB));
	assert_int_equal(m.bytes, 100 * MIB); /* whole grains */
	assert_true(arena_memory_grow(&m, 3, 256 * MIB));
	assert_int_equal(m.bytes, 256 * MIB);
	assert_int_equal(device.mapped, 256 * MIB);
	assert_false(arena_memory_grow(&m, 3, 257 * MIB)); /* and what grew is gone */
	assert_int_equal(m.bytes, 8 * MIB);
	assert_true(arena_memory_grow(&m, 3, 16 * MIB));
	arena_memory_shrink(&m);
	arena_memory_shrink(&m);
	assert_int_equal(m.bytes, 8 * MIB);
	assert_int_equal(device.mapped, 8 * MIB);
	assert_int_equal(m.base, BASE);
	assert_true(arena_memory_grow(&m, 3, 32 * MIB));
	assert_true(arena_memory_free(&m));
	assert_int_equal(device.mapped, 0);
	assert_int_equal(m.bytes, 0);
	assert_false(arena_memory_free(&m));
}

/* The program's memory comes first: as much as is taken stays free. */
static void leaves_memory(void **state)
{
	struct arena_memory m;

	assert_true(arena_memory_make(&m, 3, 8 * MIB, 8 * MIB, 256 * MIB));
	device.left = 100 * (uint64_t)MIB;
	assert_false(arena_memory_grow(&m, 3, 60 * MIB));
	assert_int_equal(m.bytes, 8 * MIB);
	assert_true(arena_memory_grow(&m, 3, 58 * MIB));
}

static void failures(void **state)
{
	struct arena_memory m;

	assert_true(arena_memory_make(&m, 3, 8 * MIB, 8 * MIB, 256 * MIB));
	device.access = false;
	assert_false(arena_memory_grow(&m, 3, 32 * MIB));
	assert_int_equal(m.bytes, 8 * MIB);
	assert_int_equal(device.mapped, 8 * MIB);
	fresh(NULL);
	device.access = false; /* nothing can be mapped: it is allocated, as much as is wanted */
	assert_true(arena_memory_make(&m, 3, 8 * MIB, 64 * MIB, 256 * MIB));
	assert_int_equal(device.reserved + device.mapped, 0);
	assert_int_equal(m.bytes, 64 * MIB);
	device.left = 0;
	assert_false(arena_memory_make(&m, 3, 8 * MIB, 64 * MIB, 256 * MIB));
}

/* Without mapping it stays as it is. */
static void allocated(void **state)
{
	struct arena_memory m;

	device.maps = false;
	assert_true(arena_memory_make(&m, 3, 8 * MIB, 20 * MIB, 256 * MIB));
	assert_int_equal(m.bytes, 20 * MIB);
	assert_false(arena_memory_grow(&m, 3, 32 * MIB));
	arena_memory_shrink(&m);
	assert_int_equal(m.bytes, 20 * MIB);
	assert_true(arena_memory_free(&m));
	assert_int_equal(device.frees, 1);
	fresh(NULL); /* less than a grain may be had: not mapped either */
	assert_true(arena_memory_make(&m, 3, MIB, MIB, MIB));
	assert_int_equal(m.bytes, MIB);
	assert_int_equal(device.allocated, MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(grows_and_shrinks, fresh),
		cmocka_unit_test_setup(leaves_memory, fresh),
		cmocka_unit_test_setup(failures, fresh),
		cmocka_unit_test_setup(allocated, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
