/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where kernels differ between the GPU's compiler and the software GPU's (a host
 * compiler). Kernels write arithmetic whose bits matter through af::arith: it never contracts, and
 * rounds and flushes as its name says, whatever the compiler's flags.
 */
#ifndef AF_FUSED_DEVICE_H
#define AF_FUSED_DEVICE_H

#if defined(__CUDACC_RTC__) /* generated kernels: no headers but what the library carries */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define AF_SOFTGPU 0
#define AF_NOINLINE __noinline__
#elif defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define AF_SOFTGPU 0
#define AF_NOINLINE __noinline__
#else
#include "tests/softgpu/device.h"
#define AF_SOFTGPU 1
#define AF_NOINLINE __attribute__((noinline))
#endif

namespace af
{
/* FTZ: subnormal operands and results become zero. */
template <bool FTZ> struct arith {
#if !AF_SOFTGPU
#define AF_PTX(name, params, ieee, ftz, ...)                                                       \
	static __device__ __forceinline__ float name params                                        \
	{                                                                                          \
		float r;                                                                           \
		if (FTZ)                                                                           \
			asm(ftz : "=f"(r) : __VA_ARGS__);                                          \
		else                                                                               \
			asm(ieee : "=f"(r) : __VA_ARGS__);                                         \
		return r;                                                                          \
	}
#define AF_ONE(name, op, suffix)                                                                   \
	AF_PTX(name, (float a), op suffix " %0, %1;", op ".ftz" suffix " %0, %1;", "f"(a))
#define AF_TWO(name, op, suffix)                                                                   \
	AF_PTX(name, (float a, float b), op suffix " %0, %1, %2;",                                 \
	       op ".ftz" suffix " %0, %1, %2;", "f"(a), "f"(b))
	AF_TWO(add, "add.rn", ".f32")
	AF_TWO(mul, "mul.rn", ".f32")
	AF_PTX(fma, (float a, float b, float c), "fma.rn.f32 %0, %1, %2, %3;",
	       "fma.rn.ftz.f32 %0, %1, %2, %3;", "f"(a), "f"(b), "f"(c))
	AF_TWO(div_rn, "div.rn", ".f32")
	AF_TWO(div_fast, "div.approx", ".f32")
	AF_ONE(sqrt_rn, "sqrt.rn", ".f32")
	AF_ONE(sqrt_fast, "sqrt.approx", ".f32")
	AF_ONE(rcp_rn, "rcp.rn", ".f32")
	AF_ONE(rsqrt_fast, "rsqrt.approx", ".f32")
	AF_ONE(rcp_fast, "rcp.approx", ".f32")
	AF_TWO(div_full, "div.full", ".f32")
	AF_ONE(exp2_fast, "ex2.approx", ".f32")
	AF_PTX(fma_down, (float a, float b, float c), "fma.rm.f32 %0, %1, %2, %3;",
	       "fma.rm.ftz.f32 %0, %1, %2, %3;", "f"(a), "f"(b), "f"(c))
	AF_PTX(saturated, (float a), "cvt.sat.f32.f32 %0, %1;", "cvt.ftz.sat.f32.f32 %0, %1;",
	       "f"(a))
#undef AF_PTX
#undef AF_ONE
#undef AF_TWO
	/* What nvcc 13 makes of expf: 2^n by the bits, where n is the whole part of a * log2(e)
	 * after it is brought into 252 steps, times 2 to what is left. */
	static __device__ __forceinline__ float exp_full(float a)
	{
		float n = fma_down(saturated(fma(a, __uint_as_float(0x3bbb989du), 0.5f)), 252.0f,
				   __uint_as_float(0x4b400001u));
		float left =
			fma(a, __uint_as_float(0x3fb8aa3bu), -add(n, __uint_as_float(0xcb40007fu)));

		left = arith<true>::exp2_fast(fma(a, __uint_as_float(0x32a57060u), left));
		return mul(left, __uint_as_float(__float_as_uint(n) << 23));
	}
	static __device__ __forceinline__ float exp_fast(float a)
	{
		return exp2_fast(mul(a, __uint_as_float(0x3fb8aa3bu)));
	}
#else
	static float z(float v)
	{
		return FTZ ? softgpu::flush(v) : v;
	}
	static float add(float a, float b)
	{
		return z(__fadd_rn(z(a), z(b)));
	}
	static float mul(float a, float b)
	{
		return z(__fmul_rn(z(a), z(b)));
	}
	static float fma(float a, float b, float c)
	{
		return z(__fmaf_rn(z(a), z(b), z(c)));
	}
	static float div_rn(float a, float b)
	{
		return z(__fdiv_rn(z(a), z(b)));
	}
	static float div_fast(float a, float b)
	{
		return z(softgpu::approx_div(z(a), z(b)));
	}
	static float sqrt_rn(float a)
	{
		return z(__fsqrt_rn(z(a)));
	}
	static float sqrt_fast(float a)
	{
		return z(softgpu::approx_sqrt(z(a)));
	}
	static float rcp_rn(float a)
	{
		return z(__frcp_rn(z(a)));
	}
	static float rsqrt_fast(float a)
	{
		return z(softgpu::approx_rsqrt(z(a)));
	}
	static float rcp_fast(float a)
	{
		return z(softgpu::approx_rcp(z(a)));
	}
	static float div_full(float a, float b)
	{
		return z(softgpu::nudge(__fdiv_rn(z(a), z(b)),
					__float_as_uint(a) + __float_as_uint(b), 0x5a));
	}
	static float exp_full(float a)
	{
		return z(softgpu::opaque(expf(z(a))));
	}
	static float exp_fast(float a)
	{
		return z(softgpu::fast_exp(z(a)));
	}
#endif
};

/* Double precision needs no such care: these are all we use of it. */
__device__ inline double add_double(double a, double b)
{
	return __dadd_rn(a, b);
}
__device__ inline double mul_double(double a, double b)
{
	return __dmul_rn(a, b);
}
__device__ inline double div_double(double a, double b)
{
	return __ddiv_rn(a, b);
}
__device__ inline double rcp_sqrt_double(double a)
{
	return __drcp_rn(__dsqrt_rn(a));
}

/* Element types in memory, as their bits, and as float. */
struct f32 {
	typedef uint32_t bits;
	static __device__ __forceinline__ float load(bits v)
	{
		return __uint_as_float(v);
	}
	static __device__ __forceinline__ bits round(float v)
	{
		return __float_as_uint(v);
	}
};
struct f16 {
	typedef uint16_t bits;
#ifdef __CUDACC_RTC__
	static __device__ __forceinline__ float load(bits v)
	{
		float r;
		asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v));
		return r;
	}
	static __device__ __forceinline__ bits round(float v)
	{
		bits r;
		asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
		return r;
	}
