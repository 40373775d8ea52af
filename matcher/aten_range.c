// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels that fill or scan plain arrays:
 *
 *   elementwise_kernel_with_index<int, lambda>(int n, {start, step}, out) of arange_cuda_out
 *   tensor_kernel_scan_innermost_dim<T, op>(out, in, unsigned rows, unsigned cols, unsigned, T, op)
 */
#include "matcher/aten.h"

enum form { ARANGE, SCAN };

struct range_kernel {
	uint8_t form, type;
};

/*
 * The type of arange's result is not in the name, only the place of its branch in the dispatch: the
 * fourth is long, the seventh float (in all versions looked at). How large the numbers of the
 * closure are tells these from others.
 */
static bool arange(const struct kernel *k, struct aten_part name, struct range_kernel *r)
{
	struct aten_part f = aten_part_argument(name, 1);
	struct aten_param param[] = {{0, 4}, {8, 24}, {32, 8}};

	r->form = ARANGE;
	if (!aten_part_is(aten_part_argument(name, 0), "int") ||
	    !aten_part_is(aten_part_base(f), "arange_cuda_out") ||
	    aten_part_lambda_outer(f, 0) != 1)
		return false;
	if (aten_part_lambda_outer(f, 1) == 4) {
		r->type = DT_i64;
		return aten_params_are(k, param, 3);
	}
	if (aten_part_lambda_outer(f, 1) == 7) {
		r->type = DT_f32;
		param[1].bytes = 16;
		param[2].offset = 24;
		return aten_params_are(k, param, 3);
	}
	return false;
}

static bool scan(const struct kernel *k, struct aten_part name, struct range_kernel *r)
{
	unsigned size;
	struct aten_param param[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}, {24, 4}, {0, 0}, {0, 1}};

	r->form = SCAN;
	r->type = (uint8_t)aten_part_dtype(aten_part_argument(name, 0));
	size = dtype_bytes((enum dtype)r->type);
	if (!size)
		return false;
	param[5].offset = aten_align(28, size);
	param[5].bytes = size;
	param[6].offset = param[5].offset + size;
	return aten_params_are(k, param, 7);
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name, base;
	struct range_kernel r;

	if ((!strstr(k->name, "elementwise_kernel_with_indexI") &&
	     !strstr(k->name, "tensor_kernel_scan_innermost_dimI")) ||
	    !strstr(k->name, "2at6native") || !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&r, 0, sizeof(r));
	name = aten_part(text);
	base = aten_part_base(name);
	if (aten_part_is(base, "elementwise_kernel_with_index")      ? !arange(k, name, &r)
	    : aten_part_is(base, "tensor_kernel_scan_innermost_dim") ? !scan(k, name, &r)
								     : true)
		return NULL;
	return aten_intern(&r, sizeof(r));
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct range_kernel *r = data;
	const enum dtype t = (enum dtype)r->type;
	const uint8_t *p = l->params;
	int64_t n = (int32_t)aten_u32(p), rows = aten_u32(p + 16), cols = aten_u32(p + 20);

	op->vetted = true;
	op->compute = r->type;
	if (r->form == ARANGE) {
		op->code = OP_arange;
		op->rows = 1;
		op->cols = n;
		op->nscalar = 2;
		if (n < 1 || l->block[1] != 1 || l->block[2] != 1 ||
		    !aten_grid_is(l, n, l->block[0]) || !aten_number(p + 8, t, &op->scalar[0]) ||
		    !aten_number(p + 8 + dtype_bytes(t), t, &op->scalar[1]) ||
		    !aten_dense(op, ROLE_out, ACCESS_WRITE, t,
				aten_u64(p + 16 + 2 * dtype_bytes(t)), 0, n))
			return REASON_SHAPE;
		/* The first number, whatever the step. Of a float it may be another zero. */
		if (n == 1 && t == DT_i64) {
			op->code = OP_fill;
			op->nscalar = 1;
		}
		aten_slot(op, 16 + 2 * dtype_bytes(t), 8, ROLE_out);
		aten_slot(op, 0, 4, ROLE_n);
		aten_blank(op, 8 + 2 * dtype_bytes(t), 8);
		return REASON_NONE;
	}
	op->code = OP_touch;
	op->rows = rows;
	op->cols = cols;
	if (rows < 1 || cols < 1 || rows > INT32_MAX || cols > INT32_MAX ||
	    rows * cols > INT32_MAX ||
	    !aten_dense(op, ROLE_out, ACCESS_WRITE, t, aten_u64(p), rows, cols) ||
	    !aten_dense(op, ROLE_in0, ACCESS_READ, t, aten_u64(p + 8), rows, cols))
		return REASON_SHAPE;
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	const struct range_kernel *r = data;

	return r->form == SCAN     ? (uint64_t)1 << OP_touch
	       : r->type == DT_i64 ? (uint64_t)1 << OP_arange | (uint64_t)1 << OP_fill
				   : (uint64_t)1 << OP_arange;
}

const struct decoder aten_range_decoder = {"aten_range", knows, decode, ops};
