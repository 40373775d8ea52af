/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row programs run as data. Where thousands of programs are to be compared with one kernel, each
 * for a few rows, compiling them would take longest: one kernel goes through any of them, statement
 * by statement, with the arithmetic of generated kernels (fused/gen_types.cuh). It stores nothing:
 * it counts the elements that differ from what lies in memory.
 */
#ifndef AF_FUSED_GEN_EVAL_H
#define AF_FUSED_GEN_EVAL_H

#include "fused/fields.h"
#include "fused/gen_eval_args.h"
#include "matcher/row.h"

#define EVAL_KERNEL "af_eval"
/* (uint64_t to, int64_t n, uint32_t first, uint32_t step): n floats by their bits. */
#define EVAL_FLOATS "af_eval_floats"

/* An order of additions; fast as in struct row_order. */
struct eval_order {
	struct fields f;
	uint16_t fast;
};

/*
 * A canonical program, whose orders are ignored. -1 if it cannot be run so: it has numbers of 64
 * bits, values that move along columns, or too much of something.
 */
int eval_pack(const struct row *r, struct eval_program *p);

/* The order of a candidate for an order, and back. */
struct row_order eval_row_order(const struct eval_order *o);

/* The kernel as the build's compiler made it, for cuModuleLoadData. In the command only. */
const void *eval_image(void);
/* The kernel's text for NVRTC, freed by the caller, or NULL. Grid: pairs, blocks of a pair; block:
 * up to EVAL_THREADS threads, one where threads take turns. */
char *eval_text(void);

#endif
