// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels that take elements from, or put them to, places that other tensors name. Which they
 * are does not show in the parameters, but ATen checks each index against the size of the
 * dimension, so they are within a box that does.
 *
 *   vectorized_gather_kernel<16, long>(out, in, index, int n, long slice, long size, long in_pitch,
 *                                      long out_pitch, bool)    rows of bytes
 *   indexSelect[Small|Large]Index<T, long, unsigned int, ...>(out, in, index, int along_out, int
 *                                      along_in, ..., long size)    TensorInfo by value
 *   index_elementwise_kernel<128, 4, closure>(long n, closure) of index_kernel_impl (out =
 * in[...]), index_put_kernel_impl and index_copy_kernel_impl
 *
 * Elements of most of these are known by their size only: u8, i16, i32, i64.
 */
#include "matcher/aten.h"

enum form { GATHER, SELECT, INDEX, PUT, COPY };
enum { TENSOR_BYTES = 216, TENSOR_SIZES = 8, TENSOR_DIMS = 208, CLOSURE = 8 };
/* Of a closure with offsets of three tensors. */
enum { OUT = CLOSURE + 608, IN = OUT + 8, COUNT = IN + 8, POINTERS = COUNT + 8 };
enum { SIZES = POINTERS + 8 * ATEN_MAX_DIMS, STRIDES = SIZES + 8 * ATEN_MAX_DIMS };
enum { COPY_SOURCE = IN + 8, COPY_SIZE = COPY_SOURCE + 8, COPY_STRIDE = COPY_SIZE + 8 };
enum { MAX_INDICES = 4, THREADS = 128, PER_THREAD = 4 };

struct index {
	uint8_t form, type;
	uint16_t last; /* SELECT: where the size is */
};

static enum dtype opaque_type(struct aten_part p)
{
	int bytes = aten_part_number(aten_part_argument(p, 0));

	if (!aten_part_is(aten_part_base(p), "OpaqueType"))
		return DT_NONE;
	return bytes == 1   ? DT_u8
	       : bytes == 2 ? DT_i16
	       : bytes == 4 ? DT_i32
	       : bytes == 8 ? DT_i64
			    : DT_NONE;
}

static bool closure(const struct kernel *k, struct aten_part name, struct index *x)
{
	struct aten_part f = aten_part_argument(name, 2), base = aten_part_base(f), inner;
	struct aten_param param[2] = {{0, 8}, {CLOSURE, 0}};

	if (!aten_part_lambda(f) || aten_part_number(aten_part_argument(name, 0)) != THREADS ||
	    aten_part_number(aten_part_argument(name, 1)) != PER_THREAD)
		return false;
	if (aten_part_is(base, "index_copy_kernel_impl")) {
		x->form = COPY;
		x->type = (uint8_t)opaque_type(aten_part_argument(f, 0));
		param[1].bytes = COPY_STRIDE + 8 - CLOSURE;
	} else if (aten_part_is(base, "gpu_index_kernel")) {
		inner = aten_part_argument(f, 0);
		base = aten_part_base(inner);
		x->form = aten_part_is(base, "index_put_kernel_impl") ? PUT : INDEX;
		if (x->form == INDEX && !aten_part_is(base, "index_kernel_impl"))
			return false;
		x->type = (uint8_t)opaque_type(aten_part_argument(inner, 0));
		param[1].bytes = STRIDES + 8 * ATEN_MAX_DIMS + 8 - CLOSURE;
	} else {
		return false;
	}
	return x->type && aten_params_are(k, param, 2);
}

static bool select_params(const struct kernel *k, struct aten_part name, struct index *x,
			  bool small)
{
	static const struct aten_param few[] = {{0, 216}, {216, 216}, {432, 216}, {648, 4},
						{652, 4}, {656, 4},   {664, 8}};
	static const struct aten_param many[] = {{0, 216}, {216, 216}, {432, 216}, {648, 4},
						 {652, 4}, {656, 4},   {660, 4},   {664, 8}};

	x->form = SELECT;
	x->type = (uint8_t)aten_part_dtype(aten_part_argument(name, 0));
	x->last = 664;
	return x->type && aten_part_is(aten_part_argument(name, 1), "long") &&
	       aten_part_is(aten_part_argument(name, 2), "unsigned int") &&
	       (small ? aten_params_are(k, few, 7) : aten_params_are(k, many, 8));
}

