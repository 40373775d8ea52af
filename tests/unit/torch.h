/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an eager framework launches, as ops: tensors with strides, views, elementwise operations
 * whose dimensions are sorted by the result's strides and merged, and an allocator that hands out
 * freed memory again, smallest fit first. For tests that write models down (test_models.c).
 */
#ifndef AF_TESTS_UNIT_TORCH_H
#define AF_TESTS_UNIT_TORCH_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/op.h"

enum { T_DIMS = 4, T_BLOCKS = 4096 };

/* Device memory: pieces of one range, some in use. */
static struct t_block {
	uint64_t lo, size;
	unsigned refs;
} t_block[T_BLOCKS];
static unsigned t_nblock;

struct tensor {
	uint64_t addr;
	int64_t size[T_DIMS], stride[T_DIMS]; /* elements */
	int ndim;
	enum dtype type;
};

static void (*t_launch)(const struct op *op); /* who hears of launches */

static uint64_t t_alloc(uint64_t bytes)
{
	unsigned best = t_nblock;

	bytes = (bytes + 511) / 512 * 512;
	for (unsigned i = 0; i < t_nblock; i++)
		if (!t_block[i].refs && t_block[i].size >= bytes &&
		    (best == t_nblock || t_block[i].size < t_block[best].size))
			best = i;
	if (best == t_nblock)
		abort();
	if (t_block[best].size > bytes) {
		memmove(&t_block[best + 1], &t_block[best], (t_nblock - best) * sizeof(t_block[0]));
		t_nblock++;
		t_block[best].size = bytes;
		t_block[best + 1].lo += bytes;
		t_block[best + 1].size -= bytes;
	}
	t_block[best].refs = 1;
	return t_block[best].lo;
}

static unsigned t_find(uint64_t addr)
{
	for (unsigned i = 0; i < t_nblock; i++)
		if (t_block[i].lo <= addr && addr < t_block[i].lo + t_block[i].size)
			return i;
	abort();
}

/* The view, too, holds the memory. */
__attribute__((unused)) static struct tensor t_keep(struct tensor x)
{
	t_block[t_find(x.addr)].refs++;
	return x;
}

static void t_drop(struct tensor x)
{
	unsigned i = t_find(x.addr);

	if (--t_block[i].refs)
		return;
	if (i + 1 < t_nblock && !t_block[i + 1].refs) {
		t_block[i].size += t_block[i + 1].size;
		memmove(&t_block[i + 1], &t_block[i + 2], (t_nblock - i - 2) * sizeof(t_block[0]));
		t_nblock--;
	}
	if (i && !t_block[i - 1].refs) {
		t_block[i - 1].size += t_block[i].size;
		memmove(&t_block[i], &t_block[i + 1], (t_nblock - i - 1) * sizeof(t_block[0]));
		t_nblock--;
	}
}

__attribute__((unused)) static void t_begin(uint64_t base, uint64_t bytes,
					    void (*launch)(const struct op *op))
{
	t_launch = launch;
	t_nblock = 1;
	t_block[0] = (struct t_block){base, bytes, 0};
}

static struct tensor t_empty(enum dtype type, int ndim, const int64_t *size)
{
	struct tensor x = {.type = type, .ndim = ndim};
	int64_t n = 1;

	for (int d = ndim; d-- > 0; n *= size[d]) {
		x.size[d] = size[d];
		x.stride[d] = n;
	}
	x.addr = t_alloc((uint64_t)n * dtype_bytes(type));
	return x;
}

__attribute__((unused)) static struct tensor t_new(enum dtype type, int ndim, ...)
{
	int64_t size[T_DIMS];
	va_list args;

	va_start(args, ndim);
	for (int d = 0; d < ndim; d++)
		size[d] = va_arg(args, int);
	va_end(args);
	return t_empty(type, ndim, size);
}

/* Views do not hold memory of their own here: whoever has one drops the whole. */
__attribute__((unused)) static struct tensor t_swap(struct tensor x, int a, int b)
{
	int64_t size = x.size[a], stride = x.stride[a];

	x.size[a] = x.size[b];
	x.stride[a] = x.stride[b];
	x.size[b] = size;
	x.stride[b] = stride;
	return x;
}

