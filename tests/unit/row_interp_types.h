/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in every element type, for row_interp.c. */
#ifndef AF_TESTS_UNIT_ROW_INTERP_TYPES_H
#define AF_TESTS_UNIT_ROW_INTERP_TYPES_H

#include "tests/unit/row_interp.h"

bool interp_is_small(enum dtype t);
float interp_f32(uint64_t bits);
uint64_t interp_f32_bits(float v);
double interp_f64(uint64_t bits);
uint64_t interp_f64_bits(double v);
int64_t interp_integer(enum dtype t, uint64_t bits);
uint64_t interp_cast(enum dtype to, enum dtype from, uint64_t bits, bool ftz);

#endif
