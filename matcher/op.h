/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The op: what one launch computes on which memory. Decoders make ops, everything behind them
 * (patterns, legality, verdict keys, the fused kernels) reads ops and never a kernel's name.
 */
#ifndef AF_MATCHER_OP_H
#define AF_MATCHER_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
	DT_NONE,
#define DTYPE(name, bytes) DT_##name,
#include "matcher/dtype.def"
#undef DTYPE
	DT_COUNT
};

enum opcode {
#define OPCODE(name, space, formula, operands) OP_##name,
#include "matcher/opcode.def"
#undef OPCODE
	OP_COUNT
};
_Static_assert(OP_COUNT <= 64, "sets of opcodes are 64 bits");

enum role {
	ROLE_NONE,
#define ROLE(name, kind) ROLE_##name,
#include "matcher/role.def"
#undef ROLE
	ROLE_COUNT,
	ROLE_SHAPE = ROLE_COUNT /* of slots only, see there */
};

enum role_kind { ROLE_KIND_NONE, ROLE_KIND_OPERAND, ROLE_KIND_EXTENT, ROLE_KIND_SCALAR };

enum {
	OP_MAX_DIMS = 4,
	OP_MAX_OPERANDS = 8,
	OP_MAX_SLOTS = 24,
	OP_MAX_SCALARS = 2,
};

enum access { ACCESS_READ = 1, ACCESS_WRITE = 2 };

/*
 * An operand is a strided box of elements. size[] counts elements, stride[] counts bytes between
 * neighbours, both outermost dimension first; ndim of them are valid, ndim >= 1. A stride of 0
 * broadcasts. Sizes are >= 0; an operand with a size of 0 touches nothing.
 */
struct operand {
	uint64_t addr; /* device address of the element with all indices 0 */
	int64_t size[OP_MAX_DIMS];
	int64_t stride[OP_MAX_DIMS];
	uint8_t ndim;
	uint8_t dtype;  /* enum dtype */
	uint8_t role;   /* enum role, of kind OPERAND */
	uint8_t access; /* enum access; an in-place operand is two operands at one address */
};

/*
 * Where a role sits in the launch's packed parameter bytes. Verdict keys mask OPERAND and EXTENT
 * slots, probes and snapshots write other addresses and extents there. An operand that a launch
 * does without (NULL) has no slot: its absence is a constant. Slots of role NONE are bytes that
 * mean nothing (padding, entries not in use): the decoder says the same whatever is there. Keys
 * mask them, too, and those of role SHAPE: sizes and strides in a form of the kernel's own, all of
 * which the decoder has read, and said in operands, rows and cols.
 */
struct slot {
	uint16_t offset; /* bytes */
	uint16_t bytes;  /* 4 or 8; of roles NONE and SHAPE any number */
	uint8_t role;    /* enum role */
};

/* How a reduction's elements come to be added up, as a decoder knows it: aten_reduce.h. width 0:
 * not known. */
struct op_order {
	uint16_t width, height; /* threads of a block */
	uint16_t vt;            /* accumulators of a thread */
	uint8_t vector;         /* elements loaded at once, or 0 */
	bool along_x, along_y;
	uint32_t blocks; /* of the grid that share a row */
	uint32_t mult[3], step;
};

/*
 * rows x cols is the index space of a row op (a reduction runs along cols); an elementwise op has
 * rows = 1 and cols = its element count, and every operand of it has the sizes of out, with a
 * stride of 0 where it is broadcast. The operands are all the memory the launch touches, as far as
 * the decoder knows; `vetted` says that something better than the decoder's word stands behind that
 * (a known family, or a probe), which crossing the op takes.
 */
struct op {
	enum opcode code;
	bool vetted;
	uint8_t noperand, nslot;
	int64_t rows, cols;
	double eps; /* of a norm; valid if has_eps. Value as the kernel computes it in float. */
	bool has_eps;
	bool plus_one; /* a norm multiplies by 1 + weight */
	/*
	 * Numbers that the formula uses, as the kernel uses them, nscalar of them. add and sub: out
	 * = in0 + scalar0 * in1 (1 without). Where in1 is absent (or in0, its left side), scalar0
	 * stands for it, in add and sub times scalar1. scale: out = in0 * scalar0 + scalar1. fill:
	 * out = scalar0. arange: scalar0 + i * scalar1. mean: sum * scalar0 (1 / cols without).
	 */
	uint8_t nscalar;
	uint8_t compute; /* enum dtype of the arithmetic; DT_NONE: not known */
	double scalar[OP_MAX_SCALARS];
	struct op_order order;
	struct operand operand[OP_MAX_OPERANDS];
	struct slot slot[OP_MAX_SLOTS];
};

/* Names of the tables above; "?" for values out of range. The *_parse functions return the 0 row
 * (NONE, or -1 for opcodes) where no row has that name. */
const char *dtype_name(enum dtype t);
enum dtype dtype_parse(const char *name);
unsigned dtype_bytes(enum dtype t); /* 0 for DT_NONE */
const char *opcode_name(enum opcode c);
int opcode_parse(const char *name); /* enum opcode, or -1 */
const char *role_name(enum role r);
enum role role_parse(const char *name);
enum role_kind role_kind(enum role r);

/* The operand of that role, or NULL. */
const struct operand *op_operand(const struct op *op, enum role role);

/* Fills o as a dense row-major rows x cols box (ndim 2), or a 1-d box of cols elements if rows is
 * 0. */
void operand_dense(struct operand *o, enum role role, enum access access, enum dtype t,
		   uint64_t addr, int64_t rows, int64_t cols);

/*
 * Views an operand as rows x cols with dense rows: true if the box, read in index order, is rows
 * rows of cols adjacent elements whose starts are *pitch bytes apart. A 1-d dense box of rows*cols
 * elements is such a view for any rows. A broadcast row (the same cols elements for every row)
 * has pitch 0.
 */
bool operand_rows(const struct operand *o, int64_t rows, int64_t cols, int64_t *pitch);

/* Half-open byte range that holds every element of the operand; lo == hi when it is empty. */
struct range {
	uint64_t lo, hi;
};
struct range operand_range(const struct operand *o);
static inline bool range_overlap(struct range a, struct range b)
{
	return a.lo < b.hi && b.lo < a.hi;
}

/* May the boxes share a byte? True in doubt; exact for boxes of rows at one pitch (the two halves
 * of one table do not overlap). */
bool operand_overlap(const struct operand *a, const struct operand *b);
/* Do the boxes list the same elements, in the same order and of the same type? */
bool operand_same(const struct operand *a, const struct operand *b);
/* Is every byte of r an element's? True only for boxes without gaps. */
bool operand_covers(const struct operand *o, struct range r);
/* The box as n runs of `run` adjacent bytes, `pitch` bytes apart (0: a single run). False if it
 * cannot be seen so. Not for empty boxes. */
bool operand_runs(const struct operand *o, int64_t *run, int64_t *pitch, int64_t *n);
/* Bytes of memory behind the box; a broadcast dimension counts once. */
uint64_t operand_bytes(const struct operand *o);

/* Copies what is valid of an op, which is far less than sizeof. */
void op_copy(struct op *to, const struct op *from);
/* Do they say the same, of the same memory and the same bytes? */
bool op_same(const struct op *a, const struct op *b);

#endif
