// SPDX-License-Identifier: Apache-2.0
#include "matcher/row.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t nargs, commutes;
} code_row[ROW_CODE_COUNT] = {
#define ROW(name, nargs, commutes, what) {#name, nargs, commutes},
#include "matcher/row.def"
#undef ROW
};

const char *row_code_name(enum row_code c)
{
	return (unsigned)c < ROW_CODE_COUNT ? code_row[c].name : "?";
}

unsigned row_code_nargs(enum row_code c)
{
	return (unsigned)c < ROW_CODE_COUNT ? code_row[c].nargs : 0;
}

bool row_code_commutes(enum row_code c)
{
	return (unsigned)c < ROW_CODE_COUNT && code_row[c].commutes;
}

int64_t row_rows(const struct row *r)
{
	int64_t n = 1;

	for (unsigned i = 0; i < r->ndim; i++)
		n *= r->size[i];
	return n;
}

bool row_is_elementwise(const struct row *r)
{
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (row_code_reduces(s->code) || s->code == ROW_SHIFT || s->code == ROW_PAIR ||
		    s->code == ROW_CAT || s->shift)
			return false;
	}
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];

		if (o->step && o->width != r->cols)
			return false;
		/* What one column stores, others load before. */
		if (!o->step && r->cols > 1 && o->use == (ROW_READ | ROW_WRITE))
			return false;
	}
	return true;
}

bool row_is_flat(const struct row *r)
{
	return r->ndim == 1 && r->cols == 1;
}

struct operand row_operand_box(const struct row *r, const struct row_operand *o)
{
	struct operand b = {.addr = o->addr, .dtype = o->dtype};

	for (unsigned i = 0; i < r->ndim; i++) {
		b.size[b.ndim] = !o->stride[i] ? 1 : o->most[i] ? o->most[i] : r->size[i];
		b.stride[b.ndim++] = o->stride[i];
	}
	b.size[b.ndim] = o->width;
	b.stride[b.ndim++] = o->step;
	return b;
}
_Static_assert((int)ROW_MAX_DIMS < (int)OP_MAX_DIMS, "columns need a dimension, too");

unsigned row_operand_kept(const struct row_operand *o, struct range run[ROW_MAX_HOLES + 1])
{
	run[0] = o->keep;
	for (unsigned i = 0; i < o->nhole; i++) {
		run[i + 1] = (struct range){o->hole[i].hi, run[i].hi};
		run[i].hi = o->hole[i].lo;
	}
	return o->nhole + 1u;
}

bool row_stores_meet(const struct row *r, const struct row_operand *x, const struct row_operand *y)
{
	const struct row_operand *o[] = {x, y};
	struct operand part[2][ROW_MAX_HOLES + 1];
	unsigned n[2];

	for (unsigned k = 0; k < 2; k++) {
		struct range run[ROW_MAX_HOLES + 1];

		n[k] = 1;
		part[k][0] = row_operand_box(r, o[k]);
		if (row_operand_kept_whole(o[k]))
			continue;
		n[k] = row_operand_kept(o[k], run);
		for (unsigned i = 0; i < n[k]; i++)
			operand_dense(&part[k][i], ROLE_NONE, ACCESS_WRITE, DT_u8, run[i].lo, 0,
				      (int64_t)(run[i].hi - run[i].lo));
	}
	for (unsigned i = 0; i < n[0]; i++)
		for (unsigned j = 0; j < n[1]; j++)
			if (operand_overlap(&part[0][i], &part[1][j]))
				return true;
	return false;
}

void row_copy(struct row *to, const struct row *from)
{
	memcpy(to, from, offsetof(struct row, stmt));
	memcpy(to->stmt, from->stmt, from->nstmt * sizeof(from->stmt[0]));
	memcpy(to->operand, from->operand, from->noperand * sizeof(from->operand[0]));
	memcpy(to->imm, from->imm, from->nimm * sizeof(from->imm[0]));
	memcpy(to->order, from->order, from->norder * sizeof(from->order[0]));
}

struct text {
	char *at;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *form, ...)
{
	va_list args;
	int n;

	va_start(args, form);
	n = vsnprintf(t->len < t->size ? t->at + t->len : NULL,
		      t->len < t->size ? t->size - t->len : 0, form, args);
	va_end(args);
	t->len += n > 0 ? (size_t)n : 0;
}

static void put_stmt(struct text *t, const struct row *r, unsigned i)
{
	const struct row_stmt *s = &r->stmt[i];

	if (s->code == ROW_STORE)
		put(t, "%s",
		    s->flags & ROW_DEAD   ? "dead STORE"
		    : s->flags & ROW_LATE ? "late STORE"
					  : "STORE");
	else
		put(t, "v%u = %s", i, row_code_name(s->code));
	put(t, "%s %s", s->flags & ROW_FTZ ? ".ftz" : "", dtype_name(s->type));
	for (unsigned k = 0; k < row_code_nargs(s->code); k++)
		put(t, " v%u", s->arg[k]);
	if (s->code == ROW_LOAD || s->code == ROW_STORE)
		put(t, " operand %u", s->at);
	if (s->code == ROW_CONST && s->at < r->nimm)
		put(t, " 0x%" PRIx64, r->imm[s->at]);
	if (row_code_reduces(s->code))
		put(t, " order %u", s->at);
	if (s->shift)
		put(t, " shift %d", s->shift);
	put(t, "\n");
}

int row_print(const struct row *r, char *text, size_t size)
{
	struct text t = {text, size, 0};

	for (unsigned i = 0; i < r->ndim; i++)
		put(&t, "%" PRId64 " x ", r->size[i]);
	put(&t, "%" PRId64 "\n", r->cols);
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];

		put(&t, "operand %u: %s%s %s 0x%" PRIx64 " strides", i,
		    o->use & ROW_READ ? "r" : "", o->use & ROW_WRITE ? "w" : "",
		    dtype_name(o->dtype), o->addr);
		for (unsigned d = 0; d < r->ndim; d++)
			put(&t, " %" PRId64, o->stride[d]);
		put(&t, " step %" PRId64 " width %" PRId64 " align %u", o->step, o->width,
		    1u << o->align);
		for (unsigned d = 0; d < r->ndim; d++)
			if (o->most[d])
				put(&t, " rows[%u] < %" PRId64, d, o->most[d]);
		if (!row_operand_kept_whole(o))
			put(&t, " keep 0x%" PRIx64 " .. 0x%" PRIx64, o->keep.lo, o->keep.hi);
		for (unsigned k = 0; k < o->nhole; k++)
			put(&t, " but 0x%" PRIx64 " .. 0x%" PRIx64, o->hole[k].lo, o->hole[k].hi);
		put(&t, "\n");
	}
	for (unsigned i = 0; i < r->nstmt; i++)
		put_stmt(&t, r, i);
	return (int)t.len;
}
