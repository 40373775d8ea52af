/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation of every kind, what pointers say of themselves, copies and fills. */
#include "tests/softgpu/test.h"

static int attribute(CUpointer_attribute a, CUdeviceptr p)
{
	uint64_t value = 0;

	OK(cuPointerGetAttribute(&value, a, p));
	return (int)value;
}

static CUcontext owner(CUdeviceptr p)
{
	CUcontext ctx = (CUcontext)1;

	OK(cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	return ctx;
}

static void device_memory(void **state)
{
	CUcontext current;
	CUdeviceptr p, base;
	size_t bytes, free_before, free_after, total;

	OK(cuCtxGetCurrent(&current));
	OK(cuMemGetInfo(&free_before, &total));
	OK(cuMemAlloc(&p, 1000));
	OK(cuMemGetInfo(&free_after, &total));
	assert_true(free_before - free_after >= 1000);
	assert_int_equal(p % 256, 0);
	assert_ptr_equal(owner(p), current);
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 5), CU_MEMORYTYPE_DEVICE);
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 0);
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), 0);
	OK(cuMemGetAddressRange(&base, &bytes, p + 999));
	assert_int_equal(base, p);
	assert_int_equal(bytes, 1000);
	assert_int_equal(cuMemGetAddressRange(&base, &bytes, p + 1000), CUDA_ERROR_NOT_FOUND);
	assert_int_equal(cuMemFree(p + 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(p));
	assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(0));
	assert_int_equal(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAlloc(&p, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
}

static void managed_and_host_memory(void **state)
{
	CUdeviceptr p, q;
	void *h;
	unsigned flags;
	static char own[64];

	OK(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 1);
	memset((void *)p, 1, 64);
	OK(cuMemFree(p));

	OK(cuMemHostAlloc(&h, 64, CU_MEMHOSTALLOC_PORTABLE));
	OK(cuMemHostGetDevicePointer(&q, h, 0));
	assert_int_equal(q, (CUdeviceptr)h);
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q), CU_MEMORYTYPE_HOST);
	OK(cuMemHostGetFlags(&flags, h));
	assert_true(flags & CU_MEMHOSTALLOC_PORTABLE);
	OK(cuMemFreeHost(h));

	assert_int_equal(
		cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)own),
		CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostRegister(own, sizeof(own), 0));
	assert_int_equal(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)own),
			 CU_MEMORYTYPE_HOST);
	assert_int_equal(cuMemHostRegister(own, sizeof(own), 0),
			 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostUnregister(own));
	assert_int_equal(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

static void several_attributes_at_once(void **state)
{
	CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	unsigned type = 9;
	int device = 9, own;
	void *where[] = {&type, &device};

	OK(cuPointerGetAttributes(2, what, where, (CUdeviceptr)&own));
	assert_int_equal(type, 0);
	assert_int_equal(device, -2);
}

static void stream_ordered_memory(void **state)
{
	CUstream s, other;
	CUdeviceptr a, b, c, flag = test_ints(1);
	CUmemoryPool pool;
	uint64_t used;
	int one = 1;

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	OK(cuMemAllocAsync(&a, 4096, s));
	assert_null(owner(a));
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
	assert_int_equal(used, 4096);
	/* The stream is held up: its own next allocation may have the block, another stream's not.
	 */
	LAUNCH("test_wait", 1, s, &flag);
	OK(cuMemFreeAsync(a, s));
	assert_int_equal(cuMemFreeAsync(a, s), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocAsync(&b, 4096, other));
	assert_int_not_equal(b, a);
	OK(cuMemAllocAsync(&c, 4096, s));
	assert_int_equal(c, a);
	OK(cuMemcpyHtoDAsync(flag, &one, sizeof(one), other));
	OK(cuStreamSynchronize(s));
	OK(cuMemFreeAsync(b, other));
	OK(cuMemFree(c)); /* the plain call takes it, too */
	OK(cuCtxSynchronize());
	OK(cuMemPoolTrimTo(pool, 0));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &used));
	assert_int_equal(used, 0);
	OK(cuStreamDestroy(s));
	OK(cuStreamDestroy(other));
	OK(cuMemFree(flag));
}

