/* SPDX-License-Identifier: Apache-2.0 */
/* Random row programs. Declared in row_make.h. */
#include <string.h>

#include "tests/gpu/row_make.h"

struct random {
	uint64_t s;
	struct row *r;
	uint8_t value[ROW_MAX_STMTS]; /* valid in all columns */
	unsigned n;
	unsigned threads; /* not 0: all sums are strided over so many, as most programs have them */
};

static unsigned below(struct random *x, unsigned n)
{
	x->s ^= x->s << 13;
	x->s ^= x->s >> 7;
	x->s ^= x->s << 17;
	return (unsigned)((x->s * 0x2545f4914f6cdd1dull) >> 33) % n;
}

#define PICK(x, ...)                                                                               \
	((const int[]){__VA_ARGS__})[below(x, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))]

static enum dtype any_type(struct random *x)
{
	return (enum dtype)PICK(x, DT_f32, DT_f32, DT_f32, DT_bf16, DT_bf16, DT_bf16, DT_f16,
				DT_f16, DT_f64, DT_i32, DT_i64, DT_u8, DT_i8, DT_i16, DT_bool,
				DT_e4m3, DT_e5m2);
}

static uint8_t keep(struct random *x, uint8_t v)
{
	x->value[x->n++] = v;
	return v;
}

/* A value of the type, cast if need be: late ones more often. */
static uint8_t value(struct random *x, enum dtype t)
{
	unsigned k = below(x, 3) ? x->n - 1 - below(x, x->n < 6 ? x->n : 6) : below(x, x->n);
	uint8_t v = x->value[k];

	if (x->r->stmt[v].type == t)
		return v;
	v = row_cast(x->r, t, v);
	if (!below(x, 8))
		row_flag(x->r, v, ROW_FTZ);
	return keep(x, v);
}

static int64_t round_up(int64_t n, int64_t by)
{
	return (n + by - 1) / by * by;
}

/* An operand of the program's shape: dense, with gaps, backwards, every n-th, broadcast. */
static unsigned operand(struct random *x, enum dtype t, bool store, int64_t width)
{
	struct row *r = x->r;
	unsigned i = row_dense(r, t, 0), how = below(x, 10);
	struct row_operand *o = &r->operand[i];
	int64_t bytes = (int64_t)dtype_bytes(t), at;
	unsigned least = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;

	o->align = (uint8_t)(below(x, 2) ? 4 : least + below(x, 5 - least));
	if (row_is_flat(r)) {
		if (!store && !below(x, 6))
			o->stride[0] = 0;
		return i;
	}
	o->width = width;
	if (how == 0)
		o->step = bytes * 3;
	at = round_up(o->step * width + (how < 3 ? bytes * below(x, 5) : 0), 1 << o->align);
	for (unsigned d = r->ndim; d-- > 0; at *= r->size[d])
		o->stride[d] = at;
	if (how == 4 && r->ndim > 1) { /* transposed */
		o->stride[0] = at / r->size[0] / r->size[1];
		o->stride[1] = o->stride[0] * r->size[0];
		if (r->ndim == 3)
			o->stride[0] = round_up(o->step * width, 1 << o->align),
			o->stride[2] = o->stride[0] * r->size[0],
			o->stride[1] = o->stride[2] * r->size[2];
	}
	if (how == 5)
		o->stride[below(x, r->ndim)] *= -1;
	if (!store && how == 6)
		o->stride[below(x, r->ndim)] = 0;
	if (!store && how == 7)
		for (unsigned d = 0; d < r->ndim; d++)
			o->stride[d] = 0;
	if (!store && how == 8 && width == r->cols)
		o->step = 0, o->width = 1;
	return i;
}

static void load(struct random *x)
{
	keep(x, row_load(x->r, operand(x, any_type(x), false, x->r->cols), 0));
}

static struct row_order order(struct random *x, bool welford)
{
	struct row_order o = {.threads =
				      (uint16_t)PICK(x, 32, 32, 64, 96, 128, 256, 256, 512, 1024)};

