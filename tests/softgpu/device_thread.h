/* SPDX-License-Identifier: Apache-2.0 */
/* Device keywords, built-in variables, barriers and fences. Part of device.h. */
#ifndef AF_TESTS_SOFTGPU_DEVICE_THREAD_H
#define AF_TESTS_SOFTGPU_DEVICE_THREAD_H

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "tests/softgpu/engine.h"

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __cluster_dims__
#undef __maxnreg__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(n)
/*
 * Shared memory belongs to the operating system thread that runs the block. thread_local alone, as
 * it implies static in a function and yet goes with extern for dynamic shared memory.
 */
#define __shared__ thread_local

#define threadIdx (softgpu_here.thread)
#define blockIdx (softgpu_here.block)
#define blockDim (softgpu_here.block_dim)
#define gridDim (softgpu_here.grid_dim)
#define warpSize 32

static inline void __syncthreads()
{
	softgpu_block_sync(SOFTGPU_SYNC, 0);
}
static inline int __syncthreads_count(int predicate)
{
	return softgpu_block_sync(SOFTGPU_COUNT, predicate);
}
static inline int __syncthreads_and(int predicate)
{
	return softgpu_block_sync(SOFTGPU_AND, predicate);
}
static inline int __syncthreads_or(int predicate)
{
	return softgpu_block_sync(SOFTGPU_OR, predicate);
}

static inline void __threadfence_block()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_system()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void __nanosleep(unsigned)
{
	softgpu_yield();
}
[[noreturn]] static inline void __trap()
{
	softgpu_trap("__trap");
}
static inline long long clock64()
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static inline clock_t softgpu_clock()
{
	return static_cast<clock_t>(clock64());
}
#define clock softgpu_clock
static inline unsigned long long globaltimer()
{
	return static_cast<unsigned long long>(clock64());
}

#endif
