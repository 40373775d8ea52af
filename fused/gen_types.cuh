/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of generated kernels: one struct for each element type, one function for each row of
 * matcher/row.def, named like it. FTZ as in struct arith. Compiled by NVRTC behind device.h, or by
 * the host compiler for the software GPU; this text is part of every generated one.
 */
#ifndef AF_FUSED_GEN_TYPES_CUH
#define AF_FUSED_GEN_TYPES_CUH

#include "fused/device.h"

#define AF_FN static __device__ __forceinline__

namespace af
{
__device__ __forceinline__ float flush(float v)
{
	return __float_as_uint(v) & 0x7f800000u ? v : __uint_as_float(__float_as_uint(v) & 0x80000000u);
}

/* Comparisons and choices that all types have, on what they are as numbers. */
#define AF_COMPARE(number)                                                                         \
	AF_FN uint8_t EQ(T a, T b) { return number(a) == number(b); }                              \
	AF_FN uint8_t NE(T a, T b) { return number(a) != number(b); }                              \
	AF_FN uint8_t LT(T a, T b) { return number(a) < number(b); }                               \
	AF_FN uint8_t LE(T a, T b) { return number(a) <= number(b); }                              \
	AF_FN T SELECT(uint8_t a, T b, T c) { return a ? b : c; }

#if AF_SOFTGPU
#define AF_LIBRARY(name, host, device) softgpu::opaque(host)
#else
#define AF_LIBRARY(name, host, device) device
#endif

template <bool FTZ> struct t_f32 {
	typedef float T;
	typedef float memory;
	typedef arith<FTZ> A;

	AF_FN T z(T v) { return FTZ ? flush(v) : v; }
	AF_FN T of(memory v) { return v; }
	AF_FN memory to(T v) { return v; }
	AF_COMPARE(z)
	AF_FN T ADD(T a, T b) { return A::add(a, b); }
	AF_FN T SUB(T a, T b) { return A::add(a, NEG1(b)); }
	AF_FN T MUL(T a, T b) { return A::mul(a, b); }
	AF_FN T FMA(T a, T b, T c) { return A::fma(a, b, c); }
	AF_FN T NEG1(T a) { return __uint_as_float(__float_as_uint(a) ^ 0x80000000u); }
	/* As the compiler has them: an addition that changes the sign of what it takes. */
	AF_FN T NEG(T a) { return A::add(-a, -0.0f); }
	AF_FN T ABS(T a) { return A::add(fabsf(a), -0.0f); }
	AF_FN T nan() { return __uint_as_float(0x7fffffffu); }
#if AF_SOFTGPU
	AF_FN T MIN(T a, T b)
	{
		a = z(a), b = z(b);
		if (a != a || b != b)
			return a != a ? (b != b ? nan() : b) : a;
		return a == b ? (__float_as_uint(a) >> 31 ? a : b) : a < b ? a : b;
	}
	AF_FN T MAX(T a, T b)
	{
		a = z(a), b = z(b);
		if (a != a || b != b)
			return a != a ? (b != b ? nan() : b) : a;
		return a == b ? (__float_as_uint(a) >> 31 ? b : a) : a > b ? a : b;
	}
	AF_FN T MIN_NAN(T a, T b) { return a != a || b != b ? nan() : MIN(a, b); }
	AF_FN T MAX_NAN(T a, T b) { return a != a || b != b ? nan() : MAX(a, b); }
	AF_FN T LOG_FAST(T a) { return z(softgpu::fast_log(z(a))); }
	AF_FN T SIN_FAST(T a) { return z(softgpu::fast_sin(z(a))); }
	AF_FN T COS_FAST(T a) { return z(softgpu::fast_cos(z(a))); }
	AF_FN T TANH_FAST(T a) { return z(softgpu::approx_tanh(z(a))); }
	AF_FN T POW_FAST(T a, T b) { return z(softgpu::fast_pow(z(a), z(b))); }
#else
#define AF_PTX2(name, ptx)                                                                         \
	AF_FN T name(T a, T b)                                                                     \
	{                                                                                          \
		T r;                                                                               \
		if (FTZ)                                                                           \
			asm(ptx(".ftz") : "=f"(r) : "f"(a), "f"(b));                               \
		else                                                                               \
			asm(ptx("") : "=f"(r) : "f"(a), "f"(b));                                   \
		return r;                                                                          \
	}
#define AF_PTX1(name, ptx)                                                                         \
	AF_FN T name(T a)                                                                          \
	{                                                                                          \
		T r;                                                                               \
		if (FTZ)                                                                           \
			asm(ptx(".ftz") : "=f"(r) : "f"(a));                                       \
		else                                                                               \
			asm(ptx("") : "=f"(r) : "f"(a));                                           \
		return r;                                                                          \
	}
#define AF_MIN(z) "min" z ".f32 %0, %1, %2;"
#define AF_MAX(z) "max" z ".f32 %0, %1, %2;"
#define AF_MIN_NAN(z) "min" z ".NaN.f32 %0, %1, %2;"
#define AF_MAX_NAN(z) "max" z ".NaN.f32 %0, %1, %2;"
#define AF_LG2(z) "lg2.approx" z ".f32 %0, %1;"
#define AF_SIN(z) "sin.approx" z ".f32 %0, %1;"
#define AF_COS(z) "cos.approx" z ".f32 %0, %1;"
#define AF_TANH(z) "tanh.approx.f32 %0, %1;"
	AF_PTX2(MIN, AF_MIN)
	AF_PTX2(MAX, AF_MAX)
	AF_PTX2(MIN_NAN, AF_MIN_NAN)
	AF_PTX2(MAX_NAN, AF_MAX_NAN)
	AF_PTX1(log2_fast, AF_LG2)
	AF_PTX1(SIN_FAST, AF_SIN)
	AF_PTX1(COS_FAST, AF_COS)
	AF_PTX1(TANH_FAST, AF_TANH)
	AF_FN T LOG_FAST(T a) { return A::mul(log2_fast(a), __uint_as_float(0x3f317218u)); }
	AF_FN T POW_FAST(T a, T b) { return A::exp2_fast(A::mul(b, log2_fast(a))); }
#endif
	AF_FN T DIV(T a, T b) { return A::div_rn(a, b); }
	/* b is the same for a whole row: if a power of two, often enough, its reciprocal is exact. */
	AF_FN T DIV_ROW(T a, T b)
	{
		const uint32_t u = __float_as_uint(b);

		if (!FTZ && !(u & 0x807fffffu) && u - 0x00800000u < 0x7e000000u)
			return A::mul(a, __uint_as_float(0x7f000000u - u));
		return DIV(a, b);
	}
	AF_FN T DIV_FAST(T a, T b) { return A::div_fast(a, b); }
	AF_FN T DIV_FULL(T a, T b) { return A::div_full(a, b); }
	AF_FN T RCP(T a) { return A::rcp_rn(a); }
	AF_FN T RCP_FAST(T a) { return A::rcp_fast(a); }
	AF_FN T SQRT(T a) { return A::sqrt_rn(a); }
	AF_FN T SQRT_FAST(T a) { return A::sqrt_fast(a); }
	AF_FN T RSQRT(T a) { return A::rsqrt_fast(a); }
	AF_FN T EXP(T a) { return A::exp_full(a); }
	AF_FN T EXP_FAST(T a) { return A::exp_fast(a); }
	/* The toolkit's own; what they do between is theirs. */
	AF_FN T LOG(T a) { return z(AF_LIBRARY(LOG, logf(z(a)), ::logf(z(a)))); }
	AF_FN T SIN(T a) { return z(AF_LIBRARY(SIN, sinf(z(a)), ::sinf(z(a)))); }
	AF_FN T COS(T a) { return z(AF_LIBRARY(COS, cosf(z(a)), ::cosf(z(a)))); }
	AF_FN T TANH(T a) { return z(AF_LIBRARY(TANH, tanhf(z(a)), ::tanhf(z(a)))); }
	AF_FN T ERF(T a) { return z(AF_LIBRARY(ERF, erff(z(a)), ::erff(z(a)))); }
	AF_FN T POW(T a, T b) { return z(AF_LIBRARY(POW, powf(z(a), z(b)), ::powf(z(a), z(b)))); }
	AF_FN T lowest() { return __uint_as_float(0xff800000u); }
	AF_FN T highest() { return __uint_as_float(0x7f800000u); }
	/* What changes nothing: of a NaN and a number MAX is the number. */
	AF_FN T no_max() { return nan(); }
	AF_FN T no_min() { return nan(); }
};

/*
 * Quotients of many elements with one check for all. The compiler's own has a check, a branch and a
 * convergence barrier for each, so that none overlap. These are the operations that it takes itself
 * when no step leaves the normal numbers; bad: one may, and all are to be had from div_sure. Exponents
 * of a and b from -62 to 61, or, of one b for a whole row, -100 .. 61 and -62 .. 24; or a is zero.
 */
template <bool ROW> __device__ __forceinline__ float div_try(float a, float b, bool &bad)
{
	const uint32_t ua = __float_as_uint(a) << 1, ub = __float_as_uint(b) << 1;
	const bool out = (ua && ua - (ROW ? 0x1b000000u : 0x41000000u) >= (ROW ? 0xa2000000u : 0x7c000000u)) ||
			 ub - 0x41000000u >= (ROW ? 0x57000000u : 0x7c000000u);

	bad |= out;
#if AF_SOFTGPU
	return out ? 12345.0f : __fdiv_rn(a, b);
#else
	typedef arith<false> A;
	const float by = arith<true>::rcp_fast(b), r = A::fma(by, A::fma(-b, by, 1.0f), by), q = A::mul(a, r);

	return ua ? A::fma(r, A::fma(-b, q, a), q) : q;
#endif
}
template <class A> AF_NOINLINE __device__ float div_sure(float a, float b)
{
	return A::div_rn(a, b);
}

struct t_f64 {
	typedef double T;
	typedef double memory;