static const void *knows(const struct kernel *k)
{
	static const struct aten_param gather[] = {{0, 8},  {8, 8},  {16, 8}, {24, 4}, {32, 8},
						   {40, 8}, {48, 8}, {56, 8}, {64, 1}};
	char text[ATEN_NAME_MAX];
	struct aten_part name, base;
	struct index x;
	bool ok = false;

	if (strncmp(k->name, "_ZN2at6native", 13) ||
	    (!strstr(k->name, "vectorized_gather_kernelI") && !strstr(k->name, "indexSelect") &&
	     !strstr(k->name, "index_elementwise_kernelI")) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&x, 0, sizeof(x));
	name = aten_part(text);
	base = aten_part_base(name);
	if (aten_part_is(base, "vectorized_gather_kernel")) {
		x.form = GATHER;
		x.type = DT_u8;
		ok = aten_part_is(aten_part_argument(name, 1), "long") &&
		     aten_params_are(k, gather, 9);
	} else if (aten_part_is(base, "indexSelectSmallIndex")) {
		ok = select_params(k, name, &x, true);
	} else if (aten_part_is(base, "indexSelectLargeIndex")) {
		ok = select_params(k, name, &x, false);
	} else if (aten_part_is(base, "index_elementwise_kernel")) {
		ok = closure(k, name, &x);
	}
	return ok ? aten_intern(&x, sizeof(x)) : NULL;
}

/* Rows of bytes `pitch` apart. */
static bool add_rows(struct op *op, enum role role, enum access access, uint64_t addr, int64_t rows,
		     int64_t bytes, int64_t pitch)
{
	return aten_dense(op, role, access, DT_u8, addr, rows, bytes) && aten_pitch(op, pitch);
}

static bool gather(const struct launch *l, struct op *op)
{
	const uint8_t *p = l->params;
	const int64_t n = (int32_t)aten_u32(p + 24), slice = (int64_t)aten_u64(p + 32),
		      size = (int64_t)aten_u64(p + 40), in_pitch = (int64_t)aten_u64(p + 48),
		      out_pitch = (int64_t)aten_u64(p + 56);

	if (n < 1 || l->grid[0] != n || l->grid[2] != 1 || slice < 1 || slice > INT32_MAX ||
	    size < 1 || size > INT32_MAX || in_pitch > INT32_MAX || out_pitch > INT32_MAX ||
	    (int64_t)l->grid[1] * l->block[0] * 16 < slice || l->block[1] != 1 || l->block[2] != 1)
		return false;
	op->rows = n;
	op->cols = slice;
	aten_slot(op, 0, 8, ROLE_out);
	aten_slot(op, 8, 8, ROLE_in0);
	aten_slot(op, 16, 8, ROLE_index);
	return add_rows(op, ROLE_out, ACCESS_WRITE, aten_u64(p), n, slice, out_pitch) &&
	       add_rows(op, ROLE_in0, ACCESS_READ, aten_u64(p + 8), size, slice, in_pitch) &&
	       aten_dense(op, ROLE_index, ACCESS_READ, DT_i64, aten_u64(p + 16), 0, n);
}

static bool select_index(const struct index *x, const struct launch *l, struct op *op)
{
	const uint8_t *p = l->params, *index = p + 2 * TENSOR_BYTES;
	const enum dtype t = (enum dtype)x->type;
	const int32_t along_out = (int32_t)aten_u32(p + 648), along_in = (int32_t)aten_u32(p + 652);
	const int64_t size = (int64_t)aten_u64(p + x->last), n = aten_u32(index + TENSOR_SIZES);

	if (along_out < 0 || along_in < 0 || aten_u32(index + TENSOR_DIMS) != 1)
		return false;
	op->rows = n;
	for (unsigned i = 0; i < 3; i++)
		aten_slot(op, TENSOR_BYTES * i, 8,
			  i == 0   ? ROLE_out
			  : i == 1 ? ROLE_in0
				   : ROLE_index);
	if (!aten_tensor(op, p, 4, ROLE_out, ACCESS_WRITE, t, along_out, n) ||
	    !aten_tensor(op, p + TENSOR_BYTES, 4, ROLE_in0, ACCESS_READ, t, along_in, size) ||
	    !aten_tensor(op, index, 4, ROLE_index, ACCESS_READ, DT_i64, 0, n))
		return false;
	op->cols = 1;
	for (unsigned d = 0; d < op->operand[0].ndim; d++)
		if ((int)d != along_out &&
		    (__builtin_mul_overflow(op->cols, op->operand[0].size[d], &op->cols) ||
		     op->cols > INT32_MAX))
			return false;
	return true;
}

/*
 * Operand t of the offsets, and on top of it `n` dimensions of which any element may be meant: all
 * from the first to the last byte, of both kinds of access if it is written at all.
 */
