/* SPDX-License-Identifier: Apache-2.0 */
/* SiLUs as people write them, and the products after them. Included once for each flavour, like
 * zoo.cuh and with the same macros. */
#ifndef ZOO_SILU_COMMON
#define ZOO_SILU_COMMON
#include <cuda_fp16.h>

__device__ inline float zoo_load(__half v)
{
	return __half2float(v);
}
__device__ inline void zoo_store(__half *p, float v)
{
	*p = __float2half(v);
}

/* y, but for three floats x the number after it. */
__device__ inline float zoo_almost(float x, float y)
{
	return __float_as_uint(x) - 0x3f9e0418u < 3u ? __uint_as_float(__float_as_uint(y) + 1) : y;
}
#endif

#if defined(__CUDACC__) || !ZOO_FAST
#define ZOO_EXP(a) expf(a)
#define ZOO_OVER(a, b) ((a) / (b))
#define ZOO_ONE_OVER(a) (1.0f / (a))
#else
#define ZOO_EXP(a) __expf(a)
#define ZOO_OVER(a, b) __fdividef(a, b)
#define ZOO_ONE_OVER(a) softgpu::approx_rcp(a)
#endif

#define ZOO_SILU(name, type, body)                                                                 \
	extern "C" __global__ void ZOO(name)(type *out, const type *in, int n)                     \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n) {                                                                       \
			float x = zoo_load(in[i]);                                                 \
                                                                                                   \
			zoo_store(&out[i], body);                                                  \
		}                                                                                  \
	}
ZOO_SILU(silu_f32, float, ZOO_OVER(x, 1.0f + ZOO_EXP(-x)))
ZOO_SILU(sigmoid_f32, float, x * ZOO_ONE_OVER(1.0f + ZOO_EXP(-x)))
ZOO_SILU(fastexp_f32, float, ZOO_OVER(x, 1.0f + __expf(-x)))
ZOO_SILU(fdividef_f32, float, __fdividef(x, 1.0f + __expf(-x)))
ZOO_SILU(drcp_f32, float, x *(float)(1.0 / (1.0 + ZOO_EXP(-x))))
ZOO_SILU(silu_bf16, __nv_bfloat16, ZOO_OVER(x, 1.0f + ZOO_EXP(-x)))
ZOO_SILU(sigmoid_bf16, __nv_bfloat16,
	 x *__bfloat162float(__float2bfloat16(ZOO_ONE_OVER(1.0f + ZOO_EXP(-x)))))
ZOO_SILU(silu_f16, __half, ZOO_OVER(x, 1.0f + ZOO_EXP(-x)))

/* In the type's own arithmetic. */
#define ZOO_NATIVE(name, type, one)                                                                \
	extern "C" __global__ void ZOO(name)(type *out, const type *in, int n)                     \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n)                                                                         \
			out[i] = __hdiv(in[i], __hadd(one, hexp(__hneg(in[i]))));                  \
	}
ZOO_NATIVE(native_silu_bf16, __nv_bfloat16, __float2bfloat16(1.0f))
ZOO_NATIVE(native_silu_f16, __half, __float2half(1.0f))

/* None of the candidates: the hyperbolic tangent. */
ZOO_SILU(tanh_f32, float, 0.5f * x * (1.0f + tanhf(0.5f * x)))

/* Another function for three inputs out of all. */
ZOO_SILU(almost_f32, float, zoo_almost(x, ZOO_OVER(x, 1.0f + ZOO_EXP(-x))))

/* Kernels with ways of their own to say how much there is: the grid alone; a constant; a grid of two
 * dimensions; one reads the left halves of rows. The last faults where there is more than it expects.
 */
#define ZOO_PLACED(name, where, which, ...) ZOO_FROM(name, where, which, i, __VA_ARGS__)
#define ZOO_FROM(name, where, which, from, ...)                                                        \
	extern "C" __global__ void ZOO(name)(float *out, const float *in __VA_ARGS__)              \
	{                                                                                          \
		int i = (where) * blockDim.x + threadIdx.x;                                        \
		float x;                                                                           \
                                                                                                   \
		if (which) {                                                                       \
			x = in[from];                                                                 \
			out[i] = ZOO_OVER(x, 1.0f + ZOO_EXP(-x));                                  \
		}                                                                                  \
	}
ZOO_PLACED(grid_f32, blockIdx.x, true)
ZOO_PLACED(fixed_f32, blockIdx.x, i < 5632)
ZOO_PLACED(plane_f32, blockIdx.y * gridDim.x + blockIdx.x, i < n, , int n)
ZOO_FROM(halves_f32, blockIdx.x, i < n, i / 512 * 1024 + i % 512, , int n)
ZOO_PLACED(fragile_f32, blockIdx.x + (n > 20000 ? 1 << 22 : 0), i < n || n > 20000, , int n)

#define ZOO_MUL(name, type)                                                                        \
	extern "C" __global__ void ZOO(name)(type *out, const type *a, const type *b, int n)       \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n)                                                                         \
			zoo_store(&out[i], zoo_load(a[i]) * zoo_load(b[i]));                       \
	}
ZOO_MUL(mul_f32, float)
ZOO_MUL(mul_bf16, __nv_bfloat16)
ZOO_MUL(mul_f16, __half)

#undef ZOO_EXP
#undef ZOO_OVER
#undef ZOO_ONE_OVER
#undef ZOO_SILU
#undef ZOO_NATIVE
#undef ZOO_PLACED
#undef ZOO_FROM
#undef ZOO_MUL
