/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inferring a signature: what is known of an unknown kernel before anything is guessed, what can be
 * guessed, and how a guess is written as a [kernel] section. Plain data; no driver here.
 */
#ifndef AF_SHIM_PROBE_CHILD_INFER_H
#define AF_SHIM_PROBE_CHILD_INFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matcher/op.h"

enum {
	INFER_ARGS = 16,
	INFER_USES = 3,    /* arguments that a size may be made of */
	INFER_SPACES = 64, /* ways to say the sizes of one launch */
	INFER_TEXT = 1024, /* a section */
};

struct infer_arg {
	uint32_t offset, bytes;
	bool pointer;  /* into memory that was allocated when it was launched */
	int64_t value; /* of another one of 4 or 8 bytes: as an integer */
};

struct infer_facts {
	unsigned narg;
	struct infer_arg arg[INFER_ARGS];
	uint32_t grid[3], block[3];
	unsigned out;          /* the argument behind which it writes */
	uint64_t extent;       /* bytes from there on, without a gap */
	bool read[INFER_ARGS]; /* what lies behind changes what is written */
};

/*
 * One way to say how large the operands are: roles or names of arguments, and keys that use them.
 * `grid` and `block` are the dimensions (bits) that the sizes grow with.
 */
struct infer_space {
	int64_t rows, cols; /* an elementwise kernel's elements are its cols */
	unsigned nuse;
	struct {
		uint8_t arg;
		char word[8];
	} use[INFER_USES];
	char keys[96]; /* lines */
	uint8_t grid, block;
	bool one; /* one row, whatever the grid */
};

/* Ways to say that the launch works on n elements, or on rows of n elements in all; the most
 * specific come first. Returns how many, at most INFER_SPACES. */
unsigned infer_spaces_elements(const struct infer_facts *f, int64_t n, struct infer_space *s);
unsigned infer_spaces_rows(const struct infer_facts *f, int64_t n, struct infer_space *s);

struct infer_guess {
	enum opcode code;
	enum dtype type;
	uint8_t role[INFER_ARGS];   /* enum role of a pointer, else ROLE_NONE */
	uint8_t dtypes[INFER_ARGS]; /* where it is not `type`, else DT_NONE */
	bool inout;                 /* the output is in0, too */
	bool plus_one;
	struct infer_space space;
	bool pinned[INFER_ARGS]; /* the size holds for this value only */
	bool free[INFER_ARGS];   /* a number without a role that may have any value */
	int eps_arg;             /* argument that holds it, or -1 */
	double eps;              /* as far as is known, else 0 */
	bool eps_known;          /* a constant of the code, to be written down */
};

/* The parameter as a real number: true if it is one beyond doubt (small integers are none). */
bool infer_real(const struct infer_arg *a, const uint8_t *params, double *v);
void infer_set_real(const struct infer_arg *a, uint8_t *params, double v);

/* Writes the lines behind the section's own and behind `match`. False if they do not fit. */
bool infer_section(const struct infer_facts *f, const struct infer_guess *g, const uint8_t *params,
		   char *text, size_t size);

/* Spans of bytes that runs changed. */
struct infer_span {
	uint64_t from, to; /* first byte, and behind the last */
	bool gap;          /* not all between was changed */
};

/*
 * Adds what a run changed to a span. Bytes are looked at in pairs: the halves of numbers that are
 * written seldom stay the same, both of a pair in several runs hardly ever. seen: a byte for each
 * pair, kept from run to run.
 */
void infer_span_add(struct infer_span *s, uint8_t *seen, const char *before, const char *after,
		    uint64_t bytes);
/* After all runs. */
void infer_span_close(struct infer_span *s, const uint8_t *seen, uint64_t bytes);

#endif
