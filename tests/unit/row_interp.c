// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/row_interp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/row_interp_sum.h"
#include "tests/unit/row_interp_types.h"

/* One row: what each statement is in each column, and whether it is anything. */
struct run {
	const struct row *r;
	int64_t row, index[ROW_MAX_DIMS];
	uint64_t *value; /* nstmt x cols */
	uint8_t *there;
	bool bad;
	struct late {
		void *to;
		uint64_t value;
		unsigned bytes;
	} * late;
	size_t nlate;
};

static uint64_t *at(const struct run *u, unsigned i, int64_t c)
{
	return &u->value[(int64_t)i * u->r->cols + c];
}

static float f32_of(float v)
{
	volatile float r = v;

	return r;
}

static float flush(bool ftz, float v)
{
	return ftz && fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

/* The greater of two, or NaN; -0 is less than 0. */
static double extreme(enum row_code c, double a, double b)
{
	const bool nan_wins = c == ROW_MIN_NAN || c == ROW_MAX_NAN,
		   greater = c == ROW_MAX || c == ROW_MAX_NAN;
	bool less;

	if (isnan(a) || isnan(b))
		return nan_wins || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
	less = a < b || (a == b && signbit(a) && !signbit(b));
	return less == greater ? b : a;
}

/* Other values than the exact functions give, mostly: one place further off. */
static float about(float v)
{
	return isfinite(v) && v != 0 ? nextafterf(v, v > 0 ? 0 : INFINITY) : v;
}

__attribute__((weak)) float row_interp_rsqrt(float a)
{
	return about(f32_of(1.0f / sqrtf(a)));
}

static float float_op(enum row_code code, float a, float b, float c)
{
	switch (code) {
	case ROW_ADD:
		return f32_of(a + b);
	case ROW_SUB:
		return f32_of(a - b);
	case ROW_NEG:
		return -a;
	case ROW_ABS:
		return fabsf(a);
	case ROW_MUL:
		return f32_of(a * b);
	case ROW_FMA:
		return fmaf(a, b, c);
	case ROW_MIN:
	case ROW_MAX:
	case ROW_MIN_NAN:
	case ROW_MAX_NAN:
		return (float)extreme(code, a, b);
	case ROW_DIV:
		return f32_of(a / b);
	case ROW_DIV_FAST:
	case ROW_DIV_FULL:
		return about(f32_of(a / b));
	case ROW_RCP:
		return f32_of(1.0f / a);
	case ROW_RCP_FAST:
		return about(f32_of(1.0f / a));
	case ROW_SQRT:
		return sqrtf(a);
	case ROW_SQRT_FAST:
		return about(sqrtf(a));
	case ROW_RSQRT:
		return row_interp_rsqrt(a);
	case ROW_EXP:
		return expf(a);
	case ROW_EXP_FAST:
		return about(expf(a));
	case ROW_LOG:
		return logf(a);
	case ROW_LOG_FAST:
		return about(logf(a));
	case ROW_SIN:
		return sinf(a);
	case ROW_SIN_FAST:
		return about(sinf(a));
	case ROW_COS:
		return cosf(a);
	case ROW_COS_FAST:
		return about(cosf(a));
	case ROW_TANH:
		return tanhf(a);
	case ROW_TANH_FAST:
		return about(tanhf(a));
	case ROW_ERF:
		return erff(a);
	case ROW_POW:
		return powf(a, b);
	case ROW_POW_FAST:
		return about(powf(a, b));
	default:
		return NAN;
	}
}

static double double_op(enum row_code code, double a, double b, double c)
{
	switch (code) {
	case ROW_ADD:
		return a + b;
	case ROW_SUB:
		return a - b;
	case ROW_NEG:
		return -a;
	case ROW_ABS:
		return fabs(a);
	case ROW_MUL:
		return a * b;
	case ROW_FMA:
		return fma(a, b, c);
	case ROW_DIV:
		return a / b;
	case ROW_RCP:
		return 1 / a;
	case ROW_SQRT:
		return sqrt(a);
	case ROW_EXP:
		return exp(a);
	case ROW_LOG:
		return log(a);
	case ROW_SIN:
		return sin(a);
	case ROW_COS:
		return cos(a);
	case ROW_TANH:
		return tanh(a);
	case ROW_ERF:
		return erf(a);
	case ROW_POW:
		return pow(a, b);
	default:
		return extreme(code, a, b);
	}
}

static uint64_t whole_op(enum row_code code, enum dtype t, uint64_t a, uint64_t b)
{
	const int64_t x = interp_integer(t, a), y = interp_integer(t, b);

	switch (code) {
	case ROW_ADD:
		return a + b;
	case ROW_SUB:
		return a - b;
	case ROW_MUL:
		return a * b;
	case ROW_MIN:
	case ROW_MIN_NAN:
		return x < y ? a : b;
	case ROW_MAX:
	case ROW_MAX_NAN:
		return x > y ? a : b;
	case ROW_AND:
		return a & b;
	case ROW_OR:
		return a | b;
	case ROW_NOT:
		return t == DT_bool ? !a : ~a;
	case ROW_NEG:
		return -a;
	default:
		return x < 0 ? -a : a;
	}
}

static uint64_t cut(enum dtype t, uint64_t v)
{
	const unsigned bits = dtype_bytes(t) * 8;

	return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static bool compare(enum row_code code, enum dtype t, bool ftz, uint64_t a, uint64_t b)
{
	double x = row_interp_number(t, a), y = row_interp_number(t, b);

	if (t == DT_i64) {
		const int64_t i = (int64_t)a, k = (int64_t)b;

		return code == ROW_EQ   ? i == k
		       : code == ROW_NE ? i != k
		       : code == ROW_LT ? i < k
					: i <= k;
	}
	if (t == DT_f32) {
		x = flush(ftz, (float)x);
		y = flush(ftz, (float)y);
	}
	return code == ROW_EQ ? x == y : code == ROW_NE ? x != y : code == ROW_LT ? x < y : x <= y;
}

/* Arithmetic gives one NaN, as on a GPU, and not that of an operand. */
static uint64_t one_nan32(float v)
{
	return isnan(v) ? 0x7fffffff : interp_f32_bits(v);
}

static uint64_t one_nan64(double v)
{
	return isnan(v) ? UINT64_C(0x7ff8000000000000) : interp_f64_bits(v);
}

static uint64_t compute(const struct row_stmt *s, enum dtype from, uint64_t a, uint64_t b,
			uint64_t c)
{
	const bool ftz = s->flags & ROW_FTZ;
	const enum dtype t = (enum dtype)s->type;
	const uint64_t sign = UINT64_C(1) << (dtype_bytes(t) * 8 - 1);
	const bool real = t == DT_f32 || t == DT_f64 || interp_is_small(t);

	switch (s->code) {
	case ROW_CAST:
		return interp_cast(t, from, a, ftz);
	case ROW_EQ:
	case ROW_NE:
	case ROW_LT:
	case ROW_LE:
		return compare((enum row_code)s->code, from, ftz, a, b);
	case ROW_SELECT:
		return a & 0xff ? b : c;
	case ROW_NEG:
	case ROW_ABS:
		if (real && t != DT_f32 && t != DT_f64)
			return s->code == ROW_NEG ? a ^ sign : a & ~sign;
		break;
	default:
		break;
	}
	if (t == DT_f32)
		return one_nan32(
			flush(ftz, float_op((enum row_code)s->code, flush(ftz, interp_f32(a)),
					    flush(ftz, interp_f32(b)), flush(ftz, interp_f32(c)))));
	if (t == DT_f64)
		return one_nan64(double_op((enum row_code)s->code, interp_f64(a), interp_f64(b),
					   interp_f64(c)));
	if (real) /* DIV, RCP, EXP of the 16-bit types */
		return row_interp_round(t, float_op((enum row_code)s->code,
						    (float)row_interp_number(t, a),
						    (float)row_interp_number(t, b), 0));
	return cut(t, whole_op((enum row_code)s->code, t, a, b));
}

static uint8_t *address(const struct run *u, const struct row_operand *o, int64_t column)
{
	uint64_t a = o->addr + (uint64_t)(column * o->step);

	for (unsigned d = 0; d < u->r->ndim; d++)
		a += (uint64_t)(u->index[d] * o->stride[d]);
	return (uint8_t *)(uintptr_t)a;
}

static void reduce(struct run *u, unsigned i)
{
	const struct row_stmt *s = &u->r->stmt[i];
	const enum dtype t = (enum dtype)s->type;
	static const enum row_code pair[] = {ROW_MAX, ROW_MAX_NAN, ROW_MIN, ROW_MIN_NAN};
	const struct row_order *o = &u->r->order[s->at];
	const uint64_t *x = at(u, s->arg[0], 0);
	uint64_t v = *x, other;

	for (int64_t c = 0; c < u->r->cols && s->code != ROW_WELFORD_M2; c++)
		for (unsigned k = 0; k < row_code_nargs(s->code); k++)
			u->bad |= !u->there[(int64_t)s->arg[k] * u->r->cols + c];
	if (s->code == ROW_SUM || s->code == ROW_DOT) {
		v = interp_sum(o, t, s->flags & ROW_FTZ, u->r->cols, x,
			       s->code == ROW_DOT ? at(u, s->arg[1], 0) : NULL);
	} else if (s->code == ROW_WELFORD) {
		interp_welford(o, s->flags & ROW_FTZ, u->r->cols, x, &v, &other);
	} else if (s->code == ROW_WELFORD_M2) {
		const struct row_stmt *w = &u->r->stmt[s->arg[0]];

		interp_welford(o, w->flags & ROW_FTZ, u->r->cols, at(u, w->arg[0], 0), &other, &v);
	} else {
		struct row_stmt two = {.code = (uint8_t)pair[s->code - ROW_ROWMAX],
				       .type = s->type,
				       .flags = s->flags};

		v = compute(&two, t, v, v, 0); /* flushed */
		for (int64_t c = 1; c < u->r->cols; c++)
			v = compute(&two, t, v, x[c], 0);
	}
	if (t == DT_f32)
		v = one_nan32(interp_f32(v));
	if (t == DT_f64)
		v = one_nan64(interp_f64(v));
	for (int64_t c = 0; c < u->r->cols; c++) {
		*at(u, i, c) = v;
		u->there[(int64_t)i * u->r->cols + c] = true;
	}
}

/* Is this row one of the operand's? All are for a LOAD of what they share. */
static bool has_row(const struct run *u, const struct row_operand *o, bool store)
{
	for (unsigned d = 0; d < u->r->ndim; d++)
		if (o->most[d] && (store || o->stride[d]) && u->index[d] >= o->most[d])
			return false;
	return true;
}

static void element(struct run *u, unsigned i, int64_t c)
{
	const struct row *r = u->r;
	const struct row_stmt *s = &r->stmt[i];
	uint8_t *there = &u->there[(int64_t)i * r->cols + c];
	uint64_t v = UINT64_C(0xdeaddeaddeaddead), arg[3] = {0};
	int64_t from = c;

	*there = true;
	for (unsigned k = 0; k < row_code_nargs(s->code); k++) {
		arg[k] = *at(u, s->arg[k], c);
		*there &= u->there[(int64_t)s->arg[k] * r->cols + c];
	}
	switch (s->code) {
	case ROW_LOAD: {
		const struct row_operand *o = &r->operand[s->at];

		if (!o->step)
			from = 0;
		else
			from += s->shift;
		*there = from >= 0 && from < o->width && has_row(u, o, false);
		if (*there) {
			v = 0;
			memcpy(&v, address(u, o, from), dtype_bytes(o->dtype));
		}
		break;
	}
	case ROW_CONST:
		v = cut((enum dtype)s->type, r->imm[s->at]);
		break;
	case ROW_COL:
		v = (uint32_t)c;
		break;
	case ROW_ROW:
		v = (uint32_t)u->row;
		break;
	case ROW_SHIFT:
	case ROW_PAIR:
		from = s->code == ROW_PAIR ? c ^ 1 : c + s->shift;
		if (!(r->stmt[s->arg[0]].span & ROW_SPAN_COLS))
			from = c;
		*there = from >= 0 && from < r->cols &&
			 u->there[(int64_t)s->arg[0] * r->cols + from];
		if (*there)
			v = *at(u, s->arg[0], from);
		break;
	case ROW_CAT: {
		const uint8_t which = s->arg[c >= s->shift];

		v = *at(u, which, c);
		*there = u->there[(int64_t)which * r->cols + c];
		break;
	}
	default:
		v = compute(s,
			    s->arg[0] == ROW_NONE ? DT_NONE : (enum dtype)r->stmt[s->arg[0]].type,
			    arg[0], arg[1], arg[2]);
	}
	*at(u, i, c) = v;
}

/* What waits until all rows are through. */
static void put_off(struct run *u, void *to, const uint64_t *value, unsigned bytes)
{
	struct late *grown = u->late;

	if (!(u->nlate & (u->nlate + 1))) /* full: 0, 1, 3, 7 ... */
		grown = realloc(u->late, (2 * u->nlate + 1) * sizeof(*grown));
	if (!grown) {
		u->bad = true;
		return;
	}
	u->late = grown;
	grown[u->nlate++] = (struct late){to, *value, bytes};
}

static void store(struct run *u, unsigned i, int64_t c)
{
	const struct row *r = u->r;
	const struct row_stmt *s = &r->stmt[i];
	const struct row_operand *o = &r->operand[s->at];
	const int64_t to = o->step ? c + s->shift : 0;

	if (s->flags & ROW_DEAD || to < 0 || to >= o->width || (!o->step && c) ||
	    !has_row(u, o, true))
		return;
	u->bad |= !u->there[(int64_t)s->arg[0] * r->cols + c];
	if (!row_operand_kept_whole(o) && ((uintptr_t)address(u, o, to) < o->keep.lo ||
					   (uintptr_t)address(u, o, to) >= o->keep.hi))
		return;
	for (unsigned k = 0; k < o->nhole; k++)
		if ((uintptr_t)address(u, o, to) >= o->hole[k].lo &&
		    (uintptr_t)address(u, o, to) < o->hole[k].hi)
			return;
	if (s->flags & ROW_LATE)
		put_off(u, address(u, o, to), at(u, s->arg[0], c), dtype_bytes(o->dtype));
	else
		memcpy(address(u, o, to), at(u, s->arg[0], c), dtype_bytes(o->dtype));
}

/* The columns lo .. hi - 1 of the row: all values, then all stores. */
static void columns(struct run *u, int64_t lo, int64_t hi)
{
	for (unsigned i = 0; i < u->r->nstmt; i++) {
		if (row_code_reduces(u->r->stmt[i].code))
			reduce(u, i);
		else if (u->r->stmt[i].code != ROW_STORE)
			for (int64_t c = lo; c < hi; c++)
				element(u, i, c);
	}
	for (unsigned i = 0; i < u->r->nstmt; i++)
		if (u->r->stmt[i].code == ROW_STORE)
			for (int64_t c = lo; c < hi; c++)
				store(u, i, c);
}

bool row_interp(const struct row *r, uint64_t seed)
{
	const int64_t rows = row_rows(r), piece = 1 + (int64_t)(seed >> 8) % 7;
	const size_t n = (size_t)(r->cols * (r->nstmt + 1));
	const bool elementwise = row_is_elementwise(r);
	struct run u = {.r = r};

	u.value = calloc(n, sizeof(*u.value));
	u.there = calloc(n, 1);
	u.bad = !u.value || !u.there;
	for (int64_t i = 0; i < rows && !u.bad; i++) {
		/* From a row somewhere on, forwards or backwards. */
		int64_t row = ((int64_t)(seed % 1000003) + i) % rows, rest;

		u.row = rest = seed & 1 ? rows - 1 - row : row;
		for (unsigned d = r->ndim; d-- > 0; rest /= r->size[d])
			u.index[d] = rest % r->size[d];
		if (!elementwise) {
			columns(&u, 0, r->cols);
			continue;
		}
		for (int64_t c = 0; c < r->cols; c += piece) {
			const int64_t lo = seed & 2 ? c : r->cols - c - piece;

			columns(&u, lo < 0 ? 0 : lo, lo + piece < r->cols ? lo + piece : r->cols);
		}
	}
	for (size_t i = 0; i < u.nlate && !u.bad; i++)
		memcpy(u.late[i].to, &u.late[i].value, u.late[i].bytes);
	free(u.late);
	free(u.value);
	free(u.there);
	if (u.bad)
		fprintf(stderr, "a value that is none was used, or memory ran out\n");
	return !u.bad;
}