	if (x->threads) {
		o.threads = (uint16_t)x->threads;
		o.fma = (uint16_t)below(x, 2);
		o.warp = (uint16_t)below(x, 2);
		o.block = (uint16_t)PICK(x, ORDER_block_FIRSTDESC, ORDER_block_FIRSTASC,
					 ORDER_block_SERIAL);
		return o;
	}
	o.walk = !below(x, 4);
	o.vec = o.walk ? 0 : (uint16_t)PICK(x, 0, 0, 1, 2, 3);
	if (!welford && !below(x, 3)) {
		o.part = o.walk ? (uint16_t)PICK(x, 1, 2) : (uint16_t)below(x, o.vec + 1u);
		o.inner = (uint16_t)below(x, 3);
	}
	if (!welford && !o.part) {
		o.acc = (uint16_t)PICK(x, 0, 1, 2, 3);
		o.tail = (uint16_t)below(x, 3);
		o.comb = (uint16_t)below(x, 3);
	}
	o.fma = (uint16_t)below(x, 2);
	o.warp = (uint16_t)below(x, 2);
	o.fast = (uint16_t)below(x, 2);
	o.block =
		(uint16_t)(o.threads == 32 && below(x, 2) ? ORDER_block_ONEWARP : 1 + below(x, 5));
	if (o.block == ORDER_block_HALVING) {
		if (o.threads == 96)
			o.threads = 64;
		o.width = (uint16_t)PICK(x, 0, 0, 2, 16, 32, 64);
		if (o.width > o.threads)
			o.width = 0;
	}
	return o;
}

static void reduction(struct random *x)
{
	int code = PICK(x, ROW_SUM, ROW_SUM, ROW_DOT, ROW_DOT, ROW_ROWMAX, ROW_ROWMIN,
			ROW_ROWMAX_NAN, ROW_ROWMIN_NAN, ROW_WELFORD);
	struct row_order o;
	struct row *r = x->r;
	uint8_t a, b, v;
	enum dtype t;

	if (x->threads && code == ROW_WELFORD)
		code = ROW_DOT;
	o = order(x, code == ROW_WELFORD);
	t = code == ROW_WELFORD || below(x, 6) ? DT_f32 : DT_f64;
	if (r->norder == ROW_MAX_ORDERS)
		return;
	if (code >= ROW_ROWMAX && code <= ROW_ROWMIN_NAN && !below(x, 3))
		t = (enum dtype)PICK(x, DT_i32, DT_i64, DT_i16, DT_u8, DT_i8);
	a = value(x, t);
	b = code == ROW_DOT ? below(x, 3) ? a : value(x, t) : 0;
	v = row_reduce(r, (enum row_code)code, a, b, &o);
	if (t == DT_f32 && !below(x, 4))
		row_flag(r, v, ROW_FTZ);
	keep(x, v);
	/* To the last bit: what follows may round it away. */
	if (r->noperand < 20 && below(x, 3))
		row_store(r, row_column(r, t), v, 0);
	if (code == ROW_WELFORD) {
		uint8_t m2 = row_reduce(r, ROW_WELFORD_M2, v, 0, &o);

		keep(x, row_flag(r, m2, r->stmt[v].flags));
	}
}

/* Columns taken from elsewhere in the row, so that all columns have a value again. */
static void move(struct random *x)
{
	struct row *r = x->r;
	int64_t cut = 1 + below(x, (unsigned)r->cols - 1);
	enum dtype t = any_type(x);
	uint8_t a, b;

	if (!(r->cols & 1))
		cut = below(x, 2) ? r->cols / 2 : cut;
	switch (below(x, 4)) {
	case 0:
		if (!(r->cols & 1)) {
			keep(x, row_moved(r, ROW_PAIR, value(x, t), 0, 0));
			break;
		}
		/* fallthrough */
	case 1: /* a from the right, b from the left */
		a = row_moved(r, ROW_SHIFT, value(x, t), 0,
			      (int32_t)below(x, (unsigned)(r->cols - cut) + 1));
		b = row_moved(r, ROW_SHIFT, value(x, t), 0, -(int32_t)below(x, (unsigned)cut + 1));
		keep(x, row_moved(r, ROW_CAT, a, b, (int32_t)cut));
		break;
	case 2: { /* the two halves of one operand */
		unsigned o = operand(x, t, false, r->cols);

		if (!r->operand[o].step)
			break;
		a = row_load(r, o, (int32_t)(r->cols - cut));
		b = row_load(r, o, -(int32_t)cut);
		keep(x, row_moved(r, ROW_CAT, a, b, (int32_t)cut));
		break;
	}
	default: /* two narrow ones behind each other */
		a = row_load(r, operand(x, t, false, cut), 0);
		b = row_load(r, operand(x, t, false, r->cols - cut), -(int32_t)cut);
		keep(x, row_moved(r, ROW_CAT, a, b, (int32_t)cut));
	}
}

