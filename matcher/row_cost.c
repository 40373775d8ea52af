// SPDX-License-Identifier: Apache-2.0
/* What running a row program takes. Declared in row.h. */
#include <string.h>

#include "matcher/row.h"

static uint64_t operand_traffic(const struct row *r, const struct row_operand *o)
{
	uint64_t n = dtype_bytes(o->dtype) * (uint64_t)o->width;

	for (unsigned d = 0; d < r->ndim; d++)
		if (o->stride[d])
			n *= (uint64_t)(o->most[d] ? o->most[d] : r->size[d]);
	return n;
}

static uint64_t kept_traffic(const struct row_operand *o)
{
	struct range run[ROW_MAX_HOLES + 1];
	uint64_t bytes = 0;

	for (unsigned n = row_operand_kept(o, run); n-- > 0;)
		bytes += run[n].hi - run[n].lo;
	return bytes;
}

/* Is what the operand has read with another one anyway, of which it is some columns? */
static bool is_part(const struct row *r, unsigned k)
{
	const struct row_operand *o = &r->operand[k];

	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *x = &r->operand[i];
		const int64_t at = (int64_t)(o->addr - x->addr), end = at + o->width * o->step;

		if (i == k || !(x->use & ROW_READ) || x->step != o->step || o->step <= 0 ||
		    memcmp(x->stride, o->stride, r->ndim * sizeof(o->stride[0])) ||
		    memcmp(x->most, o->most, r->ndim * sizeof(o->most[0])))
			continue;
		if (at >= 0 && end <= x->width * x->step && (x->width > o->width || i < k))
			return true;
	}
	return false;
}

/* Is it another value in each column (in a flat program: element)? */
static bool per_column(const struct row *r, const struct row_stmt *s)
{
	return s->span & (row_is_flat(r) ? ROW_SPAN_ROWS : ROW_SPAN_COLS) && s->code != ROW_COL;
}

/* Registers of four bytes that a value takes. */
static unsigned registers(const struct row_stmt *s)
{
	return dtype_bytes(s->type) > 4 ? 2 : 1;
}

/* Bytes that keep a value: of a conversion to a larger type, those of what was converted. */
static unsigned kept_bytes(const struct row *r, const struct row_stmt *s)
{
	unsigned mine = dtype_bytes(s->type), theirs;

	if (s->code != ROW_CAST)
		return mine;
	theirs = dtype_bytes(r->stmt[s->arg[0]].type);
	return theirs < mine ? theirs : mine;
}

static unsigned work_of(const struct row_stmt *s)
{
	switch (s->code) {
	case ROW_CONST:
	case ROW_COL:
	case ROW_ROW:
	case ROW_CAT:
		return 0;
	case ROW_DIV:
	case ROW_SQRT:
	case ROW_RCP:
	case ROW_EXP:
	case ROW_WELFORD:
		return 10;
	case ROW_LOG:
	case ROW_SIN:
	case ROW_COS:
	case ROW_TANH:
	case ROW_ERF:
		return 25;
	case ROW_POW:
		return 60;
	case ROW_DIV_FAST:
	case ROW_DIV_FULL:
	case ROW_EXP_FAST:
	case ROW_TANH_FAST:
		return 3;
	default:
		return dtype_bytes(s->type) > 4 ? 2 : 1;
	}
}

/*
 * Which values must outlive a reduction: those needed in an earlier pass and in a later one. What
 * is needed in later ones only is made there. level: reductions in front of a statement; those of
 * its own pass count for what a reduction takes.
 */
static void keep(const struct row *r, const uint8_t *level, bool *kept)
{
	uint8_t first[ROW_MAX_STMTS], most[ROW_MAX_STMTS] = {0};

	memset(first, 0xff, sizeof(first));
	for (unsigned i = r->nstmt; i-- > 0;) {
		const struct row_stmt *s = &r->stmt[i];
		const bool reduces = row_code_reduces(s->code) && s->code != ROW_WELFORD_M2;
		uint8_t when;

		if (s->code == ROW_STORE || first[i] == 0xff || first[i] < level[i])
			first[i] = level[i];
		kept[i] = most[i] > first[i] && per_column(r, s);
		when = reduces ? (uint8_t)(level[i] - 1) : first[i];
		for (unsigned k = 0; k < 3; k++) {
			const uint8_t a = s->arg[k];

			if (a == ROW_NONE)
				continue;
			if (when < first[a])
				first[a] = when;
			if (when > most[a])
				most[a] = when;
		}
	}
}

void row_cost_at_once(const struct row *r, struct row_cost *c)
{
	uint8_t level[ROW_MAX_STMTS], last[ROW_MAX_STMTS] = {0};
	bool kept[ROW_MAX_STMTS] = {false};
	unsigned alive = 0;

	memset(c, 0, sizeof(*c));
	for (unsigned k = 0; k < r->noperand; k++) {
		const struct row_operand *o = &r->operand[k];

		if (o->use & ROW_READ && !is_part(r, k))
			c->read += operand_traffic(r, o);
		if (o->use & ROW_WRITE && row_operand_kept_whole(o))
			c->written += operand_traffic(r, o);
		else if (o->use & ROW_WRITE)
			c->written += kept_traffic(o);
	}
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		level[i] = 0;
		for (unsigned k = 0; k < 3; k++)
			if (s->arg[k] != ROW_NONE) {
				last[s->arg[k]] = (uint8_t)i;
				if (level[s->arg[k]] > level[i])
					level[i] = level[s->arg[k]];
			}
		if (row_code_reduces(s->code) && s->code != ROW_WELFORD_M2)
			level[i]++;
		if (level[i] + 1u > c->passes)
			c->passes = level[i] + 1u;
		c->work += per_column(r, s) || s->code == ROW_STORE ? work_of(s) : 0;
	}
	keep(r, level, kept);
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (kept[i])
			c->stage += kept_bytes(r, s);
		if (per_column(r, s))
			alive += registers(s);
		if (alive > c->live)
			c->live = alive;
		for (unsigned k = 0; k < 3; k++) {
			bool again = false;

			for (unsigned m = 0; m < k; m++)
				again |= s->arg[m] == s->arg[k];
			if (s->arg[k] != ROW_NONE && !again && last[s->arg[k]] == i &&
			    per_column(r, &r->stmt[s->arg[k]]))
				alive -= registers(&r->stmt[s->arg[k]]);
		}
		if (per_column(r, s) && !last[i])
			alive -= registers(s);
	}
}

void row_cost(const struct row *r, struct row_cost *c)
{
	struct row first, second;
	struct row_cost one, two;

	if (!row_is_late(r) || row_split_roughly(r, &first, &second)) {
		row_cost_at_once(r, c);
		return;
	}
	row_cost_at_once(r, c);
	row_cost_at_once(&first, &one);
	row_cost_at_once(&second, &two);
	c->read = one.read + two.read;
	c->written = one.written + two.written;
	c->work = one.work + two.work;
}
