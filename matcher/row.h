/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row programs: what a chain of launches computes, as one small typed graph over rows x columns.
 * Whatever is elementwise, broadcast, or summed up along rows can be said in one. The planner makes
 * them of ops (row_build.h); code is generated from them; a test interprets them.
 *
 * A program is plain data of fixed size: no pointers, no allocation, copied by assignment (or
 * row_copy, which leaves out what is not used).
 *
 * Meaning. For every row and column, statements run from first to last. Each makes at most one
 * value, from values of earlier ones, with exactly the rounding that row.def says: nothing is
 * contracted, reassociated or kept in higher precision. Rounding to a type in memory is a CAST of
 * its own, also where the value is stored and read back at once.
 *
 * Order of memory. Rows may run in any order or at the same time. Within a row, every LOAD happens
 * before any STORE: row_check has seen to it that no two rows, and in a program whose values stay
 * in their columns no two elements, touch the same bytes unless both only read. Where an operand is
 * read and written (use has both), it is exactly in place: the element that is stored lies on the
 * element that was loaded in the same row and column. So a kernel that gives each element to one
 * thread, or each row to one block, and stores after the last load of that element (without columns
 * moving or reductions) or of that row (otherwise), is right. A kernel that reads a row several
 * times must not read an operand again after it stored to it.
 *
 *   x = a + b; y = rmsnorm(x) * w   (bf16, the sum stays in memory; block of 256, strided, shfl)
 *
 *     v0 = LOAD bf16 operand 0             a: 4096 columns, stride[0] = 8192, step = 2
 *     v1 = LOAD bf16 operand 1             b
 *     v2 = CAST f32 v0
 *     v3 = CAST f32 v1
 *     v4 = ADD f32 v2 v3
 *     v5 = CAST bf16 v4                    what the add stored
 *          STORE bf16 operand 2 v5         x: ROW_WRITE
 *     v7 = CAST f32 v5                     what the norm loaded: no LOAD, the value is here
 *     v8 = DOT f32 v7 v7 order 0           threads 256, fma, warp DESC, block FIRSTDESC
 *     v9 = CONST f32 imm 0                 4096.0; spans of v8 .. v13: ROWS or 0
 *     v10 = DIV f32 v8 v9
 *     v11 = CONST f32 imm 1                1e-5
 *     v12 = ADD f32 v10 v11
 *     v13 = RSQRT f32 v12
 *     v14 = MUL f32 v7 v13                 span ROWS | COLS: v13 is the same in all columns
 *     v15 = LOAD bf16 operand 3            w: stride[0] = 0, span COLS
 *     v16 = CAST f32 v15
 *     v17 = MUL f32 v14 v16
 *     v18 = CAST bf16 v17
 *           STORE bf16 operand 4 v18       y
 *
 *   (a + b) * s + c in three kernels, f32, n elements: ndim 1, size[0] = n, cols = 1; every operand
 *   has stride[0] = 4. t0 and t1 are what the first two kernels leave.
 *
 *     v0 = LOAD f32 0; v1 = LOAD f32 1; v2 = ADD f32 v0 v1; STORE f32 2 v2
 *     v4 = CONST f32 imm 0; v5 = MUL f32 v2 v4; STORE f32 3 v5
 *     v7 = LOAD f32 4; v8 = ADD f32 v5 v7; STORE f32 5 v8
 *
 *   rotate-half rope, out = q * cos + cat(-q[64:], q[:64]) * sin, bf16; q is [batch, heads, seq,
 *   128] in any layout, cos and sin are [batch, 1, seq, 128]; five kernels (mul, neg, cat, mul,
 *   add) leave t0 .. t3 and out: ndim 3, size = {batch, heads, seq}, cols = 128; stride[1] of cos
 *   and sin is 0
 *
 *     v0 = LOAD bf16 q; v1 = LOAD bf16 cos; v2 = CAST f32 v0; v3 = CAST f32 v1
 *     v4 = MUL f32 v2 v3; v5 = CAST bf16 v4; STORE bf16 t0 v5
 *     v7 = LOAD bf16 q shift 64            of columns 64 ..: valid in columns 0 .. 63
 *     v8 = NEG bf16 v7; STORE bf16 t1 v8   t1 has width 64: nothing is stored in columns 64 ..
 *     v10 = LOAD bf16 q shift -64          valid in columns 64 .. 127
 *     v11 = CAT bf16 v8 v10 shift 64       v8 in columns 0 .. 63, v10 in the others
 *     STORE bf16 t2 v11; ...               the product with sin, and the sum, as above
 */
