/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one block of a kernel: its threads, barriers and warps. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_BLOCK_H
#define AF_TESTS_SOFTGPU_DRIVER_BLOCK_H

#include <stdint.h>
#include "tests/softgpu/engine.h"

struct block_launch {
	const struct softgpu_kernel *kernel;
	void *const *params;
	struct softgpu_dim grid, block;
};

/*
 * Runs the block at `where` on the calling thread; its warps start in the order that `random`
 * shuffles. NULL, or what went wrong (a trap, a barrier that can never complete).
 */
const char *block_run(const struct block_launch *l, struct softgpu_dim where, uint64_t random);

/* Did the last block of this thread switch between its threads (barriers, warp operations)? */
bool block_switched();

/* Gives this thread's stacks back; for threads about to end. */
void block_release();

static inline uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

#endif
