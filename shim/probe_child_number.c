/* SPDX-License-Identifier: Apache-2.0 */
/* Element types on the host. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "shim/probe_child_inputs.h"

/* v rounded to `digits` binary digits, exponents from `least` (of the smallest normal number) on.
 */
static double round_to(double v, int digits, int least, double most)
{
	double unit, r;
	int e;

	if (v == 0 || !isfinite(v))
		return v;
	e = ilogb(v);
	unit = ldexp(1, (e < least ? least : e) - digits + 1);
	r = nearbyint(v / unit) * unit;
	return fabs(r) > most ? copysign(INFINITY, v) : r;
}

static uint16_t to_f16(double v)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	double m = fabs(round_to(v, 11, -14, 65504));
	int e;

	if (isnan(v))
		return sign | 0x7e00;
	if (isinf(m))
		return sign | 0x7c00;
	e = m < 0x1p-14 ? -14 : ilogb(m);
	/* A normal number's leading digit, 1024, adds one to the exponent by itself. */
	return (uint16_t)(sign + ((e + 14) << 10) + (int)(m * ldexp(1, 10 - e)));
}

static double from_f16(uint16_t h)
{
	int e = h >> 10 & 31, digits = h & 0x3ff;
	double m = e ? ldexp(1024 + digits, e - 25) : ldexp(digits, -24);

	if (e == 31)
		m = digits ? NAN : INFINITY;
	return h & 0x8000 ? -m : m;
}

double probe_load(enum dtype t, const void *p, int64_t i)
{
	uint32_t bits;
	float f;

	if (t == DT_f32)
		return ((const float *)p)[i];
	if (t == DT_f16)
		return from_f16(((const uint16_t *)p)[i]);
	bits = (uint32_t)((const uint16_t *)p)[i] << 16;
	memcpy(&f, &bits, 4);
	return f;
}

void probe_store(enum dtype t, void *p, int64_t i, double v)
{
	uint32_t bits;
	float f;

	if (t == DT_f16) {
		((uint16_t *)p)[i] = to_f16(v);
		return;
	}
	f = (float)(t == DT_f32 ? v : round_to(v, 8, -126, 0x1.fep127));
	memcpy(&bits, &f, 4);
	if (t == DT_f32)
		((float *)p)[i] = f;
	else
		((uint16_t *)p)[i] = (uint16_t)(bits >> 16 | (isnan(v) ? 0x40 : 0));
}

bool probe_is_nan(enum dtype t, const void *p, int64_t i)
{
	return isnan(probe_load(t, p, i));
}

/* Numbers in an order in which neighbours are one unit apart. */
static int64_t place(enum dtype t, const void *p, int64_t i)
{
	int64_t v = t == DT_f32 ? ((const int32_t *)p)[i] : ((const int16_t *)p)[i];
	int64_t magnitude = v & (t == DT_f32 ? 0x7fffffff : 0x7fff);

	return v < 0 ? -magnitude : magnitude;
}

uint64_t probe_distance(enum dtype t, const void *x, const void *y, int64_t i)
{
	int64_t d = place(t, x, i) - place(t, y, i);

	if (probe_is_nan(t, x, i) || probe_is_nan(t, y, i))
		return UINT64_MAX;
	return (uint64_t)(d < 0 ? -d : d);
}
