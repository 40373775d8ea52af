/* SPDX-License-Identifier: Apache-2.0 */
/* How generated kernels reach memory. Part of every generated text, behind gen_types.cuh. */
#ifndef AF_FUSED_GEN_MEMORY_CUH
#define AF_FUSED_GEN_MEMORY_CUH

#include "fused/gen_types.cuh"

extern __shared__ uint4 af_shared[];

/* Of each kernel, behind it. */
#if AF_SOFTGPU
SOFTGPU_DYNAMIC_SHARED(af_shared)
#define AF_KERNEL(name) SOFTGPU_KERNEL(name)
#else
#define AF_KERNEL(name)
#endif

namespace af
{
/* N elements of a type, next to each other as in memory; by words, so that they stay in registers. */
template <class E, int N> struct pack {
	enum { BYTES = N * (int)sizeof(E), WORDS = (BYTES + 3) / 4 };
	uint32_t w[WORDS];

	__device__ __forceinline__ E get(int i) const
	{
		if (sizeof(E) == 8) {
			uint64_t v = (uint64_t)w[(2 * i + 1) % WORDS] << 32 | w[2 * i % WORDS];
			return as(v, (E *)0);
		}
		return as((uint64_t)(sizeof(E) == 4 ? w[i] : sizeof(E) == 2 ? w[i / 2] >> (i % 2 * 16) :
					     w[i / 4] >> (i % 4 * 8)), (E *)0);
	}
	/* From an all-zero pack, or over what was there. */
	__device__ __forceinline__ void set(int i, E e)
	{
		uint64_t v = bits(e);

		if (sizeof(E) == 8) {
			w[2 * i % WORDS] = (uint32_t)v;
			w[(2 * i + 1) % WORDS] = (uint32_t)(v >> 32);
		} else if (sizeof(E) == 4) {
			w[i] = (uint32_t)v;
		} else if (sizeof(E) == 2) {
			w[i / 2] = i % 2 ? (w[i / 2] & 0xffffu) | (uint32_t)v << 16 : (w[i / 2] & 0xffff0000u) | (uint32_t)v;
		} else {
			int s = i % 4 * 8;
			w[i / 4] = (w[i / 4] & ~(0xffu << s)) | (uint32_t)v << s;
		}
	}
	__device__ __forceinline__ void clear()
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++)
			w[i] = 0;
	}

	AF_FN float as(uint64_t v, float *) { return __uint_as_float((uint32_t)v); }
	AF_FN double as(uint64_t v, double *) { return __longlong_as_double((int64_t)v); }
	template <class I> AF_FN I as(uint64_t v, I *) { return (I)v; }
	AF_FN uint64_t bits(float v) { return __float_as_uint(v); }
	AF_FN uint64_t bits(double v) { return (uint64_t)__double_as_longlong(v); }
	AF_FN uint64_t bits(int64_t v) { return (uint64_t)v; }
	AF_FN uint64_t bits(int32_t v) { return (uint32_t)v; }
	AF_FN uint64_t bits(int16_t v) { return (uint16_t)v; }
	AF_FN uint64_t bits(uint16_t v) { return v; }
	AF_FN uint64_t bits(int8_t v) { return (uint8_t)v; }
	AF_FN uint64_t bits(uint8_t v) { return v; }
};

