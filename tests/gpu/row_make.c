/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/row_make.h"

#include <stdlib.h>
#include <string.h>

void row_begin(struct row *r, unsigned ndim, const int64_t *size, int64_t cols)
{
	memset(r, 0, sizeof(*r));
	r->ndim = (uint8_t)ndim;
	memcpy(r->size, size, ndim * sizeof(*size));
	r->cols = cols;
	r->nmember = 1;
}

static unsigned operand(struct row *r, enum dtype t)
{
	r->operand[r->noperand] = (struct row_operand){.dtype = (uint8_t)t, .width = 1, .align = 4};
	return r->noperand++;
}

unsigned row_dense(struct row *r, enum dtype t, int64_t pad)
{
	unsigned i = operand(r, t);
	int64_t bytes = (int64_t)dtype_bytes(t), at = bytes * r->cols + pad;

	if (row_is_flat(r))
		at = bytes;
	else
		r->operand[i].step = bytes;
	r->operand[i].width = row_is_flat(r) ? 1 : r->cols;
	for (unsigned d = r->ndim; d-- > 0; at *= r->size[d])
		r->operand[i].stride[d] = at;
	return i;
}

unsigned row_vector(struct row *r, enum dtype t)
{
	unsigned i = operand(r, t);

	r->operand[i].step = (int64_t)dtype_bytes(t);
	r->operand[i].width = r->cols;
	return i;
}

unsigned row_column(struct row *r, enum dtype t)
{
	unsigned i = row_dense(r, t, 0);
	int64_t at = (int64_t)dtype_bytes(t);

	r->operand[i].step = 0;
	r->operand[i].width = 1;
	for (unsigned d = r->ndim; d-- > 0; at *= r->size[d])
		r->operand[i].stride[d] = at;
	return i;
}

/* As row_check has it. */
static uint8_t span(const struct row *r, const struct row_stmt *s)
{
	uint8_t all = 0;

	for (unsigned k = 0; k < row_code_nargs((enum row_code)s->code); k++)
		all |= r->stmt[s->arg[k]].span;
	switch (s->code) {
	case ROW_STORE:
		return 0;
	case ROW_CAT:
	case ROW_COL:
		return all | ROW_SPAN_COLS;
	case ROW_ROW:
		return ROW_SPAN_ROWS;
	case ROW_LOAD:
		for (unsigned d = 0; d < r->ndim; d++)
			if (r->operand[s->at].stride[d] && r->size[d] > 1)
				all |= ROW_SPAN_ROWS;
		return r->operand[s->at].step ? all | ROW_SPAN_COLS : all;
	default:
		return row_code_reduces((enum row_code)s->code) ? all & ROW_SPAN_ROWS : all;
	}
}

static uint8_t add(struct row *r, struct row_stmt s)
{
	for (unsigned k = row_code_nargs((enum row_code)s.code); k < 3; k++)
		s.arg[k] = ROW_NONE;
	s.span = span(r, &s);
	r->stmt[r->nstmt] = s;
	return r->nstmt++;
}

uint8_t row_load(struct row *r, unsigned o, int32_t shift)
{
	r->operand[o].use |= ROW_READ;
	return add(r, (struct row_stmt){.code = ROW_LOAD,
					.type = r->operand[o].dtype,
					.at = (uint8_t)o,
					.shift = shift});
}

void row_store(struct row *r, unsigned o, uint8_t value, int32_t shift)
{
	r->operand[o].use |= ROW_WRITE;
	add(r, (struct row_stmt){.code = ROW_STORE,
				 .type = r->operand[o].dtype,
				 .arg = {value},
				 .at = (uint8_t)o,
				 .shift = shift});
}

uint8_t row_int(struct row *r, enum dtype t, int64_t v)
{
	r->imm[r->nimm] = (uint64_t)v;
	return add(r, (struct row_stmt){.code = ROW_CONST, .type = (uint8_t)t, .at = r->nimm++});
}

uint8_t row_f32(struct row *r, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return row_int(r, DT_f32, bits);
}

uint8_t row_cast(struct row *r, enum dtype t, uint8_t a)
{
	if (r->stmt[a].type == t)
		return a;
	return add(r, (struct row_stmt){.code = ROW_CAST, .type = (uint8_t)t, .arg = {a}});
}