static void arithmetic(struct random *x)
{
	struct row *r = x->r;
	int code;
	uint8_t v;

	switch (below(x, 12)) {
	case 0:
		keep(x, row_f32(r, (float)PICK(x, 0, 1, -1, 3, 100) * (below(x, 2) ? 1.0f : 0.3f)));
		break;
	case 1:
		code = PICK(x, ROW_EQ, ROW_NE, ROW_LT, ROW_LE);
		{
			enum dtype t = any_type(x);
			uint8_t a = value(x, t), b = value(x, t);

			keep(x, row_op(r, (enum row_code)code, a, b, 0));
		}
		break;
	case 2: {
		enum dtype t = any_type(x);
		uint8_t a = value(x, DT_bool), b = value(x, t), c = value(x, t);

		keep(x, row_op(r, ROW_SELECT, a, b, c));
		break;
	}
	case 3: {
		enum dtype t = (enum dtype)PICK(x, DT_i32, DT_i64, DT_u8, DT_i16, DT_i8);
		uint8_t a = value(x, t), b = value(x, t);

		code = PICK(x, ROW_ADD, ROW_SUB, ROW_MUL, ROW_MIN, ROW_MAX, ROW_AND, ROW_OR,
			    ROW_NOT, ROW_NEG, ROW_ABS);
		keep(x, row_op(r, (enum row_code)code, a, b, 0));
		break;
	}
	case 4:
		keep(x, below(x, 2) ? row_int(r, DT_i32, PICK(x, 0, 1, -5, 70000))
				    : row_moved(r, below(x, 2) ? ROW_ROW : ROW_COL, 0, 0, 0));
		r->stmt[r->nstmt - 1].type = DT_i32;
		break;
	case 5: {
		enum dtype t = (enum dtype)PICK(x, DT_bf16, DT_f16, DT_f64);
		uint8_t a = value(x, t), b = value(x, t);

		code = t == DT_f64 ? PICK(x, ROW_ADD, ROW_SUB, ROW_MUL, ROW_FMA, ROW_DIV, ROW_SQRT,
					  ROW_MIN, ROW_MAX_NAN)
				   : PICK(x, ROW_DIV, ROW_RCP, ROW_EXP, ROW_NEG, ROW_ABS);
		keep(x, row_op(r, (enum row_code)code, a, b, a));
		break;
	}
	default: {
		uint8_t a = value(x, DT_f32), b = value(x, DT_f32), c = value(x, DT_f32);

		code = PICK(x, ROW_ADD, ROW_ADD, ROW_SUB, ROW_MUL, ROW_MUL, ROW_FMA, ROW_FMA,
			    ROW_NEG, ROW_ABS, ROW_MIN, ROW_MAX, ROW_MIN_NAN, ROW_MAX_NAN, ROW_DIV,
			    ROW_DIV_FAST, ROW_DIV_FULL, ROW_RCP, ROW_RCP_FAST, ROW_SQRT,
			    ROW_SQRT_FAST, ROW_RSQRT, ROW_EXP, ROW_EXP_FAST, ROW_LOG, ROW_LOG_FAST,
			    ROW_SIN, ROW_SIN_FAST, ROW_COS, ROW_COS_FAST, ROW_TANH, ROW_TANH_FAST,
			    ROW_ERF, ROW_POW, ROW_POW_FAST);
		v = row_op(r, (enum row_code)code, a, b, c);
		if (!below(x, 4))
			row_flag(r, v, ROW_FTZ);
		keep(x, v);
	}
	}
}

static void store(struct random *x, bool columns)
{
	struct row *r = x->r;
	uint8_t v = value(x, any_type(x));
	enum dtype t = (enum dtype)r->stmt[v].type;
	uint8_t which = row_is_flat(r) ? 3 : ROW_SPAN_COLS;
	unsigned o;

	/* In place, where there is an operand for it. */
	if (!below(x, 4))
		for (unsigned i = 0; i < r->nstmt; i++) {
			struct row_stmt *s = &r->stmt[i];
			struct row_operand *to = s->code == ROW_LOAD ? &r->operand[s->at] : NULL;
			bool own = to && to->dtype == t && to->use == ROW_READ &&
				   (to->step || row_is_flat(r)) && !s->shift &&
				   to->width == (row_is_flat(r) ? 1 : r->cols);

			for (unsigned d = 0; own && d < r->ndim; d++)
				own = to->stride[d] != 0;
			if (own) {
				row_store(r, s->at, v, 0);
				return;
			}
		}
	if (!(r->stmt[v].span & which) && !row_is_flat(r) && below(x, 4)) {
		row_store(r, row_column(r, t), v, 0);
		return;
	}
	if (columns && !below(x, 4)) {
		int64_t width = 1 + below(x, (unsigned)r->cols);

		o = operand(x, t, true, width);
		row_store(r, o, v, -(int32_t)below(x, (unsigned)(r->cols - width) + 1));
		return;
	}
	o = operand(x, t, true, row_is_flat(r) ? 1 : r->cols);
	row_store(r, o, v, 0);
	if (!below(x, 12) && r->noperand > 2)
		r->stmt[r->nstmt - 1].flags |= ROW_DEAD;
}