__attribute__((unused)) static struct tensor t_part(struct tensor x, int d, int64_t from, int64_t n)
{
	x.addr += (uint64_t)(from * x.stride[d] * dtype_bytes(x.type));
	x.size[d] = n;
	return x;
}

/* The last dimension as two, or two as one. */
__attribute__((unused)) static struct tensor t_cut(struct tensor x, int64_t inner)
{
	const int d = x.ndim++;

	x.size[d] = inner;
	x.stride[d] = x.stride[d - 1];
	x.size[d - 1] /= inner;
	x.stride[d - 1] *= inner;
	return x;
}

__attribute__((unused)) static struct tensor t_flat(struct tensor x)
{
	x.ndim--;
	x.size[x.ndim - 1] *= x.size[x.ndim];
	x.stride[x.ndim - 1] = x.stride[x.ndim];
	return x;
}

__attribute__((unused)) static struct tensor t_front(struct tensor x)
{
	memmove(x.size + 1, x.size, sizeof(x.size[0]) * (T_DIMS - 1));
	memmove(x.stride + 1, x.stride, sizeof(x.stride[0]) * (T_DIMS - 1));
	x.size[0] = 1;
	x.stride[0] = 0;
	x.ndim++;
	return x;
}

/* The shape of two, broadcast; x's strides in it. */
static void t_widen(struct tensor *x, int ndim, const int64_t *size)
{
	while (x->ndim < ndim)
		*x = t_front(*x);
	for (int d = 0; d < ndim; d++)
		if (x->size[d] != size[d]) {
			x->size[d] = size[d];
			x->stride[d] = 0;
		}
}

/* Elementwise: the dimensions sorted by the first operand's strides, and merged. */
static void t_elements(struct op *op, struct tensor *const *x, const uint8_t *role, unsigned n)
{
	int order[T_DIMS], nd = 0, ndim = 0;

	op->rows = op->cols = 1;
	op->vetted = true;
	for (int d = 0; d < x[0]->ndim; d++)
		if (x[0]->size[d] != 1) {
			int k = nd++;

			for (; k > 0 && x[0]->stride[order[k - 1]] < x[0]->stride[d]; k--)
				order[k] = order[k - 1];
			order[k] = d;
		}
	op->noperand = (uint8_t)n;
	for (unsigned i = 0; i < n; i++)
		op->operand[i] = (struct operand){.addr = x[i]->addr,
						  .dtype = (uint8_t)x[i]->type,
						  .role = role[i],
						  .access = i ? ACCESS_READ : ACCESS_WRITE,
						  .ndim = 1,
						  .size = {1},
						  .stride = {(int64_t)dtype_bytes(x[i]->type)}};
	for (int k = 0; k < nd; k++) {
		bool merged = ndim > 0;

		for (unsigned i = 0; i < n && merged; i++)
			merged = x[i]->stride[order[k - 1]] ==
				 x[i]->stride[order[k]] * x[i]->size[order[k]];
		ndim += !merged;
		for (unsigned i = 0; i < n; i++) {
			struct operand *o = &op->operand[i];

			o->ndim = (uint8_t)ndim;
			o->size[ndim - 1] = merged ? o->size[ndim - 1] * x[i]->size[order[k]]
						   : x[i]->size[order[k]];
			o->stride[ndim - 1] =
				x[i]->stride[order[k]] * (int64_t)dtype_bytes(x[i]->type);
		}
		op->cols *= x[0]->size[order[k]];
	}
}

/* A result shaped like x; dense in the order of x's strides, as elementwise results are. */
static struct tensor t_like(struct tensor x, enum dtype type)
{
	struct tensor out = x;
	int64_t n = 1;
	bool done[T_DIMS] = {false};

	for (int k = 0; k < x.ndim; k++) {
		int least = -1;

		for (int d = x.ndim; d-- > 0;)
			if (!done[d] && (least < 0 || x.stride[d] < x.stride[least]))
				least = d;
		done[least] = true;
		out.stride[least] = n;
		n *= x.size[least];
	}
	out.type = type;
	out.addr = t_alloc((uint64_t)n * dtype_bytes(type));
	return out;
}

