/* SPDX-License-Identifier: Apache-2.0 */
/* The crossings program's kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/crossings_kernels.cuh"

SOFTGPU_KERNEL(add_rows)
SOFTGPU_KERNEL(add_step)
SOFTGPU_KERNEL(rms_norm)
SOFTGPU_KERNEL(rms_norm_wide)
SOFTGPU_KERNEL(scale_all)
SOFTGPU_KERNEL(watch)
