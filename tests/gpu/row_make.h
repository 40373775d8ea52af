/* SPDX-License-Identifier: Apache-2.0 */
/* Row programs for tests: a few that everybody knows, and random ones. */
#ifndef AF_TESTS_GPU_ROW_MAKE_H
#define AF_TESTS_GPU_ROW_MAKE_H

#include "matcher/row.h"

/* An empty program over these sizes (ndim dimensions) and columns. */
void row_begin(struct row *r, unsigned ndim, const int64_t *size, int64_t cols);
/* An operand with all columns next to each other and rows one behind the other, `pad` bytes between
 * them; addr is left 0. Its index. */
unsigned row_dense(struct row *r, enum dtype t, int64_t pad);
/* The same row for all rows; one element a row; one element for everything. */
unsigned row_vector(struct row *r, enum dtype t);
unsigned row_column(struct row *r, enum dtype t);

/* Statements; each answers its number. */
uint8_t row_load(struct row *r, unsigned operand, int32_t shift);
void row_store(struct row *r, unsigned operand, uint8_t value, int32_t shift);
uint8_t row_f32(struct row *r, float v);
uint8_t row_int(struct row *r, enum dtype t, int64_t v);
uint8_t row_cast(struct row *r, enum dtype t, uint8_t a);
uint8_t row_op(struct row *r, enum row_code c, uint8_t a, uint8_t b, uint8_t d);
uint8_t row_moved(struct row *r, enum row_code c, uint8_t a, uint8_t b, int32_t shift);
uint8_t row_reduce(struct row *r, enum row_code c, uint8_t a, uint8_t b, const struct row_order *o);
/* The value with flags of its own. */
uint8_t row_flag(struct row *r, uint8_t v, uint8_t flags);

/* A block of so many threads, strided, then warps: what people write. */
struct row_order row_usual_order(unsigned threads);

/* Dense, with intermediates stored. rows x cols of type t; flat where that is possible. */
void row_add_rmsnorm(struct row *r, enum dtype t, int64_t rows, int64_t cols);
void row_add_layernorm(struct row *r, enum dtype t, int64_t rows, int64_t cols);
void row_silu_mul(struct row *r, enum dtype t, int64_t n);
void row_chain(struct row *r, enum dtype t, int64_t n); /* (a + b) * s + c */
void row_softmax(struct row *r, enum dtype t, int64_t rows, int64_t cols);
void row_rope(struct row *r, enum dtype t, int64_t batch, int64_t heads, int64_t seq, int64_t dim);

/* A random one, always the same for a seed; it passes row_check once addresses are set. */
void row_random(struct row *r, uint64_t seed);

/* All 65,536 values of a 16-bit type through everything that there is for it: EXP, RCP, NEG, ABS,
 * casts to every type and, from f32, back; DIV by what the second operand holds. */
void row_sixteen(struct row *r, enum dtype t);

/*
 * Where operands lie: gives each its addresses behind each other from base on, with the offsets
 * that their alignment (1 << align) allows and no more; bytes before and behind each of the
 * strides' reach are its own. The end of all.
 */
uint64_t row_place(struct row *r, uint64_t base, uint64_t seed);
/* Bytes that an operand reaches from addr on (lo may be negative). */
void row_reach(const struct row *r, const struct row_operand *o, int64_t *lo, int64_t *hi);

#endif
