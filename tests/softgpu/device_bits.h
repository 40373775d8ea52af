/* SPDX-License-Identifier: Apache-2.0 */
/* Integer intrinsics, reinterpretation, min and max. Part of device.h. */
#ifndef AF_TESTS_SOFTGPU_DEVICE_BITS_H
#define AF_TESTS_SOFTGPU_DEVICE_BITS_H

#include "tests/softgpu/device_warp.h"

#define SOFTGPU_REINTERPRET(name, from, to)                                                        \
	static inline to name(from v)                                                              \
	{                                                                                          \
		static_assert(sizeof(from) == sizeof(to), "same size");                            \
		to r;                                                                              \
		memcpy(&r, &v, sizeof(r));                                                         \
		return r;                                                                          \
	}
SOFTGPU_REINTERPRET(__float_as_int, float, int)
SOFTGPU_REINTERPRET(__float_as_uint, float, unsigned)
SOFTGPU_REINTERPRET(__int_as_float, int, float)
SOFTGPU_REINTERPRET(__uint_as_float, unsigned, float)
SOFTGPU_REINTERPRET(__double_as_longlong, double, long long)
SOFTGPU_REINTERPRET(__longlong_as_double, long long, double)
#undef SOFTGPU_REINTERPRET

static inline int __popc(unsigned v)
{
	return __builtin_popcount(v);
}
static inline int __popcll(unsigned long long v)
{
	return __builtin_popcountll(v);
}
static inline int __clz(int v)
{
	return v ? __builtin_clz(static_cast<unsigned>(v)) : 32;
}
static inline int __clzll(long long v)
{
	return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64;
}
static inline int __ffs(int v)
{
	return __builtin_ffs(v);
}
static inline int __ffsll(long long v)
{
	return __builtin_ffsll(v);
}
static inline unsigned __brev(unsigned v)
{
	unsigned r = 0;

	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
	uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
	unsigned r = 0;

	for (int i = 0; i < 4; i++) {
		unsigned nibble = selector >> (4 * i) & 0xf;
		unsigned byte = bytes >> (8 * (nibble & 7)) & 0xff;

		if (nibble & 8)
			byte = byte & 0x80 ? 0xff : 0;
		r |= byte << (8 * i);
	}
	return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
	return static_cast<unsigned>(((static_cast<uint64_t>(hi) << 32 | lo) << (shift & 31)) >>
				     32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
	return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (shift & 31));
}
static inline int __mulhi(int a, int b)
{
	return static_cast<int>(static_cast<int64_t>(a) * b >> 32);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
	return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

#define SOFTGPU_MINMAX(type)                                                                       \
	static inline type min(type a, type b)                                                     \
	{                                                                                          \
		return a < b ? a : b;                                                              \
	}                                                                                          \
	static inline type max(type a, type b)                                                     \
	{                                                                                          \
		return a > b ? a : b;                                                              \
	}
SOFTGPU_MINMAX(int)
SOFTGPU_MINMAX(unsigned)
SOFTGPU_MINMAX(long)
SOFTGPU_MINMAX(unsigned long)
SOFTGPU_MINMAX(long long)
SOFTGPU_MINMAX(unsigned long long)
#undef SOFTGPU_MINMAX
static inline float min(float a, float b)
{
	return fminf(a, b);
}
static inline float max(float a, float b)
{
	return fmaxf(a, b);
}
static inline double min(double a, double b)
{
	return fmin(a, b);
}
static inline double max(double a, double b)
{
	return fmax(a, b);
}
static inline unsigned min(int a, unsigned b)
{
	return min(static_cast<unsigned>(a), b);
}
static inline unsigned min(unsigned a, int b)
{
	return min(a, static_cast<unsigned>(b));
}
static inline unsigned max(int a, unsigned b)
{
	return max(static_cast<unsigned>(a), b);
}
static inline unsigned max(unsigned a, int b)
{
	return max(a, static_cast<unsigned>(b));
}

#endif
