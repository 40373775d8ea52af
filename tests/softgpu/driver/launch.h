/* SPDX-License-Identifier: Apache-2.0 */
/* From a launch call to work. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_LAUNCH_H
#define AF_TESTS_SOFTGPU_DRIVER_LAUNCH_H

#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/stream.h"

enum { SOFTGPU_MULTIPROCESSORS = 4 };

struct launch_shape {
	struct softgpu_dim grid, block;
	unsigned shared_bytes;
};

/*
 * Checks a launch in a context as the driver does and copies its parameters. f: CUfunction of that
 * context, or CUkernel cast to it. NULL, and *why.
 */
std::shared_ptr<struct kernel_work> launch_make(struct context *ctx, CUfunction f,
						const struct launch_shape *shape, void **params,
						void **extra, const CUlaunchAttribute *attributes,
						unsigned nattribute, CUresult *why);

/* Blocks of that many threads which a multiprocessor can hold at once. */
int launch_occupancy(const struct softgpu_kernel *k, unsigned threads, size_t shared_bytes);

#endif
