/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a PTX text. */
#ifndef AF_FUSED_PTX_H
#define AF_FUSED_PTX_H

#include "fused/cubin.h"

/* Calls fn for each .entry; registers and shared memory are not known before it is compiled. The
 * number of kernels, or -1 if memory runs out. text ends with a zero byte. */
int ptx_each(const char *text, void (*fn)(void *arg, const struct code_kernel *kernel), void *arg);

/* Compute capability * 10 of the .target line, 0 if there is none; *variant as in fatbin_code. */
unsigned ptx_arch(const char *text, char *variant);

#endif
