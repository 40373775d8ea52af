/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/cudart/runtime.h"
#include <atomic>
#include <dlfcn.h>
#include <mutex>

struct api legacy, per_thread;

namespace
{
std::once_flag once;
cudaError_t started = cudaErrorInitializationError;
std::atomic<unsigned> resets; /* cudaDeviceReset makes every thread look for its context again */

struct thread_state {
	cudaError_t last = cudaSuccess;
	int device = 0;
	bool entered = false;
	unsigned resets = 0;
};
thread_local struct thread_state self;

using look_up = __typeof__(&::cuGetProcAddress_v2);

void bind(look_up get)
{
	void *ignored;

	/* What the real runtime asks first; nothing comes of the empty name. */
	get("", &ignored, 0, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
	/* CUDA 7.0 brought the per-thread flavours. */
#define RUNTIME_BIND_legacy(name, base, since)                                                     \
	get(#base, reinterpret_cast<void **>(&legacy.name), since, CU_GET_PROC_ADDRESS_DEFAULT,    \
	    nullptr);                                                                              \
	get(#base, reinterpret_cast<void **>(&per_thread.name), since < 7000 ? 7000 : since,       \
	    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr);
#define RUNTIME_BIND_ptds(name, base, since)
#define RUNTIME_BIND_ptsz(name, base, since)
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	RUNTIME_BIND_##flavour(name, base, since)
#include "driver_api.def"
#undef DRIVER_API
}

void start()
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	look_up get =
		driver ? reinterpret_cast<look_up>(dlsym(driver, "cuGetProcAddress_v2")) : nullptr;

	if (!get) {
		started = cudaErrorInsufficientDriver;
		return;
	}
	bind(get);
	started = legacy.cuInit ? static_cast<cudaError_t>(legacy.cuInit(0))
				: cudaErrorInsufficientDriver;
}

cudaError_t enter_device(int device)
{
	CUcontext ctx;
	CUresult r = legacy.cuDevicePrimaryCtxRetain(&ctx, device);

	if (r == CUDA_SUCCESS)
		r = legacy.cuCtxSetCurrent(ctx);
	return static_cast<cudaError_t>(r);
}
} // namespace

cudaError_t runtime_start()
{
	std::call_once(once, start);
	return started;
}

cudaError_t runtime_enter()
{
	cudaError_t r = runtime_start();
	CUcontext ctx = nullptr;

	if (r != cudaSuccess || (self.entered && self.resets == resets))
		return r;
	legacy.cuCtxGetCurrent(&ctx);
	if (!ctx || self.resets != resets)
		r = enter_device(self.device);
	self.entered = r == cudaSuccess;
	self.resets = resets;
	return r;
}

cudaError_t runtime_error(cudaError_t e)
{
	if (e != cudaSuccess)
		self.last = e;
	return e;
}

int runtime_device()
{
	return self.device;
}

cudaError_t cudaGetLastError()
{
	cudaError_t e = self.last;

	self.last = cudaSuccess;
	return e;
}

cudaError_t cudaPeekAtLastError()
{
	return self.last;
}

cudaError_t cudaSetDevice(int device)
{
	CUdevice dev;
	cudaError_t r = runtime_start();

	if (r == cudaSuccess)
		r = static_cast<cudaError_t>(legacy.cuDeviceGet(&dev, device));
	if (r == cudaSuccess)
		r = enter_device(device);
	if (r == cudaSuccess) {
		self.device = device;
		self.entered = true;
		self.resets = resets;
	}
	return runtime_error(r);
}

cudaError_t cudaGetDevice(int *out)
{
	CUdevice dev;
	cudaError_t r = runtime_start();

	if (r == cudaSuccess && legacy.cuCtxGetDevice(&dev) == CUDA_SUCCESS)
		*out = dev;
	else if (r == cudaSuccess)
		*out = self.device;
	return runtime_error(r);
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned)
{
	return cudaSetDevice(device);
}

cudaError_t cudaDeviceReset()
{
	cudaError_t r = runtime_enter();

	if (r == cudaSuccess)
		r = static_cast<cudaError_t>(legacy.cuDevicePrimaryCtxReset_v2(self.device));
	resets++;
	return runtime_error(r);
}
