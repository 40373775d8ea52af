/* SPDX-License-Identifier: Apache-2.0 */
/* How a row program becomes a kernel: which form, and what happens when. */
#ifndef AF_FUSED_GEN_PLAN_H
#define AF_FUSED_GEN_PLAN_H

#include "fused/gen.h"

/*
 * FLAT   elements in one run: a thread takes chunks of `vec` elements, then the rest one by one
 * CELLS  rows and columns that no thread shares with another: likewise, a chunk within a row
 * ROWS   a warp or a block has a row; what reductions or later phases need is in shared memory
 * LONG   a block has a row that does not fit there: everything is read and made again in each phase
 *
 * A phase is a walk over the row's columns. Values of level n need n reductions one behind the
 * other, so they can be had in phase n.
 */
enum gen_form { GEN_FLAT, GEN_CELLS, GEN_ROWS, GEN_LONG };

enum { GEN_NEVER = 0xff };

struct gen {
	const struct row *r;
	uint64_t name; /* row_hash */
	enum gen_form form;
	unsigned vec; /* elements of a chunk; in ROWS and LONG it divides cols */
	unsigned nphase;
	bool live[ROW_MAX_STMTS];
	bool varies[ROW_MAX_STMTS]; /* from element to element, FLAT; from column to column, else */
	uint8_t level[ROW_MAX_STMTS];
	uint8_t made[ROW_MAX_STMTS]; /* the phase whose walk has the value first; GEN_NEVER */
	bool keep[ROW_MAX_STMTS];    /* ROWS: in shared memory from then on */
	unsigned
		shared[ROW_MAX_STMTS]; /* where: of kept values, and scratch of reductions; bytes */
	unsigned group_bytes;          /* shared memory of a row, multiple of 16 */
	bool some;                     /* an operand has not all rows: how many are parameters */
	bool partial;         /* of an operand not all is kept: the bounds are parameters */
	bool scalar_in_place; /* ROWS: what all columns have loaded is stored */
	bool late; /* ROWS: no store before all threads have loaded, as values move within the row
		    */
};

/* Fills it in. NULL, or why there is no kernel. */
const char *gen_plan(struct gen *g, const struct row *r, unsigned max_shmem);

/* The arguments of a statement, and is it a value that the text spells in each walk? */
static inline unsigned gen_nargs(const struct row *r, unsigned i)
{
	return row_code_nargs((enum row_code)r->stmt[i].code);
}
static inline bool gen_reduces(const struct row *r, unsigned i)
{
	return row_code_reduces((enum row_code)r->stmt[i].code);
}
/* A reduction whose order means nothing: each thread takes what it walks over. */
static inline bool gen_extreme(const struct row *r, unsigned i)
{
	uint8_t c = r->stmt[i].code;

	return c == ROW_ROWMAX || c == ROW_ROWMAX_NAN || c == ROW_ROWMIN || c == ROW_ROWMIN_NAN;
}
/* In which walk does a STORE happen? */
static inline unsigned gen_store_phase(const struct gen *g, unsigned i)
{
	return g->form == GEN_LONG ? g->nphase - 1 : g->level[g->r->stmt[i].arg[0]];
}
/* Is it a STORE of an element a row, not one a column? */
static inline bool gen_row_store(const struct gen *g, unsigned i)
{
	const struct row_operand *o = &g->r->operand[g->r->stmt[i].at];

	return g->form != GEN_FLAT && !o->step && !g->varies[g->r->stmt[i].arg[0]];
}
/* Are there rows that the operand does not have? */
static inline bool gen_some_rows(const struct row *r, const struct row_operand *o)
{
	for (unsigned d = 0; d < r->ndim; d++)
		if (o->most[d])
			return true;
	return false;
}
/* The parameter with the beginning of run k of what is kept of an operand; its end comes next. */
static inline unsigned gen_keep(unsigned operand, unsigned k)
{
	return 2 * ((ROW_MAX_HOLES + 1) * operand + k);
}
/* Chunks of a row, ROWS and LONG. */
static inline int64_t gen_chunks(const struct gen *g)
{
	return g->r->cols / g->vec;
}

/* The bytes that a walk of a phase loads for a chunk. */
unsigned gen_load_bytes(const struct gen *g, unsigned phase);

/* The ways in which a kernel is made, for few rows and for many. */
struct gen_shape {
	unsigned threads;   /* of a block */
	unsigned blocks;    /* that should fit beside each other; 0: whatever comes */
	unsigned vec;       /* elements of a chunk; divides the plan's */
	unsigned each;      /* FLAT: chunks of a thread */
	unsigned under_way; /* ROWS, LONG: bytes that a thread asks for before it looks at them */
	bool warp;          /* each warp has a row */
	bool ahead;         /* later phases' loads are under way before the reduction */
	bool own;           /* threads load the columns that they add up: see gen_own */
	char suffix;
};
/* Their number, at most GEN_KERNELS. */
unsigned gen_shapes(const struct gen *g, unsigned max_shmem, struct gen_shape *s);

/*
 * Columns next to each other that a thread of `threads` may have as its own, in registers, from the
 * first load to the last store: all sums are strided over so many times that number of threads. 0:
 * the rows go through shared memory.
 */
unsigned gen_own(const struct gen *g, unsigned *threads);

#endif