static enum dtype t_math(enum dtype t)
{
	return t == DT_bf16 || t == DT_f16 ? DT_f32 : t;
}

__attribute__((unused)) static struct tensor t_unary(enum opcode code, struct tensor x,
						     enum dtype type)
{
	struct tensor out = t_like(x, type);
	struct op op = {.code = code, .compute = (uint8_t)t_math(type)};

	if (code == OP_copy && type == DT_bf16)
		op.compute = DT_f32;
	t_elements(&op, (struct tensor *[]){&out, &x}, (uint8_t[]){ROLE_out, ROLE_in0}, 2);
	t_launch(&op);
	return out;
}

/* With numbers from the host: x * 0.5, x + eps, x ^ 3. */
__attribute__((unused)) static struct tensor t_number(enum opcode code, struct tensor x, double v)
{
	struct tensor out = t_like(x, x.type);
	struct op op = {
		.code = code, .compute = (uint8_t)t_math(x.type), .nscalar = 1, .scalar = {v, 1}};

	if (code == OP_add)
		op.nscalar = 2;
	if (code == OP_pow)
		op.compute = (uint8_t)x.type;
	t_elements(&op, (struct tensor *[]){&out, &x}, (uint8_t[]){ROLE_out, ROLE_in0}, 2);
	t_launch(&op);
	return out;
}

__attribute__((unused)) static struct tensor t_binary(enum opcode code, struct tensor a,
						      struct tensor b)
{
	const int ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
	struct op op = {.code = code};
	struct tensor out, big;
	int64_t size[T_DIMS] = {0};
	enum dtype type = dtype_bytes(a.type) >= dtype_bytes(b.type) ? a.type : b.type;

	while (a.ndim < ndim)
		a = t_front(a);
	while (b.ndim < ndim)
		b = t_front(b);
	for (int d = 0; d < ndim; d++)
		size[d] = a.size[d] > b.size[d] ? a.size[d] : b.size[d];
	t_widen(&a, ndim, size);
	t_widen(&b, ndim, size);
	big = a;
	for (int d = 0; d < ndim; d++)
		if (!a.stride[d] && size[d] > 1)
			big = b;
	out = t_like(big, type);
	op.compute = (uint8_t)t_math(type);
	t_elements(&op, (struct tensor *[]){&out, &a, &b},
		   (uint8_t[]){ROLE_out, ROLE_in0, ROLE_in1}, 3);
	t_launch(&op);
	return out;
}

/* The mean, keeping the dimension: as a kernel does that adds up rows. */
__attribute__((unused)) static struct tensor t_mean(struct tensor x)
{
	int64_t size[T_DIMS], rows = 1, cols = x.size[x.ndim - 1];
	struct tensor out;
	struct op op = {.code = OP_mean, .compute = DT_f32, .vetted = true, .noperand = 2};

	for (int d = 0; d < x.ndim; d++)
		size[d] = d + 1 < x.ndim ? x.size[d] : 1;
	for (int d = 0; d + 1 < x.ndim; d++)
		rows *= x.size[d];
	out = t_empty(x.type, x.ndim, size);
	op.rows = rows;
	op.cols = cols;
	op.nscalar = 1;
	op.scalar[0] = 1.0f / (float)cols;
	op.order = (struct op_order){.width = 32, .height = 16, .vt = 4, .vector = 4};
	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, x.type, out.addr, 0, rows);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, x.type, x.addr, rows, cols);
	t_launch(&op);
	return out;
}

__attribute__((unused)) static struct tensor t_softmax(struct tensor x, enum dtype type)
{
	struct op op = {.code = OP_softmax, .compute = DT_f32, .vetted = true, .noperand = 2};
	struct tensor out = t_empty(type, x.ndim, x.size);

	op.cols = x.size[x.ndim - 1];
	op.rows = 1;
	for (int d = 0; d + 1 < x.ndim; d++)
		op.rows *= x.size[d];
	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, type, out.addr, op.rows, op.cols);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, x.type, x.addr, op.rows, op.cols);
	t_launch(&op);
	return out;
}