static void one_handle_at_two_addresses(void **state)
{
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
				  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle h, again;
	CUdeviceptr at;
	size_t unit;

	OK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	OK(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
	OK(cuMemCreate(&h, unit, &prop, 0));
	OK(cuMemMap(at, unit, 0, h, 0));
	assert_int_equal(cuMemMap(at, unit, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(at + unit, unit, 0, h, 0));
	OK(cuMemSetAccess(at, 2 * unit, &access, 1));
	assert_null(owner(at));
	OK(cuMemsetD32(at, 11, 4));
	assert_int_equal(test_int(at + unit, 3), 11);
	OK(cuMemcpyDtoD(at + 64, at + unit, 16));
	assert_int_equal(test_int(at + unit + 64, 0), 11);
	OK(cuMemsetD8(at + unit - 4, 1, 8)); /* across both mappings */
	OK(cuMemRetainAllocationHandle(&again, (void *)(at + unit + 5)));
	assert_int_equal(again, h);
	OK(cuMemRelease(again));
	OK(cuMemRelease(h));
	assert_int_equal(test_int(at, 1), 11); /* mappings keep it */
	OK(cuCtxSynchronize());
	OK(cuMemUnmap(at, 2 * unit));
	assert_int_equal(cuMemsetD8(at, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAddressFree(at, 2 * unit));
}

static void boxes(void **state)
{
	CUdeviceptr p;
	size_t pitch;
	int host[3][5], back[3][5];
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			   .srcHost = host,
			   .srcPitch = sizeof(host[0]),
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .WidthInBytes = sizeof(host[0]),
			   .Height = 3};
	CUDA_MEMCPY2D d = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstMemoryType = CU_MEMORYTYPE_HOST,
			   .dstHost = back,
			   .dstPitch = sizeof(host[0]),
			   .WidthInBytes = sizeof(host[0]),
			   .Height = 3};

	for (int i = 0; i < 15; i++)
		host[i / 5][i % 5] = i;
	OK(cuMemAllocPitch(&p, &pitch, sizeof(host[0]), 3, 4));
	c.dstDevice = d.srcDevice = p;
	c.dstPitch = d.srcPitch = pitch;
	OK(cuMemcpy2D(&c));
	OK(cuMemsetD2D32(p + 4, pitch, 77, 2, 3)); /* columns 1 and 2 */
	OK(cuMemcpy2D(&d));
	for (int i = 0; i < 15; i++)
		assert_int_equal(back[i / 5][i % 5], i % 5 == 1 || i % 5 == 2 ? 77 : i);
	c.Height = 4;
	assert_int_equal(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(p));
}

static void pageable_sources_are_read_at_once(void **state)
{
	CUdeviceptr flag = test_ints(1), p = test_ints(1);
	CUstream s, other;
	int value = 5, one = 1;

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	LAUNCH("test_wait", 1, s, &flag);
	OK(cuMemcpyHtoDAsync(p, &value, sizeof(value), s));
	value = 6;
	OK(cuMemcpyHtoDAsync(flag, &one, sizeof(one), other));
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(p, 0), 5);
	OK(cuStreamDestroy(s));
	OK(cuStreamDestroy(other));
	OK(cuMemFree(p));
	OK(cuMemFree(flag));
}

static void handles_for_other_processes(void **state)
{
	CUdeviceptr p = test_ints(1), opened;
	CUipcMemHandle handle;

	OK(cuIpcGetMemHandle(&handle, p));
	assert_int_equal(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
			 CUDA_ERROR_INVALID_CONTEXT); /* by its own process */
	OK(cuMemFree(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_memory),
		cmocka_unit_test(managed_and_host_memory),
		cmocka_unit_test(several_attributes_at_once),
		cmocka_unit_test(stream_ordered_memory),
		cmocka_unit_test(one_handle_at_two_addresses),
		cmocka_unit_test(boxes),
		cmocka_unit_test(pageable_sources_are_read_at_once),
		cmocka_unit_test(handles_for_other_processes),
	};

	return TEST_RUN(tests, test_begin);
}
