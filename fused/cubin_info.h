/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes in the .nv.info sections of a cubin. */
#ifndef AF_FUSED_CUBIN_INFO_H
#define AF_FUSED_CUBIN_INFO_H

#include "fused/cubin.h"

/* Of .nv.info, which is about the whole module: registers of each function by symbol index.
 * registers[] has nsymbol places. */
void cubin_info_registers(const void *info, size_t bytes, int *registers, size_t nsymbol);

/*
 * Of .nv.info.KERNEL: the kernel's parameters, in order, into param[CODE_MAX_PARAMS]. Their number,
 * or -1 if they do not hang together.
 */
int cubin_info_params(const void *info, size_t bytes, struct code_param *param);

#endif
