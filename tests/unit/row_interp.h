/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs row programs on the CPU, in the memory that their addresses name. Rounding is as row.def
 * says; the approximate functions are other functions than the exact ones, but not those of any
 * GPU.
 */
#ifndef AF_TESTS_UNIT_ROW_INTERP_H
#define AF_TESTS_UNIT_ROW_INTERP_H

#include "matcher/row.h"

/*
 * Rows run one behind the other in an order that depends on `seed`; of an elementwise program so do
 * runs of columns within a row. In each, all loads come first. False, with a message on stderr: out
 * of memory, or a value from a column that is not there was stored or added up.
 */
bool row_interp(const struct row *r, uint64_t seed);

/* Conversions of one number: its bits in type t to double, and from a float. */
double row_interp_number(enum dtype t, uint64_t bits);
uint64_t row_interp_round(enum dtype t, float v);

/* What a device makes of the root's reciprocal. Programs may have their own. */
float row_interp_rsqrt(float a);

#endif
