// SPDX-License-Identifier: Apache-2.0
/* An op's own axes, and those of the first op, which are the space's. */
#include <string.h>

#include "matcher/row_axes.h"

bool own_cut(struct own *a, int64_t at)
{
	for (unsigned i = 0; i < a->n; i++) {
		const int64_t pos = a->pos[i], size = a->size[i];

		if (at <= pos || at >= pos * size)
			continue;
		if (at % pos || size % (at / pos) || a->n == SPACE_MAX_AXES)
			return false;
		memmove(&a->size[i + 1], &a->size[i], (a->n - i) * sizeof(a->size[0]));
		memmove(&a->pos[i + 1], &a->pos[i], (a->n - i) * sizeof(a->pos[0]));
		a->n++;
		a->size[i] = at / pos;
		a->size[i + 1] = size / (at / pos);
		a->pos[i + 1] = at;
		return true;
	}
	return true;
}

bool own_axes(const struct space *s, unsigned m, struct own *a)
{
	const struct op *op = s->op[m];

	a->n = 1;
	a->size[0] = s->count[m];
	a->pos[0] = 1;
	a->columns = space_has_columns(op->code);
	for (unsigned k = 0; k < op->noperand; k++) {
		struct space_box b;
		int64_t inner, at = 1;

		if (!space_box(op, &op->operand[k], s->count[m], &b, &inner))
			return false;
		for (unsigned i = b.ndim; i-- > 1;) {
			at *= b.size[i];
			if (!own_cut(a, at))
				return false;
		}
	}
	if (a->columns) {
		const struct operand *out = op_operand(op, ROLE_out);
		const int64_t cols = op->code == OP_cat ? out->size[out->ndim - 1] : op->cols;

		if (!own_cut(a, cols))
			return false;
		if (cols == 1) { /* one that says nothing, but is there */
			if (a->n == SPACE_MAX_AXES)
				return false;
			memmove(&a->size[1], &a->size[0], a->n * sizeof(a->size[0]));
			memmove(&a->pos[1], &a->pos[0], a->n * sizeof(a->pos[0]));
			a->n++;
			a->size[0] = 1;
		}
		return a->size[0] == cols; /* else there are gaps within a row */
	}
	return true;
}

bool space_first(struct space *s, unsigned m)
{
	struct own a;

	if (!own_axes(s, m, &a) || (s->cols && !own_cut(&a, s->cols)) ||
	    (s->cols > 1 && a.size[0] != s->cols))
		return false;
	s->naxis = 0;
	for (unsigned i = a.n; i-- > 0; s->naxis++) {
		s->size[s->naxis] = s->part[m].size[s->naxis] = a.size[i];
		s->part[m].pos[s->naxis] = a.pos[i];
	}
	if (s->cols == 1 && !a.columns) { /* it says nothing, but is there */
		if (s->naxis == SPACE_MAX_AXES)
			return false;
		s->size[s->naxis] = s->part[m].size[s->naxis] = s->part[m].pos[s->naxis] = 1;
		s->naxis++;
	}
	if (s->cols && s->naxis == 1) {
		/* One row. */
		s->size[1] = s->part[m].size[1] = s->size[0];
		s->part[m].pos[1] = 1;
		s->size[0] = s->part[m].size[0] = s->part[m].pos[0] = 1;
		s->naxis = 2;
	}
	s->part[m].known = true;
	return true;
}