__attribute__((unused)) static struct tensor t_layernorm(struct tensor x, struct tensor w,
							 struct tensor b)
{
	struct op op = {.code = OP_layernorm,
			.compute = DT_f32,
			.vetted = true,
			.noperand = 6,
			.has_eps = true,
			.eps = 1e-5};
	struct tensor out = t_empty(x.type, x.ndim, x.size), mean, rstd;
	int64_t rows = 1;

	for (int d = 0; d + 1 < x.ndim; d++)
		rows *= x.size[d];
	mean = t_empty(DT_f32, 1, &rows);
	rstd = t_empty(DT_f32, 1, &rows);
	op.rows = rows;
	op.cols = x.size[x.ndim - 1];
	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, x.type, out.addr, rows, op.cols);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, x.type, x.addr, rows, op.cols);
	operand_dense(&op.operand[2], ROLE_weight, ACCESS_READ, w.type, w.addr, 0, op.cols);
	operand_dense(&op.operand[3], ROLE_bias, ACCESS_READ, b.type, b.addr, 0, op.cols);
	operand_dense(&op.operand[4], ROLE_mean, ACCESS_WRITE, DT_f32, mean.addr, 0, rows);
	operand_dense(&op.operand[5], ROLE_rstd, ACCESS_WRITE, DT_f32, rstd.addr, 0, rows);
	t_launch(&op);
	t_drop(mean);
	t_drop(rstd);
	return out;
}

/* One behind the other along the last dimension. */
__attribute__((unused)) static struct tensor t_cat(struct tensor a, struct tensor b)
{
	const int last = a.ndim - 1;
	struct op op = {.code = OP_cat, .rows = 1, .vetted = true};
	struct tensor out, in[2] = {a, b};
	int64_t size[T_DIMS];

	memcpy(size, a.size, sizeof(size));
	size[last] += b.size[last];
	out = t_empty(a.type, a.ndim, size);
	for (unsigned i = 0; i < 3; i++) {
		const struct tensor *x = i ? &in[i - 1] : &out;
		struct operand *o = &op.operand[op.noperand];

		if (!x->size[last])
			continue;
		*o = (struct operand){.addr = x->addr,
				      .dtype = dtype_bytes(a.type) == 2 ? DT_i16 : DT_i32,
				      .role = (uint8_t[]){ROLE_out, ROLE_in0, ROLE_in1}[i],
				      .access = i ? ACCESS_READ : ACCESS_WRITE,
				      .ndim = (uint8_t)a.ndim};
		for (int d = 0; d < a.ndim; d++) {
			o->size[d] = x->size[d];
			o->stride[d] = x->stride[d] * (int64_t)dtype_bytes(a.type);
		}
		op.noperand++;
	}
	op.cols = 1;
	for (int d = 0; d < a.ndim; d++)
		op.cols *= size[d];
	t_launch(&op);
	return out;
}

/* A product with a weight, whose kernel is known by what it touches. */
__attribute__((unused)) static struct tensor t_linear(struct tensor x, struct tensor w)
{
	const int64_t k = x.size[x.ndim - 1], n = w.size[0];
	struct op op = {.code = OP_touch, .vetted = true, .noperand = 3};
	int64_t size[T_DIMS], rows = 1;
	struct tensor out;

	memcpy(size, x.size, sizeof(size));
	size[x.ndim - 1] = n;
	out = t_empty(x.type, x.ndim, size);
	for (int d = 0; d + 1 < x.ndim; d++)
		rows *= x.size[d];
	op.rows = rows;
	op.cols = n;
	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, x.type, out.addr, rows, n);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, w.type, w.addr, n, k);
	operand_dense(&op.operand[2], ROLE_in1, ACCESS_READ, x.type, x.addr, rows, k);
	t_launch(&op);
	return out;
}

/* A launch of which nothing is known. */
__attribute__((unused)) static struct tensor t_opaque(enum dtype type, int ndim,
						      const int64_t *size)
{
	struct op op = {.code = OP_opaque};
	struct tensor out = t_empty(type, ndim, size);

	t_launch(&op);
	return out;
}

#endif
