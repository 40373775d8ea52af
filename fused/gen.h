/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels for row programs (matcher/row.h): CUDA C text for NVRTC, and the launch that runs it.
 *
 * The text follows from what row_hash covers and from the device's shared memory; the same program
 * gives the same text. Addresses, sizes, strides and numbers are parameters, so one image serves
 * every program of that hash. Programs are canonical (row_canon) and have passed row_check.
 */
#ifndef AF_FUSED_GEN_H
#define AF_FUSED_GEN_H

#include <stdio.h>

#include "fused/fused.h"
#include "matcher/row.h"

/* Why there is no kernel for the program; NULL if there is one. Cheap. */
const char *gen_cannot(const struct row *r, const struct fused_device *d);

/*
 * The programs that kernels are made of: one, or two to run one behind the other where stores have
 * to wait (row_split, which says what the first leaves alone). r is canonical. 0, or -1 if it
 * cannot be said in two.
 */
enum { GEN_PARTS = 2 };
struct gen_parts {
	unsigned n;
	struct row row[GEN_PARTS];
};
int gen_split(const struct row *r, struct gen_parts *p);
/* gen_cannot of all parts. */
const char *gen_cannot_parts(const struct row *r, const struct fused_device *d);

/* The whole text for one program, freed by the caller; NULL if there is none, or out of memory. */
char *gen_text(const struct row *r, const struct fused_device *d);

/* In parts, for texts with many programs in them: what comes first, and a program. 0 or -1. */
const char *gen_prelude(void);
int gen_program(FILE *f, const struct row *r, const struct fused_device *d);

enum { GEN_NAME = 40, GEN_KERNELS = 4, GEN_PARAMS = 496 };

/* The kernels that the program's text defines, for whoever loads the image: all want
 * MAX_DYNAMIC_SHARED_SIZE_BYTES set to the device's limit. Their number. */
unsigned gen_kernels(const struct row *r, const struct fused_device *d,
		     char name[GEN_KERNELS][GEN_NAME]);

/* Everything cuLaunchKernel needs, by value: one by-value parameter. */
struct gen_launch {
	char kernel[GEN_NAME];
	unsigned grid[3], block[3], shmem, param_bytes;
	uint64_t params[GEN_PARAMS];
};
/*
 * What launches of one program have in common: made once, then gen_launch_by takes well under a
 * microsecond. Good for every program of the same row_hash on the same device.
 */
struct gen_recipe {
	char kernel[GEN_KERNELS][GEN_NAME];
	struct {
		unsigned threads, shmem;
		unsigned vec, each; /* elements of a chunk, chunks of a thread */
		int64_t rows;       /* of a block; 0: it has chunks */
	} shape[GEN_KERNELS];
	unsigned n; /* kernels: for few rows and, if 2, for many */
	bool flat, partial, some;
};
int gen_prepare(const struct row *r, const struct fused_device *d, struct gen_recipe *p);
void gen_launch_by(const struct gen_recipe *p, const struct row *r, const struct fused_device *d,
		   struct gen_launch *l);

/* Both at once: the launch for these addresses and sizes; which kernel depends on how many rows
 * there are. 0, or -1 if there is none. */
int gen_launch(const struct row *r, const struct fused_device *d, struct gen_launch *l);

#endif
