/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to move a row through add -> RMSNorm, to be measured against each other: threads and chunks
 * of 16 bytes that each keeps in registers, cache hints, the next row fetched while this one is
 * added up, arithmetic known at compile time. All add the squares up in the program's order.
 */
#ifndef AF_TESTS_GPU_SWEEP_CUH
#define AF_TESTS_GPU_SWEEP_CUH

#include "fused/add_rmsnorm.cuh"

namespace sweep
{
/* HINT 0: plain accesses. 1: loads leave the first-level cache alone. 2: and stores pass through. */
template <int HINT> __device__ __forceinline__ uint4 load(const char *p)
{
	uint4 v;

	if (HINT)
		asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
			     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
	else
		v = *(const uint4 *)p;
	return v;
}
template <int HINT> __device__ __forceinline__ void store(char *p, uint4 v)
{
	if (HINT > 1)
		__stcs((uint4 *)p, v);
	else
		*(uint4 *)p = v;
}

/* The usual walk over a row in shared memory. Needs few registers. */
template <class T> __device__ __forceinline__ float squares(int threads, const typename T::bits *row, int cols, int t)
{
	float acc = 0;

#pragma unroll 4
	for (int i = t; i < cols; i += threads) {
		float x = T::load(row[i]);

		acc = af::arith<false>::fma(x, x, acc);
	}
	return acc;
}

/* Warp by warp, then the warps' sums, every warp for itself. */
template <class T, int NT> __device__ __forceinline__ float sum_squares(const fields &f, const typename T::bits *row, int cols, float *sums)
{
	typedef af::arith<false> A;
	int lane = threadIdx.x % 32, warps = (f.threads + 31) / 32;

	for (int t = threadIdx.x; t - lane < f.threads; t += NT) {
		float v = af::warp_sum<A>(f.warp == FIELD_warp_DESC, squares<T>(f.threads, row, cols, t));

		if (lane == 0)
			sums[t / 32] = v;
	}
	__syncthreads();
	if (f.block == FIELD_block_SERIAL) {
		float v = sums[0];

		for (int w = 1; w < warps; w++)
			v = A::add(v, sums[w]);
		return v;
	}
	return af::warp_sum<A>(f.block == FIELD_block_FIRSTDESC, lane < warps ? sums[lane] : 0.0f);
}

/* EARLY: weights are asked for before the squares are added up. */
template <class T, int NT, int CH, int HINT, bool AHEAD, bool KNOWN, bool EARLY>
__device__ __forceinline__ void rows(const add_rmsnorm_args &p)
{
	typedef typename T::bits bits;
	typedef af::lanes<bits> lane;
	typedef af::spelling<T, false> S;
	enum { N = 16 / sizeof(bits), STEP = NT * 16 };
	int bytes = p.cols * (int)sizeof(bits), at = threadIdx.x * 16;
	char *stage = (char *)af_shared;
	float *sums = (float *)(stage + bytes);
	uint4 a[CH], b[CH], x[CH], w[CH];
	int64_t i = blockIdx.x;

#define AF_EACH(k) _Pragma("unroll") for (int k = 0; k < CH; k++) if (at + k * STEP < bytes)
#define AF_FETCH(row) {                                                                            \
		const char *pa = (const char *)p.addr[OPERAND_A] + (row) * p.pitch[OPERAND_A] + at; \
		const char *pb = (const char *)p.addr[OPERAND_B] + (row) * p.pitch[OPERAND_B] + at; \
		AF_EACH(k) { a[k] = load<HINT>(pa + k * STEP); b[k] = load<HINT>(pb + k * STEP); } }
	if (AHEAD)
		AF_FETCH(i)
	for (; i < p.rows; i += gridDim.x) {
		char *sum = (char *)p.addr[OPERAND_SUM] + i * p.pitch[OPERAND_SUM] + at;
		char *out = (char *)p.addr[OPERAND_OUT] + i * p.pitch[OPERAND_OUT] + at;
		const char *weights = (const char *)p.addr[OPERAND_W] + at;
		float s;

		if (!AHEAD)
			AF_FETCH(i)
		AF_EACH(k) {
			x[k] = make_uint4(0, 0, 0, 0);
#pragma unroll
			for (int e = 0; e < N; e++) {
				float v = T::load(lane::get(a[k], e)), u = T::load(lane::get(b[k], e));

				lane::set(x[k], e, KNOWN ? T::round(af::arith<false>::add(v, u)) :
							  S::sum(p.f, lane::get(a[k], e), lane::get(b[k], e)));
			}
			*(uint4 *)(stage + at + k * STEP) = x[k];
			store<HINT>(sum + k * STEP, x[k]);
		}
		if (EARLY)
			AF_EACH(k) w[k] = *(const uint4 *)(weights + k * STEP);
		if (AHEAD && i + gridDim.x < p.rows)
			AF_FETCH(i + gridDim.x)
		__syncthreads();
		s = sum_squares<T, NT>(p.f, (const bits *)stage, p.cols, sums);
		s = S::scale(p, s);
		if (!EARLY)
			AF_EACH(k) w[k] = *(const uint4 *)(weights + k * STEP);
		AF_EACH(k) {
			uint4 y = {0, 0, 0, 0};

#pragma unroll
			for (int e = 0; e < N; e++) {
				bits v = lane::get(x[k], e);
				float g = T::load(lane::get(w[k], e));
				float f = af::arith<false>::mul(af::arith<false>::mul(T::load(v), s), g);

				lane::set(y, e, KNOWN ? T::round(f) : S::norm(p.f, s, v, g));
			}
			store<HINT>(out + k * STEP, y);
		}
		__syncthreads();
	}
#undef AF_EACH
#undef AF_FETCH
}
}

#define SWEEP(name, type, threads, chunks, hint, ahead, known, early, blocks)                      \
	extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ add_rmsnorm_args p) \
	{                                                                                          \
		sweep::rows<af::type, threads, chunks, hint, ahead, known, early>(p);              \
	}
#include "tests/gpu/sweep.def"
#undef SWEEP

#endif