uint8_t row_op(struct row *r, enum row_code c, uint8_t a, uint8_t b, uint8_t d)
{
	uint8_t t = r->stmt[c == ROW_SELECT ? b : a].type;

	if (c == ROW_EQ || c == ROW_NE || c == ROW_LT || c == ROW_LE)
		t = DT_bool;
	return add(r, (struct row_stmt){.code = (uint8_t)c, .type = t, .arg = {a, b, d}});
}

uint8_t row_moved(struct row *r, enum row_code c, uint8_t a, uint8_t b, int32_t shift)
{
	return add(r, (struct row_stmt){.code = (uint8_t)c,
					.type = r->stmt[a].type,
					.arg = {a, b},
					.shift = shift});
}

uint8_t row_reduce(struct row *r, enum row_code c, uint8_t a, uint8_t b, const struct row_order *o)
{
	unsigned at = 0;

	while (at < r->norder && memcmp(&r->order[at], o, sizeof(*o)))
		at++;
	if (at == r->norder)
		r->order[r->norder++] = *o;
	return add(r, (struct row_stmt){.code = (uint8_t)c,
					.type = r->stmt[a].type,
					.arg = {a, b},
					.at = (uint8_t)at});
}

uint8_t row_flag(struct row *r, uint8_t v, uint8_t flags)
{
	r->stmt[v].flags |= flags;
	return v;
}

struct row_order row_usual_order(unsigned threads)
{
	return (struct row_order){.threads = (uint16_t)threads,
				  .block = threads > 32 ? ORDER_block_FIRSTDESC
							: ORDER_block_ONEWARP};
}

static int64_t one_dim(int64_t n, int64_t size[1])
{
	size[0] = n;
	return 1;
}

void row_add_rmsnorm(struct row *r, enum dtype t, int64_t rows, int64_t cols)
{
	struct row_order o = row_usual_order(256);
	unsigned a, b, x, w, y;
	uint8_t v, s;

	row_begin(r, 1, &rows, cols);
	a = row_dense(r, t, 0), b = row_dense(r, t, 0), x = row_dense(r, t, 0);
	w = row_vector(r, t), y = row_dense(r, t, 0);
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, row_load(r, a, 0)),
		   row_cast(r, DT_f32, row_load(r, b, 0)), 0);
	v = row_cast(r, t, v);
	row_store(r, x, v, 0);
	v = row_cast(r, DT_f32, v);
	s = row_reduce(r, ROW_DOT, v, v, &o);
	s = row_op(r, ROW_DIV, s, row_f32(r, (float)cols), 0);
	s = row_op(r, ROW_RSQRT, row_op(r, ROW_ADD, s, row_f32(r, 1e-5f), 0), 0, 0);
	v = row_op(r, ROW_MUL, v, s, 0);
	v = row_op(r, ROW_MUL, v, row_cast(r, DT_f32, row_load(r, w, 0)), 0);
	row_store(r, y, row_cast(r, t, v), 0);
}

void row_add_layernorm(struct row *r, enum dtype t, int64_t rows, int64_t cols)
{
	struct row_order o = row_usual_order(256);
	unsigned a, b, x, w, bias, y, mean, rstd;
	uint8_t v, m, q, s;

	row_begin(r, 1, &rows, cols);
	a = row_dense(r, t, 0), b = row_dense(r, t, 0), x = row_dense(r, t, 0);
	w = row_vector(r, t), bias = row_vector(r, t), y = row_dense(r, t, 0);
	mean = row_column(r, DT_f32), rstd = row_column(r, DT_f32);
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, row_load(r, a, 0)),
		   row_cast(r, DT_f32, row_load(r, b, 0)), 0);
	v = row_cast(r, t, v);
	row_store(r, x, v, 0);
	v = row_cast(r, DT_f32, v);
	m = row_op(r, ROW_DIV, row_reduce(r, ROW_SUM, v, 0, &o), row_f32(r, (float)cols), 0);
	row_store(r, mean, m, 0);
	q = row_op(r, ROW_SUB, v, m, 0);
	s = row_op(r, ROW_DIV, row_reduce(r, ROW_DOT, q, q, &o), row_f32(r, (float)cols), 0);
	s = row_op(r, ROW_RSQRT, row_op(r, ROW_ADD, s, row_f32(r, 1e-5f), 0), 0, 0);
	row_store(r, rstd, s, 0);
	q = row_op(r, ROW_MUL, q, s, 0);
	q = row_op(r, ROW_FMA, q, row_cast(r, DT_f32, row_load(r, w, 0)),
		   row_cast(r, DT_f32, row_load(r, bias, 0)));
	row_store(r, y, row_cast(r, t, q), 0);
}

