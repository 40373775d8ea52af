/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that choose launches share. */
#ifndef AF_FUSED_LAUNCH_H
#define AF_FUSED_LAUNCH_H

#include "fused/candidate.h"

/* Index in fused_kernels[]. */
enum {
#define ADD_RMSNORM(name, type, layout, ftz, move) KERNEL_##name,
#define ADD_RMSNORM_ROW(name, type, ftz, threads, chunks, ahead, usual) KERNEL_##name,
#define SILU_MUL(name, type, ftz, dense) KERNEL_##name,
#define COMPARE(name, type) KERNEL_##name,
#define PUBLISH(name) KERNEL_##name,
#define SWEEP(name) KERNEL_##name,
#include "fused/kernels.def"
};

void launch_kernel(struct fused_launch *out, unsigned index, const void *args, size_t bytes);
/* A grid of one dimension; kernels step over what is left if there are more blocks than fit. */
void launch_shape(struct fused_launch *out, int64_t blocks, unsigned threads, unsigned shmem);
/* The widest access up to 16 bytes that every row's start allows. */
uint8_t launch_width(uint64_t addr, int64_t pitch);

/* fused_launch for groups of silu_mul. */
int launch_silu_mul(const struct group *g, const struct candidate *c, struct fused_launch *out);

#endif
