/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in for a group in one context: the launch of one of our kernels, be it one that came
 * with the library (a pattern's) or one that was generated (a chain's, or a pattern's where that is
 * faster); of a chain with stores that have to wait (row_split) two launches, one behind the other.
 * Whoever sends our kernels, on a stream or as nodes of a graph, in a group's place or beside it
 * for a check, has them from here.
 *
 * Two launches are one thing: both images are there or neither is used, they are checked together
 * and have one verdict. The first leaves alone what the group reads; where the second cannot be
 * launched, the program's own launches go out behind the first and leave what they would have left.
 */
#ifndef AF_SHIM_STANDIN_H
#define AF_SHIM_STANDIN_H

#include "fused/gen.h"
#include "shim/verdict.h"

enum { STANDIN_PARAMS = GEN_PARTS * GEN_PARAMS * 8 }; /* bytes */

struct standin_kernel {
	CUfunction function; /* of the context it was made for; all modules stay until that goes */
	unsigned grid[3], block[3], shmem;
	unsigned at; /* its one by-value parameter, in params */
};

struct standin {
	unsigned n;
	struct standin_kernel kernel[GEN_PARTS]; /* in the order they are launched in */
	/* Of a pattern's group: it was generated; a generated one will come in its place. */
	bool generated, provisional;
	unsigned param_bytes; /* of all */
	_Alignas(16) unsigned char params[STANDIN_PARAMS];
};

/*
 * The launch that leaves the group's outputs as its members would have, by the verdict (CHECKING or
 * USABLE). Writes slots (group_slots) with BOUND_WRITE only: for a chain with `dropped` slots that
 * is another kernel, which is asked for here.
 */
enum standin_answer {
	STANDIN_MADE,
	STANDIN_LATER, /* its image is not there yet: it is being compiled or loaded */
	STANDIN_NEVER, /* there is no kernel for it */
};
enum standin_answer standin_make(const struct group *g, const struct verdict *v,
				 const struct ours *o, struct standin *to);

/*
 * The row program that stands for a chain's group: with the verdict's picks, without the stores of
 * `dropped` slots. 0, or -1 if there is none. Its operands are the group's slots by address, but
 * not by number. standin_parts says it in as many programs as it has kernels; standin_of_parts is
 * their launch, also when they have been moved to other addresses of the same alignment, or to
 * fewer rows.
 */
int standin_row(const struct group *g, const struct verdict *v, struct row *to);
int standin_parts(const struct group *g, const struct verdict *v, struct gen_parts *to);
enum standin_answer standin_of_parts(const struct gen_parts *p, const struct group *g,
				     const struct verdict *v, const struct ours *o,
				     struct standin *to);
/* Are the kernels of a chain's verdict there, all of them? */
enum standin_answer standin_there(const struct verdict *v, const struct ours *o);

/* The same for a part of a group that has so many rows, as checks run it. */
enum standin_answer standin_make_part(const struct group *g, int64_t rows, const struct verdict *v,
				      const struct ours *o, struct standin *to);

/* Nothing yet; and one more, generated, behind what there is. */
void standin_begin(struct standin *to);
void standin_add(struct standin *to, CUfunction f, const struct gen_launch *l);
/* A launch of the library's own image (compare, publish, ...). False: the context has none. */
bool standin_ours(const struct fused_launch *l, const struct ours *o, struct standin *to);

/* Launches it; its context is current. After a failure the group's own launches may be sent. */
CUresult standin_send(const struct standin *s, CUstream stream);
/* Kernel k as a node's parameters; params: room for one pointer, both are needed as long as *p is.
 */
void standin_node(const struct standin *s, unsigned k, const struct ours *o,
		  CUDA_KERNEL_NODE_PARAMS *p, void **params);

#endif