void row_random(struct row *r, uint64_t seed)
{
	struct random x = {.s = seed * 0x9e3779b97f4a7c15ull + 0x1234567, .r = r};
	unsigned kind, statements, stores;
	int64_t size[3], cols;

	for (unsigned i = 0; i < 8; i++)
		below(&x, 2);
	kind = (unsigned)PICK(&x, 0, 1, 2, 3, 3, 4, 4, 5, 5);
	if (kind == 0) {
		size[0] = PICK(&x, 1, 7, 64, 300, 1000, 2049, 5000);
		row_begin(r, 1, size, 1);
	} else {
		unsigned ndim = 1 + below(&x, 3);

		for (unsigned d = 0; d < 3; d++)
			size[d] = PICK(&x, 1, 2, 3, 5, 7);
		if (ndim == 1)
			size[0] = PICK(&x, 1, 2, 7, 20, 33);
		cols = PICK(&x, 1, 2, 3, 5, 8, 16, 24, 31, 32, 64, 96, 100, 127, 128, 200, 256, 300,
			    512, 520, 1000, 1024);
		if (kind > 1 && cols < 3)
			cols += 6;
		row_begin(r, ndim, size, cols);
		if (ndim == 1 && cols == 1)
			r->cols = 2;
	}
	if (kind >= 3 && seed % 5 == 3) {
		kind = 3;
		x.threads = (unsigned)PICK(&x, 64, 64, 128, 256, 512, 1024);
		r->cols = PICK(&x, 64, 130, 256, 300, 512, 1000, 1024, 2048, 2056, 4096);
		while (r->cols < x.threads)
			r->cols *= 2;
		while (row_rows(r) > 7 && below(&x, 4))
			for (unsigned d = 0; d < r->ndim; d++)
				r->size[d] = (r->size[d] + 1) / 2;
	}
	while (row_rows(r) * r->cols > 40000)
		for (unsigned d = 0; d < r->ndim; d++)
			r->size[d] = (r->size[d] + 1) / 2;
	statements = 3 + below(&x, 22);
	stores = 1 + below(&x, 4);
	for (unsigned i = 1 + below(&x, 3); i-- > 0;)
		load(&x);
	if (x.threads && below(&x, 4)) { /* a residual and its sum */
		enum dtype t = (enum dtype)PICK(&x, DT_bf16, DT_bf16, DT_f16, DT_f32);
		uint8_t a = row_load(r, operand(&x, t, false, r->cols), 0),
			b = row_load(r, operand(&x, t, false, r->cols), 0);

		if (t != DT_f32)
			a = row_cast(r, DT_f32, a), b = row_cast(r, DT_f32, b);
		a = row_op(r, ROW_ADD, a, b, 0);
		keep(&x, t == DT_f32 ? a : row_cast(r, t, a));
		if (below(&x, 2)) {
			a = value(&x, DT_f32);
			keep(&x, row_op(r, ROW_DIV, a, value(&x, DT_f32), 0));
		}
	}
	for (unsigned i = 0;
	     i < statements && r->nstmt < ROW_MAX_STMTS - 40 && r->noperand < 20 && r->nimm < 25;
	     i++) {
		if (!below(&x, 6))
			load(&x);
		else if (kind >= 3 && !below(&x, 6))
			reduction(&x);
		else if ((kind == 2 || kind == 5) && !below(&x, 5))
			move(&x);
		else
			arithmetic(&x);
	}
	if (kind >= 3)
		reduction(&x);
	arithmetic(&x);
	for (unsigned i = 0; i < stores; i++)
		store(&x, kind == 2 || kind == 5);
}
