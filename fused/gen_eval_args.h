/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel that runs row programs as data is given; shared by the host and its text. */
#ifndef AF_FUSED_GEN_EVAL_ARGS_H
#define AF_FUSED_GEN_EVAL_ARGS_H

#ifndef __CUDACC_RTC__
#include <stdint.h>
#endif

enum {
	EVAL_STMTS = 96,
	EVAL_STEPS = 255,
	EVAL_STAGES = 6,
	EVAL_OPERANDS = 10,
	EVAL_IMM = 16,
	EVAL_THREADS = 128, /* of a block, at most */
	EVAL_NONE = 0xff,
};

/* As in struct row_stmt; from: the type of its first value. */
struct eval_stmt {
	uint8_t code, type, flags, at, arg[3], from;
};

struct eval_operand {
	uint64_t addr;
	int64_t stride[3], step, width;
};

/*
 * A row program in stages: all but the last work out, column by column, what a reduction takes; the
 * last one what is stored. A stage's steps are the statements that it needs, from where the one
 * before ends; reductions of earlier stages have their values by then.
 */
struct eval_program {
	uint8_t nstage, ndim;
	uint8_t end[EVAL_STAGES], reduction[EVAL_STAGES];
	uint8_t step[EVAL_STEPS];
	struct eval_stmt stmt[EVAL_STMTS];
	uint32_t imm[EVAL_IMM];
	struct eval_operand operand[EVAL_OPERANDS];
	int64_t size[3], cols;
};

/* Device addresses of arrays. */
struct eval_args {
	uint64_t program, order; /* struct eval_program, struct eval_order */
	uint64_t pair;           /* uint32_t: a program's index, an order's << 16 */
	uint64_t differ;         /* uint32_t of each pair: elements that it makes otherwise */
	int64_t delta;           /* bytes from what lies in memory now to what the inputs were */
	int64_t rows;            /* the first so many */
	uint32_t any_nan;        /* one NaN is like another */
};

#endif
