/* SPDX-License-Identifier: Apache-2.0 */
/* Random ops on a small memory of the test's own, for tests that run them (row_interp.h). */
#ifndef AF_TESTS_UNIT_ROW_OPS_H
#define AF_TESTS_UNIT_ROW_OPS_H

#include "matcher/row_build.h"
#include "matcher/row_space.h"
#include "tests/unit/row_interp.h"

enum { SLOTS = 10, SLOT_BYTES = 16384, ARENA = SLOTS * SLOT_BYTES };

static _Alignas(64) uint8_t arena[ARENA];
static uint64_t state;

static uint64_t draw(void)
{
	state += 0x9e3779b97f4a7c15u;
	uint64_t x = state;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static unsigned below(unsigned n)
{
	return (unsigned)(draw() % n);
}

/* What a slot holds: a box of kind FULL .. over the case's shape. */
enum kind { FULL, COLS, PER_ROW, SCALAR, HALF, KINDS };

struct tensor {
	uint64_t addr;
	enum dtype type;
	enum kind kind;
	int64_t stride[3]; /* bytes, of a, b and columns */
};

struct shape {
	int64_t a, b, c;
};

static struct shape shape;
static struct tensor slot[SLOTS];

static int64_t round_up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

static struct tensor tensor_new(unsigned where, enum dtype type, enum kind kind)
{
	const int64_t bytes = dtype_bytes(type), cols = kind == HALF ? shape.c / 2 : shape.c;
	struct tensor t = {(uint64_t)(uintptr_t)arena + where * SLOT_BYTES, type, kind, {0}};
	int64_t pitch = cols * bytes + (below(4) ? 0 : (int64_t)below(3) * bytes);

	if (!below(8))
		t.addr += below(5) * bytes;
	t.addr = (uint64_t)round_up((int64_t)t.addr, bytes);
	if (kind == PER_ROW)
		pitch = below(4) ? bytes : 2 * bytes;
	if (kind != COLS && kind != SCALAR) {
		t.stride[1] = pitch;
		t.stride[0] = pitch * shape.b;
		if (!below(5)) { /* transposed */
			t.stride[0] = pitch;
			t.stride[1] = pitch * shape.a;
		}
	}
	if (kind != PER_ROW && kind != SCALAR)
		t.stride[2] = bytes;
	return t;
}

static const enum dtype real[] = {DT_f32, DT_bf16, DT_f16, DT_f32, DT_bf16, DT_f64};

static enum dtype draw_type(void)
{
	static const enum dtype any[] = {DT_i64, DT_i32, DT_u8, DT_i8, DT_bool, DT_e4m3};

	return below(8) ? real[below(6)] : any[below(6)];
}

static void add_operand(struct op *op, enum role role, enum access access, const struct tensor *t,
			enum kind as)
{
	struct operand *o = &op->operand[op->noperand++];
	const int64_t size[3] = {shape.a, shape.b, as == HALF ? shape.c / 2 : shape.c};

	*o = (struct operand){.addr = t->addr,
			      .dtype = (uint8_t)t->type,
			      .role = (uint8_t)role,
			      .access = (uint8_t)access};
	for (unsigned i = 0; i < (as == PER_ROW ? 2 : 3); i++) {
		o->size[o->ndim] = size[i];
		o->stride[o->ndim++] = t->stride[i];
	}
	if (as != FULL || t->kind != FULL || below(2))
		return;
	/* Sometimes as one run. */
	if (t->stride[1] == shape.c * dtype_bytes(t->type) &&
	    t->stride[0] == shape.b * t->stride[1]) {
		o->ndim = 1;
		o->size[0] = shape.a * shape.b * shape.c;
		o->stride[0] = dtype_bytes(t->type);
	}
}

/* A slot with something that an op over `as` can read. */
static const struct tensor *draw_input(enum kind as)
{
	for (unsigned i = 0; i < 50; i++) {
		const struct tensor *t = &slot[below(SLOTS)];

		if (as == FULL ? t->kind != HALF : t->kind == as)
			return t;
	}
	return NULL;
}

/* Where the op writes: over something that is there, element on element or not, or elsewhere. */
static struct tensor draw_output(enum kind as, enum dtype type)
{
	const unsigned where = below(SLOTS);

	if (slot[where].kind == as && below(2))
		return slot[where];
	return tensor_new(where, type, as);
}

static void remember(const struct tensor *t)
{
	slot[(t->addr - (uint64_t)(uintptr_t)arena) / SLOT_BYTES] = *t;
}

static bool draw_elements(struct op *op, enum kind as)
{
	static const enum opcode code[] = {
		OP_add,   OP_mul,     OP_sub,      OP_div,   OP_fma,  OP_scale,
		OP_neg,   OP_square,  OP_sqrt,     OP_rsqrt, OP_exp,  OP_tanh,
		OP_silu,  OP_relu,    OP_max,      OP_copy,  OP_copy, OP_where,
		OP_less,  OP_sigmoid, OP_pow,      OP_add,   OP_mul,  OP_gelu_tanh,
		OP_equal, OP_erf,     OP_gelu_erf, OP_abs,   OP_min,  OP_fill};
	static const enum role role[] = {ROLE_in0, ROLE_in1, ROLE_in2};
	struct tensor out = draw_output(as, draw_type());
	unsigned nin;

	op->code = code[below(sizeof(code) / sizeof(code[0]))];
	op->rows = 1;
	op->cols = shape.a * shape.b * (as == PER_ROW ? 1 : as == HALF ? shape.c / 2 : shape.c);
	op->scalar[0] = (double[]){2, 0.5, -1, 3, 0.3, 1}[below(6)];
	op->scalar[1] = (double[]){1, 0, 0.25}[below(3)];
	nin = op->code == OP_fma    ? 3
	      : op->code == OP_fill ? 0
	      : op->code == OP_add || op->code == OP_mul || op->code == OP_sub ||
			      op->code == OP_div || op->code == OP_max || op->code == OP_min ||
			      op->code == OP_where || op->code == OP_less || op->code == OP_equal
		      ? 2
		      : 1;
	op->nscalar = op->code == OP_scale ? (uint8_t)(1 + below(2)) : op->code == OP_fill;
	if (nin == 2 && op->code != OP_fma && !below(3)) {
		nin = 1;
		op->nscalar = 1;
	}
	if (op->code == OP_pow)
		op->nscalar = 1;
	if (op->code == OP_add && nin == 2 && !below(4))
		op->nscalar = 1;
	add_operand(op, ROLE_out, ACCESS_WRITE, &out, as);
	for (unsigned i = 0; i < nin; i++) {
		const struct tensor *in = draw_input(as);

		if (!in)
			return false;
		add_operand(op, role[i], ACCESS_READ, in, as);
	}
	if (op->code == OP_where) {
		const struct tensor *cond = draw_input(as);

		if (!cond)
			return false;
		add_operand(op, ROLE_cond, ACCESS_READ, cond, as);
	}
	remember(&out);
	return true;
}

static bool draw_rows(struct op *op)
{
	static const enum opcode code[] = {OP_rmsnorm, OP_layernorm, OP_softmax,  OP_sum,
					   OP_mean,    OP_amax,      OP_bias_add, OP_rmsnorm};
	const struct tensor *in = draw_input(FULL), *row = draw_input(COLS);
	struct tensor out, more;
	bool per_row;

	op->code = code[below(8)];
	per_row = op->code == OP_sum || op->code == OP_mean || op->code == OP_amax;
	out = draw_output(per_row ? PER_ROW : FULL, real[below(5)]);
	op->rows = shape.a * shape.b;
	op->cols = shape.c;
	op->eps = 1e-5;
	op->has_eps = true;
	op->plus_one = !below(4);
	if (!in || !row || in->kind != FULL)
		return false;
	add_operand(op, ROLE_out, ACCESS_WRITE, &out, out.kind);
	add_operand(op, ROLE_in0, ACCESS_READ, in, FULL);
	if (op->code == OP_bias_add || (op->code == OP_layernorm && below(2))) {
		struct operand *o = &op->operand[op->noperand++];

		operand_dense(o, ROLE_bias, ACCESS_READ, row->type, row->addr, 0, shape.c);
	}
	if ((op->code == OP_rmsnorm || op->code == OP_layernorm) && below(4))
		operand_dense(&op->operand[op->noperand++], ROLE_weight, ACCESS_READ, row->type,
			      row->addr, 0, shape.c);
	if (op->code == OP_layernorm && !below(3)) {
		more = draw_output(PER_ROW, DT_f32);
		add_operand(op, ROLE_mean, ACCESS_WRITE, &more, PER_ROW);
		remember(&more);
	}
	if (op->code == OP_rmsnorm && !below(4)) {
		more = draw_output(FULL, in->type);
		add_operand(op, ROLE_copy, ACCESS_WRITE, &more, FULL);
		remember(&more);
	}
	remember(&out);
	return true;
}

/* cat(half, half): of slots that hold one, or of the halves of a whole row. */
static bool draw_cat(struct op *op)
{
	const struct tensor *x = draw_input(FULL);
	struct tensor half[2], out;

	if (!x || x->kind != FULL || shape.c % 2)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const struct tensor *h = draw_input(HALF);

		half[i] = *x;
		half[i].addr += (uint64_t)(i ? 0 : shape.c / 2 * x->stride[2]);
		if (h && h->type == x->type && below(2))
			half[i] = *h;
	}
	op->code = OP_cat;
	out = draw_output(FULL, x->type);
	if (out.type != x->type)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		const struct tensor *t = i ? &half[i - 1] : &out;
		struct operand *o = &op->operand[op->noperand++];

		*o = (struct operand){.addr = t->addr,
				      .dtype = (uint8_t)t->type,
				      .role = (uint8_t[]){ROLE_out, ROLE_in0, ROLE_in1}[i],
				      .access = i ? ACCESS_READ : ACCESS_WRITE,
				      .ndim = 3,
				      .size = {shape.a, shape.b, i ? shape.c / 2 : shape.c},
				      .stride = {t->stride[0], t->stride[1], t->stride[2]}};
	}
	op->rows = 1;
	op->cols = shape.a * shape.b * shape.c;
	remember(&out);
	return true;
}

