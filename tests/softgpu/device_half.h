/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 16-bit functions that cuda_fp16.h and cuda_bf16.h keep for the device: they are computed in
 * float (fused multiply-add in double, where it is exact before the one rounding). Part of
 * device.h.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_HALF_H
#define AF_TESTS_SOFTGPU_DEVICE_HALF_H

#include "tests/softgpu/device_math.h"

namespace softgpu
{
inline float widen(__half v)
{
	return __half2float(v);
}
inline float widen(__nv_bfloat16 v)
{
	return __bfloat162float(v);
}
template <class T> T narrow(double v);
template <> inline __half narrow<__half>(double v)
{
	return __double2half(v);
}
template <> inline __nv_bfloat16 narrow<__nv_bfloat16>(double v)
{
	return __double2bfloat16(v);
}
} // namespace softgpu

#define SOFTGPU_HALF_UNARY(name, expression)                                                       \
	static inline __half h##name(const __half v)                                               \
	{                                                                                          \
		float x = softgpu::widen(v);                                                       \
		return softgpu::narrow<__half>(expression);                                        \
	}                                                                                          \
	static inline __nv_bfloat16 h##name(const __nv_bfloat16 v)                                 \
	{                                                                                          \
		float x = softgpu::widen(v);                                                       \
		return softgpu::narrow<__nv_bfloat16>(expression);                                 \
	}                                                                                          \
	static inline __half2 h2##name(const __half2 v)                                            \
	{                                                                                          \
		return __halves2half2(h##name(__low2half(v)), h##name(__high2half(v)));            \
	}                                                                                          \
	static inline __nv_bfloat162 h2##name(const __nv_bfloat162 v)                              \
	{                                                                                          \
		return __halves2bfloat162(h##name(__low2bfloat16(v)),                              \
					  h##name(__high2bfloat16(v)));                            \
	}
SOFTGPU_HALF_UNARY(sqrt, softgpu::approx_sqrt(x))
SOFTGPU_HALF_UNARY(rsqrt, softgpu::approx_rsqrt(x))
SOFTGPU_HALF_UNARY(rcp, softgpu::approx_rcp(x))
SOFTGPU_HALF_UNARY(exp, expf(x))
SOFTGPU_HALF_UNARY(exp2, exp2f(x))
SOFTGPU_HALF_UNARY(exp10, exp10f(x))
SOFTGPU_HALF_UNARY(log, logf(x))
SOFTGPU_HALF_UNARY(log2, log2f(x))
SOFTGPU_HALF_UNARY(log10, log10f(x))
SOFTGPU_HALF_UNARY(sin, sinf(x))
SOFTGPU_HALF_UNARY(cos, cosf(x))
SOFTGPU_HALF_UNARY(tanh, tanhf(x))
SOFTGPU_HALF_UNARY(tanh_approx, softgpu::approx_tanh(x))
SOFTGPU_HALF_UNARY(floor, floorf(x))
SOFTGPU_HALF_UNARY(ceil, ceilf(x))
SOFTGPU_HALF_UNARY(trunc, truncf(x))
SOFTGPU_HALF_UNARY(rint, rintf(x))
#undef SOFTGPU_HALF_UNARY

#define SOFTGPU_HALF_FMA(type, type2, halves, low, high)                                           \
	static inline type __hfma(const type a, const type b, const type c)                        \
	{                                                                                          \
		return softgpu::narrow<type>(                                                      \
			__fma_rn(softgpu::widen(a), softgpu::widen(b), softgpu::widen(c)));        \
	}                                                                                          \
	static inline type __hfma_relu(const type a, const type b, const type c)                   \
	{                                                                                          \
		type r = __hfma(a, b, c);                                                          \
		return softgpu::widen(r) < 0.0f ? softgpu::narrow<type>(0.0) : r;                  \
	}                                                                                          \
	static inline type2 __hfma2(const type2 a, const type2 b, const type2 c)                   \
	{                                                                                          \
		return halves(__hfma(low(a), low(b), low(c)), __hfma(high(a), high(b), high(c)));  \
	}
SOFTGPU_HALF_FMA(__half, __half2, __halves2half2, __low2half, __high2half)
SOFTGPU_HALF_FMA(__nv_bfloat16, __nv_bfloat162, __halves2bfloat162, __low2bfloat16, __high2bfloat16)
#undef SOFTGPU_HALF_FMA

/* Component-wise, each half on its own, as the device documents its packed atomics. */
static inline __half2 atomicAdd(__half2 *p, __half2 v)
{
	return softgpu::atomic_update(p, [v](__half2 old) { return __hadd2(old, v); });
}
static inline __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{
	return softgpu::atomic_update(p, [v](__nv_bfloat162 old) { return __hadd2(old, v); });
}

#endif
