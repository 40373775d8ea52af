/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of what a thread does with one chunk of columns in one phase:
 *
 *   template <int V> struct NAME {           V elements; 1 for what fills no chunk
 *     void load(w, p, c)                     asks for everything that lies in memory
 *     void run(w, p, kept, c)                computes, stores
 *     void put(w, p, c)                      `late` only: the stores, apart
 *     T value(w, p, kept, c, j)              of a body for one value: of element j
 *   };
 *
 * w is the row (gen_row_text), p the parameters, kept where kept values are (gen_kept_text), c the
 * first column.
 */
#ifndef AF_FUSED_GEN_BODY_H
#define AF_FUSED_GEN_BODY_H

#include "fused/gen_plan.h"

/* What a body is for. Marks: statements. */
struct gen_goal {
	const char *name;
	unsigned phase;
	bool store[ROW_MAX_STMTS];   /* these STOREs */
	bool keep[ROW_MAX_STMTS];    /* these values go to shared memory */
	bool extreme[ROW_MAX_STMTS]; /* these reductions take the element */
	int value;                   /* this value is asked for; -1 */
	bool late;
};

/* 0, or -1: too much of it. */
int gen_body(FILE *f, const struct gen *g, const struct gen_goal *goal);

/* Spellings. */
const char *gen_type(enum dtype t);   /* the struct of gen_types.cuh, without FTZ */
const char *gen_memory(enum dtype t); /* the C type */
/* The struct that a statement's arithmetic is in. Static text. */
const char *gen_ops(const struct row_stmt *s, enum dtype t);
/* The expression of a statement from those of its arguments: not LOAD, STORE and what moves. */
void gen_expression(FILE *f, const struct row *r, unsigned i, const char *const arg[3]);
/* How wide accesses can be to an operand's columns that are shifted by so many: bytes. */
unsigned gen_align(const struct row_operand *o, int64_t shift);

#endif
