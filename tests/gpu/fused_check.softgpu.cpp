/* SPDX-License-Identifier: Apache-2.0 */
/* The reference kernels for the software GPU. */
#include "tests/softgpu/device.h"
#include "tests/gpu/reference.h"

#define REF(name) ref_ieee_##name
#define REF_FTZ 0
#include "tests/gpu/reference.cuh"
#include "tests/gpu/reference_silu.cuh"
#undef REF
#undef REF_FTZ

#define REF(name) ref_ftz_##name
#define REF_FTZ 1
#include "tests/gpu/reference.cuh"
#include "tests/gpu/reference_silu.cuh"

SOFTGPU_KERNEL(ref_ieee_reference)
SOFTGPU_KERNEL(ref_ftz_reference)
SOFTGPU_KERNEL(ref_ieee_silu)
SOFTGPU_KERNEL(ref_ftz_silu)