/* out = -half of a row */
static bool draw_half(struct op *op)
{
	const struct tensor *x = draw_input(FULL);
	struct tensor part, out;

	if (!x || x->kind != FULL || shape.c % 2)
		return false;
	part = *x;
	part.addr += (uint64_t)(shape.c / 2 * x->stride[2]) * below(2);
	out = tensor_new(below(SLOTS), x->type, HALF);
	op->code = below(3) ? OP_neg : OP_copy;
	op->rows = 1;
	op->cols = shape.a * shape.b * (shape.c / 2);
	add_operand(op, ROLE_out, ACCESS_WRITE, &out, HALF);
	add_operand(op, ROLE_in0, ACCESS_READ, &part, HALF);
	remember(&out);
	return true;
}

static struct row_order draw_order(void)
{
	struct row_order o = row_order_usual((unsigned[]){1, 8, 32, 64, 96, 256}[below(6)]);

	o.walk = (uint16_t)below(2);
	o.vec = (uint16_t)below(4);
	o.part = o.vec && !below(3) ? (uint16_t)(1 + below(o.vec)) : 0;
	o.inner = (uint16_t)below(3);
	o.acc = o.part ? 0 : (uint16_t)below(4);
	o.tail = (uint16_t)below(3);
	o.comb = (uint16_t)below(3);
	o.fma = (uint16_t)below(2);
	o.warp = (uint16_t)below(2);
	o.block = (uint16_t)below(6);
	if (o.block == ORDER_block_HALVING) {
		o.threads = (uint16_t)(1u << below(9));
		o.width = below(2) ? (uint16_t)(1u << below(1 + (unsigned)__builtin_ctz(o.threads)))
				   : 0;
	}
	return o;
}

