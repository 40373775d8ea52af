// SPDX-License-Identifier: Apache-2.0
/* Is a row program one, and does memory allow it? Declared in row.h. */
#include "matcher/row.h"

#include <stdlib.h>

enum {
	F32 = 1 << DT_f32,
	FLOATS = F32 | 1 << DT_f64,
	HALVES = 1 << DT_f16 | 1 << DT_bf16,
	SMALL = HALVES | 1 << DT_e4m3 | 1 << DT_e5m2,
	INTEGERS = 1 << DT_i64 | 1 << DT_i32 | 1 << DT_i16 | 1 << DT_i8 | 1 << DT_u8,
	BOOL = 1 << DT_bool,
	ANY = FLOATS | SMALL | INTEGERS | BOOL,
};

/* The types that arithmetic of a code is done in. */
static unsigned types_of(enum row_code c)
{
	switch (c) {
	case ROW_ADD:
	case ROW_SUB:
	case ROW_MUL:
	case ROW_MIN:
	case ROW_MAX:
	case ROW_MIN_NAN:
	case ROW_MAX_NAN:
	case ROW_ROWMAX:
	case ROW_ROWMAX_NAN:
	case ROW_ROWMIN:
	case ROW_ROWMIN_NAN:
		return FLOATS | INTEGERS;
	case ROW_FMA:
	case ROW_SQRT:
	case ROW_LOG:
	case ROW_SIN:
	case ROW_COS:
	case ROW_TANH:
	case ROW_ERF:
	case ROW_POW:
	case ROW_SUM:
	case ROW_DOT:
		return FLOATS;
	case ROW_DIV:
	case ROW_RCP:
	case ROW_EXP:
		return FLOATS | HALVES;
	case ROW_NEG:
	case ROW_ABS:
		return FLOATS | SMALL | INTEGERS;
	case ROW_AND:
	case ROW_OR:
	case ROW_NOT:
		return INTEGERS | BOOL;
	case ROW_COL:
	case ROW_ROW:
		return 1 << DT_i32;
	case ROW_DIV_FAST:
	case ROW_DIV_FULL:
	case ROW_RCP_FAST:
	case ROW_SQRT_FAST:
	case ROW_RSQRT:
	case ROW_EXP_FAST:
	case ROW_LOG_FAST:
	case ROW_SIN_FAST:
	case ROW_COS_FAST:
	case ROW_TANH_FAST:
	case ROW_POW_FAST:
	case ROW_WELFORD:
	case ROW_WELFORD_M2:
		return F32;
	default:
		return ANY;
	}
}

static bool types_fit(const struct row *r, const struct row_stmt *s)
{
	unsigned n = row_code_nargs(s->code);
	uint8_t type[3] = {0}, want = s->type;

	for (unsigned k = 0; k < n; k++)
		type[k] = r->stmt[s->arg[k]].type;
	if (s->code == ROW_EQ || s->code == ROW_NE || s->code == ROW_LT || s->code == ROW_LE)
		return s->type == DT_bool && type[0] == type[1];
	if (s->code == ROW_CAST)
		return true;
	if (s->code == ROW_SELECT)
		return type[0] == DT_bool && type[1] == want && type[2] == want;
	for (unsigned k = 0; k < n; k++)
		if (type[k] != want)
			return false;
	return types_of(s->code) >> want & 1;
}

static bool at_fits(const struct row *r, const struct row_stmt *s)
{
	if (s->code == ROW_LOAD || s->code == ROW_STORE) {
		uint8_t use = s->code == ROW_LOAD ? ROW_READ : ROW_WRITE;

		if (s->at >= r->noperand || r->operand[s->at].dtype != s->type)
			return false;
		return s->flags & ROW_DEAD || r->operand[s->at].use & use;
	}
	if (s->code == ROW_CONST)
		return s->at < r->nimm;
	if (row_code_reduces(s->code))
		return s->at < r->norder;
	return !s->at;
}

