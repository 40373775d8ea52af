// SPDX-License-Identifier: Apache-2.0
/* Statements are added to a program, operands to what it knows of memory. */
#include "matcher/row_emit.h"

#include <math.h>
#include <string.h>

void emit_fail(struct emit *e, enum reason why)
{
	if (!e->why)
		e->why = why;
}

static bool is_small(enum dtype t)
{
	return t == DT_f16 || t == DT_bf16 || t == DT_e4m3 || t == DT_e5m2;
}

/* Does the flavour's flushing show in this statement? */
static bool flushes(const struct emit *e, const struct row_stmt *s)
{
	const uint8_t from = s->arg[0] == ROW_NONE ? DT_NONE : e->r->stmt[s->arg[0]].type;

	switch (s->code) {
	case ROW_LOAD:
	case ROW_STORE:
	case ROW_CONST:
	case ROW_SELECT:
	case ROW_SHIFT:
	case ROW_PAIR:
	case ROW_CAT:
		return false;
	case ROW_CAST:
		return (from == DT_f32 && !is_small(s->type)) ||
		       (s->type == DT_f32 && from == DT_f64);
	case ROW_EQ:
	case ROW_NE:
	case ROW_LT:
	case ROW_LE:
		return from == DT_f32;
	default:
		return s->type == DT_f32;
	}
}

static uint8_t add(struct emit *e, struct row_stmt s)
{
	struct row *r = e->r;

	if (e->why)
		return 0;
	if (r->nstmt == ROW_MAX_STMTS) {
		emit_fail(e, REASON_SHAPE);
		return 0;
	}
	if (e->pick->spelling.ftz && flushes(e, &s))
		s.flags |= ROW_FTZ;
	s.member = e->member;
	for (unsigned k = 0; k < 3 && s.code != ROW_STORE; k++)
		if (s.arg[k] != ROW_NONE)
			s.span |= r->stmt[s.arg[k]].span;
	if (row_code_reduces(s.code))
		s.span &= ROW_SPAN_ROWS;
	if (s.code == ROW_CAT || s.code == ROW_COL)
		s.span |= ROW_SPAN_COLS;
	r->stmt[r->nstmt] = s;
	return r->nstmt++;
}

static struct row_stmt stmt(enum row_code code, enum dtype t, uint8_t a, uint8_t b, uint8_t c)
{
	return (struct row_stmt){.code = (uint8_t)code, .type = (uint8_t)t, .arg = {a, b, c}};
}

uint8_t emit0(struct emit *e, enum row_code code, enum dtype t)
{
	return add(e, stmt(code, t, ROW_NONE, ROW_NONE, ROW_NONE));
}

uint8_t emit1(struct emit *e, enum row_code code, enum dtype t, uint8_t a)
{
	return add(e, stmt(code, t, a, ROW_NONE, ROW_NONE));
}

uint8_t emit2(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b)
{
	return add(e, stmt(code, t, a, b, ROW_NONE));
}

uint8_t emit3(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b, uint8_t c)
{
	return add(e, stmt(code, t, a, b, c));
}

uint8_t emit_shift(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b,
		   int64_t shift)
{
	struct row_stmt s = stmt(code, t, a, b, ROW_NONE);

	s.shift = (int32_t)shift;
	return add(e, s);
}

uint8_t emit_reduce(struct emit *e, enum row_code code, uint8_t a, uint8_t b)
{
	const bool adds = code == ROW_SUM || code == ROW_DOT || code >= ROW_WELFORD;
	const struct row_order any = {.threads = 1}, *order = adds ? &e->pick->order : &any;
	struct row_stmt s = stmt(code, e->math, a, b, ROW_NONE);
	struct row *r = e->r;

	while (s.at < r->norder && memcmp(&r->order[s.at], order, sizeof(*order)) != 0)
		s.at++;
	if (s.at == r->norder) {
		if (r->norder == ROW_MAX_ORDERS) {
			emit_fail(e, REASON_SHAPE);
			return 0;
		}
		r->order[r->norder++] = *order;
	}
	return add(e, s);
}

uint8_t emit_number(struct emit *e, enum dtype t, double v)
{
	struct row_stmt s = stmt(ROW_CONST, t, ROW_NONE, ROW_NONE, ROW_NONE);
	struct row *r = e->r;
	uint64_t bits = 0;
	float f = (float)v;

	if (is_small(t) && isnan(v)) /* the host's NaN, which no conversion gives */
		emit_fail(e, REASON_SHAPE);
	if (is_small(t))
		return emit_cast(e, t, emit_number(e, DT_f32, v));
	if (t == DT_f32)
		memcpy(&bits, &f, sizeof(f));
	else if (t == DT_f64)
		memcpy(&bits, &v, sizeof(v));
	else if (t == DT_bool)
		bits = v != 0;
	else if (v >= -9.2e18 && v <= 9.2e18 && v == (double)(int64_t)v)
		bits = (uint64_t)(int64_t)v;
	else
		emit_fail(e, REASON_SHAPE);
	while (s.at < r->nimm && r->imm[s.at] != bits)
		s.at++;
	if (s.at == r->nimm) {
		if (r->nimm == ROW_MAX_IMM) {
			emit_fail(e, REASON_SHAPE);
			return 0;
		}
		r->imm[r->nimm++] = bits;
	}
	return add(e, s);
}

