/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, functions' attributes, entry points, versions, error names. */
#include <cuda_profiler_api.h>
#include <string.h>
#include "tests/softgpu/cudart/runtime.h"

cudaError_t cudaRuntimeGetVersion(int *out)
{
	*out = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *out)
{
	*out = 0; /* without a driver that is the answer, not a failure */
	if (runtime_start() != cudaErrorInsufficientDriver)
		legacy.cuDriverGetVersion(out);
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *out)
{
	cudaError_t r = runtime_start();

	*out = 0;
	return r == cudaSuccess ? runtime_result(legacy.cuDeviceGetCount(out)) : runtime_error(r);
}

cudaError_t cudaDeviceSynchronize()
{
	RUNTIME_CALL(legacy.cuCtxSynchronize());
}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t r = runtime_start();

	if (r != cudaSuccess)
		return runtime_error(r);
	return runtime_result(legacy.cuDeviceGetAttribute(
		out, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer)
{
	RUNTIME_CALL(legacy.cuDeviceCanAccessPeer(out, device, peer));
}

cudaError_t cudaDeviceGetLimit(size_t *out, enum cudaLimit limit)
{
	RUNTIME_CALL(legacy.cuCtxGetLimit(out, static_cast<CUlimit>(limit)));
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	RUNTIME_CALL(legacy.cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	cudaError_t r = runtime_start();

	return r == cudaSuccess ? runtime_result(legacy.cuDevicePrimaryCtxSetFlags_v2(
					  runtime_device(), flags))
				: runtime_error(r);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
	cudaError_t r = runtime_start();
	auto get = [device](CUdevice_attribute a) {
		int v = 0;

		legacy.cuDeviceGetAttribute(&v, a, device);
		return v;
	};

	memset(out, 0, sizeof(*out));
	if (r == cudaSuccess)
		r = static_cast<cudaError_t>(
			legacy.cuDeviceGetName(out->name, sizeof(out->name), device));
	if (r != cudaSuccess)
		return runtime_error(r);
	legacy.cuDeviceGetUuid_v2(reinterpret_cast<CUuuid *>(&out->uuid), device);
	legacy.cuDeviceTotalMem_v2(&out->totalGlobalMem, device);
#define PROPERTY(member, attribute)                                                                \
	out->member = static_cast<__typeof__(out->member)>(get(CU_DEVICE_ATTRIBUTE_##attribute))
	PROPERTY(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
	PROPERTY(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	PROPERTY(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	PROPERTY(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK);
	PROPERTY(regsPerBlock, MAX_REGISTERS_PER_BLOCK);
	PROPERTY(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
	PROPERTY(warpSize, WARP_SIZE);
	PROPERTY(memPitch, MAX_PITCH);
	PROPERTY(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
	PROPERTY(maxThreadsDim[0], MAX_BLOCK_DIM_X);
	PROPERTY(maxThreadsDim[1], MAX_BLOCK_DIM_Y);
	PROPERTY(maxThreadsDim[2], MAX_BLOCK_DIM_Z);
	PROPERTY(maxGridSize[0], MAX_GRID_DIM_X);
	PROPERTY(maxGridSize[1], MAX_GRID_DIM_Y);
	PROPERTY(maxGridSize[2], MAX_GRID_DIM_Z);
	PROPERTY(totalConstMem, TOTAL_CONSTANT_MEMORY);
	PROPERTY(major, COMPUTE_CAPABILITY_MAJOR);
	PROPERTY(minor, COMPUTE_CAPABILITY_MINOR);
	PROPERTY(multiProcessorCount, MULTIPROCESSOR_COUNT);
	PROPERTY(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR);
	PROPERTY(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR);
	PROPERTY(canMapHostMemory, CAN_MAP_HOST_MEMORY);
	PROPERTY(concurrentKernels, CONCURRENT_KERNELS);
	PROPERTY(pciBusID, PCI_BUS_ID);
	PROPERTY(asyncEngineCount, ASYNC_ENGINE_COUNT);
	PROPERTY(unifiedAddressing, UNIFIED_ADDRESSING);
	PROPERTY(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
	PROPERTY(l2CacheSize, L2_CACHE_SIZE);
	PROPERTY(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED);
	PROPERTY(managedMemory, MANAGED_MEMORY);
	PROPERTY(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS);
	PROPERTY(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
	PROPERTY(cooperativeLaunch, COOPERATIVE_LAUNCH);
	PROPERTY(clusterLaunch, CLUSTER_LAUNCH);
	PROPERTY(hostRegisterSupported, HOST_REGISTER_SUPPORTED);
	PROPERTY(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED);
	PROPERTY(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS);
#undef PROPERTY
	return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
	cudaError_t r = runtime_enter();
	CUkernel k = r == cudaSuccess ? kernel_of(function) : nullptr;
	auto get = [k](CUfunction_attribute a) {
		int v = 0;

		legacy.cuKernelGetAttribute(&v, a, k, runtime_device());
		return v;
	};

	if (r == cudaSuccess && !k)
		r = cudaErrorInvalidDeviceFunction;
	if (r != cudaSuccess)
		return runtime_error(r);
	memset(out, 0, sizeof(*out));
#define ATTRIBUTE(member, attribute)                                                               \
	out->member = static_cast<__typeof__(out->member)>(get(CU_FUNC_ATTRIBUTE_##attribute))
	ATTRIBUTE(sharedSizeBytes, SHARED_SIZE_BYTES);
	ATTRIBUTE(constSizeBytes, CONST_SIZE_BYTES);
	ATTRIBUTE(localSizeBytes, LOCAL_SIZE_BYTES);
	ATTRIBUTE(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
	ATTRIBUTE(numRegs, NUM_REGS);
	ATTRIBUTE(ptxVersion, PTX_VERSION);
	ATTRIBUTE(binaryVersion, BINARY_VERSION);
	ATTRIBUTE(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES);
	ATTRIBUTE(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT);
#undef ATTRIBUTE
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	RUNTIME_CALL(legacy.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute),
						 value, kernel_of(function), runtime_device()));
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
	RUNTIME_CALL(legacy.cuKernelSetCacheConfig(
		kernel_of(function), static_cast<CUfunc_cache>(config), runtime_device()));
}

cudaError_t cudaFuncGetName(const char **out, const void *function)
{
	RUNTIME_CALL(legacy.cuKernelGetName(out, kernel_of(function)));
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t i, size_t *offset, size_t *bytes)
{
	RUNTIME_CALL(legacy.cuKernelGetParamInfo(kernel_of(function), i, offset, bytes));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *function,
								   int threads, size_t shared_bytes,
								   unsigned flags)
{
	RUNTIME_CALL(legacy.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		out, reinterpret_cast<CUfunction>(kernel_of(function)), threads, shared_bytes,
		flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *function,
							  int threads, size_t shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads,
								      shared_bytes, 0);
}

static CUresult entry_point(const struct api &d, const char *symbol, void **out, unsigned version,
			    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	if (flags == cudaEnableDefault && &d == &per_thread)
		flags = cudaEnablePerThreadDefaultStream;
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	CUresult r =
		legacy.cuGetProcAddress_v2(symbol, out, static_cast<int>(version), flags, &found);
	if (status) {
		*status = static_cast<enum cudaDriverEntryPointQueryResult>(found);
		r = r == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : r; /* said by the status instead */
	}
	return r;
}

RUNTIME_BOTH(cudaGetDriverEntryPoint, _ptsz,
	     (const char *symbol, void **out, unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *status),
	     entry_point(d, symbol, out, CUDART_VERSION, flags, status))
RUNTIME_BOTH(cudaGetDriverEntryPointByVersion, _ptsz,
	     (const char *symbol, void **out, unsigned version, unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *status),
	     entry_point(d, symbol, out, version, flags, status))

cudaError_t cudaProfilerStart()
{
	RUNTIME_CALL(legacy.cuProfilerStart());
}

cudaError_t cudaProfilerStop()
{
	RUNTIME_CALL(legacy.cuProfilerStop());
}