static uint8_t span_of(const struct row *r, const struct row_stmt *s)
{
	uint8_t span = 0;

	for (unsigned k = 0; k < row_code_nargs(s->code); k++)
		span |= r->stmt[s->arg[k]].span;
	if (s->code == ROW_STORE)
		return 0;
	if (row_code_reduces(s->code))
		return span & ROW_SPAN_ROWS;
	if (s->code == ROW_CAT || s->code == ROW_COL)
		return span | ROW_SPAN_COLS;
	if (s->code == ROW_ROW)
		return ROW_SPAN_ROWS;
	if (s->code == ROW_LOAD) {
		const struct row_operand *o = &r->operand[s->at];

		for (unsigned d = 0; d < r->ndim; d++)
			if (o->stride[d] && r->size[d] > 1)
				span |= ROW_SPAN_ROWS;
		if (o->step)
			span |= ROW_SPAN_COLS;
	}
	return span;
}

void row_spans(struct row *r)
{
	for (unsigned i = 0; i < r->nstmt; i++)
		r->stmt[i].span = span_of(r, &r->stmt[i]);
}

/* The columns lo .. hi - 1 in which a value is one. */
struct columns {
	int64_t lo, hi;
};

static struct columns both(struct columns a, struct columns b)
{
	return (struct columns){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static struct columns columns_of(const struct row *r, unsigned i, const struct columns *of)
{
	const struct columns all = {0, r->cols};
	const struct row_stmt *s = &r->stmt[i];
	struct columns c = all, a, b;

	if (!(s->span & ROW_SPAN_COLS) && s->code != ROW_STORE)
		return all;
	switch (s->code) {
	case ROW_LOAD:
	case ROW_STORE:
		c = (struct columns){-(int64_t)s->shift, r->operand[s->at].width - s->shift};
		return r->operand[s->at].step ? both(all, c) : all;
	case ROW_SHIFT:
		c = of[s->arg[0]];
		return both(all, (struct columns){c.lo - s->shift, c.hi - s->shift});
	case ROW_PAIR:
		c = of[s->arg[0]];
		return (struct columns){c.lo + (c.lo & 1), c.hi & ~(int64_t)1};
	case ROW_CAT:
		a = both(of[s->arg[0]], (struct columns){0, s->shift});
		b = both(of[s->arg[1]], (struct columns){s->shift, r->cols});
		if (a.lo >= a.hi)
			return b;
		return b.lo < b.hi && a.hi == b.lo ? (struct columns){a.lo, b.hi} : a;
	default:
		for (unsigned k = 0; k < row_code_nargs(s->code); k++)
			c = both(c, of[s->arg[k]]);
		return c;
	}
}

/* In each dimension: in how many rows, the first ones, a value is one. */
struct rows {
	int64_t n[ROW_MAX_DIMS];
};

static struct rows rows_of(const struct row *r, const struct row_stmt *s, const struct rows *of)
{
	struct rows mine;

	for (unsigned d = 0; d < r->ndim; d++) {
		mine.n[d] = r->size[d];
		if (s->code == ROW_LOAD || s->code == ROW_STORE) {
			const struct row_operand *o = &r->operand[s->at];

			if (o->most[d] && (o->stride[d] || s->code == ROW_STORE))
				mine.n[d] = o->most[d];
			continue;
		}
		for (unsigned k = 0; k < row_code_nargs(s->code); k++)
			if (of[s->arg[k]].n[d] < mine.n[d])
				mine.n[d] = of[s->arg[k]].n[d];
	}
	return mine;
}

/* Is what is stored one wherever it is stored? */
static bool rows_fit(const struct row *r, const struct row_stmt *s, const struct rows *of,
		     const struct rows *mine)
{
	for (unsigned d = 0; d < r->ndim && s->code == ROW_STORE; d++)
		if (of[s->arg[0]].n[d] < mine->n[d])
			return false;
	return true;
}

/* Where a value is taken for good, is it one in all columns concerned? */
static bool columns_fit(const struct row *r, const struct row_stmt *s, const struct columns *of,
			struct columns mine)
{
	const struct columns *a = &of[s->arg[0]];

	if (s->code == ROW_STORE)
		return a->lo <= mine.lo && mine.hi <= a->hi && mine.lo < mine.hi;
	return !row_code_reduces(s->code) || (a->lo <= 0 && a->hi >= r->cols);
}

static bool stmts_fit(const struct row *r)
{
	struct columns of[ROW_MAX_STMTS];
	struct rows in[ROW_MAX_STMTS];

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (s->code >= ROW_CODE_COUNT || !s->type || s->type >= DT_COUNT)
			return false;
		for (unsigned k = 0; k < 3; k++) {
			if (k >= row_code_nargs(s->code) ? s->arg[k] != ROW_NONE : s->arg[k] >= i)
				return false;
			if (s->arg[k] != ROW_NONE && r->stmt[s->arg[k]].code == ROW_STORE)
				return false;
		}
		if (!types_fit(r, s) || !at_fits(r, s) || s->span != span_of(r, s))
			return false;
		if (s->code == ROW_WELFORD_M2 && r->stmt[s->arg[0]].code != ROW_WELFORD)
			return false;
		of[i] = columns_of(r, i, of);
		in[i] = rows_of(r, s, in);
		if (!columns_fit(r, s, of, of[i]) || !rows_fit(r, s, in, &in[i]))
			return false;
	}
	return true;
}

/* What of an operand is stored. */
static struct operand kept_box(const struct row *r, const struct row_operand *o)
{
	struct operand b;

