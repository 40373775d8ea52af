/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a header of CUDA kernels compile as ordinary C++17 for the software GPU. A companion library
 * is one file:
 *
 *	#include "tests/softgpu/device.h"
 *	#include "my_kernels.cuh"
 *
 *	SOFTGPU_DYNAMIC_SHARED(smem)            // each name declared as extern __shared__ T smem[]
 *	SOFTGPU_KERNEL(add)
 *	SOFTGPU_KERNEL(norm<float, 256>)
 *	SOFTGPU_VARIABLE(counter)               // each __device__ or __constant__ variable
 *
 * built by $(call softgpu_companion, ...) of tests/softgpu/rules.mk. What the device does that the
 * host cannot: cooperative groups, grid-wide barriers, textures, inline PTX, and a thread that
 * spins on memory written by another thread of its own block without calling anything.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_H
#define AF_TESTS_SOFTGPU_DEVICE_H

#if defined(__CUDACC__)
#error "device.h is for the host compiler"
#endif

/* Before the macros below, so that kernels which include these again change nothing. */
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#include "tests/softgpu/device_thread.h"
#include "tests/softgpu/device_warp.h"
#include "tests/softgpu/device_atomic.h"
#include "tests/softgpu/device_bits.h"
#include "tests/softgpu/device_round.h"
#include "tests/softgpu/device_math.h"
#include "tests/softgpu/device_half.h"
#include "tests/softgpu/device_register.h"

#endif