/* A shape, and what the slots hold. */
static void draw_shape(void)
{
	shape = (struct shape){1 + below(3), 1 + below(4), 1 + below(24)};
	if (!below(4))
		shape.c = 32 + below(40);
	for (unsigned i = 0; i < SLOTS; i++)
		slot[i] = tensor_new(i, draw_type(), below(3) ? FULL : (enum kind)below(HALF));
}

/* Goes over rows in another order; only over some, or over one of them. */
static void turn(struct op *op)
{
	const unsigned rows = op->operand[0].ndim - (op->code == OP_cat || op->operand[0].ndim > 2);
	int64_t n = 1;

	for (unsigned k = 0; k < op->noperand; k++)
		if (op->operand[k].ndim != op->operand[0].ndim || op->operand[k].ndim < 2)
			return;
	for (unsigned d = 0; d < rows && below(2); d++) {
		const int64_t some = 1 + below((unsigned)op->operand[0].size[d]);

		for (unsigned k = 0; k < op->noperand; k++)
			op->operand[k].size[d] = some;
	}
	for (unsigned k = 0; k < op->noperand && rows > 1 && op->scalar[0] != 3; k++) {
		struct operand *o = &op->operand[k];
		const int64_t size = o->size[0], stride = o->stride[0];

		o->size[0] = o->size[1];
		o->stride[0] = o->stride[1];
		o->size[1] = size;
		o->stride[1] = stride;
	}
	for (unsigned d = 0; d < op->operand[0].ndim; d++)
		n *= op->operand[0].size[d];
	op->cols = n;
}

