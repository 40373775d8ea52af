/* SPDX-License-Identifier: Apache-2.0 */
/* The breaks program's kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/breaks_kernels.cuh"

SOFTGPU_KERNEL(accum)
SOFTGPU_KERNEL(copy_row)
SOFTGPU_KERNEL(rmsnorm)
SOFTGPU_KERNEL(rmsnorm_plus_one)
SOFTGPU_KERNEL(silu)
SOFTGPU_KERNEL(mul)
SOFTGPU_KERNEL(project)
