/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of rows of synthetic inputs, in host memory. */
#ifndef AF_SHIM_PROBE_CHILD_INPUTS_H
#define AF_SHIM_PROBE_CHILD_INPUTS_H

#include "fused/fields.h"
#include "matcher/op.h"

enum probe_family {
#define PROBE_FAMILY(name, any_order, help) PROBE_FAMILY_##name,
#include "shim/probe_child_families.def"
#undef PROBE_FAMILY
	PROBE_FAMILIES
};

/* rows x cols of a and b, one row of weights; dense, in the element types. */
struct probe_batch {
	enum probe_family family;
	int64_t rows, cols;
	enum dtype type, weight_type;
	bool silu;  /* a is the gate, b what it is multiplied by; w and what follows mean nothing */
	double eps; /* what the norm adds to the mean, as far as is known */
	struct fields
		hint; /* a spelling that 16-bit rows shall be hard for; zero is the usual one */
	char *a, *b, *w;
};

const char *probe_family_name(enum probe_family f);
bool probe_family_any_order(enum probe_family f);
/* No number that any spelling makes of such rows is subnormal: flushing makes no difference. */
bool probe_family_normal(enum probe_family f);

/* Rows that a batch of that type and row length has: enough of them for the small, one for the
 * long. */
int64_t probe_batch_rows(enum dtype type, int64_t cols);
/* Allocates room for up to `rows` rows; false if out of memory. */
bool probe_batch_init(struct probe_batch *b, enum dtype type, enum dtype weight_type, int64_t rows,
		      int64_t cols, double eps);
void probe_batch_free(struct probe_batch *b);
/* Fills b->rows rows; equal seeds give equal batches. */
void probe_batch_fill(struct probe_batch *b, enum probe_family f, uint64_t seed);

/* For batches of silu -> mul (probe_child_inputs_silu.c). `exact` is the table of all gates of a
 * 16-bit type, where the batch has room for it, or one float out of each of as many equal stretches
 * of all floats; for the others, what is said of sums holds for gate and factor alike. */
void probe_batch_fill_silu(struct probe_batch *b, enum probe_family f, uint64_t seed);

/* Numbers as bits of an element type, round to nearest even. */
double probe_load(enum dtype t, const void *p, int64_t i);
void probe_store(enum dtype t, void *p, int64_t i, double v);
bool probe_is_nan(enum dtype t, const void *p, int64_t i);
/* How many units in the last place elements i of x and y are apart; 0 and -0 are one. */
uint64_t probe_distance(enum dtype t, const void *x, const void *y, int64_t i);

#endif
