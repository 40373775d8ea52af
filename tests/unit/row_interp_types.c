// SPDX-License-Identifier: Apache-2.0
/* Numbers in every element type. */
#include <math.h>
#include <string.h>

#include "tests/unit/row_interp_types.h"

struct form {
	int exponent, mantissa; /* bits */
	bool finite;            /* e4m3: no infinities, one NaN pattern */
};

static const struct form form_of[DT_COUNT] = {[DT_f16] = {5, 10, false},
					      [DT_bf16] = {8, 7, false},
					      [DT_e4m3] = {4, 3, true},
					      [DT_e5m2] = {5, 2, false}};

float interp_f32(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float f;

	memcpy(&f, &low, sizeof(f));
	return f;
}

uint64_t interp_f32_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

double interp_f64(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

uint64_t interp_f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

bool interp_is_small(enum dtype t)
{
	return t == DT_f16 || t == DT_bf16 || t == DT_e4m3 || t == DT_e5m2;
}

double row_interp_number(enum dtype t, uint64_t bits)
{
	struct form f;
	int bias, most, e, m;
	double sign;

	if (t == DT_f32 || t == DT_bf16) /* the upper half of one */
		return interp_f32(t == DT_f32 ? bits : bits << 16);
	if (t == DT_f64)
		return interp_f64(bits);
	if (!interp_is_small(t))
		return (double)interp_integer(t, bits);
	f = form_of[t];
	bias = (1 << (f.exponent - 1)) - 1;
	most = (1 << f.exponent) - 1;
	e = (int)(bits >> f.mantissa) & most;
	m = (int)bits & ((1 << f.mantissa) - 1);
	sign = bits >> (f.exponent + f.mantissa) & 1 ? -1 : 1;
	if (f.finite ? e == most && m == (1 << f.mantissa) - 1 : e == most && m)
		return NAN;
	if (!f.finite && e == most)
		return sign * INFINITY;
	if (!e)
		return sign * ldexp(m, 1 - bias - f.mantissa);
	return sign * ldexp(m + (1 << f.mantissa), e - bias - f.mantissa);
}

static uint64_t round_to(enum dtype t, const struct form f, float v)
{
	const int bias = (1 << (f.exponent - 1)) - 1, most = (1 << f.exponent) - 1;
	const uint64_t sign = (uint64_t)(signbit(v) != 0) << (f.exponent + f.mantissa);
	const bool saturates = t == DT_e4m3 || t == DT_e5m2;
	const uint64_t largest =
		saturates ? (t == DT_e4m3 ? 0x7e : 0x7b) : (uint64_t)most << f.mantissa;
	double a = fabs((double)v), unit;
	int e;

	if (isnan(v)) /* the one NaN that conversions give */
		return t == DT_e5m2 || t == DT_e4m3 ? 0x7f : t == DT_f16 ? 0x7fff : 0x7fff;
	if (isinf(v))
		return sign | largest;
	e = a > 0 ? ilogb(a) : -bias;
	if (e < 1 - bias)
		e = 1 - bias;
	unit = ldexp(1, e - f.mantissa);
	a = nearbyint(a / unit);
	if (a >= (double)(2 << f.mantissa)) {
		a /= 2;
		e++;
	}
	if (e > (f.finite ? most : most - 1) - bias ||
	    (f.finite && e == most - bias && a > (double)((2 << f.mantissa) - 2)))
		return sign | largest;
	if (a < (double)(1 << f.mantissa))
		return sign | (uint64_t)a;
	return sign | (uint64_t)(e + bias) << f.mantissa | ((uint64_t)a - (1u << f.mantissa));
}

uint64_t row_interp_round(enum dtype t, float v)
{
	return t == DT_f32 ? interp_f32_bits(v) : round_to(t, form_of[t], v);
}

int64_t interp_integer(enum dtype t, uint64_t bits)
{
	switch (t) {
	case DT_i64:
		return (int64_t)bits;
	case DT_i32:
		return (int32_t)bits;
	case DT_i16:
		return (int16_t)bits;
	case DT_i8:
		return (int8_t)bits;
	default:
		return (uint8_t)bits;
	}
}

static uint64_t masked(enum dtype t, uint64_t bits)
{
	const unsigned bytes = dtype_bytes(t);

	return bytes == 8 ? bits : bits & ((UINT64_C(1) << bytes * 8) - 1);
}

/* By way of 32 or 64 bits; the caller takes the low ones. */
static int64_t saturated(enum dtype t, enum dtype from, double v)
{
	const bool wide = t == DT_u8 || t == DT_i64;
	const double most = wide ? 0x1p63 : 0x1p31;

	if (isnan(v))
		return wide ? INT64_MIN : from == DT_f64 ? INT32_MIN : 0;
	v = trunc(v);
	if (v < -most)
		v = -most;
	if (v >= most)
		return wide ? INT64_MAX : INT32_MAX;
	return (int64_t)v;
}

static float flushed(bool ftz, float v)
{
	return ftz && fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

uint64_t interp_cast(enum dtype to, enum dtype from, uint64_t bits, bool ftz)
{
	const bool whole = from != DT_f32 && from != DT_f64 && !interp_is_small(from);
	const double v =
		from == DT_f32 ? flushed(ftz, interp_f32(bits)) : row_interp_number(from, bits);

	if (to == from)
		return to == DT_bool ? (bits & 0xff) != 0 : bits;
	if (to == DT_bool)
		return whole ? masked(from, bits) != 0 : v != 0;
	if (from == DT_bool && to != DT_f32 && to != DT_f64 && !interp_is_small(to))
		return (bits & 0xff) != 0;
	if (to == DT_f64)
		return interp_f64_bits(from == DT_bool ? (bits & 0xff) != 0
				       : whole         ? (double)interp_integer(from, bits)
						       : v);
	if (to == DT_f32 || interp_is_small(to)) {
		const float f = from == DT_bool ? (bits & 0xff) != 0
				: whole         ? (float)interp_integer(from, bits)
						: flushed(ftz, (float)v);

		return row_interp_round(to, f);
	}
	if (whole)
		return masked(to, (uint64_t)interp_integer(from, bits));
	return masked(to, (uint64_t)saturated(to, from, v));
}
