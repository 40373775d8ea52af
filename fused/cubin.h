/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a cubin, as its symbol table and attribute sections tell them. Nothing is trusted.
 */
#ifndef AF_FUSED_CUBIN_H
#define AF_FUSED_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_MAX_PARAMS = 4096 };

/* One parameter of a kernel. */
struct code_param {
	uint32_t offset, bytes; /* in the packed parameter buffer */
	bool pointer;           /* known to be one; false says nothing */
};

/* One __global__ function, good during the call that hands it out. */
struct code_kernel {
	const char *name; /* mangled */
	/* False: the code does not say what its parameters are; nparam is then 0. */
	bool params_known;
	uint32_t nparam;
	const struct code_param *param;
	int registers; /* a thread's; -1 if not said */
	int shared;    /* bytes of a block's static shared memory; -1 if not said */
};

/* Compute capability * 10 that an ELF image is for, 0 if it is no cubin. */
unsigned cubin_arch(const void *code, size_t bytes);

/* Calls fn for each kernel that the cubin defines. The number of kernels, or -1 if it is no cubin.
 */
int cubin_each(const void *code, size_t bytes,
	       void (*fn)(void *arg, const struct code_kernel *kernel), void *arg);

#endif
