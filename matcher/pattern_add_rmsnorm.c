// SPDX-License-Identifier: Apache-2.0
/*
 * sum = a + b, then out = rmsnorm(sum) * w, all rows x cols but w, which is one row.
 *
 * The fused kernel gives each row to one group of threads: it reads a and b, stores sum at the same
 * index, reads w, and stores out after every read of its row. Rows run in any order. Hence what may
 * alias: sum on a or b, out on a or b, element on element; out on sum, which then needs no store
 * (or goes where the norm copies what it read). Everything else that overlaps would race with
 * another row, or did so in the program already.
 */
#include "matcher/pattern.h"

/* Does the stored slot s overlap slot t in a way that the kernel cannot keep in order? */
static bool races(const struct group *g, unsigned s, unsigned t)
{
	if ((t == ADD_RMSNORM_A || t == ADD_RMSNORM_B) && bound_same(&g->bound[s], &g->bound[t]))
		return false;
	return bound_overlap(g, s, t);
}

static bool types_fit(const struct operand *sum, const struct operand *const same[], unsigned n,
		      const struct operand *w)
{
	if (sum->dtype != DT_f32 && sum->dtype != DT_f16 && sum->dtype != DT_bf16)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (same[i]->dtype != sum->dtype)
			return false;
	return w->dtype == sum->dtype || w->dtype == DT_f32;
}

/*
 * Where the norm leaves a copy of what it read, the sum is in up to three places. One must be that
 * of another: the norm in place with a copy beside it, or a copy onto the sum itself.
 */
static enum reason bind_sum(struct group *g, const struct operand *copy)
{
	struct bound *const s = g->bound, *sum = &s[ADD_RMSNORM_SUM], left = *sum;

	if (copy && !bound_set(g, ADD_RMSNORM_SUM, copy, BOUND_WRITE))
		return REASON_SHAPE;
	if (copy && !bound_same(&left, sum) && !bound_same(&left, &s[ADD_RMSNORM_OUT]))
		return REASON_SHAPE;
	if (!copy && bound_same(sum, &s[ADD_RMSNORM_OUT]))
		sum->use = BOUND_DEAD;
	else if (bound_overlap(g, ADD_RMSNORM_SUM, ADD_RMSNORM_OUT))
		return REASON_OVERLAP;
	return REASON_NONE;
}

static enum reason bind(struct group *g)
{
	const struct op *add = &g->member[0]->op, *norm = &g->member[1]->op;
	const struct operand *a = op_operand(add, ROLE_in0), *b = op_operand(add, ROLE_in1),
			     *sum = op_operand(add, ROLE_out), *x = op_operand(norm, ROLE_in0),
			     *w = op_operand(norm, ROLE_weight), *out = op_operand(norm, ROLE_out),
			     *copy = op_operand(norm, ROLE_copy);
	struct bound *const s = g->bound;
	enum reason why;
	int64_t pitch;

	if (!a || !b || !sum || !x || !w || !out)
		return REASON_SHAPE;
	/* The kernels know neither a factor nor what a norm keeps for its gradient. */
	if ((add->nscalar && add->scalar[0] != 1) || op_operand(norm, ROLE_rstd))
		return REASON_SHAPE;
	if (!types_fit(sum, (const struct operand *[]){a, b, x, out, copy}, copy ? 5 : 4, w))
		return REASON_SHAPE;
	g->rows = norm->rows;
	g->cols = norm->cols;
	g->eps = norm->eps;
	g->has_eps = norm->has_eps;
	g->plus_one = norm->plus_one;
	g->nbound = ADD_RMSNORM_NBOUND;
	if (!bound_set(g, ADD_RMSNORM_A, a, BOUND_READ) ||
	    !bound_set(g, ADD_RMSNORM_B, b, BOUND_READ) ||
	    !bound_set(g, ADD_RMSNORM_SUM, sum, BOUND_WRITE) ||
	    !bound_set_row(g, ADD_RMSNORM_W, w) || !bound_set(g, ADD_RMSNORM_OUT, out, BOUND_WRITE))
		return REASON_SHAPE;
	if (!operand_rows(x, g->rows, g->cols, &pitch) || x->addr != sum->addr ||
	    (g->rows > 1 && pitch != s[ADD_RMSNORM_SUM].pitch))
		return REASON_SHAPE;
	why = bind_sum(g, copy);
	for (unsigned t = 0; t < ADD_RMSNORM_NBOUND && !why; t++)
		if (s[t].use == BOUND_READ &&
		    (races(g, ADD_RMSNORM_SUM, t) || races(g, ADD_RMSNORM_OUT, t)))
			why = REASON_OVERLAP;
	return why;
}

const struct pattern pattern_add_rmsnorm = {
	.name = "add_rmsnorm",
	.nnode = 2,
	.njoin = 1,
	.node = {OP_add, OP_rmsnorm},
	.join = {{0, ROLE_out, 1, ROLE_in0}},
	.bind = bind,
	.unstored = 1u << ADD_RMSNORM_SUM,
};
