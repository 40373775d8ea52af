/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thin CUDA runtime over a driver that is found and asked as the real runtime does it: dlopen of
 * libcuda.so.1, dlsym of cuGetProcAddress_v2, everything else through that, in both stream
 * flavours, before cuInit. It knows nothing of the software GPU.
 */
#ifndef AF_TESTS_SOFTGPU_CUDART_RUNTIME_H
#define AF_TESTS_SOFTGPU_CUDART_RUNTIME_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

/* The driver's functions without their per-thread-stream siblings ... */
#define RUNTIME_MEMBER_legacy(name) __typeof__(::name) *name;
#define RUNTIME_MEMBER_ptds(name)
#define RUNTIME_MEMBER_ptsz(name)
struct api {
#define DRIVER_API(name, base, since, flavour, stream, params, args) RUNTIME_MEMBER_##flavour(name)
#include "driver_api.def"
#undef DRIVER_API
};
/* ... which per_thread holds under the same names. */
extern struct api legacy, per_thread;

/* Finds and initialises the driver once. */
cudaError_t runtime_start();
/* runtime_start, and the calling thread has a context: its own, or its device's primary one. */
cudaError_t runtime_enter();
/* Remembers a failure as the thread's last error; answers it. */
cudaError_t runtime_error(cudaError_t e);
static inline cudaError_t runtime_result(CUresult r)
{
	return runtime_error(static_cast<cudaError_t>(r)); /* the numbers are the same */
}
/* The device that cudaSetDevice chose for the thread. */
int runtime_device();

/* Most functions: enter, call, remember. */
#define RUNTIME_CALL(call)                                                                         \
	do {                                                                                       \
		cudaError_t entered = runtime_enter();                                             \
		if (entered != cudaSuccess)                                                        \
			return runtime_error(entered);                                             \
		return runtime_result(call);                                                       \
	} while (0)
/* A function that exists for both default streams: `call` uses `d`. */
#define RUNTIME_BOTH(name, suffix, params, call)                                                   \
	cudaError_t name params                                                                    \
	{                                                                                          \
		const struct api &d = legacy;                                                      \
		RUNTIME_CALL(call);                                                                \
	}                                                                                          \
	extern "C" cudaError_t name##suffix params;                                                \
	cudaError_t name##suffix params                                                            \
	{                                                                                          \
		const struct api &d = per_thread;                                                  \
		RUNTIME_CALL(call);                                                                \
	}

static inline CUdeviceptr device_pointer(const void *p)
{
	return reinterpret_cast<CUdeviceptr>(p);
}

/* The kernel that a host stub stands for, or that a cudaKernel_t already is. NULL: none such. */
CUkernel kernel_of(const void *function);
/* Where a registered variable is. */
cudaError_t symbol_find(const void *symbol, CUdeviceptr *out, size_t *bytes);

#endif