void row_silu_mul(struct row *r, enum dtype t, int64_t n)
{
	int64_t size[1];
	unsigned gate, up, act, y;
	uint8_t x, v;

	row_begin(r, (unsigned)one_dim(n, size), size, 1);
	gate = row_dense(r, t, 0), up = row_dense(r, t, 0), act = row_dense(r, t, 0);
	y = row_dense(r, t, 0);
	x = row_cast(r, DT_f32, row_load(r, gate, 0));
	v = row_op(r, ROW_EXP, row_op(r, ROW_NEG, x, 0, 0), 0, 0);
	v = row_op(r, ROW_DIV, x, row_op(r, ROW_ADD, row_f32(r, 1.0f), v, 0), 0);
	v = row_cast(r, t, v);
	row_store(r, act, v, 0);
	v = row_op(r, ROW_MUL, row_cast(r, DT_f32, v), row_cast(r, DT_f32, row_load(r, up, 0)), 0);
	row_store(r, y, row_cast(r, t, v), 0);
}

void row_chain(struct row *r, enum dtype t, int64_t n)
{
	int64_t size[1];
	unsigned a, b, c, t0, t1, y;
	uint8_t v;

	row_begin(r, (unsigned)one_dim(n, size), size, 1);
	a = row_dense(r, t, 0), b = row_dense(r, t, 0), t0 = row_dense(r, t, 0);
	t1 = row_dense(r, t, 0), c = row_dense(r, t, 0), y = row_dense(r, t, 0);
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, row_load(r, a, 0)),
		   row_cast(r, DT_f32, row_load(r, b, 0)), 0);
	v = row_cast(r, t, v);
	row_store(r, t0, v, 0);
	v = row_cast(r, t, row_op(r, ROW_MUL, row_cast(r, DT_f32, v), row_f32(r, 0.7f), 0));
	row_store(r, t1, v, 0);
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, v), row_cast(r, DT_f32, row_load(r, c, 0)), 0);
	row_store(r, y, row_cast(r, t, v), 0);
}

void row_softmax(struct row *r, enum dtype t, int64_t rows, int64_t cols)
{
	struct row_order o = row_usual_order(128);
	unsigned in, mask, out;
	uint8_t v, e;

	row_begin(r, 1, &rows, cols);
	in = row_dense(r, t, 0), mask = row_dense(r, t, 0), out = row_dense(r, t, 0);
	v = row_cast(r, DT_f32, row_load(r, in, 0));
	v = row_cast(r, t, row_op(r, ROW_MUL, v, row_f32(r, 0.125f), 0));
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, v), row_cast(r, DT_f32, row_load(r, mask, 0)),
		   0);
	v = row_cast(r, DT_f32, row_cast(r, t, v));
	e = row_op(r, ROW_SUB, v, row_reduce(r, ROW_ROWMAX, v, 0, &o), 0);
	e = row_op(r, ROW_EXP, e, 0, 0);
	v = row_op(r, ROW_DIV, e, row_reduce(r, ROW_SUM, e, 0, &o), 0);
	row_store(r, out, row_cast(r, t, v), 0);
}

