/* SPDX-License-Identifier: Apache-2.0 */
/* The driver for programs of the GPU suite: found at run time, one device, errors end the program.
 */
#ifndef AF_TESTS_GPU_DRIVER_H
#define AF_TESTS_GPU_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU_CALLS(X)                                                                               \
	X(cuInit)                                                                                  \
	X(cuDeviceGet)                                                                             \
	X(cuDeviceGetName)                                                                         \
	X(cuDeviceGetAttribute)                                                                    \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuCtxSetCurrent)                                                                         \
	X(cuCtxSynchronize)                                                                        \
	X(cuGetErrorName)                                                                          \
	X(cuModuleLoadData)                                                                        \
	X(cuModuleGetFunction)                                                                     \
	X(cuFuncGetAttribute)                                                                      \
	X(cuFuncSetAttribute)                                                                      \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                             \
	X(cuMemAlloc_v2)                                                                           \
	X(cuMemFree_v2)                                                                            \
	X(cuMemHostAlloc)                                                                          \
	X(cuMemHostGetDevicePointer_v2)                                                            \
	X(cuMemcpyHtoD_v2)                                                                         \
	X(cuMemcpyDtoH_v2)                                                                         \
	X(cuMemcpyDtoDAsync_v2)                                                                    \
	X(cuMemsetD8_v2)                                                                           \
	X(cuLaunchKernel)                                                                          \
	X(cuStreamCreate)                                                                          \
	X(cuStreamBeginCapture_v2)                                                                 \
	X(cuStreamEndCapture)                                                                      \
	X(cuGraphInstantiateWithFlags)                                                             \
	X(cuGraphLaunch)                                                                           \
	X(cuGraphExecDestroy)                                                                      \
	X(cuGraphDestroy)                                                                          \
	X(cuEventCreate)                                                                           \
	X(cuEventRecord)                                                                           \
	X(cuEventSynchronize)                                                                      \
	X(cuEventElapsedTime)

static struct {
#define X(name) __typeof__(name) *name;
	GPU_CALLS(X)
#undef X
	char name[256];
	int cc, sm_count, max_shmem;
	int soft; /* the software GPU */
} gpu;

#define GPU(call)                                                                                  \
	do {                                                                                       \
		CUresult rc_ = gpu.call;                                                           \
		if (rc_ != CUDA_SUCCESS) {                                                         \
			const char *why_ = "?";                                                    \
			gpu.cuGetErrorName(rc_, &why_);                                            \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, why_);       \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static inline int gpu_attribute(CUdevice dev, CUdevice_attribute what)
{
	int v;

	GPU(cuDeviceGetAttribute(&v, what, dev));
	return v;
}

static inline void gpu_open(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	CUcontext ctx;
	CUdevice dev;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
#define X(name)                                                                                    \
	gpu.name = (__typeof__(gpu.name))dlsym(lib, #name);                                        \
	if (!gpu.name) {                                                                           \
		fprintf(stderr, "the driver has no %s\n", #name);                                  \
		exit(3);                                                                           \
	}
	GPU_CALLS(X)
#undef X
	GPU(cuInit(0));
	GPU(cuDeviceGet(&dev, 0));
	GPU(cuDeviceGetName(gpu.name, sizeof(gpu.name), dev));
	GPU(cuDevicePrimaryCtxRetain(&ctx, dev));
	GPU(cuCtxSetCurrent(ctx));
	gpu.soft = strstr(gpu.name, "softgpu") != NULL;
	gpu.cc = 10 * gpu_attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
		 gpu_attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	gpu.sm_count = gpu_attribute(dev, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	gpu.max_shmem = gpu_attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

/* A module from a file. */
static inline CUmodule gpu_load(const char *path)
{
	CUmodule module;
	FILE *f = fopen(path, "rb");
	char *bytes;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) <= 0 || fseek(f, 0, SEEK_SET) ||
	    !(bytes = calloc(1, (size_t)n + 1)) || fread(bytes, 1, (size_t)n, f) != (size_t)n) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(3);
	}
	fclose(f);
	GPU(cuModuleLoadData(&module, bytes));
	free(bytes);
	return module;
}

static inline CUfunction gpu_function(CUmodule module, const char *name)
{
	CUfunction f;

	GPU(cuModuleGetFunction(&f, module, name));
	return f;
}

static inline CUdeviceptr gpu_alloc(size_t bytes)
{
	CUdeviceptr p;

	GPU(cuMemAlloc_v2(&p, bytes));
	return p;
}

#endif
