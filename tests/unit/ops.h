/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and launches for tests of the planner, as the signature decoder would make them. */
#ifndef AF_TESTS_UNIT_OPS_H
#define AF_TESTS_UNIT_OPS_H

#include "matcher/group.h"

static struct kernel ops_kernel[OP_COUNT] = {[OP_opaque] = {.name = (char *)"opaque"},
					     [OP_add] = {.name = (char *)"add"},
					     [OP_rmsnorm] = {.name = (char *)"rmsnorm"},
					     [OP_silu] = {.name = (char *)"silu"},
					     [OP_mul] = {.name = (char *)"mul"}};

__attribute__((unused)) static struct launch ops_launch(enum opcode code, uint64_t index)
{
	struct launch l = {.kernel = &ops_kernel[code],
			   .grid = {1, 1, 1},
			   .block = {32, 1, 1},
			   .index = index};

	return l;
}

__attribute__((unused)) static struct op ops_opaque(void)
{
	struct op op = {.code = OP_opaque};

	return op;
}

/* out = in0 + in1 over n elements */
__attribute__((unused)) static struct op ops_add(enum dtype t, uint64_t out, uint64_t in0,
						 uint64_t in1, int64_t n)
{
	struct op op = {.code = OP_add, .vetted = true, .noperand = 3, .rows = 1, .cols = n};

	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, t, out, 0, n);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, t, in0, 0, n);
	operand_dense(&op.operand[2], ROLE_in1, ACCESS_READ, t, in1, 0, n);
	return op;
}

/* out = in0 * in1 over n elements */
__attribute__((unused)) static struct op ops_mul(enum dtype t, uint64_t out, uint64_t in0,
						 uint64_t in1, int64_t n)
{
	struct op op = ops_add(t, out, in0, in1, n);

	op.code = OP_mul;
	return op;
}

/* out = silu(in) over n elements */
__attribute__((unused)) static struct op ops_silu(enum dtype t, uint64_t out, uint64_t in,
						  int64_t n)
{
	struct op op = {.code = OP_silu, .vetted = true, .noperand = 2, .rows = 1, .cols = n};

	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, t, out, 0, n);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, t, in, 0, n);
	return op;
}

/* out = rmsnorm(in) * w, rows x cols */
__attribute__((unused)) static struct op ops_norm(enum dtype t, uint64_t out, uint64_t in,
						  uint64_t w, int64_t rows, int64_t cols)
{
	struct op op = {.code = OP_rmsnorm,
			.vetted = true,
			.noperand = 3,
			.rows = rows,
			.cols = cols,
			.eps = 1e-5,
			.has_eps = true};

	operand_dense(&op.operand[0], ROLE_out, ACCESS_WRITE, t, out, rows, cols);
	operand_dense(&op.operand[1], ROLE_in0, ACCESS_READ, t, in, rows, cols);
	operand_dense(&op.operand[2], ROLE_weight, ACCESS_READ, t, w, 0, cols);
	return op;
}

#endif
