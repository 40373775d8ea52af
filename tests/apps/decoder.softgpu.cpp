/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder's kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/decoder_kernels.cuh"

SOFTGPU_DYNAMIC_SHARED(shared)
SOFTGPU_KERNEL(embed_kernel)
SOFTGPU_KERNEL(accum_kernel)
SOFTGPU_KERNEL(add_kernel)
SOFTGPU_KERNEL(rmsnorm_kernel)
SOFTGPU_KERNEL(matmul_kernel)
SOFTGPU_KERNEL(rope_kernel)
SOFTGPU_KERNEL(scores_kernel)
SOFTGPU_KERNEL(softmax_kernel)
SOFTGPU_KERNEL(values_kernel)
SOFTGPU_KERNEL(silu_kernel)
SOFTGPU_KERNEL(mul_kernel)
SOFTGPU_KERNEL(argmax_kernel)
SOFTGPU_KERNEL(embed_at_kernel)
SOFTGPU_KERNEL(matmul_at_kernel)
SOFTGPU_KERNEL(rope_at_kernel)
SOFTGPU_KERNEL(scores_at_kernel)
SOFTGPU_KERNEL(softmax_at_kernel)
SOFTGPU_KERNEL(values_at_kernel)
SOFTGPU_KERNEL(argmax_at_kernel)
SOFTGPU_KERNEL(advance_kernel)