	if (row_operand_kept_whole(o))
		return row_operand_box(r, o);
	operand_dense(&b, ROLE_NONE, ACCESS_WRITE, DT_u8, o->keep.lo, 0,
		      (int64_t)(o->keep.hi - o->keep.lo));
	return b;
}

/* Is what is kept some elements of a run? */
static bool kept_fits(const struct row *r, const struct row_operand *o)
{
	const struct operand b = row_operand_box(r, o);
	const struct range all = operand_range(&b);
	const unsigned bytes = dtype_bytes(o->dtype);

	uint64_t from = o->keep.lo;

	if (row_operand_kept_whole(o))
		return !o->keep.lo && !o->nhole;
	if (o->nhole > ROW_MAX_HOLES)
		return false;
	for (unsigned i = 0; i < o->nhole; from = o->hole[i++].hi)
		if (o->hole[i].lo <= from || o->hole[i].hi <= o->hole[i].lo ||
		    o->hole[i].hi >= o->keep.hi || (o->hole[i].lo - all.lo) % bytes ||
		    (o->hole[i].hi - all.lo) % bytes)
			return false;
	return all.lo <= o->keep.lo && o->keep.lo < o->keep.hi && o->keep.hi <= all.hi &&
	       operand_covers(&b, all) && !((o->keep.lo - all.lo) % bytes) &&
	       !((all.hi - o->keep.hi) % bytes);
}

static bool operands_fit(const struct row *r)
{
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];

		if (!dtype_bytes(o->dtype) || o->width < 1 || o->width > r->cols ||
		    (!o->step && o->width != 1) || o->align > ROW_MAX_ALIGN || !kept_fits(r, o))
			return false;
		for (unsigned d = 0; d < r->ndim; d++)
			if (o->most[d] < 0 || o->most[d] > r->size[d] ||
			    (o->most[d] && row_is_flat(r)))
				return false;
	}
	return true;
}

