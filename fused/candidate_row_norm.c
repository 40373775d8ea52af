// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of spelling.cuh as statements. Declared in candidate_say.h. */
#include "fused/candidate_say.h"

struct norm {
	struct row *r;
	const struct fields *f;
	enum dtype type;
	uint8_t ftz;
	int64_t cols;
	double eps;
};

/* What of the fields is an order. Squares of 16-bit numbers are exact, so there our kernels fuse
 * always (squares in order.cuh). */
static struct row_order order_of(const struct norm *n)
{
	struct row_order o = {0};

#define FIELD(name, bits) o.name = n->f->name;
#define VALUE(field, value, token)
#include "matcher/order.def"
#undef FIELD
#undef VALUE
	if (n->type != DT_f32)
		o.fma = ORDER_fma_YES;
	return o;
}

static uint8_t sum_of_squares(const struct norm *n, uint8_t x)
{
	const uint8_t ss = say2(n->r, ROW_DOT, DT_f32, n->ftz, x, x);

	n->r->order[0] = order_of(n);
	n->r->norder = 1;
	return ss;
}

/* Mean and eps: a float, or where eps was added as a double that double. */
static uint8_t mean(const struct norm *n, uint8_t ss)
{
	struct row *r = n->r;
	const float count = (float)n->cols;
	uint8_t m, fast;

	switch (n->f->mean) {
	case FIELD_mean_DIV:
		m = say2(r, ROW_DIV, DT_f32, n->ftz, ss, say_f32(r, count));
		break;
	case FIELD_mean_DIVFAST:
		m = say2(r, ROW_DIV_FAST, DT_f32, n->ftz, ss, say_f32(r, count));
		break;
	case FIELD_mean_MUL:
		m = say2(r, ROW_MUL, DT_f32, n->ftz, ss, say_f32(r, 1.0f / count));
		break;
	case FIELD_mean_FMA:
		return say3(r, ROW_FMA, DT_f32, n->ftz, ss, say_f32(r, 1.0f / count),
			    say_f32(r, (float)n->eps));
	case FIELD_mean_FMAFAST:
		fast = say2(r, ROW_DIV_FAST, DT_f32, n->ftz, say_f32(r, 1), say_f32(r, count));
		return say3(r, ROW_FMA, DT_f32, n->ftz, ss, fast, say_f32(r, (float)n->eps));
	default:
		m = say2(r, ROW_ADD, DT_f32, n->ftz, ss, say_f32(r, (float)n->eps));
		return say2(r, ROW_DIV, DT_f32, n->ftz, m, say_f32(r, count));
	}
	if (n->f->epsd)
		return say2(r, ROW_ADD, DT_f64, 0, say_cast(r, DT_f64, m), say_f64(r, n->eps));
	return say2(r, ROW_ADD, DT_f32, n->ftz, m, say_f32(r, (float)n->eps));
}

/* The row's scale, or its divisor. */
static uint8_t scale(const struct norm *n, uint8_t y)
{
	struct row *r = n->r;
	uint8_t s = say_cast(r, DT_f32, y);

	switch (n->f->root) {
	case FIELD_root_RSQRT:
		s = say1(r, ROW_RSQRT, DT_f32, n->ftz, s);
		break;
	case FIELD_root_RCPSQRT:
		s = say1(r, ROW_SQRT, DT_f32, n->ftz, s);
		s = say1(r, ROW_RCP, DT_f32, n->ftz, s);
		break;
	case FIELD_root_DOUBLE:
		s = say1(r, ROW_SQRT, DT_f64, 0, say_cast(r, DT_f64, y));
		s = say_cast(r, DT_f32, say1(r, ROW_RCP, DT_f64, 0, s));
		break;
	case FIELD_root_XDIV:
		s = say1(r, ROW_SQRT, DT_f32, n->ftz, s);
		break;
	default:
		s = say1(r, ROW_SQRT_FAST, DT_f32, n->ftz, s);
	}
	return say_rounded(r, n->type, n->f->round & FIELD_round_SCALE, s);
}

static uint8_t by_scale(const struct norm *n, uint8_t v, uint8_t s)
{
	const enum row_code c = n->f->root == FIELD_root_XDIV       ? ROW_DIV
				: n->f->root == FIELD_root_XDIVFAST ? ROW_DIV_FAST
								    : ROW_MUL;

	return say2(n->r, c, DT_f32, n->ftz, v, s);
}

static uint8_t products(const struct norm *n, uint8_t x, uint8_t w, uint8_t s)
{
	const bool first = n->f->round & FIELD_round_FIRST;
	uint8_t v;

	if (n->f->product == FIELD_product_XW_S) {
		v = say2(n->r, ROW_MUL, DT_f32, n->ftz, x, w);
		return by_scale(n, say_rounded(n->r, n->type, first, v), s);
	}
	v = by_scale(n, n->f->product == FIELD_product_X_SW ? w : x, s);
	v = say_rounded(n->r, n->type, first, v);
	return say2(n->r, ROW_MUL, DT_f32, n->ftz, v, n->f->product == FIELD_product_X_SW ? x : w);
}

uint8_t say_norm(struct row *r, enum dtype t, const struct fields *f, int64_t cols, double eps,
		 uint8_t x, uint8_t w)
{
	const struct norm n = {r, f, t, f->ftz ? ROW_FTZ : 0, cols, eps};
	const uint8_t s = scale(&n, mean(&n, sum_of_squares(&n, x)));

	if (f->weight == FIELD_weight_ONEPLUS)
		w = say2(r, ROW_ADD, DT_f32, n.ftz, say_f32(r, 1), w);
	return products(&n, x, w, s);
}