/* Sums of two and two, rounded once: the same as sums of floats, rounded, for all pairs of 16 bits. */
template <class F> __device__ __forceinline__ uint32_t sum_of_two(uint32_t a, uint32_t b)
{
	return (uint32_t)F::round(arith<false>::add(F::load((uint16_t)(a >> 16)), F::load((uint16_t)(b >> 16)))) << 16 |
	       F::round(arith<false>::add(F::load((uint16_t)a), F::load((uint16_t)b)));
}
#if !AF_SOFTGPU
template <> __device__ __forceinline__ uint32_t sum_of_two<f16>(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
#if __CUDA_ARCH__ >= 900
template <> __device__ __forceinline__ uint32_t sum_of_two<bf16>(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
#endif
#endif
template <class F, int N>
__device__ __forceinline__ pack<uint16_t, N> sums(const pack<uint16_t, N> &a, const pack<uint16_t, N> &b)
{
	pack<uint16_t, N> r;

#pragma unroll
	for (int i = 0; i < pack<uint16_t, N>::WORDS; i++)
		r.w[i] = sum_of_two<F>(a.w[i], b.w[i]);
	return r;
}

/* By accesses of W bytes each, at most 16: W divides p and BYTES. */
template <class E, int N, int W> struct access {
	typedef pack<E, N> P;

	AF_FN void load(P &v, const char *p)
	{
#pragma unroll
		for (int i = 0; i < P::BYTES; i += W) {
			if (W == 16) {
				uint4 t = *(const uint4 *)(p + i);
				v.w[i / 4] = t.x, v.w[(i / 4 + 1) % P::WORDS] = t.y;
				v.w[(i / 4 + 2) % P::WORDS] = t.z, v.w[(i / 4 + 3) % P::WORDS] = t.w;
			} else if (W == 8) {
				uint2 t = *(const uint2 *)(p + i);
				v.w[i / 4] = t.x, v.w[(i / 4 + 1) % P::WORDS] = t.y;
			} else if (W == 4) {
				v.w[i / 4] = *(const uint32_t *)(p + i);
			} else if (W == 2) {
				uint32_t t = *(const uint16_t *)(p + i);
				v.w[i / 4] = i % 4 ? v.w[i / 4] | t << 16 : t;
			} else {
				uint32_t t = *(const uint8_t *)(p + i);
				v.w[i / 4] = i % 4 ? v.w[i / 4] | t << (i % 4 * 8) : t;
			}
		}
	}
	AF_FN void store(char *p, const P &v)
	{
#pragma unroll
		for (int i = 0; i < P::BYTES; i += W) {
			if (W == 16)
				*(uint4 *)(p + i) = make_uint4(v.w[i / 4], v.w[(i / 4 + 1) % P::WORDS],
					v.w[(i / 4 + 2) % P::WORDS], v.w[(i / 4 + 3) % P::WORDS]);
			else if (W == 8)
				*(uint2 *)(p + i) = make_uint2(v.w[i / 4], v.w[(i / 4 + 1) % P::WORDS]);
			else if (W == 4)
				*(uint32_t *)(p + i) = v.w[i / 4];
			else if (W == 2)
				*(uint16_t *)(p + i) = (uint16_t)(v.w[i / 4] >> (i % 4 * 8));
			else
				*(uint8_t *)(p + i) = (uint8_t)(v.w[i / 4] >> (i % 4 * 8));
		}
	}
};

/* The widest access for N elements where A divides the address. */
template <class E, int N, int A> struct reach {
	enum { BYTES = N * (int)sizeof(E), LOW = BYTES & -BYTES,
	       MOST = A < 16 ? A : 16, W = LOW < MOST ? LOW : MOST };
};

/* Columns col .. col + N - 1 of an operand whose columns follow each other; p: column 0. */
template <class E, int N, int A> __device__ __forceinline__ void load(pack<E, N> &v, const char *p, int64_t col)
{
	access<E, N, reach<E, N, A>::W>::load(v, p + col * (int)sizeof(E));
}
template <class E, int N, int A> __device__ __forceinline__ void store(char *p, int64_t col, const pack<E, N> &v)
{
	access<E, N, reach<E, N, A>::W>::store(p + col * (int)sizeof(E), v);
}

template <class E> __device__ __forceinline__ E load_one(const char *p)
{
	pack<E, 1> v;
	access<E, 1, (int)sizeof(E)>::load(v, p);
	return v.get(0);
}
template <class E> __device__ __forceinline__ void store_one(char *p, E e)
{
	pack<E, 1> v;
	v.clear();
	v.set(0, e);
	access<E, 1, (int)sizeof(E)>::store(p, v);
}

/* The same where only columns 0 .. width - 1 are there: others are not touched. */
template <class E, int N, int A>
__device__ __forceinline__ void load_within(pack<E, N> &v, const char *p, int64_t col, int64_t width)
{
	if (col >= 0 && col + N <= width) {
		load<E, N, A>(v, p, col);
		return;
	}
	v.clear();
#pragma unroll
	for (int i = 0; i < N; i++)
		if (col + i >= 0 && col + i < width)
			v.set(i, load_one<E>(p + (col + i) * (int)sizeof(E)));
}
template <class E, int N, int A>
__device__ __forceinline__ void store_within(char *p, int64_t col, int64_t width, const pack<E, N> &v)
{
	if (col >= 0 && col + N <= width) {
		store<E, N, A>(p, col, v);
		return;
	}
#pragma unroll
	for (int i = 0; i < N; i++)
		if (col + i >= 0 && col + i < width)
			store_one<E>(p + (col + i) * (int)sizeof(E), v.get(i));
}

/* Columns `step` bytes apart. */
template <class E, int N>
__device__ __forceinline__ void load_apart(pack<E, N> &v, const char *p, int64_t col, int64_t step, int64_t width)
{
	v.clear();
#pragma unroll
	for (int i = 0; i < N; i++)
		if (col + i >= 0 && col + i < width)
			v.set(i, load_one<E>(p + (col + i) * step));
}
template <class E, int N>
__device__ __forceinline__ void store_apart(char *p, int64_t col, int64_t step, int64_t width, const pack<E, N> &v)
{
#pragma unroll
	for (int i = 0; i < N; i++)
		if (col + i >= 0 && col + i < width)
			store_one<E>(p + (col + i) * step, v.get(i));
}

/* Of what would be stored, the elements that begin in lo .. hi - 1. */
template <class E, int N, int A>
__device__ __forceinline__ void store_some(char *p, int64_t col, int64_t step, int64_t width, uint64_t lo,
					   uint64_t hi, const pack<E, N> &v)
{
	const uint64_t at = (uint64_t)(p + col * step);

	if (step == (int)sizeof(E) && col >= 0 && col + N <= width && at >= lo && at + N * sizeof(E) <= hi) {
		store<E, N, A>(p, col, v);
		return;
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		char *q = p + (col + i) * step;

		if (col + i >= 0 && col + i < width && (uint64_t)q >= lo && (uint64_t)q < hi)
			store_one<E>(q, v.get(i));
	}
}

/* a / b for a >= 0, b > 0; 32 bits divide faster. */
__device__ __forceinline__ int64_t divide(int64_t a, int64_t b)
{
	return (a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* Has thread `at` of S a k-th chunk? Mostly the compiler knows. */
template <int S, int CHUNKS> __device__ __forceinline__ bool has_chunk(int at, int k)
{
	return (k + 1) * S <= CHUNKS || at + k * S < CHUNKS;
}

/*
 * A group's walk over the chunks of a row: thread `at` of S takes every S-th. B is what is done with
 * a chunk (gen_body.h), N chunks of a thread are under way at a time.
 */
template <class B, int V, int S, int CHUNKS, int BATCH, class W, class P, class KEPT>
__device__ __forceinline__ void walk(W &w, const P &p, const KEPT &kept, int at)
{
	enum { K = (CHUNKS + S - 1) / S, N = K < BATCH ? K : BATCH, UNROLL = K <= 8 ? K : 1 };

#pragma unroll (UNROLL)
	for (int k = 0; k < K; k += N) {
		B b[N];

#pragma unroll
		for (int j = 0; j < N; j++)
			if (has_chunk<S, CHUNKS>(at, k + j))
				b[j].load(w, p, (at + (k + j) * S) * V);
#pragma unroll
		for (int j = 0; j < N; j++)
			if (has_chunk<S, CHUNKS>(at, k + j))
				b[j].run(w, p, kept, (at + (k + j) * S) * V);
	}
}
/* The same in two steps, all of a thread's chunks at a time. */
template <class B, int V, int S, int CHUNKS> struct held {
	enum { K = (CHUNKS + S - 1) / S };
	B b[K];

	template <class W, class P> __device__ __forceinline__ void load(const W &w, const P &p, int at)
	{
#pragma unroll
		for (int k = 0; k < K; k++)
			if (has_chunk<S, CHUNKS>(at, k))
				b[k].load(w, p, (at + k * S) * V);
	}
	template <class W, class P, class KEPT> __device__ __forceinline__ void run(W &w, const P &p, const KEPT &kept, int at)
	{
#pragma unroll
		for (int k = 0; k < K; k++)
			if (has_chunk<S, CHUNKS>(at, k))
				b[k].run(w, p, kept, (at + k * S) * V);
	}
	/* What each chunk keeps has a place of its own. */
	template <class W, class P, class KEPT> __device__ __forceinline__ void run_own(W &w, const P &p, KEPT *kept, int at)
	{
#pragma unroll
		for (int k = 0; k < K; k++)
			if (has_chunk<S, CHUNKS>(at, k))
				b[k].run(w, p, kept[k], (at + k * S) * V);
	}
	template <class W, class P> __device__ __forceinline__ void put(const W &w, const P &p, int at)
	{
#pragma unroll
		for (int k = 0; k < K; k++)
			if (has_chunk<S, CHUNKS>(at, k))
				b[k].put(w, p, (at + k * S) * V);
	}
};
/* Nothing is stored before all threads have loaded. */
template <class B, int V, int S, int CHUNKS, int BATCH, class W, class P, class KEPT, class G>
__device__ __forceinline__ void walk_late(W &w, const P &p, const KEPT &kept, int at, const G &me)
{
	held<B, V, S, CHUNKS> h;

	h.load(w, p, at);
	h.run(w, p, kept, at);
	me.sync();
	h.put(w, p, at);
}

/* The threads that share a row. */
template <bool WARP, int THREADS> struct group {
	static constexpr int size = WARP ? 32 : THREADS;
	int rank;

	__device__ __forceinline__ group()
	{
		rank = WARP ? (int)threadIdx.x % 32 : (int)threadIdx.x;
	}
	__device__ __forceinline__ void sync() const
	{
		if (WARP)
			__syncwarp();
		else
			__syncthreads();
	}
};
}

#endif
