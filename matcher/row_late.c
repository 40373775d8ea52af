// SPDX-License-Identifier: Apache-2.0
/*
 * Stores that have to wait. An allocator hands out the memory of what a group has read to what it
 * leaves, at another row pitch; rows that ran at the same time would overwrite what others have yet
 * to load. Such a store happens when all rows are through, in a kernel of its own that takes what
 * it needs from what the first one left. Declared in row.h.
 *
 * The first kernel must be one that can be taken back: should the second not be launched, the
 * program's own launches run after it and have to find all that they read as it was. So where any
 * store waits, every store does that lies on something that is loaded, be it element on element.
 */
#include <string.h>

#include "matcher/row.h"

static bool is_store(const struct row_stmt *s)
{
	return s->code == ROW_STORE && !(s->flags & ROW_DEAD);
}

bool row_is_late(const struct row *r)
{
	for (unsigned i = 0; i < r->nstmt; i++)
		if (is_store(&r->stmt[i]) && r->stmt[i].flags & ROW_LATE)
			return true;
	return false;
}

static struct operand kept_box(const struct row *r, const struct row_operand *o)
{
	struct operand b;

	if (row_operand_kept_whole(o))
		return row_operand_box(r, o);
	operand_dense(&b, ROLE_NONE, ACCESS_WRITE, DT_u8, o->keep.lo, 0,
		      (int64_t)(o->keep.hi - o->keep.lo));
	return b;
}

/* Does what is stored lie on anything that is loaded? */
static bool is_in_the_way(const struct row *r, unsigned at)
{
	const struct operand mine = kept_box(r, &r->operand[at]);

	for (unsigned k = 0; k < r->noperand; k++) {
		const struct operand other = row_operand_box(r, &r->operand[k]);

		if (r->operand[k].use & ROW_READ && operand_overlap(&mine, &other))
			return true;
	}
	return false;
}

/* Of r, only stores that are late, or only the others. */
static void keep_stores(struct row *r, bool late)
{
	for (unsigned i = 0; i < r->nstmt; i++) {
		struct row_stmt *s = &r->stmt[i];

		if (!is_store(s))
			continue;
		if (!(s->flags & ROW_LATE) == late)
			s->flags |= ROW_DEAD;
		s->flags &= (uint8_t)~ROW_LATE;
	}
}

/* Do stores that wait lie on it? */
static bool is_covered(const struct row *r, const struct row_operand *o)
{
	const struct operand left = row_operand_box(r, o);

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		struct operand late;

		if (!is_store(s) || !(s->flags & ROW_LATE))
			continue;
		late = kept_box(r, &r->operand[s->at]);
		if (operand_overlap(&left, &late))
			return true;
	}
	return false;
}

/* Can the value of STORE s be had from memory afterwards, in all rows and columns, while late
 * stores happen? */
static bool is_left(const struct row *r, const struct row_stmt *s)
{
	const struct row_operand *o = &r->operand[s->at];

	if (!is_store(s) || s->flags & ROW_LATE || s->shift || !row_operand_kept_whole(o))
		return false;
	for (unsigned d = 0; d < r->ndim; d++)
		if (o->most[d])
			return false;
	if (o->step ? o->width != r->cols : r->stmt[s->arg[0]].span & ROW_SPAN_COLS)
		return false;
	return !is_covered(r, o);
}

/* Values that the first kernel leaves in memory are loaded from there, by operands of their own:
 * the first `old` ones mean what was there before. */
static void load_what_is_left(struct row *r)
{
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		struct row_stmt *v;

		if (!is_left(r, s) || r->noperand == ROW_MAX_OPERANDS)
			continue;
		v = &r->stmt[s->arg[0]];
		if (v->code == ROW_LOAD)
			continue;
		*v = (struct row_stmt){.code = ROW_LOAD,
				       .type = s->type,
				       .at = r->noperand,
				       .arg = {ROW_NONE, ROW_NONE, ROW_NONE},
				       .member = v->member};
		r->operand[r->noperand] = r->operand[s->at];
		r->operand[r->noperand++].use = ROW_READ;
	}
}

/* Does the first kernel leave alone all that the whole program loads? */
static bool can_be_taken_back(const struct row *r, const struct row *first)
{
	for (unsigned k = 0; k < first->noperand; k++) {
		const struct operand box = kept_box(first, &first->operand[k]);

		for (unsigned i = 0; i < r->noperand && first->operand[k].use & ROW_WRITE; i++) {
			const struct operand loaded = row_operand_box(r, &r->operand[i]);

			if (r->operand[i].use & ROW_READ && operand_overlap(&box, &loaded))
				return false;
		}
	}
	return true;
}

/* form: row_canon, or what does for a look at them. */
static enum reason split(const struct row *r, struct row *first, struct row *second,
			 void (*form)(struct row *r))
{
	enum reason why;

	row_copy(first, r);
	keep_stores(first, false);
	form(first);
	why = row_check(first);
	if (why)
		return why;
	if (!can_be_taken_back(r, first))
		return REASON_OVERLAP;
	row_copy(second, r);
	load_what_is_left(second);
	keep_stores(second, true);
	row_spans(second);
	form(second);
	return row_check(second);
}

enum reason row_split(const struct row *r, struct row *first, struct row *second)
{
	return split(r, first, second, row_canon);
}

enum reason row_split_roughly(const struct row *r, struct row *first, struct row *second)
{
	return split(r, first, second, row_tidy);
}

enum reason row_late(struct row *r)
{
	struct row first, second;

	for (unsigned i = 0; i < r->nstmt; i++)
		if (is_store(&r->stmt[i]) && is_in_the_way(r, r->stmt[i].at))
			r->stmt[i].flags |= ROW_LATE;
	if (!row_is_late(r) || row_split_roughly(r, &first, &second))
		return REASON_OVERLAP;
	return row_check(r);
}

/* Without the stores that went, does the rest still have to wait? */
void row_hurry(struct row *r)
{
	struct row soon;

	if (!row_is_late(r))
		return;
	row_copy(&soon, r);
	for (unsigned i = 0; i < soon.nstmt; i++)
		soon.stmt[i].flags &= (uint8_t)~ROW_LATE;
	if (row_check(&soon))
		return;
	row_copy(r, &soon);
	row_canon(r);
}
