/* SPDX-License-Identifier: Apache-2.0 */
/* The strangers' kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/apps/strangers_kernels.cuh"

SOFTGPU_KERNEL(alpha)
SOFTGPU_KERNEL(beta)
SOFTGPU_KERNEL(gamma_)
SOFTGPU_KERNEL(delta)
SOFTGPU_KERNEL(epsilon)
SOFTGPU_KERNEL(zeta)
SOFTGPU_KERNEL(eta)
SOFTGPU_KERNEL(theta)
SOFTGPU_KERNEL(iota)
SOFTGPU_KERNEL(kappa)
SOFTGPU_KERNEL(less)
SOFTGPU_KERNEL(counting)
SOFTGPU_KERNEL(spilling)
SOFTGPU_KERNEL(limited)
SOFTGPU_KERNEL(gathering)
SOFTGPU_KERNEL(coupled)
SOFTGPU_KERNEL(replacing)
SOFTGPU_KERNEL(wrapped)
SOFTGPU_KERNEL(picking)
SOFTGPU_VARIABLE(calls)
