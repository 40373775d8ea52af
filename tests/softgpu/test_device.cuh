/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of device code that run in the kernel: every failing one leaves its line in lines[].
 * lines[0] counts them. Launch with 2 blocks of 96 threads.
 */
#ifndef AF_TESTS_SOFTGPU_TEST_DEVICE_CUH
#define AF_TESTS_SOFTGPU_TEST_DEVICE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			lines[1 + atomicAdd(&lines[0], 1) % 62] = __LINE__;                        \
	} while (0)

extern "C" {

__global__ void test_indices(int *lines)
{
	EXPECT(blockDim.x == 96 && blockDim.y == 1 && blockDim.z == 1);
	EXPECT(gridDim.x == 2 && gridDim.y == 1 && gridDim.z == 1);
	EXPECT(threadIdx.x < 96 && threadIdx.y == 0 && threadIdx.z == 0);
	EXPECT(blockIdx.x < 2);
	EXPECT(warpSize == 32);
}

__global__ void test_barriers(int *lines)
{
	__shared__ int seen[96];
	int t = threadIdx.x;

	seen[t] = t;
	__syncthreads();
	EXPECT(seen[95 - t] == 95 - t);
	EXPECT(__syncthreads_count(t % 3 == 0) == 32);
	EXPECT(__syncthreads_and(t < 96) && !__syncthreads_and(t != 50));
	EXPECT(__syncthreads_or(t == 50) && !__syncthreads_or(t > 96));
	if (t >= 64)
		return;
	/* Threads that have returned are not waited for. */
	EXPECT(__syncthreads_count(1) == 64);
}

__global__ void test_shuffles(int *lines)
{
	const unsigned all = 0xffffffffu;
	int t = threadIdx.x, lane = t % 32;

	EXPECT(__shfl_sync(all, t, 5) == t - lane + 5);
	EXPECT(__shfl_sync(all, t, lane + 1, 8) == t - lane % 8 + (lane + 1) % 8);
	EXPECT(__shfl_up_sync(all, t, 3) == (lane < 3 ? t : t - 3));
	EXPECT(__shfl_up_sync(all, t, 3, 16) == (lane % 16 < 3 ? t : t - 3));
	EXPECT(__shfl_down_sync(all, t, 4) == (lane > 27 ? t : t + 4));
	EXPECT(__shfl_down_sync(all, t, 4, 8) == (lane % 8 > 3 ? t : t + 4));
	EXPECT(__shfl_xor_sync(all, t, 21) == (t ^ 21));
	EXPECT(__shfl_xor_sync(all, t, 8, 8) ==
	       (lane < 8 ? t : t - lane % 16 + (lane % 16 < 8 ? lane % 8 : lane % 8)));
	EXPECT(__shfl_sync(all, 1.5 * t, 7) == 1.5 * (t - lane + 7));
	EXPECT(__shfl_down_sync(all, (long long)t << 40, 1) ==
	       (lane == 31 ? (long long)t << 40 : (long long)(t + 1) << 40));
	EXPECT(__half2float(__shfl_xor_sync(all, __float2half((float)lane), 1)) ==
	       (float)(lane ^ 1));
	EXPECT(__bfloat162float(__shfl_xor_sync(all, __float2bfloat16((float)lane), 1)) ==
	       (float)(lane ^ 1));
	/* Halves of a warp go their own ways. */
	if (lane < 16)
		EXPECT(__shfl_xor_sync(0x0000ffffu, t, 1) == (t ^ 1));
	else
		EXPECT(__shfl_down_sync(0xffff0000u, t, 2, 16) == (lane > 29 ? t : t + 2));
}

__global__ void test_votes(int *lines)
{
	const unsigned all = 0xffffffffu;
	int lane = threadIdx.x % 32;

	EXPECT(__ballot_sync(all, lane & 1) == 0xaaaaaaaau);
	EXPECT(__any_sync(all, lane == 9) && !__any_sync(all, lane > 31));
	EXPECT(__all_sync(all, lane < 32) && !__all_sync(all, lane != 9));
	EXPECT(__match_any_sync(all, lane / 8) == 0xffu << (lane / 8 * 8));
	int same;
	EXPECT(__match_all_sync(all, 3, &same) == all && same);
	EXPECT(__match_all_sync(all, lane, &same) == 0 && !same);
	EXPECT(__reduce_add_sync(all, lane) == 496);
	EXPECT(__reduce_max_sync(all, lane - 40) == -9);
	EXPECT(__reduce_min_sync(all, lane - 40) == -40);
	EXPECT(__reduce_max_sync(all, (unsigned)lane) == 31u);
	EXPECT(__reduce_or_sync(all, 1u << lane) == all);
	EXPECT(__reduce_and_sync(all, ~(1u << lane)) == 0);
	EXPECT(__reduce_xor_sync(all, (unsigned)lane) == 0);
	EXPECT(__activemask() == all);
	__syncwarp(); /* nobody has returned so far */
	if (lane % 2)
		__syncwarp(0xaaaaaaaau);
}

__global__ void test_atomics(int *lines)
{
	__shared__ int sum, low, high, any, xored, turns;
	__shared__ unsigned long long big;
	__shared__ float fsum;
	__shared__ double dsum;
	__shared__ __half2 pair;
	int t = threadIdx.x;

	if (t == 0) {
		sum = xored = any = turns = 0;
		low = 1000;
		high = -1000;
		big = 0;
		fsum = 0;
		dsum = 0;
		pair = __floats2half2_rn(0.0f, 0.0f);
	}
	__syncthreads();
	atomicAdd(&sum, t);
	atomicSub(&sum, 1);
	atomicMin(&low, t);
	atomicMax(&high, t);
	atomicOr(&any, 1 << t % 32);
	atomicXor(&xored, t);
	atomicAdd(&big, 1ull << 33);
	atomicAdd(&fsum, 0.5f);
	atomicAdd(&dsum, 0.25);
	atomicAdd(&pair, __floats2half2_rn(1.0f, 2.0f));
	atomicInc((unsigned *)&turns, 9);
	__syncthreads();
	EXPECT(sum == 95 * 96 / 2 - 96 && low == 0 && high == 95);
	EXPECT(any == -1 && xored == 0 && turns == 96 % 10);
	EXPECT(big == 96ull << 33 && fsum == 48.0f && dsum == 24.0);
	EXPECT(__low2float(pair) == 96.0f && __high2float(pair) == 192.0f);
	__syncthreads();
	if (t == 0) {
		EXPECT(atomicCAS(&sum, sum, 5) != 5 && sum == 5);
		EXPECT(atomicCAS(&sum, 6, 7) == 5 && sum == 5);
		EXPECT(atomicExch(&fsum, 2.0f) == 48.0f && fsum == 2.0f);
	}
}

/* one: 1.0f, not known to the compiler. */
__global__ void test_rounding(int *lines, float one)
{
	float tiny = one * 0x1p-30f, third = one / 3.0f;

	EXPECT(__fadd_rn(one, tiny) == 1.0f && __fadd_rz(one, tiny) == 1.0f);
	EXPECT(__fadd_ru(one, tiny) == 1.0f + 0x1p-23f && __fadd_rd(one, -tiny) == 1.0f - 0x1p-24f);
	EXPECT(__fmul_ru(third, third) > __fmul_rd(third, third));
	EXPECT(__fdiv_rd(one, 3.0f) < __fdiv_ru(one, 3.0f));
	EXPECT(__fsqrt_rd(one * 2.0f) < __fsqrt_ru(one * 2.0f));
	EXPECT(__frcp_rn(one * 3.0f) == __fdiv_rn(one, 3.0f));
	/* A rounded product next to a sum stays rounded; a plain one is contracted, as nvcc does.
	 */
	float a = one + 0x1p-12f, rounded = __fmul_rn(a, a), exact = 0x1p-24f;
	EXPECT(__fadd_rn(__fmul_rn(a, a), -rounded) == 0.0f);
	EXPECT(__fmaf_rn(a, a, -rounded) == exact);
	EXPECT(a * a - rounded == exact);
	EXPECT(__float2int_rn(one * 2.5f) == 2 && __float2int_rz(one * -2.5f) == -2);
	EXPECT(__float2int_ru(one * 2.1f) == 3 && __float2int_rd(one * -2.1f) == -3);
	EXPECT(__float2uint_rz(one * -5.0f) == 0 && __float2int_rz(one * 1e20f) == 2147483647);
	EXPECT(__double2float_ru(1.0 + 1e-12 * one) == 1.0f + 0x1p-23f);
}

/* counts: how often each approximation differs from the correctly rounded value over n inputs. */
__global__ void test_approximations(int *counts, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		float x = 1.0f + 2.7182818f * i / n;

		if (rsqrtf(x) != 1.0f / sqrtf(x))
			atomicAdd(&counts[0], 1);
		if (rsqrtf(x) != rsqrtf(x))
			atomicAdd(&counts[1], 1);
		if (fabsf(rsqrtf(x) * sqrtf(x) - 1.0f) > 4e-7f)
			atomicAdd(&counts[2], 1);
		if (__fdividef(3.0f, x) != 3.0f / x)
			atomicAdd(&counts[3], 1);
		if (__expf(x) != expf(x))
			atomicAdd(&counts[4], 1);
		if (__logf(x + 1.0f) != logf(x + 1.0f))
			atomicAdd(&counts[5], 1);
		if (__frsqrt_rn(x) != 1.0f / sqrtf(x))
			atomicAdd(&counts[6], 1);
	}
}

__global__ void test_bits(int *lines)
{
	EXPECT(__popc(0xf0f0u) == 8 && __clz(1) == 31 && __clz(0) == 32 && __ffs(8) == 4);
	EXPECT(__brev(1u) == 0x80000000u &&
	       __byte_perm(0x33221100u, 0x77665544u, 0x7610) == 0x77661100u);
	EXPECT(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
	EXPECT(__umulhi(0x80000000u, 6u) == 3u && __funnelshift_l(0x80000000u, 1u, 1) == 3u);
	EXPECT(min(3, 4) == 3 && max(3u, 4u) == 4u && min(2.5f, 1.0f) == 1.0f);
	EXPECT(__half2float(__hfma(__float2half(2.0f), __float2half(3.0f), __float2half(1.0f))) ==
	       7.0f);
	EXPECT(__bfloat162float(hrsqrt(__float2bfloat16(4.0f))) == 0.5f);
	/* lines[] is all the global memory at hand; its last word is nobody's. */
	if (threadIdx.x == 0 && blockIdx.x == 0) {
		EXPECT(__ldg(&lines[63]) == 0);
		__stcs(&lines[63], 8);
		EXPECT(__ldcg(&lines[63]) == 8);
	}
}
}

#endif
