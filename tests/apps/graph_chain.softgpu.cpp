/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of graph_chain for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/graph_chain_kernels.cuh"

SOFTGPU_KERNEL(chain_iadd)
SOFTGPU_KERNEL(chain_imul)
SOFTGPU_KERNEL(chain_fadd)
SOFTGPU_KERNEL(chain_fmul)
SOFTGPU_KERNEL(chain_fscale)
SOFTGPU_KERNEL(chain_imix)
SOFTGPU_KERNEL(chain_fmix)