#ifndef AF_MATCHER_ROW_H
#define AF_MATCHER_ROW_H

#include "matcher/op.h"
#include "matcher/reason.h"

enum {
	ROW_MAX_MEMBERS = 16,
	ROW_MAX_STMTS = 192,
	ROW_MAX_OPERANDS = 32,
	ROW_MAX_IMM = 32,
	ROW_MAX_ORDERS = 6,
	ROW_MAX_DIMS = 3, /* besides the columns */
	ROW_MAX_HOLES = 2,
	ROW_NONE = 0xff, /* no value */
};

enum row_code {
#define ROW(name, nargs, commutes, what) ROW_##name,
#include "matcher/row.def"
#undef ROW
	ROW_CODE_COUNT
};

enum row_flags {
	ROW_FTZ = 1,  /* subnormal f32 operands and results become zero (.ftz), of a CAST its f32
			 side; of a reduction, in each of its steps */
	ROW_DEAD = 2, /* of a STORE: proven unnecessary, it does not happen */
	ROW_LATE = 4, /* of a STORE: it happens when all rows are through with everything else, as
			 it or another one lies across what others load (row_split) */
};

/* Along what a value varies; 0: it is the same everywhere. */
enum row_span { ROW_SPAN_ROWS = 1, ROW_SPAN_COLS = 2 };

struct row_stmt {
	uint8_t code;   /* enum row_code */
	uint8_t type;   /* enum dtype of the value; of a STORE, of what is stored */
	uint8_t flags;  /* enum row_flags */
	uint8_t span;   /* enum row_span of the value; of a STORE 0 */
	uint8_t arg[3]; /* statements whose values it takes; the others are ROW_NONE */
	uint8_t at;     /* which operand, imm or order; else 0 */
	int32_t shift;  /* columns, of LOAD, STORE, SHIFT, CAT; else 0 */
	uint8_t member; /* the member of the group that it comes from */
};

enum row_use { ROW_READ = 1, ROW_WRITE = 2 };

/*
 * A box in memory. In row (i0, i1, i2), column c, its element for a statement's `shift` is at addr
 * + i0
 * * stride[0] + i1 * stride[1] + i2 * stride[2] + (c + shift) * step, if 0 <= c + shift < width;
 * where it is not, a LOAD gives anything and a STORE does nothing (likewise `most`, of rows).
 */
struct row_operand {
	uint64_t addr;
	int64_t stride[ROW_MAX_DIMS]; /* bytes, of row->ndim dimensions; 0: broadcast. May be
					 negative */
	int64_t step;                 /* bytes between columns; 0: one element for all columns */
	int64_t width;                /* columns it has: usually row->cols; 1 where step is 0 */
	/* Rows that it has in each dimension: the first so many; 0: all. In others, a LOAD gives
	 * anything (but where the stride is 0: the element that all rows share), and a STORE does
	 * nothing. So the k of a rope, with fewer heads, stands beside the q, and what is the same
	 * in all rows is stored by one. */
	int64_t most[ROW_MAX_DIMS];
	/* Only bytes lo .. hi - 1 of it are stored (whole elements; the others will have been
	 * overwritten); 0, 0: all. Loads do not mind. */
	struct range keep;
	/* Nor are these bytes between, nhole of them, in order, apart from each other. */
	struct range hole[ROW_MAX_HOLES];
	uint8_t nhole;
	uint8_t dtype; /* enum dtype */
	uint8_t use;   /* enum row_use */
	/* 2^align bytes divide the address of column 0 of every row (addr and all strides); at most
	 * ROW_MAX_ALIGN. In a program of one dimension and one column, where stride[0] is one
	 * element, that of addr alone: the elements are one run. */
	uint8_t align;
};
enum { ROW_MAX_ALIGN = 5 };

