/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the image, from kernels.def. One by-value struct is each one's only parameter. */
#ifndef AF_FUSED_KERNELS_CUH
#define AF_FUSED_KERNELS_CUH

#include "fused/add_rmsnorm.cuh"
#include "fused/check.cuh"
#include "fused/row.cuh"
#include "fused/silu_mul.cuh"

#define ADD_RMSNORM(name, type, layout, ftz, move)                                                     \
	extern "C" __global__ void __launch_bounds__(ADD_RMSNORM_THREADS) name(const __grid_constant__ add_rmsnorm_args p) \
	{                                                                                        \
		af::add_rmsnorm<af::type, ftz, layout, af::move>(p);                                       \
	}
#define ADD_RMSNORM_ROW(name, type, ftz, threads, chunks, blocks, usual)                                      \
	extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ add_rmsnorm_args p) \
	{                                                                                        \
		af::held_row<af::type, ftz, threads, chunks, blocks == 1, usual>().run(p);                      \
	}
#define SILU_MUL(name, type, ftz, dense)                                                            \
	extern "C" __global__ void __launch_bounds__(SILU_THREADS) name(const __grid_constant__ silu_mul_args p) \
	{                                                                                        \
		af::silu_mul<af::type, ftz, dense>::run(p);                                         \
	}
#define COMPARE(name, type)                                                                      \
	extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ compare_args p) \
	{                                                                                        \
		af::compare<af::type>(p);                                                        \
	}
#define PUBLISH(name)                                                                            \
	extern "C" __global__ void name(const __grid_constant__ publish_args p)                  \
	{                                                                                        \
		const volatile unsigned long long *counter = (const volatile unsigned long long *)p.counter; \
		volatile unsigned long long *slot = (volatile unsigned long long *)p.slot;       \
                                                                                                 \
		slot[0] = counter[0];                                                            \
		slot[1] = counter[1];                                                            \
		__threadfence_system();                                                          \
		slot[2] = p.ticket;                                                              \
	}
#define SWEEP(name)                                                                              \
	extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ sweep_args p) \
	{                                                                                        \
		af::sweep(p);                                                                    \
	}
#include "fused/kernels.def"

#endif
