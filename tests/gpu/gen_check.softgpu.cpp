/* SPDX-License-Identifier: Apache-2.0 */
/* The reference for the software GPU; generated kernels come from its NVRTC. */
#include "tests/gpu/row_reference.cuh"

SOFTGPU_KERNEL(row_reference)
