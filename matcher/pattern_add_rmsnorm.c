// SPDX-License-Identifier: Apache-2.0
/*
 * sum = a + b, then out = rmsnorm(sum) * w, all rows x cols but w, which is one row.
 *
 * The fused kernel gives each row to one group of threads: it reads a and b, stores sum at the same
 * index, reads w, and stores out after every read of its row. Rows run in any order. Hence what may
 * alias: sum on a or b, out on a or b, element on element; out on sum, which then needs no store.
 * Everything else that overlaps would race with another row, or did so in the program already.
 */
#include "matcher/pattern.h"

/* Slot `id` becomes operand o seen as rows x cols; false if it cannot be seen so. */
static bool slot(struct group *g, unsigned id, const struct operand *o, enum bound_use use)
{
	struct bound *b = &g->bound[id];
	int64_t row = g->cols * dtype_bytes(o->dtype), pitch;

	if (!operand_rows(o, id == ADD_RMSNORM_W ? 1 : g->rows, g->cols, &pitch))
		return false;
	if (id == ADD_RMSNORM_W)
		pitch = 0;
	else if (g->rows == 1)
		pitch = row;
	b->addr = o->addr;
	b->pitch = pitch;
	b->dtype = o->dtype;
	b->use = (uint8_t)use;
	if (use == BOUND_READ)
		return !pitch || pitch >= row;
	return pitch >= row; /* rows that are stored must not share bytes */
}

static bool same(const struct bound *x, const struct bound *y)
{
	return x->addr == y->addr && x->pitch == y->pitch;
}

/* Does the stored slot s overlap slot t in a way that the kernel cannot keep in order? */
static bool races(const struct group *g, unsigned s, unsigned t)
{
	struct operand x, y;

	if (!range_overlap(bound_range(g, &g->bound[s]), bound_range(g, &g->bound[t])))
		return false;
	if ((t == ADD_RMSNORM_A || t == ADD_RMSNORM_B) && same(&g->bound[s], &g->bound[t]))
		return false;
	x = bound_operand(g, &g->bound[s]);
	y = bound_operand(g, &g->bound[t]);
	return operand_overlap(&x, &y);
}

static enum reason bind(struct group *g)
{
	const struct op *add = &g->member[0]->op, *norm = &g->member[1]->op;
	const struct operand *a = op_operand(add, ROLE_in0), *b = op_operand(add, ROLE_in1),
			     *sum = op_operand(add, ROLE_out), *x = op_operand(norm, ROLE_in0),
			     *w = op_operand(norm, ROLE_weight), *out = op_operand(norm, ROLE_out);
	struct bound *const s = g->bound;
	int64_t pitch;

	if (!a || !b || !sum || !x || !w || !out)
		return REASON_SHAPE;
	if (sum->dtype != DT_f32 && sum->dtype != DT_f16 && sum->dtype != DT_bf16)
		return REASON_SHAPE;
	if (a->dtype != sum->dtype || b->dtype != sum->dtype || x->dtype != sum->dtype ||
	    w->dtype != sum->dtype || out->dtype != sum->dtype)
		return REASON_SHAPE;
	g->rows = norm->rows;
	g->cols = norm->cols;
	g->eps = norm->eps;
	g->has_eps = norm->has_eps;
	g->nbound = ADD_RMSNORM_NBOUND;
	if (!slot(g, ADD_RMSNORM_A, a, BOUND_READ) || !slot(g, ADD_RMSNORM_B, b, BOUND_READ) ||
	    !slot(g, ADD_RMSNORM_SUM, sum, BOUND_WRITE) || !slot(g, ADD_RMSNORM_W, w, BOUND_READ) ||
	    !slot(g, ADD_RMSNORM_OUT, out, BOUND_WRITE))
		return REASON_SHAPE;
	if (!operand_rows(x, g->rows, g->cols, &pitch) || x->addr != sum->addr ||
	    (g->rows > 1 && pitch != s[ADD_RMSNORM_SUM].pitch))
		return REASON_SHAPE;

	if (same(&s[ADD_RMSNORM_SUM], &s[ADD_RMSNORM_OUT]))
		s[ADD_RMSNORM_SUM].use = BOUND_DEAD;
	else if (races(g, ADD_RMSNORM_SUM, ADD_RMSNORM_OUT))
		return REASON_OVERLAP;
	for (unsigned t = 0; t < ADD_RMSNORM_NBOUND; t++)
		if (s[t].use == BOUND_READ &&
		    (races(g, ADD_RMSNORM_SUM, t) || races(g, ADD_RMSNORM_OUT, t)))
			return REASON_OVERLAP;
	return REASON_NONE;
}

const struct pattern pattern_add_rmsnorm = {
	.name = "add_rmsnorm",
	.nnode = 2,
	.njoin = 1,
	.node = {OP_add, OP_rmsnorm},
	.join = {{0, ROLE_out, 1, ROLE_in0}},
	.bind = bind,
};
