/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of graph_random for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/graph_random_kernels.cuh"

SOFTGPU_KERNEL(graph_add)
SOFTGPU_KERNEL(graph_norm)
SOFTGPU_KERNEL(graph_silu)
SOFTGPU_KERNEL(graph_mul)
SOFTGPU_KERNEL(graph_mix)
SOFTGPU_KERNEL(graph_scale)
SOFTGPU_KERNEL(graph_relu)
SOFTGPU_KERNEL(graph_neg)
SOFTGPU_KERNEL(graph_irelu)
SOFTGPU_KERNEL(graph_cast)
SOFTGPU_KERNEL(graph_iadd)
SOFTGPU_KERNEL(graph_imul)
