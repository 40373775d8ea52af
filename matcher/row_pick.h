/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open choices of an op: hand-written kernels do not say how they spell a formula, in what
 * order they add up, or with which flags they were compiled. A pick settles all of that for one op;
 * the picks that an op can have are the candidates among which probing finds the program's own.
 * Each member of a chain has its own pick, and is probed by itself: its kernel writes what it
 * computes.
 */
#ifndef AF_MATCHER_ROW_PICK_H
#define AF_MATCHER_ROW_PICK_H

#include "matcher/launch.h"
#include "matcher/row.h"

struct row_spelling {
#define FIELD(name, bits) uint16_t name;
#define VALUE(field, value, token)
#include "matcher/row_pick.def"
#undef FIELD
#undef VALUE
};

/* Values as enumerators: PICK_div_RCP, and so on. */
enum {
#define FIELD(name, bits) PICK_##name##_start_, PICK_##name##_reset_ = -1,
#define VALUE(field, value, token) PICK_##field##_##value,
#include "matcher/row_pick.def"
#undef FIELD
#undef VALUE
};

struct row_pick {
	struct row_order order; /* of its reductions; all 0 where it has none */
	struct row_spelling spelling;
};

/* A pick as one number, and as a name for people and caches: "t256.desc.firstdesc/ftz.divfast",
 * "plain" where all is as usual. unpack and parse: 0, or -1 if it is none. */
uint64_t row_pick_pack(const struct row_pick *p);
int row_pick_unpack(uint64_t number, struct row_pick *p);
enum { ROW_PICK_NAME_MAX = 160 };
void row_pick_name(const struct row_pick *p, char *name /* ROW_PICK_NAME_MAX */);
int row_pick_parse(const char *name, struct row_pick *p);

/* For each field of a spelling, in order, the values that this op can have, one bit each; only 1
 * where the field does not matter. */
enum {
#define FIELD(name, bits) PICK_FIELD_##name,
#define VALUE(field, value, token)
#include "matcher/row_pick.def"
#undef FIELD
#undef VALUE
	PICK_FIELDS
};
void row_pick_space(const struct op *op, uint16_t values[PICK_FIELDS]);
/* The number of spellings that makes, and the one with that number: 0 has the usual value of every
 * field. */
unsigned row_pick_count(const struct op *op);
void row_pick_spelling(const struct op *op, unsigned number, struct row_spelling *s);

/* Does the op add up along its rows, so that its pick needs an order? */
bool row_pick_reduces(const struct op *op);
/* The order of a hand-written kernel with a block of `threads` for a row: strided, warps by
 * shuffles, the warps' sums by the first warp. One guess of many: fused/candidate.h has the others.
 */
struct row_order row_order_usual(unsigned threads);
/* The order of ATen's reductions of contiguous f32, f16 or bf16 rows where cols is a multiple of 4
 * and the data is aligned. False where it is not known. */
bool row_order_aten(int64_t rows, int64_t cols, struct row_order *o);

/*
 * The pick of a launch's op as far as that can be told from the launch. True: it is the kernel's,
 * as there is no other, or as the family that the kernel belongs to is known to have no other.
 * False: it is the likeliest one, and a probe has to find out.
 */
bool row_pick_known(const struct op *op, const struct launch *l, struct row_pick *p);

/* Are PyTorch's kernels those of a release whose order of additions is known, 2.11 (measured) or a
 * later one? Before 2.10 it was another under the same names and parameters. */
extern bool row_pick_torch;

#endif
