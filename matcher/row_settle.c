// SPDX-License-Identifier: Apache-2.0
/* Stores of a program that meet in memory: which of them are needed, and which wait. */
#include <string.h>

#include "matcher/row_emit.h"

/* Takes [w.lo, w.hi) out of what is kept, and says whether that could be noted. */
static bool make_hole(struct row_operand *o, struct range w)
{
	unsigned at = 0;

	while (at < o->nhole && o->hole[at].hi < w.lo)
		at++;
	while (at < o->nhole && o->hole[at].lo <= w.hi) { /* one of both */
		if (o->hole[at].lo < w.lo)
			w.lo = o->hole[at].lo;
		if (o->hole[at].hi > w.hi)
			w.hi = o->hole[at].hi;
		memmove(&o->hole[at], &o->hole[at + 1], (--o->nhole - at) * sizeof(w));
	}
	if (w.lo <= o->keep.lo || w.hi >= o->keep.hi) {
		if (w.lo <= o->keep.lo && w.hi > o->keep.lo)
			o->keep.lo = w.hi;
		if (w.hi >= o->keep.hi && w.lo < o->keep.hi)
			o->keep.hi = w.lo;
		return true;
	}
	if (o->nhole == ROW_MAX_HOLES)
		return false;
	memmove(&o->hole[at + 1], &o->hole[at], (o->nhole++ - at) * sizeof(w));
	o->hole[at] = w;
	return true;
}

/*
 * What later stores overwrite need not be stored. What they leave of it is a few runs of bytes;
 * where it is more than that, the later one waits (row_late).
 */
static void settle(struct row *r, unsigned i, const struct range *of, const bool *run)
{
	struct row_operand *o = &r->operand[r->stmt[i].at], left = *o;
	const struct range all = of[r->stmt[i].at];
	bool gone = false;

	left.keep = all;
	left.nhole = 0;
	for (unsigned k = i + 1; k < r->nstmt && !gone; k++) {
		const uint8_t at = r->stmt[k].at;

		if (r->stmt[k].code != ROW_STORE)
			continue;
		gone = at == r->stmt[i].at;
		if (gone || !run[at] || !range_overlap(left.keep, of[at]))
			continue;
		make_hole(&left, of[at]);
		gone = left.keep.lo >= left.keep.hi;
	}
	if (gone)
		r->stmt[i].flags |= ROW_DEAD;
	else if (run[r->stmt[i].at] &&
		 (left.keep.lo > all.lo || left.keep.hi < all.hi || left.nhole))
		memcpy(o, &left, sizeof(*o));
}

static bool is_live_store(const struct row_stmt *s)
{
	return s->code == ROW_STORE && !(s->flags & ROW_DEAD);
}

void row_settle(struct row *r)
{
	struct range of[ROW_MAX_OPERANDS];
	bool run[ROW_MAX_OPERANDS];

	for (unsigned k = 0; k < r->noperand; k++) {
		const struct operand box = row_operand_box(r, &r->operand[k]);

		of[k] = operand_range(&box);
		run[k] = r->operand[k].use & ROW_WRITE && operand_covers(&box, of[k]);
	}
	for (unsigned i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_STORE)
			settle(r, i, of, run);
	/* Where two still meet, the later one waits. */
	for (unsigned i = 0; i < r->nstmt; i++)
		for (unsigned k = i + 1; k < r->nstmt && is_live_store(&r->stmt[i]); k++) {
			const uint8_t a = r->stmt[i].at, b = r->stmt[k].at;

			if (is_live_store(&r->stmt[k]) && range_overlap(of[a], of[b]) &&
			    row_stores_meet(r, &r->operand[a], &r->operand[b]))
				r->stmt[k].flags |= ROW_LATE;
		}
}
