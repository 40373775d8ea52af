// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "matcher/sig_table.h"

/*
 * Limits of plausibility. A signature that fits a kernel of another meaning tends to give nonsense
 * here: the launch is then opaque. The evidence behind a verdict does not rest on these.
 */
enum {
	MAX_PER_THREAD = 4096, /* elements one thread may handle in an elementwise kernel */
	MAX_ROWS_PER_THREAD = 64,
};
#define MAX_BYTES ((int64_t)1 << 47) /* more than any device has */

static bool demanded(const struct sig_arg *a, const uint8_t *p, uint32_t bytes)
{
	float f;
	double d;
	int64_t v = 0;

	if (a->demand == SIG_INTEGER) {
		memcpy(&v, p, bytes); /* little-endian; sign: compare the low bytes only */
		return !memcmp(&v, &a->integer, bytes);
	}
	if (bytes == 4) {
		memcpy(&f, p, 4);
		return f == (float)a->real;
	}
	if (bytes != 8)
		return false;
	memcpy(&d, p, 8);
	return d == a->real;
}

static int64_t read_extent(const uint8_t *p, uint32_t bytes)
{
	int32_t narrow;
	int64_t wide;

	if (bytes == 8) {
		memcpy(&wide, p, 8);
		return wide;
	}
	memcpy(&narrow, p, 4);
	return narrow;
}

static double read_scalar(const uint8_t *p, uint32_t bytes)
{
	float f;
	double d;

	if (bytes == 8) {
		memcpy(&d, p, 8);
		return (float)d;
	}
	memcpy(&f, p, 4);
	return f;
}

/* Reads the arguments; operands are left for place_operands, which needs the extents. */
static enum reason read_args(const struct sig *s, const struct launch *l, struct op *op,
			     struct sig_values *v)
{
	for (unsigned i = 0; i < s->narg; i++) {
		const struct sig_arg *a = &s->arg[i];
		const struct param *param = &l->kernel->param[i];
		const uint8_t *p = l->params + param->offset;

		if (a->demand != SIG_ANY && !demanded(a, p, param->bytes))
			return REASON_SHAPE;
		switch (role_kind((enum role)a->role)) {
		case ROLE_KIND_NONE:
			if (a->name >= 0)
				v->name[a->name] = read_extent(p, param->bytes);
			continue;
		case ROLE_KIND_EXTENT:
			v->role[a->role] = read_extent(p, param->bytes);
			break;
		case ROLE_KIND_SCALAR:
			if (a->role == ROLE_eps) {
				op->eps = read_scalar(p, param->bytes);
				op->has_eps = true;
				break;
			}
			op->scalar[a->role - ROLE_scalar0] = read_scalar(p, param->bytes);
			if (s->code == OP_scale && s->at[ROLE_scalar0] < 0)
				op->scalar[0] = 1; /* x + scalar1 */
			if (op->nscalar < a->role - ROLE_scalar0 + 1)
				op->nscalar = (uint8_t)(a->role - ROLE_scalar0 + 1);
			break;
		default:
			memcpy(&v->role[a->role], p, 8);
			if (a->inout)
				v->role[ROLE_in0] = v->role[a->role];
			if (!v->role[a->role])
				continue; /* no slot: that it is absent belongs to the key */
		}
		if (op->nslot == OP_MAX_SLOTS)
			return REASON_SHAPE;
		op->slot[op->nslot++] =
			(struct slot){(uint16_t)param->offset, (uint16_t)param->bytes, a->role};
	}
	return REASON_NONE;
}

/* An extent that an argument gave (v->role[role] is then set), or else an expression; 0 if
 * neither. */
static bool extent(const struct sig *s, const struct launch *l, enum role role,
		   const struct sig_expr *e, struct sig_values *v)
{
	int64_t value;

	if (e->nterm) {
		if (!sig_expr_value(e, l, v, &value))
			return false;
		v->role[role] = value;
	} else if (s->at[role] < 0) {
		v->role[role] = 0;
		return true;
	}
	return v->role[role] > 0;
}

/* Sets the op's index space, and n, rows and cols in v for the sizes of operands. */
static enum reason shape(const struct sig *s, const struct launch *l, struct op *op,
			 struct sig_values *v, int64_t threads)
{
	int64_t all = 0, n, rows, cols;

