/* SPDX-License-Identifier: Apache-2.0 */
/* What each family holds for silu -> mul, where every element stands for itself. */
#include <string.h>

#include "shim/probe_child_source.h"

/* Any bits, Inf and NaN among them. */
static void put_bits(enum dtype t, char *p, int64_t i, uint32_t bits)
{
	uint16_t half = (uint16_t)bits;

	if (t == DT_f32)
		memcpy(p + 4 * i, &bits, 4);
	else
		memcpy(p + 2 * i, &half, 2);
}

/* The i-th gate of the table, another part of it for each seed if the batch is shorter. */
static uint32_t table(struct source *s, uint64_t seed, int64_t i)
{
	const struct probe_batch *b = s->b;
	uint64_t n = (uint64_t)(b->rows * b->cols), stretch = (UINT64_C(1) << 32) / n;

	if (b->type != DT_f32)
		return (uint32_t)(seed * n + (uint64_t)i);
	return (uint32_t)((uint64_t)i * stretch + (stretch ? next(s) % stretch : 0));
}

static double scaled(struct source *s, double scale, int spread)
{
	return sign(s) * (1 + unit(s)) * ldexp(scale, (int)below(s, spread) - spread / 2);
}

/* A gate, and a factor such that the product is of that family. */
static void pair(struct source *s, enum probe_family f, double *gate, double *up)
{
	static const double odd[] = {INFINITY, -INFINITY, NAN, 0, -0.0, 0x1p-149, -0x1p-133, 1, -1};
	enum { ODD = sizeof(odd) / sizeof(*odd) };
	double least = s->b->type == DT_f16 ? 0x1p-14 : 0x1p-126;
	double most = s->b->type == DT_f16 ? 0x1p15 : 0x1p127, act;

	*gate = gauss(s) * 3;
	*up = scaled(s, 1, 5);
	switch (f) {
	case PROBE_FAMILY_wide:
		*gate = scaled(s, 1, 2 * -ilogb(least));
		*up = scaled(s, 1, 2 * -ilogb(least));
		return;
	case PROBE_FAMILY_normal:
		*up = gauss(s);
		return;
	case PROBE_FAMILY_zeros:
		*gate = copysign(0, sign(s));
		return;
	case PROBE_FAMILY_special:
		if (below(s, 2))
			*gate = odd[below(s, ODD)];
		if (below(s, 2))
			*up = odd[below(s, ODD)];
		return;
	case PROBE_FAMILY_extreme: /* exp(-x) near the largest float, and beyond */
		*gate = -(unit(s) * 20 + 80);
		*up = scaled(s, 1, 40);
		return;
	case PROBE_FAMILY_epsilon:
		*gate = scaled(s, 0x1p-12, 24);
		return;
	case PROBE_FAMILY_overflow:
		*gate = below(s, 2) ? scaled(s, most, 3) : 1 + unit(s);
		*up = scaled(s, most, 3);
		return;
	case PROBE_FAMILY_tiny:
	case PROBE_FAMILY_underflow:
		/* One or the other small; the product about the smallest normal number. */
		*gate = below(s, 2) ? scaled(s, least, 24) : *gate;
		act = *gate / (1 + exp(-*gate));
		*up = act == 0 ? *up : least / act * scaled(s, 1, 6);
		if (f == PROBE_FAMILY_tiny && !below(s, 3))
			*up = scaled(s, least, 3);
		return;
	default:
		return;
	}
}

void probe_batch_fill_silu(struct probe_batch *b, enum probe_family f, uint64_t seed)
{
	struct source s = {.b = b, .state = seed * 0x2545f4914f6cdd1du + (uint64_t)f};

	for (int64_t i = 0; i < b->rows * b->cols; i++) {
		double gate, up;

		pair(&s, f, &gate, &up);
		probe_store(b->type, b->b, i, up);
		if (f == PROBE_FAMILY_exact)
			put_bits(b->type, b->a, i, table(&s, seed, i));
		else
			probe_store(b->type, b->a, i, gate);
	}
}
