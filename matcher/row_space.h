/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One index space for all members of a chain: each op has its own view of its operands (a flat run,
 * rows x columns, four dimensions); here they are cut into dimensions that suit all of them.
 */
#ifndef AF_MATCHER_ROW_SPACE_H
#define AF_MATCHER_ROW_SPACE_H

#include "matcher/row.h"

enum { SPACE_MAX_DIMS = OP_MAX_DIMS + 1 };

/* An operand as its op runs over it: sizes and strides, outermost first; a broadcast has stride 0.
 */
struct space_box {
	unsigned ndim;
	int64_t size[SPACE_MAX_DIMS], stride[SPACE_MAX_DIMS];
};

struct space {
	int64_t total; /* elements of the whole space */
	int64_t cols;  /* 0 while nothing has fixed it */
	int64_t rows;  /* if cols is fixed */
	unsigned ncut; /* products of inner dimensions at which a dimension begins, ascending */
	int64_t cut[SPACE_MAX_DIMS * 4];
	bool flat;
};

/* Begins with the sizes that n ops agree on. False if they do not. */
bool space_begin(struct space *s, const struct op *const *op, unsigned n);
/* How many elements of a row the op runs over: cols, 1 (an op on one number a row), or those of a
 * part of a row; 0 if it does not fit. */
int64_t space_inner(const struct space *s, const struct op *op);
/* The operand as the op runs over it. False if its sizes make no sense. */
bool space_box(const struct space *s, const struct op *op, const struct operand *o,
	       struct space_box *b);
/* Cuts the space where this operand needs it. False if it cannot be. */
bool space_cut(struct space *s, const struct op *op, const struct operand *o);
/* All operands have been seen: sets sizes of r. False if there are too many dimensions. */
bool space_end(struct space *s, struct row *r);
/* Makes a flat space one row of columns, for operands whose elements have gaps between them. */
void space_unflatten(struct space *s, struct row *r);
/* The operand in that space: addr, stride, step, width, dtype. False if it does not fit. */
bool space_operand(const struct space *s, const struct row *r, const struct op *op,
		   const struct operand *o, struct row_operand *to);

/* Does the op sum up, or look for the greatest, along cols? */
bool space_reduces(enum opcode code);

#endif
