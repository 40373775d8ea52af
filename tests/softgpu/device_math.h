/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a GPU answers by approximation. Here they differ from the correctly rounded value
 * by one unit in the last place for half of all inputs, chosen by the input's bits: as on a GPU the
 * difference is the same every time, and a fused kernel that takes the wrong spelling is found out.
 * softgpu::approx_* are what inline PTX (rsqrt.approx and its kin) stands for. Part of device.h.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_MATH_H
#define AF_TESTS_SOFTGPU_DEVICE_MATH_H

#include "tests/softgpu/device_round.h"

namespace softgpu
{
/* Flushes a denormal to zero of its sign (.ftz). */
inline float flush(float v)
{
	return fabsf(v) < 1.17549435e-38f ? copysignf(0.0f, v) : v;
}

/*
 * v, off by one unit in the last place up, down or not at all as the bits of the inputs say. Exact
 * powers of two, zeros, denormals, Inf and NaN stay.
 */
inline float nudge(float v, uint32_t input, uint32_t salt)
{
	uint32_t bits = __float_as_uint(v), exponent = bits >> 23 & 0xff;
	uint32_t h = (input ^ salt) * 0x9e3779b1u;

	if (exponent == 0 || exponent == 0xff || (bits & 0x7fffff) == 0)
		return opaque(v);
	h = (h ^ h >> 15) * 0x85ebca77u >> 30;
	if (h == 1 && (bits & 0x7fffff) != 0x7fffff)
		bits++;
	else if (h == 2)
		bits--;
	return opaque(__uint_as_float(bits));
}

inline float approx_rsqrt(float x)
{
	return nudge(static_cast<float>(1.0 / sqrt(static_cast<double>(x))), __float_as_uint(x),
		     0x51);
}
inline float approx_sqrt(float x)
{
	return nudge(__builtin_sqrtf(x), __float_as_uint(x), 0x52);
}
inline float approx_rcp(float x)
{
	return nudge(__frcp_rn(x), __float_as_uint(x), 0x53);
}
/* div.approx: the denominator's reciprocal, and 0 beyond 2^126 as documented for __fdividef. */
inline float approx_div(float a, float b)
{
	if (fabsf(b) > 8.507059e37f)
		return isinf(a) || isnan(b) ? __uint_as_float(0x7fffffffu)
					    : copysignf(0.0f, a) * copysignf(1.0f, b);
	return nudge(__fdiv_rn(a, b), __float_as_uint(a) * 31 + __float_as_uint(b), 0x54);
}
inline float approx_exp2(float x)
{
	return nudge(exp2f(x), __float_as_uint(x), 0x55);
}
inline float approx_log2(float x)
{
	return nudge(log2f(x), __float_as_uint(x), 0x56);
}
inline float approx_tanh(float x)
{
	return nudge(tanhf(x), __float_as_uint(x), 0x57);
}
} // namespace softgpu

namespace softgpu
{
inline double double_rsqrt(double x)
{
	return 1.0 / sqrt(x);
}
inline float plain_div(float a, float b)
{
	return __fdiv_rn(a, b);
}
inline float fast_exp(float x)
{
	return approx_exp2(__fmul_rn(x, 1.44269504f));
}
inline float fast_exp10(float x)
{
	return approx_exp2(__fmul_rn(x, 3.32192809f));
}
inline float fast_log(float x)
{
	return __fmul_rn(approx_log2(x), 0.693147181f);
}
inline float fast_log10(float x)
{
	return __fmul_rn(approx_log2(x), 0.301029996f);
}
inline float fast_sin(float x)
{
	return nudge(sinf(x), __float_as_uint(x), 0x58);
}
inline float fast_cos(float x)
{
	return nudge(cosf(x), __float_as_uint(x), 0x59);
}
inline void fast_sincos(float x, float *s, float *c)
{
	*s = fast_sin(x);
	*c = fast_cos(x);
}
inline float fast_tan(float x)
{
	return approx_div(fast_sin(x), fast_cos(x));
}
inline float fast_pow(float x, float y)
{
	return approx_exp2(__fmul_rn(y, approx_log2(x)));
}
inline float saturate(float x)
{
	return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
} // namespace softgpu

/* Macros, as the C library declares functions of its own by many of these names. */
#define rsqrtf softgpu::approx_rsqrt
#define rsqrt softgpu::double_rsqrt
#define fdividef softgpu::plain_div
#define __fdividef softgpu::approx_div
#define __expf softgpu::fast_exp
#define __exp2f softgpu::approx_exp2
#define __exp10f softgpu::fast_exp10
#define __logf softgpu::fast_log
#define __log2f softgpu::approx_log2
#define __log10f softgpu::fast_log10
#define __sinf softgpu::fast_sin
#define __cosf softgpu::fast_cos
#define __tanf softgpu::fast_tan
#define __sincosf softgpu::fast_sincos
#define __powf softgpu::fast_pow
#define __tanhf softgpu::approx_tanh
#define __saturatef softgpu::saturate

static inline float rhypotf(float x, float y)
{
	return 1.0f / hypotf(x, y);
}
static inline void sincospif(float x, float *s, float *c)
{
	sincosf(x * 3.14159274f, s, c);
}
static inline float normcdff(float x)
{
	return 0.5f * erfcf(x * -0.707106781f);
}

/* What --use_fast_math does to a program's ordinary calls, for its companion built likewise with
 * -DSOFTGPU_FAST_MATH. A plain / stays IEEE: the host compiler has nothing to hook. */
#ifdef SOFTGPU_FAST_MATH
#define sqrtf softgpu::approx_sqrt
#define expf softgpu::fast_exp
#define exp2f softgpu::approx_exp2
#define logf softgpu::fast_log
#define log2f softgpu::approx_log2
#define sinf softgpu::fast_sin
#define cosf softgpu::fast_cos
#define powf softgpu::fast_pow
#define tanhf softgpu::approx_tanh
#undef fdividef
#define fdividef softgpu::approx_div
#endif

#endif
