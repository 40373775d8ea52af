/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of graph_random for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/graph_random_kernels.cuh"

SOFTGPU_KERNEL(graph_add)
SOFTGPU_KERNEL(graph_norm)
SOFTGPU_KERNEL(graph_silu)
SOFTGPU_KERNEL(graph_mul)
SOFTGPU_KERNEL(graph_mix)
