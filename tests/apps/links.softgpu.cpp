/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of links for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/links_kernels.cuh"

SOFTGPU_KERNEL(links_add)
SOFTGPU_KERNEL(links_mul)
SOFTGPU_KERNEL(links_sub)
SOFTGPU_KERNEL(links_bias)
SOFTGPU_KERNEL(links_swap)
SOFTGPU_KERNEL(links_neg)
SOFTGPU_KERNEL(links_fill)
SOFTGPU_KERNEL(links_round)
SOFTGPU_KERNEL(links_silu)
SOFTGPU_KERNEL(links_gate)
SOFTGPU_KERNEL(links_stranger)
SOFTGPU_KERNEL(links_liar)