/*
 * An order of additions. The fields of order.def, and: `width`, where block is HALVING: 0, or a
 * power of two that divides threads: the threads' sums are halved within each `width` neighbours
 * (distances width / 2 .. 1), and then across these (distances in them, half their number .. 1). So
 * ATen's reductions go (width is its block_width), and its layer norm (width 32).
 * With fewer than 2^acc accumulators' worth of elements, and for threads without any, sums
 * start from +0, and +0 is added like any other number: that makes -0 + 0 = 0.
 *
 * WELFORD has its own steps in place of additions; each thread takes its elements in the order that
 * walk and vec give, acc and part are 1: element x:  n' = n + 1; d = x - mean; mean' = mean + d *
 * (1 / n'); m2' = m2 + d * (x - mean') joining b onto a (na, nb elements, n = na + nb; nothing
 * happens if n is 0): d = mean_b - mean_a; q = 1 / n; mean = (na * q) * mean_a + (nb * q) * mean_b;
 * m2 = m2_a + m2_b + d * d * na * (nb * q) where 1 / n is RCP or, if fast, RCP_FAST, n an exact
 * f32, products are taken from left to right, and if fma is YES: mean' = fma(d, 1/n', mean), m2' =
 * fma(d, x - mean', m2), mean = fma(na * q, mean_a, (nb * q) * mean_b), m2 = fma(d * d * na, nb *
 * q, m2_a + m2_b). When threads a and b with a < b meet, b is joined onto a.
 */
struct row_order {
#define FIELD(name, bits) uint16_t name;
#define VALUE(field, value, token)
#include "matcher/order.def"
#undef FIELD
#undef VALUE
	uint16_t width;
	uint16_t fast;
};

/* Values as enumerators: ORDER_walk_STRIDED, and so on; the same numbers as in fused/fields.h. */
enum {
#define FIELD(name, bits) ORDER_##name##_start_, ORDER_##name##_reset_ = -1,
#define VALUE(field, value, token) ORDER_##field##_##value,
#include "matcher/order.def"
#undef FIELD
#undef VALUE
};

/*
 * Where all operands are runs without gaps and nothing moves along or is summed up over columns,
 * ndim is 1, cols is 1 and size[0] counts elements: stride[0] is one element or 0 (a scalar), step
 * is 0, width 1. Otherwise columns are the innermost dimension, and neighbouring dimensions are
 * merged where all operands allow it.
 */
struct row {
	uint8_t ndim; /* 1 .. ROW_MAX_DIMS */
	uint8_t nstmt, noperand, nimm, norder, nmember;
	int64_t size[ROW_MAX_DIMS]; /* >= 1; rows are their product */
	int64_t cols;               /* >= 1 */
	struct row_stmt stmt[ROW_MAX_STMTS];
	struct row_operand operand[ROW_MAX_OPERANDS];
	uint64_t imm[ROW_MAX_IMM]; /* f32: its bits in the low half; integers: two's complement */
	struct row_order order[ROW_MAX_ORDERS];
};

/* Names and forms of the rows of row.def. */
const char *row_code_name(enum row_code c);
unsigned row_code_nargs(enum row_code c);
bool row_code_commutes(enum row_code c);
static inline bool row_code_reduces(enum row_code c)
{
	return c >= ROW_SUM;
}

int64_t row_rows(const struct row *r);
/* An operand as a box, broadcast dimensions once. */
struct operand row_operand_box(const struct row *r, const struct row_operand *o);
static inline bool row_operand_kept_whole(const struct row_operand *o)
{
	return !o->keep.hi;
}
/* The runs of bytes that are stored, of one of which not all is kept. Their number. */
unsigned row_operand_kept(const struct row_operand *o, struct range run[ROW_MAX_HOLES + 1]);
/* Do the two stores leave something in the same place? */
bool row_stores_meet(const struct row *r, const struct row_operand *x, const struct row_operand *y);
/* Does every element depend on nothing but the elements in its own place, and does nothing that it
 * stores lie where other columns load? (No reduction, SHIFT, PAIR, CAT or shift; all operands as
 * wide as the row; none that all columns share both read and written.) */
