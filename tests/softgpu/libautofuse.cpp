/* SPDX-License-Identifier: Apache-2.0 */
/* Our kernels for the software GPU. */
#include "fused/kernels.cuh"

SOFTGPU_DYNAMIC_SHARED(af_shared)
#define ADD_RMSNORM(name, type, layout, ftz, move) SOFTGPU_KERNEL(name)
#define ADD_RMSNORM_ROW(name, type, ftz, threads, chunks, ahead, usual) SOFTGPU_KERNEL(name)
#define SILU_MUL(name, type, ftz, dense) SOFTGPU_KERNEL(name)
#define COMPARE(name, type) SOFTGPU_KERNEL(name)
#define PUBLISH(name) SOFTGPU_KERNEL(name)
#define SWEEP(name) SOFTGPU_KERNEL(name)
#include "fused/kernels.def"

#include "fused/eval.cu"
