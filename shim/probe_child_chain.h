/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains: what a probe does for groups that are row programs (matcher/row.h). Every member is
 * looked at by itself, in a struct probe of its own with one member, rows as the member has them
 * and an arena of its own (`solo`): its kernel writes all that it computes. What its op can be in
 * any spelling and order is run as data (fused/gen_eval.h) against what its kernel left. The chain
 * with the picks that were found is compiled and put in the members' place.
 */
#ifndef AF_SHIM_PROBE_CHILD_CHAIN_H
#define AF_SHIM_PROBE_CHILD_CHAIN_H

#include "fused/gen.h"
#include "fused/gen_eval.h"
#include "shim/probe_child.h"
#include "shim/probe_child_inputs.h"

/* What all members of a chain share; where a pattern's group may have a generated kernel, that. */
struct probe_tools {
	char *places;         /* where NVRTC is looked for, lines of shim/compile.h */
	uint64_t image_bytes; /* that the images on disk may take */
	struct nvrtc *nvrtc;
	CUfunction eval, floats;
	bool eval_made;     /* by NVRTC, not with the command */
	struct fields hint; /* a norm's spelling that rows of 16 bits shall be hard for */
	/* The chain with its picks, or the winner, where the arena has its operands: launched one
	 * behind the other. */
	unsigned nkernel;
	struct probe_kernel {
		CUmodule module;
		uint64_t hash; /* of a chain's: the program that the module is of */
		CUfunction function;
		struct gen_launch launch;
	} kernel[GEN_PARTS];
	uint64_t hash; /* of a pattern's: the program that the module is of; 0: there is none */
	/* Members whose pick the parent knows: nothing is searched for. */
	bool known[GROUP_MAX_MEMBERS];
};

/* Loads NVRTC. */
bool probe_compiler(struct probe *p);
/* Text to a module, from the images on disk or by NVRTC, in this process. */
bool probe_compile(struct probe *p, const char *name, const char *text, CUmodule *module);

/* Garbage everywhere, then what the members read: of that family. Equal numbers give equal inputs.
 */
void probe_chain_fill(const struct probe *p, enum probe_family f, uint64_t number, uint64_t garbage,
		      char *image);
/* The operands of one member (probe_child_chain_rows.c: of ops that work along rows). */
void probe_chain_fill_op(const struct probe *p, const struct probe_member *m, enum probe_family f,
			 uint64_t number, char *image);
void probe_chain_fill_row_op(const struct probe *p, const struct probe_member *m,
			     enum probe_family f, uint64_t number, char *image);
/* Where element i of an operand is in a host image; i counts the elements that there are (broadcast
 * dimensions once), the last dimension fastest. */
char *probe_chain_element(const struct probe *p, const struct operand *o, void *image, int64_t i);
int64_t probe_chain_elements(const struct operand *o);
/* Marks the bytes that members write. */
void probe_chain_written(const struct probe *p, bool *map);

/*
 * What a member's op can be: spellings that are not the same program, orders that are not the same
 * tree. norder is 1 where the op adds nothing up.
 */
struct pick_space {
	const struct op *op;
	unsigned nspelling, norder,
		nwelford; /* orders from nwelford on are for WELFORD spellings */
	struct row_spelling *spelling;
	struct eval_program *program;
	struct eval_order *order;
	bool data; /* the programs can be run as data */
};
bool pick_space_open(struct probe *p, struct pick_space *s);
void pick_space_close(struct pick_space *s);
static inline bool pick_welford(const struct pick_space *s, unsigned spelling)
{
	return s->spelling[spelling].variance == PICK_variance_WELFORD;
}
struct row_pick pick_of(const struct pick_space *s, uint32_t pair);
/* Are two picks (a spelling's number, an order's << 16) the same arithmetic? */
bool pick_same(const struct pick_space *s, uint32_t a, uint32_t b);
/* Do they differ in nothing but how Welford's steps divide by a count? The counts are those of the
 * row's length, whatever the row holds: what does not tell them apart in many rows never does. */
bool pick_same_counts(const struct pick_space *s, uint32_t a, uint32_t b);

/* The device's side: programs and orders as data, the inputs as they were. */
struct pick_bench {
	CUdeviceptr program, order, pair, differ, inputs;
	unsigned room;      /* pairs */
	int64_t rows, cols; /* as the programs have them */
	char *image;
};
bool pick_bench_open(struct probe *p, struct pick_bench *b, const struct pick_space *s);
void pick_bench_close(struct probe *p, struct pick_bench *b);
/* Nothing fits: that may be since the functions of the CUDA library are those of another version
 * than NVRTC's. True: they are NVRTC's from now on. */
bool pick_bench_made(struct probe *p);
/* Runs the member on inputs of that family. */
bool pick_bench_reference(struct probe *p, struct pick_bench *b, enum probe_family f,
			  uint64_t number);
/* Keeps the pairs that make of the first `rows` rows what the member made of them; 0: of all. */
bool pick_bench_filter(struct probe *p, struct pick_bench *b, int64_t rows, uint32_t *pair,
		       unsigned *n);

/* In parts: pairs to the device, with nothing counted; the first `rows` rows of what the member
 * left, queued; how many elements differed in all that was queued. */
bool pick_bench_pairs(struct probe *p, struct pick_bench *b, const uint32_t *pair, unsigned n);
bool pick_bench_queue(struct probe *p, struct pick_bench *b, int64_t rows, unsigned n);
bool pick_bench_counts(struct probe *p, struct pick_bench *b, uint32_t *differ, unsigned n);
/* Queues n floats from the one with these bits on, each `step` one. */
bool pick_bench_floats(struct probe *p, CUdeviceptr to, int64_t n, uint32_t first, uint32_t step);
/*
 * Every float there is through an op that reads one (probe_child_pick_sweep.c); on the software
 * GPU, and where that would take too many launches, some from all over. Drops pairs that differ for
 * one. *whole: it was all. The space and the bench may be others afterwards, for the same pairs.
 */
bool pick_sweep(struct probe *p, struct pick_bench *b, struct pick_space *s, uint32_t *pair,
		unsigned *n, bool *whole);

/* The pick of the one member of p, into p->pick[0]. */
bool pick_search(struct probe *p);
/* Fills in what the members of the asked chain are together. */
bool probe_chain_ask(struct probe *p);
/* The picks as text, joined by '+'. The length, or -1 if it does not fit. */
int probe_chain_name(const struct probe *p, char *text, size_t size);
bool probe_chain_parse(struct probe *p, const char *text);
/* All of it: p->pick, or p->why. */
void probe_chain(struct probe *p);
/* The kernel (or two) of the whole chain with its picks; queues it. */
bool probe_chain_build(struct probe *p);
bool probe_chain_launch(struct probe *p);
/* In the members' place: every byte of the arena, on every family. */
bool probe_chain_confirm(struct probe *p);

#endif
