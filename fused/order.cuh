/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sum of squares of one row in a candidate's order of additions (order.inc is the definition), by
 * a team: the threads that share a row. The row is staged where all of them can read it.
 */
#ifndef AF_FUSED_ORDER_CUH
#define AF_FUSED_ORDER_CUH

#include "fused/add_rmsnorm.h"
#include "fused/device.h"

namespace af
{
/* A block or a warp. */
template <bool WARP> struct team {
	int size, rank; /* threads; this one's number, rank % 32 is its lane */

	__device__ team()
	{
		size = WARP ? 32 : (int)blockDim.x;
		rank = WARP ? (int)threadIdx.x % 32 : (int)threadIdx.x;
	}
	__device__ void sync() const
	{
		if (WARP)
			__syncwarp();
		else
			__syncthreads();
	}
};

/* T: element type; FTZ: flavour. row: T::bits[cols]. */
template <class T, bool FTZ> struct squares {
	typedef arith<FTZ> A;
	typedef typename T::bits bits;

	/* Is x*x + acc one operation? Squares of 16-bit numbers are exact, so there it may be. */
	static __device__ __forceinline__ bool fuses(const fields &f)
	{
		return sizeof(bits) == 2 || f.fma == FIELD_fma_YES;
	}

	static __device__ __forceinline__ float square(const bits *row, int i)
	{
		float x = T::load(row[i]);

		return A::mul(x, x);
	}
	static __device__ __forceinline__ float step(bool fuse, float acc, const bits *row, int i)
	{
		float x = T::load(row[i]);

		return fuse ? A::fma(x, x, acc) : A::add(acc, A::mul(x, x));
	}

	/* acc plus the 2^part elements from i on. */
	static __device__ __forceinline__ float part(const fields &f, float acc, const bits *row, int i)
	{
		int n = 1 << f.part, first = f.inner != FIELD_inner_LEFT;
		bool fuse = fuses(f);
		float t;

		if (n == 1)
			return step(fuse, acc, row, i);
		t = step(fuse, square(row, i + first), row, i + !first);
		if (f.inner == FIELD_inner_PAIRS) {
			if (n > 2)
				t = A::add(t, step(fuse, square(row, i + 3), row, i + 2));
			if (n > 4)
				t = A::add(t, A::add(step(fuse, square(row, i + 5), row, i + 4),
						     step(fuse, square(row, i + 7), row, i + 6)));
		} else {
#pragma unroll 1
			for (int j = 2; j < n; j++)
				t = step(fuse, t, row, i + j);
		}
		return A::add(acc, t);
	}

	/* The usual walk: every threads-th element, one accumulator. */
	static __device__ __forceinline__ float usual(bool fuse, int threads, const bits *row, int cols, int t)
	{
		float acc = 0;

#pragma unroll 8
		for (int i = t; i < cols; i += threads)
			acc = step(fuse, acc, row, i);
		return acc;
	}

	/* What logical thread t adds up with N = 2^acc accumulators; parts only where N is 1. */
	template <int N>
	static __device__ __forceinline__ float thread(const fields &f, const bits *row, int cols, int t)
	{
		int vec = f.vec, per = f.vec - f.part, threads = f.threads;
		int parts, single, singles, stride, base, full, k;
		bool fuse = fuses(f);
		float acc[N];

		if (f.walk == FIELD_walk_STRIDED) {
			int groups = cols >> vec;

			base = t << vec;
			parts = (groups > t ? (groups - t - 1) / threads + 1 : 0) << per;
			single = (groups << vec) + t;
			singles = single < cols ? (cols - single - 1) / threads + 1 : 0;
			stride = threads;
		} else {
			int each = (cols + threads - 1) / threads;
			int64_t begin = (int64_t)t * each;
			int n = begin < cols ? (int)(cols - begin < each ? cols - begin : each) : 0;

			base = n ? (int)begin : 0;
			parts = n >> f.part;
			single = base + (parts << f.part);
			singles = n & ((1 << f.part) - 1);
			stride = 1;
			threads = 1; /* parts follow each other */
			vec = f.part;
			per = 0;
		}
		for (int j = 0; j < N; j++)
			acc[j] = 0;
		full = parts / N * N;
#pragma unroll 1
		for (k = 0; k < full; k += N)
#pragma unroll
			for (int j = 0; j < N; j++) {
				int i = base + (((k + j) >> per) * threads << vec) +
					(((k + j) & ((1 << per) - 1)) << f.part);

				acc[j] = N == 1 ? part(f, acc[j], row, i) : step(fuse, acc[j], row, i);
			}
		/* What is left over; with one accumulator these are singles alone. */
		if (f.tail == FIELD_tail_TURN)
#pragma unroll
			for (int j = 0; j < N - 1; j++)
				if (full + j < parts)
					acc[j] = step(fuse, acc[j], row, left(f, base, threads, vec, per, full + j));
		if (f.tail == FIELD_tail_FIRST)
#pragma unroll 1
			for (k = full; k < parts; k++)
				acc[0] = step(fuse, acc[0], row, left(f, base, threads, vec, per, k));
		if (f.tail != FIELD_tail_AFTER)
#pragma unroll 1
			for (k = 0; k < singles; k++)
				acc[0] = step(fuse, acc[0], row, single + k * stride);
		if (f.comb == FIELD_comb_ORDER) {
#pragma unroll
			for (int j = 1; j < N; j++)
				acc[0] = A::add(acc[0], acc[j]);
		} else if (f.comb == FIELD_comb_HALVES) {
#pragma unroll
			for (int n = N / 2; n; n /= 2)
#pragma unroll
				for (int j = 0; j < n; j++)
					acc[j] = A::add(acc[j], acc[j + n]);
		} else {
#pragma unroll
			for (int n = 1; n < N; n *= 2)
#pragma unroll
				for (int j = 0; j < N; j += 2 * n)
					acc[j] = A::add(acc[j], acc[j + n]);
		}
		if (f.tail == FIELD_tail_AFTER) {
#pragma unroll 1
			for (k = full; k < parts; k++)
				acc[0] = step(fuse, acc[0], row, left(f, base, threads, vec, per, k));
#pragma unroll 1
			for (k = 0; k < singles; k++)
				acc[0] = step(fuse, acc[0], row, single + k * stride);
		}
		return acc[0];
	}

	/* Have the logical threads from t, a multiple of 32, on no elements? Their sum is zero. */
	static __device__ __forceinline__ bool idle(const fields &f, int cols, int t)
	{
		return t && (t << (f.walk == FIELD_walk_STRIDED ? f.vec : 0)) >= cols;
	}

	/* Where part k of one element is. */
	static __device__ __forceinline__ int left(const fields &f, int base, int threads, int vec,
						   int per, int k)
	{
		return base + ((k >> per) * threads << vec) + (k & ((1 << per) - 1));
	}

	/* Any walk. */
	static __device__ __forceinline__ float any(const fields &f, const bits *row, int cols, int t)
	{
		switch (f.acc) {
		case FIELD_acc_1:
			return thread<1>(f, row, cols, t);
		case FIELD_acc_2:
			return thread<2>(f, row, cols, t);
		case FIELD_acc_4:
			return thread<4>(f, row, cols, t);
		default:
			return thread<8>(f, row, cols, t);
		}
	}
};

/* Sum over the lanes of a warp, in every lane. xor and down make the same tree. */
template <class A> __device__ __forceinline__ float warp_sum(bool desc, float v)
{
	if (desc)
		for (int d = 16; d; d /= 2)
			v = A::add(v, __shfl_xor_sync(0xffffffffu, v, d));
	else
		for (int d = 1; d < 32; d *= 2)
			v = A::add(v, __shfl_xor_sync(0xffffffffu, v, d));
	return v;
}

/*
 * The row's sum of squares, in every thread of the team. sums: shared memory of the team, 32
 * floats, or as many as logical threads if those are more and f.block needs each thread's.
 * All of the team is here, and has synchronised since the row was written. USUAL: the walk is
 * known to be squares::usual.
 */
template <class T, bool FTZ, bool USUAL, bool WARP>
__device__ __forceinline__ float sum_squares(const fields &f, const team<WARP> &me, const typename T::bits *row,
			     int cols, float *sums)
{
	typedef arith<FTZ> A;
	int threads = f.threads, lane = me.rank % 32, warps = (threads + 31) / 32;
	bool all = f.block == FIELD_block_ALL || f.block == FIELD_block_HALVING;
	float v;

	for (int t = me.rank; t - lane < threads; t += me.size) {
		v = 0;
		if (!all && squares<T, FTZ>::idle(f, cols, t - lane)) {
			if (lane == 0)
				sums[t / 32] = 0;
			continue;
		}
		if (t < threads)
			v = !USUAL ? squares<T, FTZ>::any(f, row, cols, t) :
			    squares<T, FTZ>::fuses(f) ? squares<T, FTZ>::usual(true, threads, row, cols, t) :
							squares<T, FTZ>::usual(false, threads, row, cols, t);
		if (all) {
			if (t < threads)
				sums[t] = v;
			continue;
		}
		v = warp_sum<A>(f.warp == FIELD_warp_DESC, v);
		if (lane == 0)
			sums[t / 32] = v;
	}
	me.sync();
	if (f.block == FIELD_block_HALVING) {
		/* The upper levels pair whole warps, lane by lane; a lane is a column of its own. */
		if (me.rank < 32) {
			for (int d = warps / 2; d; d /= 2)
				for (int w = 0; w < d; w++)
					sums[w * 32 + lane] = A::add(sums[w * 32 + lane],
								     sums[(w + d) * 32 + lane]);
			v = warp_sum<A>(true, sums[lane]);
			if (lane == 0)
				sums[0] = v;
		}
		me.sync();
		return sums[0];
	}
	if (f.block == FIELD_block_ALL) {
		if (me.rank == 0) {
			v = sums[0];
#pragma unroll 8
			for (int t = 1; t < threads; t++)
				v = A::add(v, sums[t]);
			sums[0] = v;
		}
		me.sync();
		return sums[0];
	}
	if (f.block == FIELD_block_ONEWARP)
		return sums[0];
	/* Every warp does the last step for itself: that is cheaper than waiting for one of them. */
	if (f.block == FIELD_block_SERIAL) {
		v = sums[0];
#pragma unroll 8
		for (int w = 1; w < warps; w++)
			v = A::add(v, sums[w]);
		return v;
	}
	return warp_sum<A>(f.block == FIELD_block_FIRSTDESC, lane < warps ? sums[lane] : 0.0f);
}
}

#endif
