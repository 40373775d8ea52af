/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of live checks and probes: compare two boxes, publish the result to the host, go through
 * all floats. */
#ifndef AF_FUSED_CHECK_CUH
#define AF_FUSED_CHECK_CUH

#include "fused/check.h"
#include "fused/device.h"

namespace af
{
/* Numbers in an order in which neighbours are one unit in the last place apart; +0 and -0 are 0. */
template <class T> __device__ inline int64_t place(typename T::bits v)
{
	const int shift = 8 * sizeof(v) - 1;
	int64_t magnitude = v & (((uint64_t)1 << shift) - 1);

	return v >> shift ? -magnitude : magnitude;
}

template <class T> __device__ __forceinline__ void compare(const compare_args &p)
{
	typedef typename T::bits bits;
	unsigned long long differ = 0, distance = 0;
	int64_t step = (int64_t)gridDim.x * blockDim.x;

	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.rows * p.cols; i += step) {
		int64_t r = p.rows > 1 ? i / p.cols : 0, c = i - r * p.cols;
		bits x = ((const bits *)(p.x + r * p.xpitch))[c];
		bits y = ((const bits *)(p.y + r * p.ypitch))[c];
		bool xnan, ynan;

		if (x == y)
			continue;
		xnan = isnan(T::load(x));
		ynan = isnan(T::load(y));
		if (AF_SOFTGPU && xnan && ynan)
			continue;
		differ++;
		if (xnan || ynan) {
			distance = ~0ull;
		} else {
			int64_t d = place<T>(x) - place<T>(y);
			unsigned long long far = (unsigned long long)(d < 0 ? -d : d);

			distance = far > distance ? far : distance;
		}
	}
	if (differ) {
		atomicAdd((unsigned long long *)p.counter, differ);
		atomicMax((unsigned long long *)p.counter + 1, distance);
	}
}

__device__ __forceinline__ void sweep(const sweep_args &p)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;

	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.rows * p.cols; i += step) {
		int64_t r = p.rows > 1 ? i / p.cols : 0, c = i - r * p.cols;
		uint32_t bits = sweep_bits(&p, i);

		((uint32_t *)(p.x + r * p.xpitch))[c] = bits;
		if (p.y != p.x)
			((uint32_t *)(p.y + r * p.ypitch))[c] = sweep_factor(&p, bits);
	}
}
}

#endif
