// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of silu.cuh as statements. Declared in candidate_say.h. */
#include "fused/candidate_say.h"

/* e = exp(-x) */
static uint8_t exponential(struct row *r, enum dtype t, const struct silu_fields *f, uint8_t gate)
{
	const uint8_t ftz = f->ftz ? ROW_FTZ : 0;
	const bool native = f->exp == SILU_exp_NATIVE;
	const enum dtype in = native ? t : DT_f32;
	const uint8_t minus = say1(r, ROW_NEG, in, 0, say_cast(r, in, gate));

	if (native)
		return say_cast(r, DT_f32, say1(r, ROW_EXP, t, 0, minus));
	return say1(r, f->exp == SILU_exp_FAST ? ROW_EXP_FAST : ROW_EXP, DT_f32, ftz, minus);
}

/* Where the literal 1.0 made doubles of what it met. Floats on the way in and out are flushed. */
static uint8_t by_double(struct row *r, enum dtype t, const struct silu_fields *f, uint8_t x,
			 uint8_t e)
{
	const uint8_t ftz = f->ftz ? ROW_FTZ : 0;
	const uint8_t d =
		say2(r, ROW_ADD, DT_f64, 0, say_f64(r, 1), say1(r, ROW_CAST, DT_f64, ftz, e));
	uint8_t q;

	if (f->div == SILU_div_DDIV) {
		q = say2(r, ROW_DIV, DT_f64, 0, say1(r, ROW_CAST, DT_f64, ftz, x), d);
		return say1(r, ROW_CAST, DT_f32, ftz, q);
	}
	q = say1(r, ROW_RCP, DT_f64, 0, d);
	if (f->div == SILU_div_DMUL) {
		q = say2(r, ROW_MUL, DT_f64, 0, say1(r, ROW_CAST, DT_f64, ftz, x), q);
		return say1(r, ROW_CAST, DT_f32, ftz, q);
	}
	q = say_rounded(r, t, f->roundq, say1(r, ROW_CAST, DT_f32, ftz, q));
	return say2(r, ROW_MUL, DT_f32, ftz, x, q);
}

/* 1 / d, a float */
static uint8_t reciprocal(struct row *r, enum dtype t, const struct silu_fields *f, uint8_t d)
{
	const uint8_t ftz = f->ftz ? ROW_FTZ : 0;

	switch (f->div) {
	case SILU_div_RCP:
		return say1(r, ROW_RCP, DT_f32, ftz, d);
	case SILU_div_RCPFAST:
		return say1(r, ROW_RCP_FAST, DT_f32, ftz, d);
	case SILU_div_RCPNATIVE:
		d = say2(r, ROW_DIV, t, 0, say_cast(r, t, say_f32(r, 1)), say_cast(r, t, d));
		return say_cast(r, DT_f32, d);
	default:
		return say_cast(r, DT_f32, say1(r, ROW_RCP, t, 0, say_cast(r, t, d)));
	}
}

static bool native(const struct silu_fields *f)
{
	return f->exp == SILU_exp_NATIVE || f->div == SILU_div_NATIVE ||
	       f->div == SILU_div_RCPNATIVE || f->div == SILU_div_HRCP;
}

uint8_t say_silu(struct row *r, enum dtype t, const struct silu_fields *f, uint8_t gate)
{
	const uint8_t ftz = f->ftz ? ROW_FTZ : 0, x = say_cast(r, DT_f32, gate);
	uint8_t e, d;

	if (t == DT_f32 && native(f))
		return ROW_NONE;
	e = say_rounded(r, t, f->rounde, exponential(r, t, f, gate));
	/* With flushed floats on the way into doubles and out, an H200 gave another result here and
	 * there (candidate_check, exp-ddiv-ftz). */
	if (f->div >= SILU_div_DDIV)
		return f->ftz ? ROW_NONE : by_double(r, t, f, x, e);
	d = say_rounded(r, t, f->roundd, say2(r, ROW_ADD, DT_f32, ftz, say_f32(r, 1), e));
	switch (f->div) {
	case SILU_div_DIV:
		return say2(r, ROW_DIV, DT_f32, ftz, x, d);
	case SILU_div_DIVFAST:
		return say2(r, ROW_DIV_FAST, DT_f32, ftz, x, d);
	case SILU_div_DIVFULL:
		return say2(r, ROW_DIV_FULL, DT_f32, ftz, x, d);
	case SILU_div_NATIVE:
		return say_cast(r, DT_f32, say2(r, ROW_DIV, t, 0, gate, say_cast(r, t, d)));
	default:
		d = say_rounded(r, t, f->roundq, reciprocal(r, t, f, d));
		return say2(r, ROW_MUL, DT_f32, ftz, x, d);
	}
}