uint8_t emit_cast(struct emit *e, enum dtype t, uint8_t a)
{
	enum dtype from = e->why ? t : (enum dtype)e->r->stmt[a].type;

	if (from == t)
		return a;
	/* Between small floats, and between them and others, by way of f32. */
	if ((is_small(t) || is_small(from)) && from != DT_f32 && t != DT_f32)
		a = emit1(e, ROW_CAST, DT_f32, a);
	return emit1(e, ROW_CAST, t, a);
}

static bool overlap(const struct row *r, const struct row_operand *x, const struct row_operand *y)
{
	const struct operand a = row_operand_box(r, x), b = row_operand_box(r, y);

	return operand_overlap(&a, &b);
}

/* The same places in the same rows? */
static bool same_strides(const struct row *r, const struct row_operand *x,
			 const struct row_operand *y)
{
	for (unsigned d = 0; d < r->ndim; d++)
		if (x->stride[d] != y->stride[d] || (x->stride[d] && x->most[d] != y->most[d]))
			return false;
	return x->dtype == y->dtype && x->step == y->step;
}

/* The number of that operand, which is added if it is new. */
static unsigned operand_number(struct emit *e, const struct row_operand *o)
{
	struct row *r = e->r;
	unsigned k = 0;

	while (k < r->noperand &&
	       !(r->operand[k].addr == o->addr && r->operand[k].width == o->width &&
		 same_strides(r, &r->operand[k], o)))
		k++;
	if (k < r->noperand)
		return k;
	if (k == ROW_MAX_OPERANDS) {
		emit_fail(e, REASON_SHAPE);
		return 0;
	}
	r->operand[r->noperand++] = *o;
	e->value[k] = e->load[k] = e->store[k] = ROW_NONE;
	return k;
}

/* Are o's columns some of those of `from`? */
static bool is_window(const struct row *r, const struct row_operand *from,
		      const struct row_operand *o, int64_t *shift)
{
	int64_t apart = (int64_t)(o->addr - from->addr);

	if (!o->step || !same_strides(r, from, o) || apart % o->step)
		return false;
	*shift = apart / o->step;
	return *shift >= 0 && *shift + o->width <= from->width;
}

/* The operand written last of those that share bytes with box, which is operand k; -1: none has
 * been. */
static int newest_writer(const struct emit *e, const struct row_operand *box, unsigned k)
{
	const struct row *r = e->r;
	int newest = -1;

	for (unsigned i = 0; i < r->noperand && !e->why; i++)
		if (e->value[i] != ROW_NONE && (newest < 0 || e->store[i] > e->store[newest]) &&
		    (i == k || overlap(r, &r->operand[i], box)))
			newest = (int)i;
	return newest;
}

uint8_t emit_read(struct emit *e, const struct operand *o)
{
	struct row *r = e->r;
	struct row_operand box;
	struct row_stmt load;
	uint8_t span = 0;
	int64_t shift = 0;
	unsigned k;
	int newest;

	if (e->why)
		return 0;
	if (!space_operand(&e->space, r, e->member, o, &box)) {
		emit_fail(e, REASON_SHAPE);
		return 0;
	}
	for (unsigned d = 0; d < r->ndim; d++)
		if (!box.stride[d])
			box.most[d] = 0; /* the same element everywhere */
	k = operand_number(e, &box);
	newest = newest_writer(e, &box, k);
	if (newest >= 0 && (unsigned)newest != k &&
	    !is_window(r, &r->operand[newest], &box, &shift))
		emit_fail(e, REASON_OVERLAP); /* several wrote parts of it, or only a part is new */
	if (e->why)
		return 0;
	if (newest >= 0)
		return shift ? emit_shift(e, ROW_SHIFT, box.dtype, e->value[newest], ROW_NONE,
					  shift)
			     : e->value[newest];
	if (e->load[k] != ROW_NONE)
		return e->load[k];
	for (unsigned d = 0; d < r->ndim; d++)
		if (box.stride[d])
			span |= ROW_SPAN_ROWS;
	if (box.step)
		span |= ROW_SPAN_COLS;
	load = stmt(ROW_LOAD, box.dtype, ROW_NONE, ROW_NONE, ROW_NONE);
	load.at = (uint8_t)k;
	load.span = span;
	r->operand[k].use |= ROW_READ;
	return e->load[k] = add(e, load);
}

void emit_write(struct emit *e, const struct operand *o, uint8_t value)
{
	struct row *r = e->r;
	struct row_operand box;
	struct row_stmt store;
	unsigned k;

	if (e->why)
		return;
	if (!space_operand(&e->space, r, e->member, o, &box)) {
		emit_fail(e, REASON_SHAPE);
		return;
	}
	k = operand_number(e, &box);
	if (e->why)
		return;
	for (unsigned d = 0; d < r->ndim; d++) /* one row stores what all have */
		r->operand[k].most[d] = box.most[d];
	store = stmt(ROW_STORE, box.dtype, value, ROW_NONE, ROW_NONE);
	store.at = (uint8_t)k;
	r->operand[k].use |= ROW_WRITE;
	e->value[k] = value;
	e->store[k] = add(e, store);
}