static bool add_reach(struct op *op, const struct aten_box *b, unsigned t, enum role role,
		      bool written, enum dtype type, uint64_t addr, unsigned n,
		      const uint8_t *sizes, const uint8_t *strides, int64_t unit)
{
	const int64_t bytes = dtype_bytes(type);
	int64_t last = 0;

	for (unsigned d = 0; d < b->dims; d++)
		last += (b->size[d] - 1) * b->stride[d][t];
	for (unsigned i = 0; i < n; i++) {
		int64_t size = (int64_t)aten_u64(sizes + 8 * i),
			stride = (int64_t)aten_u64(strides + 8 * i);

		if (size < 1 || size > INT32_MAX || stride < 0 || stride > INT32_MAX)
			return false;
		last += (size - 1) * stride * unit;
	}
	if (last % bytes)
		return false;
	return aten_dense(op, role, ACCESS_READ, type, addr, 0, last / bytes + 1) &&
	       (!written || aten_dense(op, role, ACCESS_WRITE, type, addr, 0, last / bytes + 1));
}

static bool index_copy(const struct index *x, const struct launch *l, const struct aten_box *b,
		       struct op *op)
{
	const uint8_t *p = l->params;
	const enum dtype t = (enum dtype)x->type;
	bool exact = true;

	aten_slot(op, OUT, 8, ROLE_out);
	aten_slot(op, IN, 8, ROLE_index);
	aten_slot(op, COPY_SOURCE, 8, ROLE_in0);
	return add_reach(op, b, 0, ROLE_out, true, t, aten_u64(p + OUT), 1, p + COPY_SIZE,
			 p + COPY_STRIDE, dtype_bytes(t)) &&
	       aten_box_operand(b, 1, ROLE_index, ACCESS_READ, DT_i64, aten_u64(p + IN), op,
				&exact) &&
	       aten_box_operand(b, 2, ROLE_in0, ACCESS_READ, t, aten_u64(p + COPY_SOURCE), op,
				&exact);
}

static bool index_or_put(const struct index *x, const struct launch *l, const struct aten_box *b,
			 struct op *op)
{
	const uint8_t *p = l->params;
	const enum dtype t = (enum dtype)x->type;
	const uint64_t n = aten_u64(p + COUNT);
	const bool put = x->form == PUT;
	bool exact = true;

	if (n < 1 || n > MAX_INDICES)
		return false;
	aten_slot(op, OUT, 8, ROLE_out);
	aten_slot(op, IN, 8, ROLE_in0);
	if (put ? !add_reach(op, b, 0, ROLE_out, true, t, aten_u64(p + OUT), (unsigned)n, p + SIZES,
			     p + STRIDES, 1) ||
			    !aten_box_operand(b, 1, ROLE_in0, ACCESS_READ, t, aten_u64(p + IN), op,
					      &exact)
		: !aten_box_operand(b, 0, ROLE_out, ACCESS_WRITE, t, aten_u64(p + OUT), op,
				    &exact) ||
			    !add_reach(op, b, 1, ROLE_in0, false, t, aten_u64(p + IN), (unsigned)n,
				       p + SIZES, p + STRIDES, 1))
		return false;
	for (unsigned i = 0; i < n; i++) {
		aten_slot(op, POINTERS + 8 * i, 8, ROLE_index);
		if (!aten_box_operand(b, 2, ROLE_index, ACCESS_READ, DT_i64,
				      aten_u64(p + POINTERS + 8 * i), op, &exact))
			return false;
	}
	if (!put && !exact) {
		/* The result may be more than what is written. */
		if (op->noperand == OP_MAX_OPERANDS)
			return false;
		op->operand[op->noperand] = op->operand[0];
		op->operand[op->noperand++].access = ACCESS_READ;
	}
	return true;
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct index *x = data;
	struct aten_box box;
	int64_t n;
	bool ok;

	op->code = x->form == PUT || x->form == COPY ? OP_scatter : OP_gather;
	op->vetted = true;
	if (x->form == GATHER) {
		ok = gather(l, op);
	} else if (x->form == SELECT) {
		ok = select_index(x, l, op);
	} else {
		n = (int64_t)aten_u64(l->params);
		op->rows = 1;
		op->cols = n;
		if (n < 1 || n > INT32_MAX || !aten_grid_is(l, n, THREADS * PER_THREAD) ||
		    l->block[0] != THREADS || l->block[1] != 1 || l->block[2] != 1 ||
		    !aten_offsets(l->params + CLOSURE, 3, n, &box))
			return REASON_SHAPE;
		ok = x->form == COPY ? index_copy(x, l, &box, op) : index_or_put(x, l, &box, op);
		aten_offsets_blank(op, l->params, CLOSURE, 3);
	}
	return ok ? REASON_NONE : REASON_SHAPE;
}

static uint64_t ops(const void *data)
{
	const struct index *x = data;

	return (uint64_t)1 << (x->form == PUT || x->form == COPY ? OP_scatter : OP_gather);
}

const struct decoder aten_index_decoder = {"aten_index", knows, decode, ops};
