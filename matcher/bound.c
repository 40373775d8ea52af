// SPDX-License-Identifier: Apache-2.0
/* Bound slots: what bind() functions share. Declared in group.h and pattern.h. */
#include "matcher/pattern.h"

struct range bound_range(const struct group *g, const struct bound *b)
{
	return (struct range){b->addr,
			      b->addr + (uint64_t)((g->rows - 1) * b->pitch) +
				      (uint64_t)g->cols * dtype_bytes((enum dtype)b->dtype)};
}

struct operand bound_operand(const struct group *g, const struct bound *b)
{
	struct operand o;

	operand_dense(&o, ROLE_NONE, ACCESS_READ, (enum dtype)b->dtype, b->addr, g->rows, g->cols);
	o.stride[0] = b->pitch;
	return o;
}

bool bound_set(struct group *g, unsigned slot, const struct operand *o, enum bound_use use)
{
	struct bound *b = &g->bound[slot];
	int64_t row = g->cols * dtype_bytes(o->dtype), pitch;

	if (!operand_rows(o, g->rows, g->cols, &pitch))
		return false;
	if (g->rows == 1)
		pitch = row;
	*b = (struct bound){o->addr, pitch, o->dtype, (uint8_t)use};
	if (use == BOUND_READ)
		return !pitch || pitch >= row;
	return pitch >= row; /* rows that are stored must not share bytes */
}

bool bound_set_row(struct group *g, unsigned slot, const struct operand *o)
{
	int64_t pitch;

	g->bound[slot] = (struct bound){o->addr, 0, o->dtype, BOUND_READ};
	return operand_rows(o, 1, g->cols, &pitch);
}

bool bound_same(const struct bound *x, const struct bound *y)
{
	return x->addr == y->addr && x->pitch == y->pitch;
}

bool bound_overlap(const struct group *g, unsigned slot, unsigned other)
{
	const struct bound *s = &g->bound[slot], *t = &g->bound[other];
	struct operand x, y;

	if (!range_overlap(bound_range(g, s), bound_range(g, t)))
		return false;
	x = bound_operand(g, s);
	y = bound_operand(g, t);
	return operand_overlap(&x, &y);
}
