/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic with the rounding in the name, and conversions. These never take part in contraction:
 * companions compile with -ffp-contract=fast, so operands and results pass through an empty asm
 * that keeps the compiler from seeing a product next to a sum. Part of device.h.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_ROUND_H
#define AF_TESTS_SOFTGPU_DEVICE_ROUND_H

#include <fenv.h>
#include "tests/softgpu/device_bits.h"

namespace softgpu
{
#if defined(__x86_64__)
#define SOFTGPU_FLOAT_REGISTER "+x"
#else
#define SOFTGPU_FLOAT_REGISTER "+w"
#endif

/* A value that comes from nowhere, as far as the compiler can tell. */
template <class T> inline T opaque(T v)
{
	asm("" : SOFTGPU_FLOAT_REGISTER(v));
	return v;
}

/* The same, and stays where it stands among calls: what follows from it cannot come earlier. */
template <class T> inline T pinned(T v)
{
	asm volatile("" : SOFTGPU_FLOAT_REGISTER(v)::"memory");
	return v;
}

/* f() under another rounding mode; f pins what it uses. Slow, exact. */
template <class F> inline auto rounded(int mode, F f)
{
	int before = fegetround();

	fesetround(mode);
	auto r = pinned(f());
	fesetround(before);
	return r;
}
} // namespace softgpu

/* `inputs` makes x, y, z of the parameters a, b, c by the function it is given. */
#define SOFTGPU_DIRECTED(name, type, params, mode, inputs, expression)                             \
	static inline type name params                                                             \
	{                                                                                          \
		return softgpu::rounded(mode, [&] {                                                \
			inputs(type, softgpu::pinned);                                             \
			return type(expression);                                                   \
		});                                                                                \
	}
#define SOFTGPU_ROUNDED(name, type, params, inputs, expression)                                    \
	static inline type name##_rn params                                                        \
	{                                                                                          \
		inputs(type, softgpu::opaque);                                                     \
		return softgpu::opaque<type>(expression);                                          \
	}                                                                                          \
	SOFTGPU_DIRECTED(name##_rz, type, params, FE_TOWARDZERO, inputs, expression)               \
	SOFTGPU_DIRECTED(name##_ru, type, params, FE_UPWARD, inputs, expression)                   \
	SOFTGPU_DIRECTED(name##_rd, type, params, FE_DOWNWARD, inputs, expression)
#define SOFTGPU_ONE(type, how) auto x = how(a)
#define SOFTGPU_TWO(type, how) type x = how(a), y = how(b)
#define SOFTGPU_THREE(type, how) type x = how(a), y = how(b), z = how(c)
SOFTGPU_ROUNDED(__fadd, float, (float a, float b), SOFTGPU_TWO, x + y)
SOFTGPU_ROUNDED(__fsub, float, (float a, float b), SOFTGPU_TWO, x - y)
SOFTGPU_ROUNDED(__fmul, float, (float a, float b), SOFTGPU_TWO, (x) * (y))
SOFTGPU_ROUNDED(__fdiv, float, (float a, float b), SOFTGPU_TWO, x / y)
SOFTGPU_ROUNDED(__frcp, float, (float a), SOFTGPU_ONE, 1.0f / x)
SOFTGPU_ROUNDED(__fsqrt, float, (float a), SOFTGPU_ONE, __builtin_sqrtf(x))
SOFTGPU_ROUNDED(__fmaf, float, (float a, float b, float c), SOFTGPU_THREE, __builtin_fmaf(x, y, z))
SOFTGPU_ROUNDED(__dadd, double, (double a, double b), SOFTGPU_TWO, x + y)
SOFTGPU_ROUNDED(__dsub, double, (double a, double b), SOFTGPU_TWO, x - y)
SOFTGPU_ROUNDED(__dmul, double, (double a, double b), SOFTGPU_TWO, (x) * (y))
SOFTGPU_ROUNDED(__ddiv, double, (double a, double b), SOFTGPU_TWO, x / y)
SOFTGPU_ROUNDED(__drcp, double, (double a), SOFTGPU_ONE, 1.0 / x)
SOFTGPU_ROUNDED(__dsqrt, double, (double a), SOFTGPU_ONE, __builtin_sqrt(x))
SOFTGPU_ROUNDED(__fma, double, (double a, double b, double c), SOFTGPU_THREE,
		__builtin_fma(x, y, z))
SOFTGPU_ROUNDED(__double2float, float, (double a), SOFTGPU_ONE, static_cast<float>(x))
#undef SOFTGPU_ONE
#undef SOFTGPU_TWO
#undef SOFTGPU_THREE
#undef SOFTGPU_ROUNDED
#undef SOFTGPU_DIRECTED

/* Correctly rounded 1/sqrt, unlike rsqrtf (an approximation) and 1.0f / sqrtf(x) (rounded twice).
 */
static inline float __frsqrt_rn(float a)
{
	return softgpu::opaque(static_cast<float>(1.0 / sqrt(static_cast<double>(a))));
}

#define SOFTGPU_INTEGER(name, to, from)                                                            \
	static inline to name##_rn(from v)                                                         \
	{                                                                                          \
		return softgpu::to_integer<to>(nearbyint(v));                                      \
	}                                                                                          \
	static inline to name##_rz(from v)                                                         \
	{                                                                                          \
		return softgpu::to_integer<to>(trunc(v));                                          \
	}                                                                                          \
	static inline to name##_ru(from v)                                                         \
	{                                                                                          \
		return softgpu::to_integer<to>(ceil(v));                                           \
	}                                                                                          \
	static inline to name##_rd(from v)                                                         \
	{                                                                                          \
		return softgpu::to_integer<to>(floor(v));                                          \
	}
namespace softgpu
{
/* Saturates; NaN gives 0. */
template <class T> inline T to_integer(double v)
{
	const T lowest = static_cast<T>(-1) < 0 ? static_cast<T>(1ull << (8 * sizeof(T) - 1)) : 0;
	const T highest = static_cast<T>(~lowest);

	if (v != v)
		return 0;
	if (v <= static_cast<double>(lowest))
		return lowest;
	if (v >= static_cast<double>(highest))
		return highest;
	return static_cast<T>(v);
}
} // namespace softgpu
SOFTGPU_INTEGER(__float2int, int, float)
SOFTGPU_INTEGER(__float2uint, unsigned, float)
SOFTGPU_INTEGER(__float2ll, long long, float)
SOFTGPU_INTEGER(__float2ull, unsigned long long, float)
SOFTGPU_INTEGER(__double2int, int, double)
SOFTGPU_INTEGER(__double2uint, unsigned, double)
SOFTGPU_INTEGER(__double2ll, long long, double)
#undef SOFTGPU_INTEGER

static inline float __int2float_rn(int v)
{
	return static_cast<float>(v);
}
static inline float __uint2float_rn(unsigned v)
{
	return static_cast<float>(v);
}
static inline float __ll2float_rn(long long v)
{
	return static_cast<float>(v);
}
static inline double __int2double_rn(int v)
{
	return v;
}

#endif