bool row_is_elementwise(const struct row *r);
/* ndim 1 and cols 1, as above. */
bool row_is_flat(const struct row *r);

/* Copies what is valid of a program. */
void row_copy(struct row *to, const struct row *from);

/*
 * Is it a program at all: every index in range, types as row.def has them, values made before they
 * are taken, spans right, live stores not of anything (a value from columns that are not there)?
 * NONE or SHAPE. And does memory allow it: as said on top, or OVERLAP.
 */
enum reason row_check(const struct row *r);

/*
 * For a program whose memory does not allow it as it is: makes those stores late that lie on what
 * is loaded. NONE if that helps, OVERLAP if not.
 */
enum reason row_late(struct row *r); /* r is tidied */
bool row_is_late(const struct row *r);
/* For a canonical program with late stores that has lost some stores: none is late any more, if
 * memory allows that. It is canonical again. */
void row_hurry(struct row *r);
/*
 * A program with late stores as two without, to run one behind the other; both are canonical and
 * pass row_check. What `second` stores it makes from what is in memory when `first` is through: no
 * memory is needed besides. `first` stores nothing where the program loads, so that whoever runs it
 * and cannot run `second` may still run what the program was made of, from the start. Kernels are
 * generated of the two only. NONE, or why it cannot be.
 */
enum reason row_split(const struct row *r, struct row *first, struct row *second);
/* Likewise, but the two are only tidied: for their costs. */
enum reason row_split_roughly(const struct row *r, struct row *first, struct row *second);

/* Works out span of all statements. */
void row_spans(struct row *r);

/*
 * Brings a program into its canonical form: statements without effect and operands without a live
 * use go, equal statements become one, operands, numbers, orders and statements are renumbered in
 * an order that depends on neither the way they were written nor addresses, align is worked out.
 * Programs that mean the same up to the order in which independent statements and the two sides of
 * commuting ones were written come out equal, save addr, size, stride, imm, member (in rare
 * symmetric cases they do not, and are then compiled twice). Code is generated from canonical
 * programs only; its parameters are operands and numbers by index.
 */
void row_canon(struct row *r);

/* Only drops statements without effect and operands without a live use: enough for row_check and
 * row_cost, at a fraction of the price. */
void row_tidy(struct row *r);

/*
 * Hash of everything that generated code may depend on, of a canonical program: statements (without
 * member), types, flags, orders, ndim; of operands dtype, use, align, which strides are 0, step
 * (0, one element, other), whether width is cols, whether all is kept; cols where columns matter
 * (not row_is_elementwise; otherwise only whether it is 1). Not: addr, size[], strides, the numbers
 * imm. Never 0.
 */
uint64_t row_hash(const struct row *r);

/*
 * What running the program takes, in bytes of device memory and in a thread's and a row's means.
 * `read` and `written` count each operand's bytes once (a LOAD of what lies at different shifts,
 * too).
 */
struct row_cost {
	uint64_t read, written; /* by both parts, of a program with late stores */
	unsigned live;          /* the most f32-sized values of one column that are alive at once */
	unsigned stage;  /* bytes a column that must be kept, or read or made again, from before a
			    reduction until after it, counting values of type f32 as 4 */
	unsigned passes; /* over a row: 1 + the longest chain of reductions one behind the other */
	unsigned work;   /* about how many instructions a column */
};
void row_cost(const struct row *r, struct row_cost *c);
/* As if nothing were late. */
void row_cost_at_once(const struct row *r, struct row_cost *c);

/* The program as text, a statement a line, for messages and tests. Returns the length, as snprintf.
 */
int row_print(const struct row *r, char *text, size_t size);

#endif
