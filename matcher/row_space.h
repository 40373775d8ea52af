/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One index space for all members of a chain. Each op has a view of its own of its operands (a flat
 * run, rows x columns, four dimensions in any order). Here they are cut into axes that suit all of
 * them: which axis of one op is which of another follows from the memory that both touch. An op may
 * run over a part of an axis only: half of the columns, the first heads, one number for all
 * columns.
 *
 * Nothing rests on a right guess: an elementwise op may be gone through in any order, so long as
 * all its operands are; what one op leaves to another is compared where it is read (row_build.c).
 */
#ifndef AF_MATCHER_ROW_SPACE_H
#define AF_MATCHER_ROW_SPACE_H

#include "matcher/row.h"

enum { SPACE_MAX_DIMS = OP_MAX_DIMS + 1, SPACE_MAX_AXES = 8, SPACE_MAX_OPS = ROW_MAX_MEMBERS };

/* An operand as its op runs over it: sizes and strides, outermost first; a broadcast has stride 0.
 */
struct space_box {
	unsigned ndim;
	int64_t size[SPACE_MAX_DIMS], stride[SPACE_MAX_DIMS];
};

/* An op's axes: how many steps each has (1: it stays in place), and how many elements of the op's
 * own order lie between two steps. */
struct space_part {
	bool known;
	int64_t size[SPACE_MAX_AXES], pos[SPACE_MAX_AXES];
};

struct space {
	const struct op *const *op;
	unsigned nop;
	int64_t count[SPACE_MAX_OPS]; /* elements that each runs over */
	int64_t total;                /* elements of the whole space */
	int64_t cols;                 /* the last axis, where something has fixed it; else 0 */
	unsigned naxis;
	int64_t size[SPACE_MAX_AXES]; /* outermost first */
	struct space_part part[SPACE_MAX_OPS];
	/* Dimensions of the program: the axes first[d] .. first[d + 1] - 1 are dimension d. */
	unsigned first[ROW_MAX_DIMS + 2];
	bool flat;
};

/* The space of n ops, and its sizes in r. False if they do not fit together. */
bool space_make(struct space *s, struct row *r, const struct op *const *op, unsigned n);
/* Makes a flat space one row of columns, for operands whose elements have gaps between them. */
void space_unflatten(struct space *s, struct row *r);
/* The operand of op m in that space: addr, stride, most, step, width, dtype. False if it does not
 * fit. */
bool space_operand(const struct space *s, const struct row *r, unsigned m, const struct operand *o,
		   struct row_operand *to);

/* Does op m stay in place along an axis of rows, so that it would be done again in each? */
bool space_repeats(const struct space *s, unsigned m);

/* Does the op sum up, or look for the greatest, along cols? */
bool space_reduces(enum opcode code);
/* Are the op's last steps the program's columns, whatever else is? */
bool space_has_columns(enum opcode code);

/* The operand as the op runs over it, without dimensions that say nothing. False if its sizes make
 * no sense. *inner: of a cat, the columns that this operand has. */
bool space_box(const struct op *op, const struct operand *o, int64_t count, struct space_box *b,
	       int64_t *inner);
/* The stride of the axis that begins at `at` (a product of inner sizes) and is `size` long. */
bool space_stride(const struct space_box *b, int64_t at, int64_t size, int64_t *stride);

/* Axes: those that op m needs, of which cols is the last if it is not 0; then for all ops
 * (row_axes*.c). */
bool space_first(struct space *s, unsigned m);
bool space_axes(struct space *s);

#endif
