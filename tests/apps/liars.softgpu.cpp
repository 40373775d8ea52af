/* SPDX-License-Identifier: Apache-2.0 */
/* The liars' kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/liars_kernels.cuh"

SOFTGPU_KERNEL(residual_kernel)
SOFTGPU_KERNEL(feed_kernel)
SOFTGPU_KERNEL(rmsnorm_kernel)
SOFTGPU_KERNEL(rmsnorm_sums_kernel)
SOFTGPU_KERNEL(rmsnorm_short_kernel)
SOFTGPU_KERNEL(rmsnorm_counts_kernel)
SOFTGPU_KERNEL(rmsnorm_atomics_kernel)
SOFTGPU_VARIABLE(norm_calls)
