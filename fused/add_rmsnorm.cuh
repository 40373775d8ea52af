/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum = a + b; out = sum * rsqrt(mean(sum^2) + eps) * w, row by row. A team of threads stages the
 * row with wide accesses, adds its squares up in the program's order, then scales it. A row is
 * read whole before out is stored, so out and sum may be a or b themselves.
 */
#ifndef AF_FUSED_ADD_RMSNORM_CUH
#define AF_FUSED_ADD_RMSNORM_CUH

#include "fused/memory.cuh"
#include "fused/order.cuh"
#include "fused/spelling.cuh"

extern __shared__ uint4 af_shared[];

namespace af
{
/* Chunks that a thread loads before it stores the first: bytes in flight hide memory latency. */
enum { BATCH = 2 };

/* The pointers of one row. stage: where the row's sum is kept for everybody to read, in shared
 * memory or in sum's or out's own place. */
template <bool SHARED> struct row {
	const char *a, *b, *w;
	char *sum, *out, *stage; /* sum: NULL if it is not stored */

	__device__ __forceinline__ row(const add_rmsnorm_args &p, int64_t r, char *staged)
	{
		a = (const char *)p.addr[OPERAND_A] + r * p.pitch[OPERAND_A];
		b = (const char *)p.addr[OPERAND_B] + r * p.pitch[OPERAND_B];
		w = (const char *)p.addr[OPERAND_W];
		sum = p.addr[OPERAND_SUM] ? (char *)p.addr[OPERAND_SUM] + r * p.pitch[OPERAND_SUM] : NULL;
		out = (char *)p.addr[OPERAND_OUT] + r * p.pitch[OPERAND_OUT];
		stage = SHARED ? staged : sum ? sum : out;
	}
};

/*
 * Operands of one type that all take 16-byte accesses, the usual walk, and a spelling that
 * multiplies. Chunk c of a row is the business of one thread, which has the chunk's weights in
 * registers by the time they are wanted.
 */
template <class T, bool FTZ, bool SHARED> struct wide {
	typedef typename T::bits bits;
	typedef lanes<bits> lane;
	typedef spelling<T, FTZ> S;
	enum { N = CHUNK_BYTES / sizeof(bits), USUAL = 1 };
	uint4 w[BATCH];

	static __device__ __forceinline__ uint4 load(const char *p, int c)
	{
		return ((const uint4 *)p)[c];
	}

	__device__ __forceinline__ void load_weights(const row<SHARED> &r, int c0, int chunks, int step)
	{
#pragma unroll
		for (int k = 0; k < BATCH; k++)
			if (c0 + k * step < chunks)
				w[k] = load(r.w, c0 + k * step);
	}

	__device__ __forceinline__ void stage(const add_rmsnorm_args &p, const row<SHARED> &r, int first, int chunks,
					      int step)
	{
#pragma unroll 1
		for (int c0 = first; c0 < chunks; c0 += BATCH * step) {
			uint4 a[BATCH], b[BATCH];

#pragma unroll
			for (int k = 0; k < BATCH; k++)
				if (c0 + k * step < chunks) {
					a[k] = load(r.a, c0 + k * step);
					b[k] = load(r.b, c0 + k * step);
				}
#pragma unroll
			for (int k = 0; k < BATCH; k++)
				if (c0 + k * step < chunks) {
					uint4 x = {0, 0, 0, 0};

#pragma unroll
					for (int i = 0; i < N; i++)
						lane::set(x, i, S::sum(p.f, lane::get(a[k], i), lane::get(b[k], i)));
					((uint4 *)r.stage)[c0 + k * step] = x;
					if (SHARED && r.sum)
						((uint4 *)r.sum)[c0 + k * step] = x;
				}
		}
		/* Wanted last; asking now hides their way from memory behind the sum of squares. */
		load_weights(r, first, chunks, step);
	}

	__device__ __forceinline__ void scale(const add_rmsnorm_args &p, float s, const row<SHARED> &r, int first,
					      int chunks, int step)
	{
#pragma unroll 1
		for (int c0 = first; c0 < chunks; c0 += BATCH * step) {
			if (c0 != first)
				load_weights(r, c0, chunks, step);
#pragma unroll
			for (int k = 0; k < BATCH; k++)
				if (c0 + k * step < chunks) {
					uint4 x = load(r.stage, c0 + k * step), y = {0, 0, 0, 0};

#pragma unroll
					for (int i = 0; i < N; i++)
						lane::set(y, i, S::norm(p.f, s, lane::get(x, i),
									T::load(lane::get(w[k], i))));
					((uint4 *)r.out)[c0 + k * step] = y;
				}
		}
	}

	static __device__ __forceinline__ bits one(const add_rmsnorm_args &p, float s, const row<SHARED> &r, bits x, int i)
	{
		return S::norm(p.f, s, x, T::load(((const bits *)r.w)[i]));
	}
};

/* Everything else: each operand by the widest access it allows, every walk, every spelling. */
template <class T, bool FTZ, bool SHARED> struct narrow {
	typedef typename T::bits bits;
	typedef lanes<bits> lane;
	typedef spelling<T, FTZ> S;
	enum { N = CHUNK_BYTES / sizeof(bits), USUAL = 0 };

	/* BATCH chunks, the second only if it is there: which access is decided once, so that all
	 * of them are under way before the first is wanted. */
	static __device__ __forceinline__ void load_chunks(const char *q, int step, bool both, int width, uint4 *v)
	{
		const char *second = both ? q + step * CHUNK_BYTES : q;

		static_assert(BATCH == 2, "two chunks");
		if (width >= 16) {
			v[0] = load_chunk(q, 16);
			v[1] = load_chunk(second, 16);
		} else if (width == 8) {
			v[0] = load_chunk(q, 8);
			v[1] = load_chunk(second, 8);
		} else if (width == 4) {
			v[0] = load_chunk(q, 4);
			v[1] = load_chunk(second, 4);
		} else {
			v[0] = load_chunk(q, 2);
			v[1] = load_chunk(second, 2);
		}
	}

	static __device__ __forceinline__ int stage_width(const add_rmsnorm_args &p, const row<SHARED> &r)
	{
		return SHARED ? (int)CHUNK_BYTES : p.width[r.sum ? OPERAND_SUM : OPERAND_OUT];
	}

	__device__ __forceinline__ void stage(const add_rmsnorm_args &p, const row<SHARED> &r, int first, int chunks,
					      int step)
	{
#pragma unroll 1
		for (int c0 = first; c0 < chunks; c0 += BATCH * step) {
			uint4 a[BATCH], b[BATCH];
			bool both = c0 + step < chunks;

			load_chunks(r.a + c0 * CHUNK_BYTES, step, both, p.width[OPERAND_A], a);
			load_chunks(r.b + c0 * CHUNK_BYTES, step, both, p.width[OPERAND_B], b);
#pragma unroll
			for (int k = 0; k < BATCH; k++) {
				int c = c0 + k * step;
				uint4 x = {0, 0, 0, 0};

				if (c >= chunks)
					break;
#pragma unroll
				for (int i = 0; i < N; i++)
					lane::set(x, i, S::sum(p.f, lane::get(a[k], i), lane::get(b[k], i)));
				store_chunk(r.stage + c * CHUNK_BYTES, stage_width(p, r), x);
				if (SHARED && r.sum)
					store_chunk(r.sum + c * CHUNK_BYTES, p.width[OPERAND_SUM], x);
			}
		}
	}

	__device__ __forceinline__ void scale(const add_rmsnorm_args &p, float s, const row<SHARED> &r, int first,
					      int chunks, int step)
	{
#pragma unroll 1
		for (int c = first; c < chunks; c += step) {
			uint4 x = load_chunk(r.stage + c * CHUNK_BYTES, stage_width(p, r)), y = {0, 0, 0, 0};

#pragma unroll
			for (int i = 0; i < N; i++)
				lane::set(y, i, one(p, s, r, lane::get(x, i), c * N + i));
			store_chunk(r.out + c * CHUNK_BYTES, p.width[OPERAND_OUT], y);
		}
	}

	/* Element i of a row, x its sum. */
	static __device__ AF_NOINLINE bits one(const add_rmsnorm_args &p, float s, const row<SHARED> &r, bits x, int i)
	{
		float w = p.weight_bytes == sizeof(bits) ? T::load(((const bits *)r.w)[i]) : ((const float *)r.w)[i];

		return S::divides(p.f) ? S::norm_div(p.f, s, x, w) : S::norm(p.f, s, x, w);
	}
};

/* MOVE: wide or narrow. */
template <class T, bool FTZ, int LAYOUT, template <class, bool, bool> class MOVE>
__device__ __forceinline__ void add_rmsnorm(const add_rmsnorm_args &p)
{
	typedef typename T::bits bits;
	enum { N = CHUNK_BYTES / sizeof(bits) };
	const bool SHARED = LAYOUT != LAYOUT_LONG;
	const team<LAYOUT == LAYOUT_WARP> me;
	MOVE<T, FTZ, SHARED> move;
	int teams = (int)blockDim.x / me.size, mine = (int)threadIdx.x / me.size;
	char *shared = (char *)af_shared + mine * p.team_bytes;
	/* The staged row comes first: its chunks are aligned. */
	float *sums = (float *)(shared + (SHARED ? (p.cols * (int)sizeof(bits) + 15) / 16 * 16 : 0));
	int chunks = p.cols / N, rest = chunks * N + me.rank;

	for (int64_t i = (int64_t)blockIdx.x * teams + mine; i < p.rows; i += (int64_t)gridDim.x * teams) {
		const row<SHARED> r(p, i, shared);
		float s;

		move.stage(p, r, me.rank, chunks, me.size);
		if (rest < p.cols) {
			bits x = spelling<T, FTZ>::sum(p.f, ((const bits *)r.a)[rest], ((const bits *)r.b)[rest]);

			((bits *)r.stage)[rest] = x;
			if (SHARED && r.sum)
				((bits *)r.sum)[rest] = x;
		}
		me.sync();
		s = sum_squares<T, FTZ, MOVE<T, FTZ, SHARED>::USUAL>(p.f, me, (const bits *)r.stage, p.cols, sums);
		s = spelling<T, FTZ>::scale(p, s);
		move.scale(p, s, r, me.rank, chunks, me.size);
		if (rest < p.cols)
			((bits *)r.out)[rest] = move.one(p, s, r, ((const bits *)r.stage)[rest], rest);
		me.sync(); /* the next row takes the same shared memory */
	}
}
}

#endif