static bool sizes_fit(const struct row *r)
{
	int64_t n = r->cols;

	if (r->ndim < 1 || r->ndim > ROW_MAX_DIMS || n < 1 || n > INT32_MAX ||
	    r->nstmt > ROW_MAX_STMTS || r->noperand > ROW_MAX_OPERANDS || r->nimm > ROW_MAX_IMM ||
	    r->norder > ROW_MAX_ORDERS || r->nmember > ROW_MAX_MEMBERS)
		return false;
	for (unsigned i = 0; i < r->ndim; i++)
		if (r->size[i] < 1 || __builtin_mul_overflow(n, r->size[i], &n))
			return false;
	return true;
}

/* Do all rows and columns have bytes of their own? No in doubt. */
static bool own_bytes(const struct row *r, const struct row_operand *o)
{
	struct operand b = row_operand_box(r, o);
	int64_t inside = dtype_bytes(o->dtype);

	for (unsigned d = 0; d < r->ndim; d++)
		if (!o->stride[d] && r->size[d] > 1 &&
		    (o->most[d] != 1 || o->use & ROW_READ)) /* others may be late to load it */
			return false;
	/* The dimensions from the narrowest to the widest: each must step over all before it. */
	for (unsigned n = 0; n < b.ndim; n++) {
		unsigned least = b.ndim;

		for (unsigned d = 0; d < b.ndim; d++)
			if (b.size[d] > 1 &&
			    (least == b.ndim || llabs(b.stride[d]) < llabs(b.stride[least])))
				least = d;
		if (least == b.ndim)
			return true;
		if (llabs(b.stride[least]) < inside)
			return false;
		inside += (b.size[least] - 1) * llabs(b.stride[least]);
		b.size[least] = 1;
	}
	return true;
}

/* The only live STORE to an operand; -1: none, -2: several. */
static int store_of(const struct row *r, unsigned at)
{
	int found = -1;

	for (unsigned i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_STORE && r->stmt[i].at == at &&
		    !(r->stmt[i].flags & ROW_DEAD))
			found = found == -1 ? (int)i : -2;
	return found;
}

/* Element on element, or is what is loaded of a stored operand in another column? */
static bool in_place(const struct row *r, unsigned at, const struct row_stmt *store)
{
	for (unsigned i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_LOAD && r->stmt[i].at == at &&
		    r->stmt[i].shift != store->shift)
			return false;
	return true;
}

static enum reason memory_fits(const struct row *r)
{
	struct range of[ROW_MAX_OPERANDS];
	int store[ROW_MAX_OPERANDS];

	for (unsigned i = 0; i < r->noperand; i++) {
		const struct operand box = row_operand_box(r, &r->operand[i]);

		of[i] = operand_range(&box);
		store[i] = store_of(r, i);
	}
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];
		const int at = store[i];
		struct operand mine;
		bool late;

		if (at == -1)
			continue;
		if (at < 0 || !in_place(r, i, &r->stmt[at]) || !own_bytes(r, o))
			return REASON_OVERLAP;
		if (!o->step && r->cols > 1 && r->stmt[r->stmt[at].arg[0]].span & ROW_SPAN_COLS)
			return REASON_SHAPE;
		late = r->stmt[at].flags & ROW_LATE;
		for (unsigned k = 0; k < r->noperand; k++) {
			struct operand loaded;

			if (k == i || !range_overlap(of[i], of[k]))
				continue;
			if (store[k] >= 0 && late == (bool)(r->stmt[store[k]].flags & ROW_LATE) &&
			    row_stores_meet(r, o, &r->operand[k]))
				return REASON_OVERLAP;
			if (late || !(r->operand[k].use & ROW_READ)) /* loaded long before */
				continue;
			mine = kept_box(r, o);
			loaded = row_operand_box(r, &r->operand[k]);
			if (operand_overlap(&mine, &loaded))
				return REASON_OVERLAP;
		}
	}
	return REASON_NONE;
}

enum reason row_check(const struct row *r)
{
	if (!sizes_fit(r) || !operands_fit(r) || !stmts_fit(r))
		return REASON_SHAPE;
	return memory_fits(r);
}
