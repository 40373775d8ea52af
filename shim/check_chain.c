/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live check of a chain. Its row program runs once more, over copies of all memory that its
 * members write: pieces of memory that overlap are one piece, so that what lies on what stays as it
 * is. What they only read is read where it is. Where memory for checks is short, the first part of
 * one dimension is all that is run.
 */
#include "shim/check_chain.h"

#include <string.h>

#include "matcher/row.h"
#include "shim/arena.h"
#include "shim/standin.h"

enum {
	PLANES_MAX = 256, /* compares of one operand at most */
	SPARE = 4096,     /* of the arena, beside each copy */
};

/* Memory that lies together and is written, at least some of it. */
struct piece {
	struct range range;
	bool read;      /* what is there before matters */
	uint64_t copy;  /* where its copy is */
	uint64_t bytes; /* of the copy */
};

struct shadow {
	struct row row;        /* the picked program; rows are as many as are run */
	struct gen_parts part; /* of it, moved onto the copies */
	unsigned n;
	struct piece piece[ROW_MAX_OPERANDS];
	unsigned cut; /* the dimension of which maybe only the first part is run */
};

static void join(struct piece *to, const struct piece *p)
{
	to->range.lo = p->range.lo < to->range.lo ? p->range.lo : to->range.lo;
	to->range.hi = p->range.hi > to->range.hi ? p->range.hi : to->range.hi;
	to->read |= p->read;
}

/* Pieces in no order; returns how many. */
static unsigned pieces_of(const struct group *g, struct piece *piece)
{
	struct group_slot slot[GROUP_MAX_SLOTS];
	unsigned nslot = group_slots(g, slot), n = 0;

	for (unsigned i = 0; i < nslot; i++) {
		struct piece p = {.range = slot[i].range, .read = slot[i].use & BOUND_READ};

		if (p.range.lo >= p.range.hi ||
		    (!(slot[i].use & BOUND_WRITE) && !group_writes(g, p.range)))
			continue;
		for (unsigned k = n; k-- > 0;)
			if (range_overlap(piece[k].range, p.range)) {
				join(&p, &piece[k]);
				piece[k] = piece[--n];
				k = n; /* the larger one may overlap more */
			}
		piece[n++] = p;
	}
	return n;
}

unsigned check_chain_copies(const struct group *g, struct range *r)
{
	struct piece piece[ROW_MAX_OPERANDS];
	unsigned n = pieces_of(g, piece), copies = 0;

	for (unsigned i = 0; i < n; i++)
		if (piece[i].read)
			r[copies++] = piece[i].range;
	return copies;
}

uint64_t check_chain_bytes(const struct group *g)
{
	struct piece piece[ROW_MAX_OPERANDS];
	unsigned n = pieces_of(g, piece);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += piece[i].range.hi - piece[i].range.lo + SPARE;
	return bytes;
}

static struct piece *piece_at(struct shadow *s, uint64_t addr)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->piece[i].range.lo <= addr && addr < s->piece[i].range.hi)
			return &s->piece[i];
	return NULL;
}

/* How much room each of n pieces gets of so many bytes, if all get the same but those that need
 * less. */
static uint64_t share(const struct shadow *s, unsigned n, uint64_t bytes)
{
	uint64_t room = 0, before;

	do {
		uint64_t left = bytes;
		unsigned large = n;

		before = room;
		for (unsigned i = 0; i < s->n; i++) {
			const uint64_t size = s->piece[i].range.hi - s->piece[i].range.lo;

			if (s->piece[i].read || size > before)
				continue;
			left -= size + SPARE;
			large--;
		}
		room = large ? left / large - SPARE : before;
	} while (room > before);
	return room;
}

/* Gives every piece its copy: the one that was made before, or room for one. */
static bool place(const struct check *c, struct shadow *s)
{
	const uint64_t all = arena_bytes(c->arena);
	uint64_t used = check_used(c), room;
	unsigned fresh = 0;

	for (unsigned i = 0; i < s->n; i++) {
		struct piece *p = &s->piece[i];

		for (unsigned k = 0; k < c->nsnap && p->read; k++)
			if (c->snap[k].range.lo == p->range.lo) {
				p->copy = c->snap[k].copy;
				p->bytes = c->snap[k].range.hi - p->range.lo;
			}
		if (p->read && !p->copy)
			return false;
		fresh += !p->read;
	}
	if (fresh && all <= used + (fresh + 1) * SPARE)
		return false;
	room = fresh ? share(s, fresh, all - used - SPARE) : 0;
	for (unsigned i = 0; i < s->n; i++) {
		struct piece *p = &s->piece[i];

		if (p->read)
			continue;
		p->bytes = p->range.hi - p->range.lo;
		if (p->bytes > room)
			p->bytes = room;
		p->copy = check_place(c->arena, &used, p->range.lo, p->bytes);
		if (!p->copy)
			return false;
	}
	return true;
}

