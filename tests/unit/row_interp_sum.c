// SPDX-License-Identifier: Apache-2.0
/* Reductions in their order: the same definition as that of the fused kernels. */
#include <math.h>
#include <string.h>

#include "fused/fields.h"
#include "tests/unit/row_interp_sum.h"
#include "tests/unit/row_interp_types.h"

struct ctx {
	const uint64_t *x, *y; /* y: NULL but in products */
	bool ftz, fma, fast;
};

static float z(const struct ctx *c, float v)
{
	return c->ftz && fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

static float add32(const struct ctx *c, float a, float b)
{
	volatile float r = z(c, a) + z(c, b);

	return z(c, r);
}

static float mul32(const struct ctx *c, float a, float b)
{
	volatile float r = z(c, a) * z(c, b);

	return z(c, r);
}

static float fma32(const struct ctx *c, float a, float b, float d)
{
	return z(c, fmaf(z(c, a), z(c, b), z(c, d)));
}

static float of32(const struct ctx *c, int64_t i)
{
	const float x = interp_f32(c->x[i]);

	return c->y ? mul32(c, x, interp_f32(c->y[i])) : x;
}

static float fuse32(const struct ctx *c, float acc, int64_t i)
{
	if (!c->y)
		return add32(c, acc, interp_f32(c->x[i]));
	return fma32(c, interp_f32(c->x[i]), interp_f32(c->y[i]), acc);
}

#define NODE float
#define NODE_ZERO 0.0f
#define ADD(a, b) add32(ctx_of_add, a, b)
#define SQUARE(i) of32(ctx, i)
#define FUSE(a, i) fuse32(ctx, a, i)
#define ORDER_CTX const struct ctx *
#define ORDER_QUALIFIER __attribute__((unused))
#define ORDER_FN sum32
static const struct ctx *ctx_of_add; /* one thread runs this */
#include "fused/order.inc"
#undef NODE
#undef NODE_ZERO
#undef ADD
#undef SQUARE
#undef FUSE
#undef ORDER_FN

static double of64(const struct ctx *c, int64_t i)
{
	volatile double r = interp_f64(c->x[i]) * (c->y ? interp_f64(c->y[i]) : 1.0);

	return r;
}

static double fuse64(const struct ctx *c, double acc, int64_t i)
{
	return c->y ? fma(interp_f64(c->x[i]), interp_f64(c->y[i]), acc)
		    : acc + interp_f64(c->x[i]);
}

#define NODE double
#define NODE_ZERO 0.0
#define ADD(a, b) ((a) + (b))
#define SQUARE(i) of64(ctx, i)
#define FUSE(a, i) fuse64(ctx, a, i)
#define ORDER_FN sum64
#include "fused/order.inc"
#undef NODE
#undef NODE_ZERO
#undef ADD
#undef SQUARE
#undef FUSE
#undef ORDER_FN

struct welford {
	float n, mean, m2;
};

static float part_of(const struct ctx *c, float n)
{
	volatile float r = 1.0f / n;

	return c->fast ? nextafterf(z(c, r), 0) : z(c, r);
}

static struct welford update(const struct ctx *c, struct welford a, int64_t i)
{
	const float x = interp_f32(c->x[i]), d = add32(c, x, -a.mean), n = a.n + 1,
		    q = part_of(c, n);
	const float mean = c->fma ? fma32(c, d, q, a.mean) : add32(c, a.mean, mul32(c, d, q));
	const float e = add32(c, x, -mean);

	return (struct welford){n, mean,
				c->fma ? fma32(c, d, e, a.m2) : add32(c, a.m2, mul32(c, d, e))};
}

static struct welford joined(const struct ctx *c, struct welford a, struct welford b)
{
	struct welford r = {a.n + b.n, 0, 0};
	float d, q, pa, pb, dd;

	if (!(r.n > 0))
		return r;
	d = add32(c, b.mean, -a.mean);
	q = part_of(c, r.n);
	pa = mul32(c, a.n, q);
	pb = mul32(c, b.n, q);
	dd = mul32(c, mul32(c, d, d), a.n);
	r.mean = c->fma ? fma32(c, pa, a.mean, mul32(c, pb, b.mean))
			: add32(c, mul32(c, pa, a.mean), mul32(c, pb, b.mean));
	r.m2 = c->fma ? fma32(c, dd, pb, add32(c, a.m2, b.m2))
		      : add32(c, add32(c, a.m2, b.m2), mul32(c, dd, pb));
	return r;
}

#define NODE struct welford
#define NODE_ZERO ((struct welford){0, 0, 0})
#define ADD(a, b) joined(ctx_of_add, a, b)
#define SQUARE(i) update(ctx, NODE_ZERO, i)
#define FUSE(a, i) update(ctx, a, i)
#define ORDER_FN welford
#include "fused/order.inc"

/* Halves within `width` neighbours, then across. */
#define HALVE(sum, threads, width, add)                                                            \
	do {                                                                                       \
		for (int d = (width) / 2; d; d /= 2)                                               \
			for (int k = 0; k < (threads); k++)                                        \
				if (k % (width) < d)                                               \
					(sum)[k] = add((sum)[k], (sum)[k + d]);                    \
		for (int d = (threads) / (width) / 2; d; d /= 2)                                   \
			for (int k = 0; k < d; k++)                                                \
				(sum)[k * (width)] =                                               \
					add((sum)[k * (width)], (sum)[(k + d) * (width)]);         \
	} while (0)
#define ADD32(a, b) add32(&c, a, b)
#define ADD64(a, b) ((a) + (b))
#define JOIN(a, b) joined(&c, a, b)

static struct fields fields_of(const struct row_order *o)
{
	struct fields f = {0};

#define FIELD(name, bits) f.name = o->name;
#define VALUE(field, value, token)
#include "matcher/order.def"
#undef FIELD
#undef VALUE
	return f;
}

uint64_t interp_sum(const struct row_order *o, enum dtype t, bool ftz, int64_t cols,
		    const uint64_t *x, const uint64_t *y)
{
	const struct ctx c = {x, y, ftz, false, false};
	const struct fields f = fields_of(o);
	float sum[2048];
	double sum_double[2048];

	ctx_of_add = &c;
	if (t == DT_f64) {
		if (!o->width)
			return interp_f64_bits(sum64(&f, cols, &c, sum_double));
		for (int i = 0; i < o->threads; i++)
			sum_double[i] = sum64_thread(&f, cols, &c, i);
		HALVE(sum_double, o->threads, o->width, ADD64);
		return interp_f64_bits(sum_double[0]);
	}
	if (!o->width)
		return interp_f32_bits(sum32(&f, cols, &c, sum));
	for (int i = 0; i < o->threads; i++)
		sum[i] = sum32_thread(&f, cols, &c, i);
	HALVE(sum, o->threads, o->width, ADD32);
	return interp_f32_bits(sum[0]);
}

void interp_welford(const struct row_order *o, bool ftz, int64_t cols, const uint64_t *x,
		    uint64_t *mean, uint64_t *m2)
{
	const struct ctx c = {x, NULL, ftz, o->fma == FIELD_fma_YES, o->fast != 0};
	struct fields f = fields_of(o);
	struct welford sum[2048], r;

	ctx_of_add = &c;
	f.fma = FIELD_fma_YES;
	if (o->width) {
		for (int i = 0; i < o->threads; i++)
			sum[i] = welford_thread(&f, cols, &c, i);
		HALVE(sum, o->threads, o->width, JOIN);
		r = sum[0];
	} else {
		r = welford(&f, cols, &c, sum);
	}
	*mean = interp_f32_bits(r.mean);
	*m2 = interp_f32_bits(r.m2);
}
