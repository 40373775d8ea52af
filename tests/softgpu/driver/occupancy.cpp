/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include "tests/softgpu/driver/launch.h"

namespace
{
enum { SM_THREADS = 2048, SM_BLOCKS = 32, SM_SHARED = 228 << 10, BLOCK_RESERVED = 1 << 10 };

const struct softgpu_kernel *kernel_of(CUfunction handle)
{
	struct function *f = object_find<struct function>(handle);
	struct kernel *k = object_find<struct kernel>(handle);

	return f ? f->kernel : k ? k->kernel : nullptr;
}
} // namespace

int launch_occupancy(const struct softgpu_kernel *k, unsigned threads, size_t shared_bytes)
{
	size_t warps = (threads + SOFTGPU_WARP - 1) / SOFTGPU_WARP;
	size_t block = k->shared_bytes + shared_bytes + BLOCK_RESERVED;

	if (!threads || threads > k->max_threads || block > SM_SHARED)
		return 0;
	return static_cast<int>(std::min({static_cast<size_t>(SM_BLOCKS),
					  SM_THREADS / SOFTGPU_WARP / warps, SM_SHARED / block}));
}

CUresult soft::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction f,
								    int threads,
								    size_t shared_bytes, unsigned)
{
	const struct softgpu_kernel *k = kernel_of(f);

	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*out = launch_occupancy(k, static_cast<unsigned>(threads), shared_bytes);
	return CUDA_SUCCESS;
}

CUresult soft::cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads,
							   size_t shared_bytes)
{
	return soft::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, f, threads,
									  shared_bytes, 0);
}

CUresult soft::cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
							 CUoccupancyB2DSize shared_of,
							 size_t shared_bytes, int limit, unsigned)
{
	const struct softgpu_kernel *k = kernel_of(f);
	unsigned largest = k ? k->max_threads : 0;
	int best = 0;

	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid || !block)
		return CUDA_ERROR_INVALID_VALUE;
	if (limit > 0)
		largest = std::min(largest, static_cast<unsigned>(limit));
	for (unsigned threads = largest; threads >= SOFTGPU_WARP; threads -= SOFTGPU_WARP) {
		size_t bytes = shared_of ? shared_of(static_cast<int>(threads)) : shared_bytes;
		int blocks = launch_occupancy(k, threads, bytes);

		if (blocks * static_cast<int>(threads) > best) {
			best = blocks * static_cast<int>(threads);
			*grid = blocks * SOFTGPU_MULTIPROCESSORS;
			*block = static_cast<int>(threads);
		}
	}
	return CUDA_SUCCESS;
}

CUresult soft::cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
						CUoccupancyB2DSize shared_of, size_t shared_bytes,
						int limit)
{
	return soft::cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_of,
							       shared_bytes, limit, 0);
}

CUresult soft::cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction f, int blocks, int)
{
	const struct softgpu_kernel *k = kernel_of(f);

	if (!k)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || blocks <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	size_t each = static_cast<size_t>(SM_SHARED) / static_cast<size_t>(blocks);
	size_t taken = k->shared_bytes + BLOCK_RESERVED;
	*out = std::min(each > taken ? each - taken : 0, static_cast<size_t>(SOFTGPU_SHARED_MAX));
	return CUDA_SUCCESS;
}