/* How many of that dimension fit the copies; 0: it cannot be done in part. */
static int64_t fitting_of(struct shadow *s, unsigned dim)
{
	const struct row *r = &s->row;
	int64_t n = r->size[dim];

	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];
		const struct operand box = row_operand_box(r, o);
		const struct range all = operand_range(&box);
		const struct piece *p = piece_at(s, all.lo);
		const int64_t step = o->stride[dim];
		int64_t has = o->most[dim] ? o->most[dim] : r->size[dim], less;
		uint64_t end;

		if (!p || all.hi <= (end = p->range.lo + p->bytes))
			continue;
		if (step <= 0 || end < all.lo)
			return 0;
		less = ((int64_t)(all.hi - end) + step - 1) / step;
		if (less >= has)
			return 0;
		n = has - less < n ? has - less : n;
	}
	return n;
}

/* The dimension of which the greatest part fits, and how much of it. */
static int64_t fitting(struct shadow *s)
{
	int64_t most = 0;

	for (unsigned d = 0; d < s->row.ndim; d++) {
		const int64_t n = fitting_of(s, d);

		if (!d || n * s->row.size[s->cut] > most * s->row.size[d]) {
			most = n;
			s->cut = d;
		}
	}
	return most;
}

static uint64_t moved(struct shadow *s, uint64_t addr)
{
	const struct piece *p = piece_at(s, addr);

	return p ? addr - p->range.lo + p->copy : addr;
}

/* A program over the copies, with so many of the dimension that is cut. */
static void move(struct shadow *s, struct row *r, int64_t rows)
{
	for (unsigned i = 0; i < r->noperand; i++) {
		struct row_operand *o = &r->operand[i];
		const struct operand box = row_operand_box(r, o);
		const struct range all = operand_range(&box);
		const uint64_t by = moved(s, all.lo) - all.lo;

		o->addr += by;
		if (!row_operand_kept_whole(o)) {
			o->keep.lo += by;
			o->keep.hi += by;
		}
		for (unsigned k = 0; k < o->nhole; k++) {
			o->hole[k].lo += by;
			o->hole[k].hi += by;
		}
		if (o->most[s->cut] > rows)
			o->most[s->cut] = rows;
	}
	r->size[s->cut] = rows;
}

/* Where a store that waits lies on what another one stores, the last rows of it may lie on the
 * first ones of that: all are run, or none. */
static bool in_part(const struct row *r)
{
	for (unsigned i = 0; i < r->noperand && row_is_late(r); i++)
		for (unsigned k = 0; k < i; k++) {
			const struct operand a = row_operand_box(r, &r->operand[i]),
					     b = row_operand_box(r, &r->operand[k]);

			if (r->operand[i].use & r->operand[k].use & ROW_WRITE &&
			    range_overlap(operand_range(&a), operand_range(&b)))
				return false;
		}
	return true;
}

bool check_chain_in_part(const struct group *g)
{
	return in_part(g->row);
}

/* As the compare kernels see elements of that type: bytes are bytes. */
static bool seen_as(enum dtype t, int64_t *n, enum dtype *as)
{
	unsigned bytes = dtype_bytes(t);

	*as = t == DT_bf16 || bytes <= 2 ? (t == DT_f16 ? DT_f16 : DT_bf16) : DT_f32;
	if ((uint64_t)*n * bytes % dtype_bytes(*as))
		return false;
	*n = *n * bytes / dtype_bytes(*as);
	return true;
}

