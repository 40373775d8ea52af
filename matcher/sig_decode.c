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

static const struct sig_form form[OP_COUNT] = {
	[OP_add] = {true, false, {ROLE_out, ROLE_in0, ROLE_in1}},
	[OP_rmsnorm] = {true, true, {ROLE_out, ROLE_in0, ROLE_weight}},
};

const struct sig_form *sig_form(enum opcode code)
{
	return &form[code];
}

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
	memcpy(&d, p, 8);
	return bytes == 8 && d == a->real;
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
			     int64_t value[ROLE_COUNT])
{
	for (unsigned i = 0; i < s->narg; i++) {
		const struct sig_arg *a = &s->arg[i];
		const struct param *param = &l->kernel->param[i];
		const uint8_t *p = l->params + param->offset;

		if (a->demand != SIG_ANY && !demanded(a, p, param->bytes))
			return REASON_SHAPE;
		switch (role_kind((enum role)a->role)) {
		case ROLE_KIND_NONE:
			continue;
		case ROLE_KIND_EXTENT:
			value[a->role] = read_extent(p, param->bytes);
			break;
		case ROLE_KIND_SCALAR:
			op->eps = read_scalar(p, param->bytes);
			op->has_eps = true;
			break;
		default:
			memcpy(&value[a->role], p, 8);
			if (a->inout)
				value[ROLE_in0] = value[a->role];
		}
		if (op->nslot == OP_MAX_SLOTS)
			return REASON_SHAPE;
		op->slot[op->nslot++] =
			(struct slot){(uint16_t)param->offset, (uint8_t)param->bytes, a->role};
	}
	return REASON_NONE;
}

/* An extent that an argument gave (value[role] is then set), or else an expression; 0 if neither.
 */
static bool extent(const struct sig *s, const struct launch *l, enum role role,
		   const struct sig_expr *e, int64_t value[ROLE_COUNT])
{
	int64_t v;

	if (e->nterm) {
		if (!sig_expr_value(e, l, value, &v))
			return false;
		value[role] = v;
	} else if (s->at[role] < 0) {
		value[role] = 0;
		return true;
	}
	return value[role] > 0;
}

static enum reason shape(const struct sig *s, const struct launch *l, struct op *op,
			 int64_t value[ROLE_COUNT])
{
	int64_t threads = 1, all = 0, n, rows, cols;

	if (!extent(s, l, ROLE_n, &s->n, value) || !extent(s, l, ROLE_rows, &s->rows, value) ||
	    !extent(s, l, ROLE_cols, &s->cols, value))
		return REASON_SHAPE;
	n = value[ROLE_n];
	rows = value[ROLE_rows];
	cols = value[ROLE_cols];
	for (int i = 0; i < 3; i++)
		if (__builtin_mul_overflow(threads, (int64_t)l->grid[i] * l->block[i], &threads) ||
		    !threads)
			return REASON_SHAPE;
	if (form[s->code].by_rows) {
		if (!rows && n)
			rows = n % cols ? 0 : n / cols;
		else if (!rows)
			rows = l->grid[0];
		if (!rows || __builtin_mul_overflow(rows, cols, &all) || all > MAX_BYTES ||
		    (n && n != all) || rows / MAX_ROWS_PER_THREAD > threads)
			return REASON_SHAPE;
	} else {
		if (rows && cols && (__builtin_mul_overflow(rows, cols, &all) || (n && n != all)))
			return REASON_SHAPE;
		cols = n ? n : all;
		rows = 1;
		if (cols > MAX_BYTES || cols / MAX_PER_THREAD > threads)
			return REASON_SHAPE;
	}
	op->rows = rows;
	op->cols = cols;
	return REASON_NONE;
}

static enum reason place_operands(const struct sig *s, struct op *op,
				  const int64_t value[ROLE_COUNT])
{
	const struct sig_form *f = &form[s->code];

	for (unsigned i = 0; i < sizeof(f->operand) && f->operand[i]; i++) {
		enum role role = (enum role)f->operand[i];
		enum dtype t = (enum dtype)s->arg[s->at[role]].dtype;
		uint64_t addr = (uint64_t)value[role];
		int64_t rows = !f->by_rows || role == ROLE_weight ? 0 : op->rows;

		if (!addr || addr % dtype_bytes(t) ||
		    addr > (uint64_t)INT64_MAX - 8 * (uint64_t)MAX_BYTES)
			return REASON_SHAPE;
		operand_dense(&op->operand[op->noperand++], role,
			      role == ROLE_out ? ACCESS_WRITE : ACCESS_READ, t, addr, rows,
			      op->cols);
	}
	return REASON_NONE;
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct sig *s = data;
	int64_t value[ROLE_COUNT] = {0};
	enum reason why;

	op->code = s->code;
	op->eps = s->eps;
	op->has_eps = s->has_eps;
	why = read_args(s, l, op, value);
	if (!why)
		why = shape(s, l, op, value);
	if (!why)
		why = place_operands(s, op, value);
	return why;
}

static uint64_t ops(const void *data)
{
	const struct sig *s = data;

	return (uint64_t)1 << s->code;
}

const struct decoder sig_decoder = {"signature", sig_find, decode, ops};