	if (!extent(s, l, ROLE_n, &s->n, v) || !extent(s, l, ROLE_rows, &s->rows, v) ||
	    !extent(s, l, ROLE_cols, &s->cols, v))
		return REASON_SHAPE;
	n = v->role[ROLE_n];
	rows = v->role[ROLE_rows];
	cols = v->role[ROLE_cols];
	op->rows = 1;
	op->cols = 0;
	switch (sig_form(s->code)->space) {
	case SPACE_ROWS:
		if (!rows && n)
			rows = n % cols ? 0 : n / cols;
		else if (!rows)
			rows = l->grid[0];
		if (!rows || __builtin_mul_overflow(rows, cols, &all) || all > MAX_BYTES ||
		    (n && n != all) || rows / MAX_ROWS_PER_THREAD > threads)
			return REASON_SHAPE;
		op->rows = rows;
		op->cols = cols;
		break;
	case SPACE_ELEMENTS:
		if (rows && cols && (__builtin_mul_overflow(rows, cols, &all) || (n && n != all)))
			return REASON_SHAPE;
		op->cols = n ? n : all;
		if (op->cols > MAX_BYTES || op->cols / MAX_PER_THREAD > threads)
			return REASON_SHAPE;
		break;
	default:
		break;
	}
	v->role[ROLE_n] = n;
	v->role[ROLE_rows] = rows;
	return REASON_NONE;
}

static bool place(const struct sig *s, const struct launch *l, struct op *op,
		  const struct sig_operand *form, const struct sig_values *v, int64_t threads)
{
	const struct sig_arg *a = &s->arg[s->at[form->role]];
	enum dtype t = (enum dtype)a->dtype;
	uint64_t addr = (uint64_t)v->role[form->role];
	int64_t rows = 0, cols = op->cols;

	if (form->shape == SHAPE_ALL && sig_form(s->code)->space == SPACE_ROWS)
		rows = op->rows;
	else if (form->shape == SHAPE_PER_ROW)
		cols = op->rows;
	if (a->size) {
		rows = 0;
		if (!sig_expr_value(a->size, l, v, &cols) || cols <= 0 || cols > MAX_BYTES ||
		    (form->access & ACCESS_WRITE && cols / MAX_PER_THREAD > threads))
			return false;
		if (!op->cols)
			op->cols = cols;
	}
	if (addr % dtype_bytes(t) || addr > (uint64_t)INT64_MAX - 8 * (uint64_t)MAX_BYTES)
		return false;
	for (uint8_t access = ACCESS_READ; access <= ACCESS_WRITE; access <<= 1) {
		struct operand *o = &op->operand[op->noperand];

		if (!(form->access & access))
			continue;
		if (op->noperand == OP_MAX_OPERANDS)
			return false;
		operand_dense(o, (enum role)form->role, (enum access)access, t, addr, rows, cols);
		if (a->box && !sig_box_place(a->box, l, v, o, &cols))
			return false;
		if (a->box && access == ACCESS_WRITE && cols / MAX_PER_THREAD > threads)
			return false;
		if (a->box && !op->cols)
			op->cols = cols;
		op->noperand++;
	}
	return true;
}

static enum reason place_operands(const struct sig *s, const struct launch *l, struct op *op,
				  const struct sig_values *v, int64_t threads)
{
	for (const struct sig_operand *o = sig_form(s->code)->operand; o->role; o++) {
		if (s->at[o->role] < 0 || (o->may && !v->role[o->role]))
			continue; /* the kernel does without */
		if (!v->role[o->role] || !place(s, l, op, o, v, threads))
			return REASON_SHAPE;
	}
	return op->noperand && sig_box_agree(op) ? REASON_NONE : REASON_SHAPE;
}

static bool count_threads(const struct launch *l, int64_t *threads)
{
	*threads = 1;
	for (int i = 0; i < 3; i++)
		if (__builtin_mul_overflow(*threads, (int64_t)l->grid[i] * l->block[i], threads) ||
		    !*threads)
			return false;
	return true;
}

static enum reason decode_as(const struct sig *s, const struct launch *l, struct op *op)
{
	struct sig_values v = {{0}, {0}};
	int64_t threads;
	enum reason why;

	op_opaque(op);
	op->code = s->code;
	op->eps = s->eps;
	op->has_eps = s->has_eps;
	op->plus_one = s->plus_one;
	why = read_args(s, l, op, &v);
	if (!why && !count_threads(l, &threads))
		why = REASON_SHAPE;
	if (!why)
		why = shape(s, l, op, &v, threads);
	if (!why)
		why = place_operands(s, l, op, &v, threads);
	return why;
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	enum reason why = REASON_SHAPE;

	for (const struct sig *s = data; s && why; s = s->other)
		if (s == data || sig_fits(s, l->kernel))
			why = decode_as(s, l, op);
	return why;
}

static uint64_t ops(const void *data)
{
	uint64_t set = 0;

	for (const struct sig *s = data; s; s = s->other)
		set |= (uint64_t)1 << s->code;
	return set;
}

const struct decoder sig_decoder = {"signature", sig_find, decode, ops};
