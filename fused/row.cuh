/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add -> RMSNorm for rows that a block takes up at once: each thread its chunks, which go to shared
 * memory for the squares to be added up in the program's order. For sums by warps, 16-byte accesses
 * and spellings that multiply. USUAL: every threads-th element, one accumulator; else any walk.
 *
 * KEEP: sums and weights stay in registers, the shortest way through one row. Otherwise a thread
 * takes its chunks from shared memory again, and the weights from the first-level cache, where they
 * are left by other rows: more blocks fit beside each other, and one's loads are under way while
 * others add their rows up. (Fetching a block's next row ahead, to registers or by copies to shared
 * memory, was slower than that on the H200.)
 */
#ifndef AF_FUSED_ROW_CUH
#define AF_FUSED_ROW_CUH

#include "fused/add_rmsnorm.cuh"

namespace af
{
template <class T, bool FTZ, int THREADS, int CHUNKS, bool KEEP, bool USUAL> struct held_row {
	typedef typename T::bits bits;
	typedef lanes<bits> lane;
	typedef spelling<T, FTZ> S;
	typedef arith<FTZ> A;
	enum { N = CHUNK_BYTES / sizeof(bits), STEP = THREADS * CHUNK_BYTES };
	uint4 a[CHUNKS], b[CHUNKS], w[CHUNKS], x[CHUNKS]; /* x: the sum */

	/* For chunk k of this thread, `at` bytes into the row, if the row has it. */
#define AF_CHUNKS(k)                                                                               \
	_Pragma("unroll") for (int k = 0; k < CHUNKS; k++) if (at + k * STEP < whole)

	__device__ __forceinline__ void fetch(const row<true> &r, int at, int whole)
	{
		AF_CHUNKS(k)
		{
			a[k] = *(const uint4 *)(r.a + at + k * STEP);
			b[k] = *(const uint4 *)(r.b + at + k * STEP);
		}
	}

	/* Element by element by make(sum, weight). */
	template <class F> __device__ __forceinline__ void each(const row<true> &r, int at, int whole, F make)
	{
		AF_CHUNKS(k)
		{
			uint4 y = KEEP ? x[k] : *(const uint4 *)(r.stage + at + k * STEP);
			uint4 g = KEEP ? w[k] : *(const uint4 *)(r.w + at + k * STEP);

#pragma unroll
			for (int i = 0; i < N; i++)
				lane::set(y, i, make(lane::get(y, i), T::load(lane::get(g, i))));
			*(uint4 *)(r.out + at + k * STEP) = y;
		}
	}

	__device__ __forceinline__ void scale(const fields &f, float s, const row<true> &r, int at, int whole)
	{
		if (f.weight == FIELD_weight_ONEPLUS || f.round & FIELD_round_FIRST)
			each(r, at, whole, [&](bits v, float g) { return S::norm(f, s, v, g); });
		else if (f.product == FIELD_product_XS_W)
			each(r, at, whole, [&](bits v, float g) { return T::round(A::mul(A::mul(T::load(v), s), g)); });
		else if (f.product == FIELD_product_X_SW)
			each(r, at, whole, [&](bits v, float g) { return T::round(A::mul(T::load(v), A::mul(s, g))); });
		else
			each(r, at, whole, [&](bits v, float g) { return T::round(A::mul(A::mul(T::load(v), g), s)); });
	}

	__device__ __forceinline__ void sum(const fields &f, const row<true> &r, int at, int whole)
	{
		AF_CHUNKS(k)
		{
			x[k] = make_uint4(0, 0, 0, 0);
#pragma unroll
			for (int i = 0; i < N; i++)
				lane::set(x[k], i, S::sum(f, lane::get(a[k], i), lane::get(b[k], i)));
			*(uint4 *)(r.stage + at + k * STEP) = x[k];
			if (r.sum)
				*(uint4 *)(r.sum + at + k * STEP) = x[k];
		}
	}

	__device__ __forceinline__ void fetch_weights(const row<true> &r, int at, int whole)
	{
		AF_CHUNKS(k) w[k] = *(const uint4 *)(r.w + at + k * STEP);
	}
#undef AF_CHUNKS

	/* By warps, then over the warps' sums, each warp for itself. */
	static __device__ __forceinline__ float squares_of(const fields &f, const bits *staged, int cols, float *sums)
	{
		int lane = threadIdx.x % 32, threads = f.threads, warps = (threads + 31) / 32;
		bool fuse = squares<T, FTZ>::fuses(f);
		float v;

		for (int t = threadIdx.x; t - lane < threads; t += THREADS) {
			if (squares<T, FTZ>::idle(f, cols, t - lane)) {
				if (lane == 0)
					sums[t / 32] = 0;
				continue;
			}
			v = 0;
			if (!USUAL) {
				if (t < threads)
					v = squares<T, FTZ>::any(f, staged, cols, t);
			} else if (fuse || sizeof(bits) == 2) {
#pragma unroll 4
				for (int i = t; i < cols; i += threads)
					v = squares<T, FTZ>::step(true, v, staged, i);
			} else {
#pragma unroll 4
				for (int i = t; i < cols; i += threads)
					v = squares<T, FTZ>::step(false, v, staged, i);
			}
			v = warp_sum<A>(f.warp == FIELD_warp_DESC, t < threads ? v : 0.0f);
			if (lane == 0)
				sums[t / 32] = v;
		}
		__syncthreads();
		if (f.block == FIELD_block_ONEWARP)
			return sums[0];
		if (f.block != FIELD_block_SERIAL)
			return warp_sum<A>(f.block == FIELD_block_FIRSTDESC, lane < warps ? sums[lane] : 0.0f);
		v = sums[0];
#pragma unroll 4
		for (int i = 1; i < warps; i++)
			v = A::add(v, sums[i]);
		return v;
	}

	__device__ __forceinline__ void run(const add_rmsnorm_args &p)
	{
		char *staged = (char *)af_shared;
		float *sums = (float *)(staged + (p.cols * (int)sizeof(bits) + 15) / 16 * 16);
		int at = threadIdx.x * CHUNK_BYTES, whole = p.cols / N * CHUNK_BYTES;
		int rest = p.cols / N * N + threadIdx.x;

		for (int64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
			const row<true> r(p, i, staged);
			float s;

			fetch(r, at, whole);
			sum(p.f, r, at, whole);
			if (rest < p.cols) {
				bits x = S::sum(p.f, ((const bits *)r.a)[rest], ((const bits *)r.b)[rest]);

				((bits *)staged)[rest] = x;
				if (r.sum)
					((bits *)r.sum)[rest] = x;
			}
			if (KEEP)
				fetch_weights(r, at, whole);
			__syncthreads();
			s = S::scale(p, squares_of(p.f, (const bits *)staged, p.cols, sums));
			scale(p.f, s, r, at, whole);
			if (rest < p.cols)
				((bits *)r.out)[rest] = S::norm(p.f, s, ((const bits *)staged)[rest],
								T::load(((const bits *)r.w)[rest]));
			if (i + gridDim.x < p.rows)
				__syncthreads(); /* the next row takes the same shared memory */
		}
	}
};
}

#endif
