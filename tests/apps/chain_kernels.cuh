/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of (a + b) * s + c, one kernel for each. T is float or bf16. */
#ifndef CHAIN_KERNELS_CUH
#define CHAIN_KERNELS_CUH

#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

static __device__ __forceinline__ float load(const float *p)
{
	return *p;
}

static __device__ __forceinline__ float load(const bf16 *p)
{
	return __bfloat162float(*p);
}

static __device__ __forceinline__ void store(float *p, float v)
{
	*p = v;
}

static __device__ __forceinline__ void store(bf16 *p, float v)
{
	*p = __float2bfloat16(v);
}

/* out = a + b */
template <typename T> __global__ void chain_add(T *out, const T *a, const T *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store(out + i, load(a + i) + load(b + i));
}

/* out = x * s */
template <typename T> __global__ void chain_scale(T *out, const T *x, float s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store(out + i, load(x + i) * s);
}

#endif
