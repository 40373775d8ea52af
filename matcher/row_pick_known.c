// SPDX-License-Identifier: Apache-2.0
/* Which picks need no search. Declared in row_pick.h. */
#include "matcher/aten_reduce.h"
#include "matcher/decode.h"
#include "matcher/row_emit.h"

extern const struct decoder sig_decoder;

bool row_pick_torch = true;

/*
 * PyTorch's kernels are compiled by nvcc with its defaults: contracted, IEEE divisions and roots,
 * nothing flushed. Where a formula can be said in one way only under these, that is the kernel's.
 */
static bool plain_in_aten(const struct op *op)
{
	switch (op->code) {
	case OP_add:
	case OP_sub:
	case OP_mul:
	case OP_div:
	case OP_scale:
	case OP_fma:
	case OP_neg:
	case OP_square:
	case OP_sqrt:
	case OP_exp:
	case OP_sigmoid:
	case OP_silu:
	case OP_tanh:
	case OP_abs:
	case OP_where:
	case OP_equal:
	case OP_unequal:
	case OP_less:
	case OP_less_equal:
	case OP_bit_and:
	case OP_bit_or:
	case OP_bit_not:
	case OP_copy:
	case OP_cat:
	case OP_fill:
	case OP_sum:
	case OP_mean:
		return true;
	case OP_rsqrt: /* in f64 the toolkit's own, which is not the rounded one */
		return row_op_math(op) != DT_f64;
	case OP_pow: /* small exponents are multiplied out */
		return op_operand(op, ROLE_in0) && !op_operand(op, ROLE_in1) && op->nscalar &&
		       (op->scalar[0] == 2 || op->scalar[0] == 3);
	default:
		return false;
	}
}

/* Does every row begin where four elements may be loaded at once? Others begin with fewer. */
static bool rows_aligned(const struct operand *in)
{
	const unsigned four = 4 * dtype_bytes((enum dtype)in->dtype);

	if (in->addr % four)
		return false;
	for (unsigned d = 0; d + 1 < in->ndim; d++)
		if (in->size[d] > 1 && in->stride[d] % four)
			return false;
	return true;
}

/* ATen's order for rows read in groups of four, if that is what the launch's parameters say, too.
 */
static bool order_in_aten(const struct op *op, struct row_order *to)
{
	const struct op_order *o = &op->order;
	const struct operand *in = op_operand(op, ROLE_in0);
	const unsigned threads = o->width * (o->along_y ? o->height : 1u);

	return row_pick_torch && o->width && o->vector == 4 && o->blocks == 1 && o->along_x &&
	       o->step == threads && in && rows_aligned(in) &&
	       row_order_aten(op->rows, op->cols, to) && to->threads == threads &&
	       to->width == o->width;
}

/* A cast of a float to an unsigned byte: PyTorch's goes by way of 64 bits, others may not. */
static bool by_way_of_others(const struct op *op)
{
	const struct operand *out = op_operand(op, ROLE_out);

	return op->code == OP_copy && out && out->dtype == DT_u8;
}

bool row_pick_known(const struct op *op, const struct launch *l, struct row_pick *p)
{
	const uint32_t threads = l->block[0] * l->block[1] * l->block[2];
	const bool family = l->kernel && l->kernel->decoder && l->kernel->decoder != &sig_decoder;

	row_pick_spelling(op, 0, &p->spelling);
	p->order = row_order_usual(threads && threads <= 1024 ? threads : 1);
	if (!row_pick_reduces(op)) {
		p->order = (struct row_order){0};
		return family ? plain_in_aten(op)
			      : row_pick_count(op) == 1 && !by_way_of_others(op);
	}
	return family && plain_in_aten(op) && order_in_aten(op, &p->order);
}
