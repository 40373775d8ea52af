// SPDX-License-Identifier: Apache-2.0
/*
 * silu = gate / (1 + exp(-gate)), then out = silu * up, element by element; either factor of the
 * product may be the silu.
 *
 * The fused kernel gives each element to one thread: it reads gate and up, then stores silu and
 * out. Elements run in any order. Hence what may alias, element on element: silu on gate, out on
 * gate or up; out on silu, which then needs no store. silu on up is the product of the silu with
 * itself, and everything else that overlaps would race with another element.
 */
#include "matcher/pattern.h"

/* Rows and columns of a group: those of the first operand with gaps, else one element a row. */
static void set_box(struct group *g, const struct operand *const o[], unsigned n, int64_t count)
{
	int64_t pitch;

	g->rows = count;
	g->cols = 1;
	for (unsigned i = 0; i < n; i++) {
		if (operand_rows(o[i], count, 1, &pitch) && pitch == dtype_bytes(o[i]->dtype))
			continue;
		g->rows = o[i]->ndim == 2 ? o[i]->size[0] : 0;
		g->cols = o[i]->ndim == 2 ? o[i]->size[1] : 0;
		return;
	}
}

static bool races(const struct group *g, unsigned s, unsigned t)
{
	bool same = bound_same(&g->bound[s], &g->bound[t]);

	if (same && !(s == SILU_MUL_SILU && t == SILU_MUL_UP))
		return false;
	return bound_overlap(g, s, t);
}

static enum reason bind(struct group *g)
{
	const struct op *act = &g->member[0]->op, *mul = &g->member[1]->op;
	const struct operand *gate = op_operand(act, ROLE_in0), *silu = op_operand(act, ROLE_out),
			     *in0 = op_operand(mul, ROLE_in0), *in1 = op_operand(mul, ROLE_in1),
			     *out = op_operand(mul, ROLE_out), *up;
	struct bound *const s = g->bound;

	if (!gate || !silu || !in0 || !in1 || !out)
		return REASON_SHAPE;
	if (silu->dtype != DT_f32 && silu->dtype != DT_f16 && silu->dtype != DT_bf16)
		return REASON_SHAPE;
	if (gate->dtype != silu->dtype || in0->dtype != silu->dtype || in1->dtype != silu->dtype ||
	    out->dtype != silu->dtype)
		return REASON_SHAPE;
	up = operand_same(silu, in0) ? in1 : operand_same(silu, in1) ? in0 : NULL;
	if (!up)
		return REASON_SHAPE;
	set_box(g, (const struct operand *[]){silu, gate, up, out}, 4, act->rows * act->cols);
	g->nbound = SILU_MUL_NBOUND;
	if (!bound_set(g, SILU_MUL_GATE, gate, BOUND_READ) ||
	    !bound_set(g, SILU_MUL_UP, up, BOUND_READ) ||
	    !bound_set(g, SILU_MUL_SILU, silu, BOUND_WRITE) ||
	    !bound_set(g, SILU_MUL_OUT, out, BOUND_WRITE))
		return REASON_SHAPE;
	if (races(g, SILU_MUL_SILU, SILU_MUL_GATE) || races(g, SILU_MUL_SILU, SILU_MUL_UP) ||
	    races(g, SILU_MUL_OUT, SILU_MUL_GATE) || races(g, SILU_MUL_OUT, SILU_MUL_UP) ||
	    races(g, SILU_MUL_SILU, SILU_MUL_OUT))
		return REASON_OVERLAP;
	if (bound_same(&s[SILU_MUL_SILU], &s[SILU_MUL_OUT]))
		s[SILU_MUL_SILU].use = BOUND_DEAD;
	return REASON_NONE;
}

const struct pattern pattern_silu_mul = {
	.name = "silu_mul",
	.nnode = 2,
	.njoin = 1,
	.node = {OP_silu, OP_mul},
	.join = {{0, ROLE_out, 1, ROLE_in0}},
	.bind = bind,
	.unstored = 1u << SILU_MUL_SILU,
};
