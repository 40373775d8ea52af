/* SPDX-License-Identifier: Apache-2.0 */
/*
 * act = silu(gate); out = act * up, element by element. Each chunk is one thread's, which reads it
 * from both inputs before it stores anything, so act and out may be gate or up themselves.
 */
#ifndef AF_FUSED_SILU_MUL_CUH
#define AF_FUSED_SILU_MUL_CUH

#include "fused/memory.cuh"
#include "fused/silu.cuh"

namespace af
{
/* DENSE: one row, and every operand takes 16-byte accesses. */
template <class T, bool FTZ, bool DENSE> struct silu_mul {
	typedef typename T::bits bits;
	typedef lanes<bits> lane;
	typedef silu<T, FTZ> S;
	enum { N = CHUNK_BYTES / sizeof(bits), CHUNKS = SILU_CHUNKS };

	/* Where a chunk is: bytes from the start of each operand. */
	struct place {
		int64_t row, chunk; /* chunk of the row */

		__device__ __forceinline__ place(const silu_mul_args &p, int64_t c)
		{
			row = 0;
			chunk = c;
			if (!DENSE && p.rows > 1) { /* 32 bits divide faster */
				row = p.rows * p.chunks <= 0x7fffffff ?
					      (int64_t)((uint32_t)c / (uint32_t)p.chunks) : c / p.chunks;
				chunk = c - row * p.chunks;
			}
		}
		__device__ __forceinline__ char *in(const silu_mul_args &p, int operand) const
		{
			return (char *)p.addr[operand] + (DENSE ? 0 : row * p.pitch[operand]) + chunk * CHUNK_BYTES;
		}
		__device__ __forceinline__ uint4 load(const silu_mul_args &p, int operand) const
		{
			return DENSE ? *(const uint4 *)in(p, operand) : load_chunk(in(p, operand), p.width[operand]);
		}
		__device__ __forceinline__ void store(const silu_mul_args &p, int operand, uint4 v) const
		{
			if (DENSE)
				*(uint4 *)in(p, operand) = v;
			else
				store_chunk(in(p, operand), p.width[operand], v);
		}
	};

	/* A chunk that the row ends in. */
	template <class F> static __device__ __forceinline__ void rest(const silu_mul_args &p, const F &act, const place &at)
	{
		int n = (int)(p.cols - at.chunk * N);

#pragma unroll 1
		for (int i = 0; i < n; i++) {
			bits up = ((const bits *)at.in(p, SILU_UP))[i];
			bits x = T::round(act(T::load(((const bits *)at.in(p, SILU_GATE))[i])));

			if (p.addr[SILU_ACT])
				((bits *)at.in(p, SILU_ACT))[i] = x;
			((bits *)at.in(p, SILU_OUT))[i] = S::product(p.f, x, up);
		}
	}

	/* All chunks of all rows in one sequence, a block's next to each other. Whatever a thread
	 * reads, it has read before it stores. */
	template <class F> static __device__ __forceinline__ void all(const silu_mul_args &p, const F &act)
	{
		int64_t whole = DENSE ? p.cols / N : p.rows * p.chunks; /* rows may end within */
		int64_t step = (int64_t)gridDim.x * blockDim.x * p.each;

		for (int64_t c0 = (int64_t)blockIdx.x * blockDim.x * p.each + threadIdx.x; c0 < whole; c0 += step) {
			uint4 g[CHUNKS], u[CHUNKS];

#pragma unroll
			for (int k = 0; k < CHUNKS; k++) {
				const place at(p, c0 + (int64_t)k * blockDim.x);

				if (k < p.each && c0 + (int64_t)k * blockDim.x < whole && (DENSE || (at.chunk + 1) * N <= p.cols)) {
					g[k] = at.load(p, SILU_GATE);
					u[k] = at.load(p, SILU_UP);
				}
			}
#pragma unroll
			for (int k = 0; k < CHUNKS; k++) {
				const place at(p, c0 + (int64_t)k * blockDim.x);
				uint4 a = {0, 0, 0, 0}, o = {0, 0, 0, 0};

				if (k >= p.each || c0 + (int64_t)k * blockDim.x >= whole)
					break;
				if (!DENSE && (at.chunk + 1) * N > p.cols) {
					rest(p, act, at);
					continue;
				}
				/* The code of all spellings eight times over would be much of the
				 * image's size. */
#pragma unroll (DENSE ? N : 2)
				for (int i = 0; i < N; i++) {
					bits x = T::round(act(T::load(lane::get(g[k], i))));

					lane::set(a, i, x);
					lane::set(o, i, S::product(p.f, x, lane::get(u[k], i)));
				}
				if (p.addr[SILU_ACT])
					at.store(p, SILU_ACT, a);
				at.store(p, SILU_OUT, o);
			}
		}
		if (DENSE && blockIdx.x == 0 && threadIdx.x == 0 && whole * N < p.cols)
			rest(p, act, place(p, whole));
	}

	template <int EXP> static __device__ __forceinline__ void usual(const silu_mul_args &p)
	{
		if (p.f.div == SILU_div_DIV)
			all(p, typename S::template known<EXP, SILU_div_DIV>{p.f});
		else if (p.f.div == SILU_div_DIVFAST)
			all(p, typename S::template known<EXP, SILU_div_DIVFAST>{p.f});
		else if (p.f.div == SILU_div_RCP)
			all(p, typename S::template known<EXP, SILU_div_RCP>{p.f});
		else
			all(p, typename S::template known<EXP, SILU_div_RCPFAST>{p.f});
	}

	static __device__ __forceinline__ void run(const silu_mul_args &p)
	{
		if (silu_usual(&p.f) && p.f.exp == SILU_exp_FULL)
			usual<SILU_exp_FULL>(p);
		else if (silu_usual(&p.f) && p.f.exp == SILU_exp_FAST)
			usual<SILU_exp_FAST>(p);
		else if (sizeof(bits) == 2 && silu_native(&p.f))
			all(p, typename S::sixteen{p.f});
		else if (!DENSE)
			all(p, typename S::whatever{p.f});
	}
};
}

#endif
