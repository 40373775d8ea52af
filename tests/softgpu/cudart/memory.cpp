/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation and what is known of addresses. */
#include <string.h>
#include "tests/softgpu/cudart/runtime.h"

cudaError_t cudaMalloc(void **out, size_t bytes)
{
	RUNTIME_CALL(bytes ? legacy.cuMemAlloc_v2(reinterpret_cast<CUdeviceptr *>(out), bytes)
			   : (*out = nullptr, CUDA_SUCCESS));
}

cudaError_t cudaFree(void *p)
{
	RUNTIME_CALL(p ? legacy.cuMemFree_v2(device_pointer(p)) : CUDA_SUCCESS);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	RUNTIME_CALL(legacy.cuMemAllocPitch_v2(reinterpret_cast<CUdeviceptr *>(out), pitch, width,
					       height, 4));
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
	RUNTIME_CALL(legacy.cuMemAllocManaged(reinterpret_cast<CUdeviceptr *>(out), bytes, flags));
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
	RUNTIME_CALL(legacy.cuMemAllocHost_v2(out, bytes));
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
	RUNTIME_CALL(legacy.cuMemHostAlloc(out, bytes, flags));
}

cudaError_t cudaFreeHost(void *p)
{
	RUNTIME_CALL(p ? legacy.cuMemFreeHost(p) : CUDA_SUCCESS);
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
	RUNTIME_CALL(legacy.cuMemHostRegister_v2(p, bytes, flags));
}

cudaError_t cudaHostUnregister(void *p)
{
	RUNTIME_CALL(legacy.cuMemHostUnregister(p));
}

cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
	RUNTIME_CALL(legacy.cuMemHostGetDevicePointer_v2(reinterpret_cast<CUdeviceptr *>(out), p,
							 flags));
}

cudaError_t cudaHostGetFlags(unsigned *out, void *p)
{
	RUNTIME_CALL(legacy.cuMemHostGetFlags(out, p));
}

RUNTIME_BOTH(cudaMallocAsync, _ptsz, (void **out, size_t bytes, cudaStream_t s),
	     d.cuMemAllocAsync(reinterpret_cast<CUdeviceptr *>(out), bytes, s))
RUNTIME_BOTH(cudaMallocFromPoolAsync, _ptsz,
	     (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t s),
	     d.cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr *>(out), bytes, pool, s))
RUNTIME_BOTH(cudaFreeAsync, _ptsz, (void *p, cudaStream_t s),
	     d.cuMemFreeAsync(device_pointer(p), s))

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	RUNTIME_CALL(legacy.cuMemGetInfo_v2(available, total));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
	RUNTIME_CALL(legacy.cuDeviceGetDefaultMemPool(out, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
	RUNTIME_CALL(legacy.cuDeviceGetMemPool(out, device));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	RUNTIME_CALL(legacy.cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute),
						  value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	RUNTIME_CALL(legacy.cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute),
						  value));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	RUNTIME_CALL(legacy.cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
	unsigned type = 0;
	int managed = 0, device = 0;
	CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				      CU_POINTER_ATTRIBUTE_IS_MANAGED,
				      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	void *where[] = {&type, &managed, &device};
	cudaError_t r = runtime_enter();

	if (r == cudaSuccess)
		r = static_cast<cudaError_t>(
			legacy.cuPointerGetAttributes(3, what, where, device_pointer(p)));
	if (r != cudaSuccess)
		return runtime_error(r);
	memset(out, 0, sizeof(*out));
	out->device = device;
	out->type = managed                      ? cudaMemoryTypeManaged
		    : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
		    : type                       ? cudaMemoryTypeDevice
						 : cudaMemoryTypeUnregistered;
	if (type)
		out->devicePointer = const_cast<void *>(p);
	if (out->type != cudaMemoryTypeDevice)
		out->hostPointer = const_cast<void *>(p);
	return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *p)
{
	RUNTIME_CALL(legacy.cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle *>(out),
					      device_pointer(p)));
}