/* An op with a pick. False if nothing fits together. */
static bool draw_op(struct op *op, struct row_pick *pick)
{
	const unsigned what = below(16);
	bool ok = false;

	for (unsigned tries = 0; !ok && tries < 20; tries++) {
		*op = (struct op){.vetted = true};
		ok = what < 10   ? draw_elements(op, FULL)
		     : what < 11 ? draw_elements(op, PER_ROW)
		     : what < 14 ? draw_rows(op)
		     : what < 15 ? draw_half(op)
				 : draw_cat(op);
	}
	if (!ok)
		return false;
	if (op->rows == 1 && !space_reduces(op->code) && op->code != OP_bias_add && !below(3))
		turn(op);
	row_pick_spelling(op, below(row_pick_count(op)), &pick->spelling);
	pick->order = draw_order();
	return true;
}

static void fill_arena(void)
{
	memset(arena, 0, ARENA);
	for (unsigned i = 0; i < SLOTS; i++) {
		const enum dtype t = slot[i].type;
		const unsigned bytes = dtype_bytes(t);

		for (unsigned k = 0; k < SLOT_BYTES; k += 8) {
			uint64_t v = draw();

			if (below(4) == 0)
				memcpy(arena + i * SLOT_BYTES + k, &v, 8);
			for (unsigned b = 0; below(4) && b < 8; b += bytes) {
				float f = (float)((int64_t)(draw() % 4001) - 2000) / 256;
				double d = f;

				if (t == DT_f64)
					memcpy(&v, &d, 8);
				else
					v = row_interp_round(
						t == DT_f16 || t == DT_bf16 ? t : DT_f32, f);
				memcpy(arena + i * SLOT_BYTES + k + b, &v, bytes);
			}
		}
	}
}

static void print_ops(const struct op *op, const struct row_pick *pick, unsigned n)
{
	char name[ROW_PICK_NAME_MAX];

	for (unsigned i = 0; i < n; i++) {
		row_pick_name(&pick[i], name);
		fprintf(stderr, "%s %lld x %lld (%s)\n", opcode_name(op[i].code),
			(long long)op[i].rows, (long long)op[i].cols, name);
		for (unsigned k = 0; k < op[i].noperand; k++) {
			const struct operand *o = &op[i].operand[k];

			fprintf(stderr, "  %s %s %llx", role_name((enum role)o->role),
				dtype_name((enum dtype)o->dtype),
				(unsigned long long)(o->addr - (uint64_t)(uintptr_t)arena));
			for (unsigned d = 0; d < o->ndim; d++)
				fprintf(stderr, " %lld:%lld", (long long)o->size[d],
					(long long)o->stride[d]);
			fprintf(stderr, "\n");
		}
	}
}

#endif
