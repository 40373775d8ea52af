/* SPDX-License-Identifier: Apache-2.0 */
/* The chain program's kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/chain_kernels.cuh"

SOFTGPU_KERNEL(chain_add<float>)
SOFTGPU_KERNEL(chain_add<bf16>)
SOFTGPU_KERNEL(chain_scale<float>)
SOFTGPU_KERNEL(chain_scale<bf16>)