#else
	static __device__ __forceinline__ float load(bits v)
	{
		return __half2float(__ushort_as_half(v));
	}
	static __device__ __forceinline__ bits round(float v)
	{
		return __half_as_ushort(__float2half_rn(v));
	}
#endif
};
struct bf16 {
	typedef uint16_t bits;
	static __device__ __forceinline__ float load(bits v)
	{
		return __uint_as_float((uint32_t)v << 16);
	}
	static __device__ __forceinline__ bits round(float v)
	{
#ifdef __CUDACC_RTC__
		bits r;
		asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v));
		return r;
#else
		return __bfloat16_as_ushort(__float2bfloat16_rn(v));
#endif
	}
};

/*
 * Arithmetic of the 16-bit types as cuda_fp16.h and cuda_bf16.h have it, on values of the type held
 * as float. There is none for float.
 */
template <class T> struct native {
	static __device__ __forceinline__ float exp(float)
	{
		return 0;
	}
	static __device__ __forceinline__ float div(float, float)
	{
		return 0;
	}
	static __device__ __forceinline__ float rcp(float)
	{
		return 0;
	}
};
#ifdef __CUDACC_RTC__
/*
 * The same arithmetic without the headers; tests/gpu/gen_native_check compares it with theirs. f16:
 * a quotient is a product with the approximate reciprocal, and small ones are put right; exp is
 * put right in four places where its approximation is off. bf16: the approximations are good enough
 * as they are.
 */
template <> struct native<f16> {
	static __device__ __forceinline__ float exp(float a)
	{
		uint16_t x = f16::round(a), r;
		float e = arith<true>::exp2_fast(
			arith<false>::fma(a, __uint_as_float(0x3fb8aa3bu), -0.0f));

		r = f16::round(e);
		if (x == 0x1f79 || x == 0x25cf)
			r--;
		else if (x == 0xc13b || x == 0xc1ef)
			r++;
		return f16::load(r);
	}
	static __device__ __forceinline__ float div(float a, float b)
	{
		float by = arith<true>::rcp_fast(b), q = arith<false>::mul(by, a);
		uint16_t r = f16::round(q), size = r & 0x7fff;

		if (size && size < 0x8f)
			r = f16::round(arith<false>::fma(by, arith<false>::fma(-b, q, a), q));
		return f16::load(r);
	}
	static __device__ __forceinline__ float rcp(float a)
	{
		return f16::load(f16::round(arith<true>::rcp_fast(a)));
	}
};
template <> struct native<bf16> {
	static __device__ __forceinline__ float exp(float a)
	{
		return bf16::load(bf16::round(arith<false>::exp2_fast(
			arith<false>::mul(a, __uint_as_float(0x3fb8aa3cu)))));
	}
	static __device__ __forceinline__ float div(float a, float b)
	{
		bool big = (__float_as_uint(b) & 0x7fffffff) >= 0x7e800000u && b == b;
		float q = arith<false>::div_fast(a, big ? arith<false>::mul(b, 0.25f) : b);

		return bf16::load(bf16::round(big ? arith<false>::fma(q, 0.25f, -0.0f) : q));
	}
	static __device__ __forceinline__ float rcp(float a)
	{
		return bf16::load(bf16::round(arith<false>::rcp_fast(a)));
	}
};
#else
#define AF_NATIVE(type, from, to)                                                                  \
	template <> struct native<type> {                                                          \
		static __device__ __forceinline__ float exp(float a)                               \
		{                                                                                  \
			return to(hexp(from(a)));                                                  \
		}                                                                                  \
		static __device__ __forceinline__ float div(float a, float b)                      \
		{                                                                                  \
			return to(__hdiv(from(a), from(b)));                                       \
		}                                                                                  \
		static __device__ __forceinline__ float rcp(float a)                               \
		{                                                                                  \
			return to(hrcp(from(a)));                                                  \
		}                                                                                  \
	};
AF_NATIVE(f16, __float2half_rn, __half2float)
AF_NATIVE(bf16, __float2bfloat16_rn, __bfloat162float)
#undef AF_NATIVE
#endif
} // namespace af

#endif