	AF_FN T same(T v) { return v; }
	AF_FN T of(memory v) { return v; }
	AF_FN memory to(T v) { return v; }
	AF_COMPARE(same)
	AF_FN T ADD(T a, T b) { return __dadd_rn(a, b); }
	AF_FN T SUB(T a, T b) { return __dsub_rn(a, b); }
	AF_FN T MUL(T a, T b) { return __dmul_rn(a, b); }
	AF_FN T FMA(T a, T b, T c) { return __fma_rn(a, b, c); }
	AF_FN T NEG(T a) { return __dadd_rn(-a, -0.0); }
	AF_FN T ABS(T a) { return __dadd_rn(fabs(a), -0.0); }
	AF_FN bool negative(T a) { return __double_as_longlong(a) < 0; }
	AF_FN T nan() { return __longlong_as_double(0x7fffffffffffffffll); }
	AF_FN T MIN(T a, T b)
	{
		if (a != a || b != b)
			return a != a ? (b != b ? nan() : b) : a;
		return a == b ? (negative(a) ? a : b) : a < b ? a : b;
	}
	AF_FN T MAX(T a, T b)
	{
		if (a != a || b != b)
			return a != a ? (b != b ? nan() : b) : a;
		return a == b ? (negative(a) ? b : a) : a > b ? a : b;
	}
	AF_FN T MIN_NAN(T a, T b) { return a != a || b != b ? nan() : MIN(a, b); }
	AF_FN T MAX_NAN(T a, T b) { return a != a || b != b ? nan() : MAX(a, b); }
	AF_FN T DIV(T a, T b) { return __ddiv_rn(a, b); }
	AF_FN T RCP(T a) { return __drcp_rn(a); }
	AF_FN T SQRT(T a) { return __dsqrt_rn(a); }
	AF_FN T EXP(T a) { return AF_LIBRARY(EXP, ::exp(a), ::exp(a)); }
	AF_FN T LOG(T a) { return AF_LIBRARY(LOG, ::log(a), ::log(a)); }
	AF_FN T SIN(T a) { return AF_LIBRARY(SIN, ::sin(a), ::sin(a)); }
	AF_FN T COS(T a) { return AF_LIBRARY(COS, ::cos(a), ::cos(a)); }
	AF_FN T TANH(T a) { return AF_LIBRARY(TANH, ::tanh(a), ::tanh(a)); }
	AF_FN T ERF(T a) { return AF_LIBRARY(ERF, ::erf(a), ::erf(a)); }
	AF_FN T POW(T a, T b) { return AF_LIBRARY(POW, ::pow(a, b), ::pow(a, b)); }
	AF_FN T lowest() { return __longlong_as_double((int64_t)(0xfffull << 52)); }
	AF_FN T highest() { return __longlong_as_double(0x7ffll << 52); }
	AF_FN T no_max() { return nan(); }
	AF_FN T no_min() { return nan(); }
};

/* I: signed or not; arithmetic is modulo its size, as unsigned numbers have it. */
template <class I> struct t_int {
	typedef I T;
	typedef I memory;

	AF_FN T same(T v) { return v; }
	AF_FN T of(memory v) { return v; }
	AF_FN memory to(T v) { return v; }
	AF_COMPARE(same)
	AF_FN T ADD(T a, T b) { return (T)((uint64_t)a + (uint64_t)b); }
	AF_FN T SUB(T a, T b) { return (T)((uint64_t)a - (uint64_t)b); }
	AF_FN T MUL(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }
	AF_FN T NEG(T a) { return (T)(0 - (uint64_t)a); }
	AF_FN T ABS(T a) { return lowest() != 0 && a < 1 && a != 0 ? NEG(a) : a; }
	AF_FN T MIN(T a, T b) { return a < b ? a : b; }
	AF_FN T MAX(T a, T b) { return a > b ? a : b; }
	AF_FN T MIN_NAN(T a, T b) { return MIN(a, b); }
	AF_FN T MAX_NAN(T a, T b) { return MAX(a, b); }
	AF_FN T AND(T a, T b) { return (T)(a & b); }
	AF_FN T OR(T a, T b) { return (T)(a | b); }
	AF_FN T NOT(T a) { return (T)~a; }
	AF_FN T lowest() { return (T)-1 < (T)1 ? (T)(1ull << (8 * sizeof(T) - 1)) : (T)0; }
	AF_FN T highest() { return (T)~lowest(); }
	AF_FN T no_max() { return lowest(); }
	AF_FN T no_min() { return highest(); }
};
typedef t_int<int64_t> t_i64;
typedef t_int<int32_t> t_i32;
typedef t_int<int16_t> t_i16;
typedef t_int<int8_t> t_i8;
typedef t_int<uint8_t> t_u8;

struct t_bool {
	typedef uint8_t T;
	typedef uint8_t memory;

