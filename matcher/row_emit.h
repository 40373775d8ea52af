/* SPDX-License-Identifier: Apache-2.0 */
/* A program in the making; shared by row_build.c, row_emit.c, row_settle.c and row_op*.c. */
#ifndef AF_MATCHER_ROW_EMIT_H
#define AF_MATCHER_ROW_EMIT_H

#include "matcher/row_build.h"
#include "matcher/row_space.h"

struct emit {
	struct row *r;
	struct space space;
	enum reason why; /* the first thing that went wrong; nothing counts any more */
	/* The member that is being said. */
	const struct op *op;
	const struct row_pick *pick;
	uint8_t member;
	const struct row_member *all; /* nall members */
	unsigned nall;
	enum dtype math; /* what it computes in */
	/* By operand: the value that its memory holds by now (ROW_NONE: what was there before), its
	 * LOAD, its last STORE. */
	uint8_t value[ROW_MAX_OPERANDS], load[ROW_MAX_OPERANDS], store[ROW_MAX_OPERANDS];
};

/* Each returns the number of the value it adds; after a failure, 0. */
uint8_t emit0(struct emit *e, enum row_code code, enum dtype t);
uint8_t emit1(struct emit *e, enum row_code code, enum dtype t, uint8_t a);
uint8_t emit2(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b);
uint8_t emit3(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b, uint8_t c);
uint8_t emit_shift(struct emit *e, enum row_code code, enum dtype t, uint8_t a, uint8_t b,
		   int64_t shift);
uint8_t emit_reduce(struct emit *e, enum row_code code, uint8_t a, uint8_t b);
uint8_t emit_number(struct emit *e, enum dtype t, double v);
/* Converts by way of f32 where the target is small, as compilers do; nothing if it is that type. */
uint8_t emit_cast(struct emit *e, enum dtype t, uint8_t a);
/* What that operand's memory holds when the member begins. */
uint8_t emit_read(struct emit *e, const struct operand *o);
void emit_write(struct emit *e, const struct operand *o, uint8_t value);
void emit_fail(struct emit *e, enum reason why);

/* All is emitted: what later stores overwrite is not stored, or only where it is left
 * (row_settle.c). */
void row_settle(struct row *r);

/* Says e->op (row_op.c). */
void emit_op(struct emit *e);
/* Some ops, from their operands to their outs (row_op_move.c, row_op_act.c). */
void emit_where(struct emit *e);
void emit_copy(struct emit *e);
/* neg and abs: of a 16-bit number also in its bits. */
void emit_sign(struct emit *e, enum row_code code);
/* One behind the other along the last dimension. */
void emit_cat(struct emit *e);
void emit_silu_mul(struct emit *e);
/* Norms and softmax (row_op_norm.c). */
void emit_rmsnorm(struct emit *e);
void emit_layernorm(struct emit *e);
void emit_softmax(struct emit *e);
void emit_sum(struct emit *e);

/* The operand with that role: in e->math, as it is, and written from a value in e->math. */
uint8_t emit_in(struct emit *e, enum role role);
uint8_t emit_raw(struct emit *e, enum role role);
void emit_out(struct emit *e, enum role role, uint8_t value);
/* sum / n, and eps added if has_eps, as the pick spells it. */
uint8_t emit_mean(struct emit *e, uint8_t sum, int64_t n, const double *eps);

/* Arithmetic, as the pick spells it (row_op_arith.c). */
uint8_t emit_divide(struct emit *e, uint8_t a, uint8_t b);
/* a * b + c, one operation or two. */
uint8_t emit_product_sum(struct emit *e, uint8_t a, uint8_t b, uint8_t c);
/* The greater, or the smaller, of two. */
uint8_t emit_extreme(struct emit *e, bool greater, uint8_t a, uint8_t b);
/* One of a function's two codes. */
uint8_t emit_call(struct emit *e, enum row_code usual, enum row_code fast, uint8_t x);
uint8_t emit_power(struct emit *e, uint8_t x);
/* out = in0 + scalar0 * in1, and its forms with one operand; likewise with minus. */
uint8_t emit_sum_of(struct emit *e);
/* in0 * scalar0, plus scalar1 where there is one. */
uint8_t emit_scaled(struct emit *e);
/* 1 / sqrt(x) */
uint8_t emit_root(struct emit *e, uint8_t x);

/* Activations of x (row_op_act.c). */
uint8_t emit_exponential(struct emit *e, uint8_t x);
uint8_t emit_sigmoid(struct emit *e, uint8_t x);
uint8_t emit_silu(struct emit *e, uint8_t x);
uint8_t emit_gelu_tanh(struct emit *e, uint8_t x);
uint8_t emit_gelu_erf(struct emit *e, uint8_t x);

bool row_op_integer(enum dtype t);
/* What an op computes in. */
enum dtype row_op_math(const struct op *op);

#endif
