/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches, from <<<>>> and from calls. Kernels go to the driver as CUkernel cast to
 * CUfunction. */
#include <string.h>
#include <vector>
#include "tests/softgpu/cudart/runtime.h"

namespace
{
struct configuration {
	dim3 grid, block;
	size_t shared_bytes;
	void *stream;
};
thread_local std::vector<struct configuration> pushed;

/* The runtime has its own word for shapes that no device could launch. */
cudaError_t launch_result(CUresult r, dim3 g, dim3 b)
{
	uint64_t threads = static_cast<uint64_t>(b.x) * b.y * b.z;

	if (r == CUDA_ERROR_INVALID_VALUE &&
	    (!g.x || !g.y || !g.z || g.x > 2147483647u || g.y > 65535 || g.z > 65535 || !threads ||
	     threads > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64))
		return runtime_error(cudaErrorInvalidConfiguration);
	return runtime_result(r);
}

cudaError_t launch(const struct api &d, const void *function, dim3 g, dim3 b, void **args,
		   size_t shared_bytes, cudaStream_t stream, bool cooperative)
{
	cudaError_t entered = runtime_enter();

	if (entered != cudaSuccess)
		return runtime_error(entered);
	CUfunction f = reinterpret_cast<CUfunction>(kernel_of(function));
	if (!f)
		return runtime_error(cudaErrorInvalidDeviceFunction);
	CUresult r = cooperative ? d.cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z,
							       static_cast<unsigned>(shared_bytes),
							       stream, args)
				 : d.cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z,
						    static_cast<unsigned>(shared_bytes), stream,
						    args, nullptr);
	return launch_result(r, g, b);
}

cudaError_t launch_ex(const struct api &d, const cudaLaunchConfig_t *c, const void *function,
		      void **args)
{
	CUlaunchConfig config = {};
	std::vector<CUlaunchAttribute> attributes(c ? c->numAttrs : 0);
	cudaError_t entered = runtime_enter();

	if (entered != cudaSuccess)
		return runtime_error(entered);
	CUfunction f = reinterpret_cast<CUfunction>(kernel_of(function));
	if (!c || !f)
		return runtime_error(c ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
	static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
		      "one layout, two names");
	if (!attributes.empty())
		memcpy(attributes.data(), c->attrs, attributes.size() * sizeof(attributes[0]));
	config.gridDimX = c->gridDim.x;
	config.gridDimY = c->gridDim.y;
	config.gridDimZ = c->gridDim.z;
	config.blockDimX = c->blockDim.x;
	config.blockDimY = c->blockDim.y;
	config.blockDimZ = c->blockDim.z;
	config.sharedMemBytes = static_cast<unsigned>(c->dynamicSmemBytes);
	config.hStream = c->stream;
	config.attrs = attributes.data();
	config.numAttrs = c->numAttrs;
	return launch_result(d.cuLaunchKernelEx(&config, f, args, nullptr), c->gridDim,
			     c->blockDim);
}
} // namespace

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
				     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
			       size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
				    size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args,
				  size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *c, const void *f, void **args);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args,
					     size_t shared_bytes, cudaStream_t stream);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
				     struct CUstream_st *stream)
{
	pushed.push_back({grid, block, shared_bytes, stream});
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	if (pushed.empty())
		return cudaErrorMissingConfiguration;
	*grid = pushed.back().grid;
	*block = pushed.back().block;
	*shared_bytes = pushed.back().shared_bytes;
	memcpy(stream, &pushed.back().stream, sizeof(pushed.back().stream));
	pushed.pop_back();
	return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
			       size_t shared_bytes, cudaStream_t stream)
{
	return launch(legacy, kernel, grid, block, args, shared_bytes, stream, false);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
				    size_t shared_bytes, cudaStream_t stream)
{
	return launch(per_thread, kernel, grid, block, args, shared_bytes, stream, false);
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			     cudaStream_t stream)
{
	return launch(legacy, f, grid, block, args, shared_bytes, stream, false);
}

cudaError_t cudaLaunchKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args,
				  size_t shared_bytes, cudaStream_t stream)
{
	return launch(per_thread, f, grid, block, args, shared_bytes, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args,
					size_t shared_bytes, cudaStream_t stream)
{
	return launch(legacy, f, grid, block, args, shared_bytes, stream, true);
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args,
					     size_t shared_bytes, cudaStream_t stream)
{
	return launch(per_thread, f, grid, block, args, shared_bytes, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args)
{
	return launch_ex(legacy, c, f, args);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *c, const void *f, void **args)
{
	return launch_ex(per_thread, c, f, args);
}

RUNTIME_BOTH(cudaLaunchHostFunc, _ptsz, (cudaStream_t s, cudaHostFn_t fn, void *data),
	     d.cuLaunchHostFunc(s, fn, data))