void row_rope(struct row *r, enum dtype t, int64_t batch, int64_t heads, int64_t seq, int64_t dim)
{
	const int64_t size[3] = {batch, heads, seq};
	const int32_t half = (int32_t)(dim / 2);
	unsigned q, cosine, sine, out;
	uint8_t x, rotated, v, u;

	row_begin(r, 3, size, dim);
	q = row_dense(r, t, 0), out = row_dense(r, t, 0);
	cosine = row_dense(r, t, 0), sine = row_dense(r, t, 0);
	for (unsigned k = 0; k < 2; k++) {
		struct row_operand *o = &r->operand[k ? sine : cosine];

		o->stride[2] = dim * (int64_t)dtype_bytes(t);
		o->stride[1] = 0;
		o->stride[0] = seq * o->stride[2];
	}
	x = row_load(r, q, 0);
	v = row_op(r, ROW_MUL, row_cast(r, DT_f32, x), row_cast(r, DT_f32, row_load(r, cosine, 0)),
		   0);
	v = row_cast(r, t, v);
	rotated = row_op(r, ROW_NEG, row_load(r, q, half), 0, 0);
	rotated = row_moved(r, ROW_CAT, rotated, row_load(r, q, -half), half);
	u = row_op(r, ROW_MUL, row_cast(r, DT_f32, rotated),
		   row_cast(r, DT_f32, row_load(r, sine, 0)), 0);
	u = row_cast(r, t, u);
	v = row_op(r, ROW_ADD, row_cast(r, DT_f32, v), row_cast(r, DT_f32, u), 0);
	row_store(r, out, row_cast(r, t, v), 0);
}

void row_sixteen(struct row *r, enum dtype t)
{
	static const enum dtype to[] = {DT_f32, DT_f64, DT_f16, DT_bf16, DT_e4m3, DT_e5m2,
					DT_i64, DT_i32, DT_i16, DT_i8,   DT_u8,   DT_bool};
	int64_t size[1];
	unsigned in, by;
	uint8_t x, v;

	row_begin(r, (unsigned)one_dim(65536, size), size, 1);
	in = row_dense(r, t, 0), by = row_dense(r, t, 0);
	x = row_load(r, in, 0);
	row_store(r, row_dense(r, t, 0), row_op(r, ROW_EXP, x, 0, 0), 0);
	row_store(r, row_dense(r, t, 0), row_op(r, ROW_RCP, x, 0, 0), 0);
	row_store(r, row_dense(r, t, 0), row_op(r, ROW_NEG, x, 0, 0), 0);
	row_store(r, row_dense(r, t, 0), row_op(r, ROW_ABS, x, 0, 0), 0);
	row_store(r, row_dense(r, t, 0), row_op(r, ROW_DIV, x, row_load(r, by, 0), 0), 0);
	for (unsigned i = 0; i < sizeof(to) / sizeof(*to); i++)
		if (to[i] != t)
			row_store(r, row_dense(r, to[i], 0), row_cast(r, to[i], x), 0);
	/* Halfway cases: a quarter of a step up and down, and half of one. */
	v = row_cast(r, DT_f32, x);
	for (unsigned i = 0; i < 3; i++) {
		float by_much =
			1.0f + (t == DT_bf16 ? 0.00390625f : 0.00048828125f) * (float)(i + 1) / 2;
		uint8_t moved = row_op(r, ROW_MUL, v, row_f32(r, by_much), 0);

		row_store(r, row_dense(r, t, 0), row_cast(r, t, moved), 0);
		row_store(r, row_dense(r, DT_e4m3, 0), row_cast(r, DT_e4m3, moved), 0);
		row_store(r, row_dense(r, DT_e5m2, 0), row_cast(r, DT_e5m2, moved), 0);
	}
}

void row_reach(const struct row *r, const struct row_operand *o, int64_t *lo, int64_t *hi)
{
	*lo = 0;
	*hi = (o->width - 1) * o->step;
	if (*hi < 0)
		*lo = *hi, *hi = 0;
	for (unsigned d = 0; d < r->ndim; d++)
		if (o->stride[d] < 0)
			*lo += o->stride[d] * (r->size[d] - 1);
		else
			*hi += o->stride[d] * (r->size[d] - 1);
	*hi += (int64_t)dtype_bytes((enum dtype)o->dtype);
}

uint64_t row_place(struct row *r, uint64_t base, uint64_t seed)
{
	for (unsigned i = 0; i < r->noperand; i++) {
		struct row_operand *o = &r->operand[i];
		uint64_t unit = 1ull << o->align;
		int64_t lo, hi;

		row_reach(r, o, &lo, &hi);
		base = (base + 127) / 64 * 64 + (uint64_t)-lo;
		base = (base + 63) / 64 * 64;
		if (seed && unit < 64)
			base += unit; /* not a multiple of more */
		o->addr = base;
		base += (uint64_t)hi;
	}
	return (base + 127) / 64 * 64;
}