/* Compares what is at `copy` with what the members left in the box. */
static bool compare(const struct check *c, const struct operand *box, uint64_t copy,
		    const struct ours *o, const struct check_sink *sink, void *arg)
{
	int64_t size[OP_MAX_DIMS], stride[OP_MAX_DIMS], cols = 1, pitch, planes = 1;
	const int64_t bytes = dtype_bytes((enum dtype)box->dtype);
	unsigned n = 0, rows = 0;
	enum dtype as;

	for (unsigned i = 0; i < box->ndim; i++) {
		if (box->size[i] == 1)
			continue;
		if (box->stride[i] == bytes && cols == 1) {
			cols = box->size[i];
			continue;
		}
		if (box->stride[i] < 0)
			return false;
		size[n] = box->size[i];
		stride[n++] = box->stride[i];
	}
	for (unsigned i = 1; i < n; i++)
		rows = size[i] > size[rows] ? i : rows;
	for (unsigned i = 0; i < n; i++)
		planes *= i == rows ? 1 : size[i];
	if (planes > PLANES_MAX || !seen_as((enum dtype)box->dtype, &cols, &as))
		return false;
	pitch = n ? stride[rows] : cols * dtype_bytes(as);
	for (int64_t p = 0; p < planes; p++) {
		int64_t at = 0, left = p;
		struct fused_launch l;
		struct standin s;

		for (unsigned i = 0; i < n; i++) {
			if (i == rows)
				continue;
			at += left % size[i] * stride[i];
			left /= size[i];
		}
		fused_compare(copy + (uint64_t)at, pitch, box->addr + (uint64_t)at, pitch,
			      n ? size[rows] : 1, cols, as, c->arena->counter, &l);
		if (!standin_ours(&l, o, &s) || !sink->launch(arg, &s))
			return false;
	}
	return true;
}

/*
 * What the group leaves of the slot, in as many rows as were run. What later stores of the group
 * lie on is theirs: it may be left out.
 */
static bool compare_slot(const struct check *c, struct shadow *s, const struct group *g,
			 unsigned slot, const struct ours *o, const struct check_sink *sink,
			 void *arg)
{
	const struct row_operand *of = &g->row->operand[slot];
	struct row cut;
	struct operand box;
	struct range all;

	row_copy(&cut, g->row);
	cut.size[s->cut] = s->row.size[s->cut];
	if (cut.operand[slot].most[s->cut] > cut.size[s->cut])
		cut.operand[slot].most[s->cut] = cut.size[s->cut];
	box = row_operand_box(&cut, &cut.operand[slot]);
	all = operand_range(&box);
	if (row_operand_kept_whole(of) || operand_bytes(&box) != all.hi - all.lo)
		return compare(c, &box, moved(s, all.lo), o, sink, arg);
	for (unsigned k = 0; k <= of->nhole; k++) {
		struct range part = {k ? of->hole[k - 1].hi : of->keep.lo,
				     k < of->nhole ? of->hole[k].lo : of->keep.hi};

		part.lo = part.lo > all.lo ? part.lo : all.lo;
		part.hi = part.hi < all.hi ? part.hi : all.hi;
		if (part.lo >= part.hi)
			continue;
		operand_dense(&box, ROLE_NONE, ACCESS_WRITE, (enum dtype)of->dtype, part.lo, 0,
			      (int64_t)(part.hi - part.lo) / dtype_bytes((enum dtype)of->dtype));
		if (!compare(c, &box, moved(s, part.lo), o, sink, arg))
			return false;
	}
	return true;
}

/* Garbage where nothing was: an output that our kernel leaves out must not pass by luck. */
static bool spoil(const struct shadow *s, const struct check_sink *sink, void *arg)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!s->piece[i].read &&
		    !sink->fill(arg, s->piece[i].copy, 0xa5, s->piece[i].bytes))
			return false;
	return true;
}

bool check_chain_body(const struct check *c, const struct group *g, const struct verdict *v,
		      const struct ours *o, const struct check_sink *sink, void *arg)
{
	struct group_slot slot[GROUP_MAX_SLOTS];
	const unsigned nslot = group_slots(g, slot);
	struct standin launch;
	struct shadow s;
	int64_t rows;

	if (standin_row(g, v, &s.row) || gen_split(&s.row, &s.part))
		return false;
	s.n = pieces_of(g, s.piece);
	s.cut = 0;
	if (!place(c, &s) || !(rows = fitting(&s)) ||
	    (rows < s.row.size[s.cut] && !in_part(&s.row)))
		return false;
	s.row.size[s.cut] = rows;
	for (unsigned i = 0; i < s.part.n; i++)
		move(&s, &s.part.row[i], rows);
	if (standin_of_parts(&s.part, g, v, o, &launch) != STANDIN_MADE ||
	    !sink->fill(arg, c->arena->counter, 0, 16) || !spoil(&s, sink, arg) ||
	    !sink->candidate(arg, &launch, row_rows(&s.row)))
		return false;
	/* All that the group shall leave, whether the program says that it does or not. */
	for (unsigned i = 0; i < nslot; i++)
		if (slot[i].use & BOUND_WRITE && !compare_slot(c, &s, g, i, o, sink, arg))
			return false;
	return true;
}
