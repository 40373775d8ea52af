// SPDX-License-Identifier: Apache-2.0
/*
 * Softmax along the last dimension, rows dense:
 *
 *   softmax_warp_forward<in, out, math, log2, LOG, MASKED>(out, in, int rows, int stride, int cols,
 *                                                          mask, int, bool)
 *   cunn_SoftMaxForward[Reg|Smem|Gmem]<[vector,] in, math, out, epilogue, ...>(out, in, cols)
 *   softmax_warp_backward<...>(grad_in, grad, out, int rows, int stride, int cols, mask)
 *
 * Logarithms of it, and gradients, are `touch`.
 */
#include "matcher/aten.h"

enum form { WARP, WARP_BACKWARD, BLOCK };

struct softmax {
	uint8_t form, code, in, out, compute, log2, cols_bytes;
};

static bool block_form(const struct kernel *k, struct aten_part name, struct softmax *s)
{
	const struct aten_param param[] = {
		{0, 8}, {8, 8}, {16, k->nparam == 3 ? k->param[2].bytes : 0}};
	unsigned first = aten_part_number(aten_part_argument(name, 0)) >= 0;
	struct aten_part epilogue = aten_part_base(aten_part_argument(name, first + 3));

	s->form = BLOCK;
	s->in = (uint8_t)aten_part_dtype(aten_part_argument(name, first));
	s->compute = (uint8_t)aten_part_dtype(aten_part_argument(name, first + 1));
	s->out = (uint8_t)aten_part_dtype(aten_part_argument(name, first + 2));
	if (aten_part_is(epilogue, "SoftMaxForwardEpilogue"))
		s->code = OP_softmax;
	else if (aten_part_is(epilogue, "LogSoftMaxForwardEpilogue"))
		s->code = OP_touch;
	else
		return false;
	s->cols_bytes = (uint8_t)param[2].bytes;
	return aten_params_are(k, param, 3) && (s->cols_bytes == 4 || s->cols_bytes == 8);
}

static bool warp_form(const struct kernel *k, struct aten_part name, struct softmax *s)
{
	static const struct aten_param forward[] = {{0, 8},  {8, 8},  {16, 4}, {20, 4},
						    {24, 4}, {32, 8}, {40, 4}, {44, 1}};
	static const struct aten_param backward[] = {{0, 8},  {8, 8},  {16, 8}, {24, 4},
						     {28, 4}, {32, 4}, {40, 8}};
	int log2 = aten_part_number(aten_part_argument(name, 3));

	s->in = (uint8_t)aten_part_dtype(aten_part_argument(name, 0));
	s->out = (uint8_t)aten_part_dtype(aten_part_argument(name, 1));
	s->compute = (uint8_t)aten_part_dtype(aten_part_argument(name, 2));
	if (log2 < 0 || log2 > 12 || aten_part_number(aten_part_argument(name, 5)) != 0)
		return false;
	s->log2 = (uint8_t)log2;
	if (s->form == WARP) {
		s->code = aten_part_number(aten_part_argument(name, 4)) ? OP_touch : OP_softmax;
		return aten_params_are(k, forward, 8);
	}
	s->code = OP_touch;
	return s->in == s->out && aten_params_are(k, backward, 7);
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name, base;
	struct softmax s;

	if ((!strstr(k->name, "softmax_warp_") && !strstr(k->name, "cunn_SoftMaxForward")) ||
	    !strstr(k->name, "_GLOBAL__N") || !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&s, 0, sizeof(s));
	name = aten_part(text);
	base = aten_part_base(name);
	if (aten_part_is(base, "softmax_warp_forward") ||
	    aten_part_is(base, "softmax_warp_backward")) {
		s.form = aten_part_is(base, "softmax_warp_forward") ? WARP : WARP_BACKWARD;
		if (!warp_form(k, name, &s))
			return NULL;
	} else if (aten_part_is(base, "cunn_SoftMaxForward") ||
		   aten_part_is(base, "cunn_SoftMaxForwardReg") ||
		   aten_part_is(base, "cunn_SoftMaxForwardSmem") ||
		   aten_part_is(base, "cunn_SoftMaxForwardGmem")) {
		if (!block_form(k, name, &s))
			return NULL;
	} else {
		return NULL;
	}
	return s.in && s.out && s.compute ? aten_intern(&s, sizeof(s)) : NULL;
}

/* A warp, or less of one, takes one row or two. */
static bool warp_fits(const struct softmax *s, const struct launch *l, int64_t rows, int64_t cols)
{
	const uint32_t all = 1u << s->log2, threads = all < 32 ? all : 32;
	const uint32_t each = all <= 128 ? 2 : 1, per_block = 128 / threads * each;

	return cols <= all && (all == 1 || cols > all / 2) && l->block[0] == threads &&
	       l->block[1] == 128 / threads && l->block[2] == 1 && aten_grid_is(l, rows, per_block);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct softmax *s = data;
	const uint8_t *p = l->params;
	const unsigned shift = s->form == WARP_BACKWARD ? 8 : 0;
	int64_t rows, cols;

	if (s->form == BLOCK) {
		rows = l->grid[0];
		cols = s->cols_bytes == 8 ? (int64_t)aten_u64(p + 16) : (int32_t)aten_u32(p + 16);
		if (l->grid[1] != 1 || l->grid[2] != 1 || l->block[1] != 1 || l->block[2] != 1)
			return REASON_SHAPE;
	} else {
		rows = (int32_t)aten_u32(p + 16 + shift);
		cols = (int32_t)aten_u32(p + 24 + shift);
		if ((int32_t)aten_u32(p + 20 + shift) != cols || aten_u64(p + 32 + shift) ||
		    !warp_fits(s, l, rows, cols))
			return REASON_SHAPE;
	}
	if (rows < 1 || cols < 1 || cols > INT32_MAX || rows > INT32_MAX)
		return REASON_SHAPE;
	op->code = (enum opcode)s->code;
	op->compute = s->compute;
	op->rows = rows;
	op->cols = cols;
	op->vetted = true;
	if (!aten_dense(op, ROLE_out, ACCESS_WRITE, (enum dtype)s->out, aten_u64(p), rows, cols) ||
	    !aten_dense(op, ROLE_in0, ACCESS_READ, (enum dtype)s->in, aten_u64(p + 8), rows,
			cols) ||
	    (s->form == WARP_BACKWARD && !aten_dense(op, ROLE_in1, ACCESS_READ, (enum dtype)s->in,
						     aten_u64(p + 16), rows, cols)))
		return REASON_SHAPE;
	aten_slot(op, 0, 8, ROLE_out);
	aten_slot(op, 8, 8, ROLE_in0);
	if (s->form == WARP_BACKWARD)
		aten_slot(op, 16, 8, ROLE_in1);
	if (s->form != BLOCK)
		aten_slot(op, 16 + shift, 4, ROLE_rows);
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << ((const struct softmax *)data)->code;
}

const struct decoder aten_softmax_decoder = {"aten_softmax", knows, decode, ops};