	AF_FN T same(T v) { return v; }
	AF_FN T of(memory v) { return v; }
	AF_FN memory to(T v) { return v; }
	AF_COMPARE(same)
	AF_FN T AND(T a, T b) { return a & b; }
	AF_FN T OR(T a, T b) { return a | b; }
	AF_FN T NOT(T a) { return !a; }
};

/* 8-bit floats by their bits: 1-E-M with that bias. e4m3 has one NaN per sign and no Inf. */
template <int M, int BIAS, bool INF> struct f8 {
	typedef uint8_t bits;
	AF_FN float load(bits v)
	{
		uint32_t e = v >> M & (0x7f >> M), m = v & ((1 << M) - 1), sign = (uint32_t)(v & 0x80) << 24;

		if (INF ? e == (0x7f >> M) : (v & 0x7f) == 0x7f)
			return __uint_as_float(m ? 0x7fffffffu : sign | 0x7f800000u);
		if (!e) /* m * 2^(1 - BIAS - M), exact */
			return __uint_as_float(__float_as_uint(arith<false>::mul((float)m,
				__uint_as_float((uint32_t)(128 - BIAS - M) << 23))) | sign);
		return __uint_as_float(sign | (e + 127 - BIAS) << 23 | m << (23 - M));
	}
	/* To nearest even, saturating; NaN is the GPU's. */
	AF_FN bits round(float v)
	{
		const uint32_t most = INF ? 0x7b : 0x7e, sign = __float_as_uint(v) >> 24 & 0x80;
		uint32_t u = __float_as_uint(v) & 0x7fffffffu, r;

		if (u > 0x7f800000u)
			return 0x7f;
		if (u < (uint32_t)(128 - BIAS) << 23) { /* subnormal there: a number of smallest steps */
			float f = arith<false>::add(__uint_as_float(u),
				__uint_as_float((uint32_t)(128 - BIAS - M + 23) << 23));
			r = __float_as_uint(f) & 0xff;
		} else {
			u += (1u << (22 - M)) - 1 + (u >> (23 - M) & 1);
			r = (u >> (23 - M)) - ((uint32_t)(127 - BIAS) << M);
		}
		return (bits)(sign | (r > most ? most : r));
	}
};
typedef f8<3, 7, false> e4m3;
typedef f8<2, 15, true> e5m2;

/* Floats that are only moved, converted, negated and compared: held as their bits. */
template <class F> struct t_small {
	typedef typename F::bits T;
	typedef T memory;

	AF_FN float number(T v) { return F::load(v); }
	AF_FN T of(memory v) { return v; }
	AF_FN memory to(T v) { return v; }
	AF_COMPARE(number)
	AF_FN T NEG(T a) { return (T)(a ^ 1u << (8 * sizeof(T) - 1)); }
	AF_FN T ABS(T a) { return (T)(a & ~(1u << (8 * sizeof(T) - 1))); }
	AF_FN T DIV(T a, T b) { return F::round(native<F>::div(F::load(a), F::load(b))); }
	AF_FN T RCP(T a) { return F::round(native<F>::rcp(F::load(a))); }
	AF_FN T EXP(T a) { return F::round(native<F>::exp(F::load(a))); }
};
typedef t_small<f16> t_f16;
typedef t_small<bf16> t_bf16;
typedef t_small<e4m3> t_e4m3;
typedef t_small<e5m2> t_e5m2;

/* By way of 32 bits, or of 64 where there are as many or no sign (as c10::convert does): the low bits. */
#if AF_SOFTGPU
template <class W> W saturated(double v, W of_nan)
{
	const double lo = (double)t_int<W>::lowest(), hi = (double)t_int<W>::highest();

	if (v != v)
		return of_nan;
	return v <= lo ? t_int<W>::lowest() : v >= hi ? t_int<W>::highest() : (W)v;
}
#define AF_WHOLE(from, wide, narrow)                                                               \
	template <class I> I whole(from v)                                                         \
	{                                                                                          \
		return sizeof(I) == 8 || (I)-1 > (I)0                                              \
			       ? (I)saturated<int64_t>(v, t_i64::lowest())                         \
			       : (I)saturated<int32_t>(v, sizeof(v) == 8 ? t_i32::lowest() : 0);   \
	}
#else
#define AF_WHOLE(from, wide, narrow)                                                               \
	template <class I> __device__ __forceinline__ I whole(from v)                              \
	{                                                                                          \
		return sizeof(I) == 8 || (I)-1 > (I)0 ? (I)wide(v) : (I)narrow(v);                 \
	}
#endif
AF_WHOLE(float, __float2ll_rz, __float2int_rz)
AF_WHOLE(double, __double2ll_rz, __double2int_rz)
#undef AF_WHOLE
/* To float in such a way that rounding once more, to fewer bits, is rounding once: a number that
 * is not exact gets an odd last bit. */
__device__ __forceinline__ float odd(double v)
{
#if AF_SOFTGPU
	float r = (float)v;
	if (v == v && (double)fabsf(r) > fabs(v))
		r = __uint_as_float(__float_as_uint(r) - 1);
#else
	float r = __double2float_rz(v);
#endif
	return v == v && (double)r != v ? __uint_as_float(__float_as_uint(r) | 1) : r;
}
__device__ __forceinline__ double odd(int64_t v)
{
	if (v < 1ll << 53 && v > -(1ll << 53))
		return (double)v;
	return __dmul_rn((double)((v >> 11) | ((v & 0x7ff) != 0)), 2048.0);
}

/* An integer on its way to a float: gcc takes what came from a float as the float's whole part, which
 * may be -0. */
template <class I> __device__ __forceinline__ I solid(I v)
{
#if AF_SOFTGPU
	asm("" : "+r"(v));
#endif
	return v;
}

/* Between types, as matcher/row.def says of CAST. By way of float or double, which hold both sides. */
template <class TO, class FROM, bool FTZ> struct cast;
#define AF_CAST(to, from, expression)                                                              \
	template <bool FTZ> struct cast<to, from, FTZ> {                                           \
		AF_FN typename to::T f(typename from::T a) { return expression; }                  \
	};
#define AF_CAST_SMALL(name)                                                                        \
	AF_CAST(t_f32<false>, t_##name, t_f32<FTZ>::z(name::load(a)))                              \
	AF_CAST(t_f64, t_##name, (double)name::load(a))                                            \
	AF_CAST(t_##name, t_f32<false>, name::round(t_f32<FTZ>::z(a)))                             \
	AF_CAST(t_##name, t_f64, name::round(odd(a)))                                              \
	AF_CAST(t_##name, t_i64, name::round(odd(odd(solid((int64_t)a)))))                                \
	AF_CAST(t_bool, t_##name, name::load(a) != 0.0f)                                           \
	AF_CAST(t_##name, t_bool, name::round(a ? 1.0f : 0.0f))                                    \
	AF_CAST_INTO(i32, name) AF_CAST_INTO(i16, name) AF_CAST_INTO(i8, name) AF_CAST_INTO(u8, name) \
	AF_CAST(t_i64, t_##name, whole<int64_t>(name::load(a)))
#define AF_CAST_INTO(i, name)                                                                      \
	AF_CAST(t_##i, t_##name, whole<typename t_##i::T>(name::load(a)))                          \
	AF_CAST(t_##name, t_##i, name::round(odd((double)solid(a))))
#define AF_CAST_SMALLS(to, from) AF_CAST(t_##to, t_##from, to::round(from::load(a)))
#define AF_CAST_INT(i)                                                                             \
	AF_CAST(t_f32<false>, t_##i, (float)solid(a))                                                     \
	AF_CAST(t_f64, t_##i, (double)solid(a))                                                           \
	AF_CAST(t_##i, t_f32<false>, whole<typename t_##i::T>(t_f32<FTZ>::z(a)))                   \
	AF_CAST(t_##i, t_f64, whole<typename t_##i::T>(a))                                         \
	AF_CAST(t_bool, t_##i, a != 0)                                                             \
	AF_CAST(t_##i, t_bool, (typename t_##i::T)(a != 0))                                        \
	AF_CAST_INTS(i, i64) AF_CAST_INTS(i, i32) AF_CAST_INTS(i, i16) AF_CAST_INTS(i, i8) AF_CAST_INTS(i, u8)
#define AF_CAST_INTS(to, from) AF_CAST(t_##to, t_##from, (typename t_##to::T)a)
AF_CAST_SMALL(f16)
AF_CAST_SMALL(bf16)
AF_CAST_SMALL(e4m3)
AF_CAST_SMALL(e5m2)
AF_CAST_SMALLS(f16, f16) AF_CAST_SMALLS(f16, bf16) AF_CAST_SMALLS(f16, e4m3) AF_CAST_SMALLS(f16, e5m2)
AF_CAST_SMALLS(bf16, f16) AF_CAST_SMALLS(bf16, bf16) AF_CAST_SMALLS(bf16, e4m3) AF_CAST_SMALLS(bf16, e5m2)
AF_CAST_SMALLS(e4m3, f16) AF_CAST_SMALLS(e4m3, bf16) AF_CAST_SMALLS(e4m3, e4m3) AF_CAST_SMALLS(e4m3, e5m2)
AF_CAST_SMALLS(e5m2, f16) AF_CAST_SMALLS(e5m2, bf16) AF_CAST_SMALLS(e5m2, e4m3) AF_CAST_SMALLS(e5m2, e5m2)
AF_CAST_INT(i64)
AF_CAST_INT(i32)
AF_CAST_INT(i16)
AF_CAST_INT(i8)
AF_CAST_INT(u8)
AF_CAST(t_f32<false>, t_f32<false>, t_f32<FTZ>::z(a))
AF_CAST(t_f64, t_f64, a)
AF_CAST(t_f64, t_f32<false>, (double)t_f32<FTZ>::z(a))
AF_CAST(t_f32<false>, t_f64, t_f32<FTZ>::z(__double2float_rn(a)))
AF_CAST(t_bool, t_f32<false>, t_f32<FTZ>::z(a) != 0.0f)
AF_CAST(t_bool, t_f64, a != 0.0)
AF_CAST(t_f32<false>, t_bool, a ? 1.0f : 0.0f)
AF_CAST(t_f64, t_bool, a ? 1.0 : 0.0)
AF_CAST(t_bool, t_bool, (uint8_t)(a != 0))

/* A number of the program from its 64 bits. */
template <class V> struct number {
	AF_FN V of(uint64_t v) { return (V)v; }
};
template <> struct number<float> {
	AF_FN float of(uint64_t v) { return __uint_as_float((uint32_t)v); }
};
template <> struct number<double> {
	AF_FN double of(uint64_t v) { return __longlong_as_double((int64_t)v); }
};
}

#endif
