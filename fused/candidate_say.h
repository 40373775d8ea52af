/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate's program in the making; shared by candidate_row*.c. */
#ifndef AF_FUSED_CANDIDATE_SAY_H
#define AF_FUSED_CANDIDATE_SAY_H

#include "fused/candidate_row.h"

/* Statements: each answers its number, ROW_NONE stands for no value. flags: ROW_FTZ or 0. */
uint8_t say1(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a);
uint8_t say2(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a, uint8_t b);
uint8_t say3(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a, uint8_t b,
	     uint8_t d);
uint8_t say_f32(struct row *r, float v);
uint8_t say_f64(struct row *r, double v);
/* The same value where it is of that type. */
uint8_t say_cast(struct row *r, enum dtype t, uint8_t a);
/* A float, rounded to the type on its way if `yes`. */
uint8_t say_rounded(struct row *r, enum dtype t, bool yes, uint8_t a);
uint8_t say_load(struct row *r, unsigned operand);
void say_store(struct row *r, unsigned operand, uint8_t value);

/* What silu -> mul does with an element of the gate as it lies in memory: a float. ROW_NONE: there
 * is no such arithmetic of this type. */
uint8_t say_silu(struct row *r, enum dtype t, const struct silu_fields *f, uint8_t gate);
/* The norm's element from x as it was stored and the weight, both floats; t is the type stored. */
uint8_t say_norm(struct row *r, enum dtype t, const struct fields *f, int64_t cols, double eps,
		 uint8_t x, uint8_t w);

#endif
