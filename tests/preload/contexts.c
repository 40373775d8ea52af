/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts and memory come and go, on any driver. Prints what each call answers, and nothing that
 * differs from run to run: the output must be the same with the library preloaded.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(call) printf("%s = %d\n", #call, (int)(call))

enum { MIB = 1 << 20 };

static void allocations(void)
{
	CUdeviceptr a = 0, b = 0, c = 0, m = 0;
	size_t pitch = 0;
	void *h = NULL, *own = aligned_alloc(4096, MIB);
	CUstream s = NULL;
	CUdeviceptr base = 0;
	size_t bytes = 0;

	SAY(cuMemAlloc_v2(&a, MIB));
	SAY(cuMemAllocPitch_v2(&b, &pitch, 1000, 10, 4));
	SAY(cuMemAllocManaged(&m, MIB, CU_MEM_ATTACH_GLOBAL));
	SAY(cuMemHostAlloc(&h, MIB, CU_MEMHOSTALLOC_DEVICEMAP));
	SAY(cuMemHostRegister_v2(own, MIB, 0));
	SAY(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	SAY(cuMemAllocAsync(&c, MIB, s));
	SAY(cuMemsetD8Async(c, 1, MIB, s));
	SAY(cuMemGetAddressRange_v2(&base, &bytes, a + 100));
	printf("range %d %zu\n", base == a, bytes);
	SAY(cuMemFreeAsync(c, s));
	SAY(cuStreamSynchronize(s));
	SAY(cuStreamDestroy_v2(s));
	SAY(cuMemHostUnregister(own));
	SAY(cuMemFreeHost(h));
	SAY(cuMemFree_v2(m));
	SAY(cuMemFree_v2(b));
	SAY(cuMemFree_v2(a));
	SAY(cuMemFree_v2(a + 4));
	SAY(cuMemAlloc_v2(&a, (size_t)1 << 60)); /* more than there is */
	free(own);
}

static void mappings(void)
{
	CUmemAllocationProp prop;
	CUmemAccessDesc access;
	CUmemGenericAllocationHandle h = 0;
	CUdeviceptr at = 0;
	size_t grain = 0;

	memset(&prop, 0, sizeof(prop));
	memset(&access, 0, sizeof(access));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	SAY(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	SAY(cuMemCreate(&h, grain, &prop, 0));
	SAY(cuMemAddressReserve(&at, 2 * grain, 0, 0, 0));
	SAY(cuMemMap(at, grain, 0, h, 0));
	SAY(cuMemSetAccess(at, grain, &access, 1));
	SAY(cuMemMap(at + grain, grain, 0, h, 0));
	SAY(cuMemRelease(h));
	SAY(cuMemUnmap(at, 2 * grain));
	SAY(cuMemUnmap(at, grain));
	SAY(cuMemAddressFree(at, 2 * grain));
}

int main(void)
{
	CUcontext primary = NULL, again = NULL, ctx = NULL, popped = NULL;
	CUdeviceptr left = 0;
	unsigned flags;
	int active;

	SAY(cuMemFree_v2(16)); /* before cuInit */
	SAY(cuInit(0));
	SAY(cuDevicePrimaryCtxRetain(&primary, 0));
	SAY(cuMemAlloc_v2(&left, 64)); /* nothing is current yet */
	SAY(cuCtxSetCurrent(primary));
	allocations();
	mappings();
	SAY(cuMemAlloc_v2(&left, MIB)); /* left to the reset */
	SAY(cuDevicePrimaryCtxReset_v2(0));
	SAY(cuDevicePrimaryCtxRetain(&again, 0));
	printf("same handle after reset: %d\n", again == primary);
	SAY(cuCtxSetCurrent(again));
	allocations();
	SAY(cuMemAlloc_v2(&left, MIB));
	SAY(cuDevicePrimaryCtxRelease_v2(0));
	cuDevicePrimaryCtxGetState(0, &flags, &active);
	printf("active %d\n", active);
	SAY(cuDevicePrimaryCtxRelease_v2(0));
	cuDevicePrimaryCtxGetState(0, &flags, &active);
	printf("active %d\n", active);
	/* The runtime's order: the primary context is made current before it exists again. */
	SAY(cuCtxSetCurrent(again));
	SAY(cuDevicePrimaryCtxRetain(&again, 0));
	SAY(cuMemAlloc_v2(&left, MIB));
	SAY(cuMemFree_v2(left));
	SAY(cuDevicePrimaryCtxRelease_v2(0));
	for (int i = 0; i < 3; i++) {
		SAY(cuCtxCreate_v2(&ctx, 0, 0));
		SAY(cuMemAlloc_v2(&left, MIB));
		SAY(cuCtxPopCurrent_v2(&popped));
		SAY(cuCtxPushCurrent_v2(ctx));
		SAY(cuCtxSetCurrent(ctx));
		SAY(cuCtxDestroy_v2(ctx));
	}
	/* One launch, refused, so that recordings and reports are written. */
	SAY(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	return 0;
}
