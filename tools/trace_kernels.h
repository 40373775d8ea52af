/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a trace: one record per name, image and parameter layout. */
#ifndef AF_TOOLS_TRACE_KERNELS_H
#define AF_TOOLS_TRACE_KERNELS_H

#include "matcher/launch.h"

struct trace_kernels;

struct trace_kernels *trace_kernels_new(void);
/* The record, made and decoded on first sight; NULL if out of memory. */
const struct kernel *trace_kernel(struct trace_kernels *t, const char *name,
				  const uint64_t image[2], const struct param *param,
				  uint32_t nparam, uint32_t param_bytes);
void trace_kernels_free(struct trace_kernels *t);

#endif
