/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions along a row in a given order (matcher/order.def, row.h), known when the kernel is
 * compiled. Elements come from X::x(i), for products from X::y(i) as well, i any column: all threads
 * of the group have synchronised since they were written. Part of every generated text.
 */
#ifndef AF_FUSED_GEN_ORDER_CUH
#define AF_FUSED_GEN_ORDER_CUH

#include "fused/gen_memory.cuh"

namespace af
{
template <int THREADS_, int CONTIGUOUS_, int VEC_, int PART_, int INNER_, int ACC_, int TAIL_, int COMB_, int FUSE_,
	  int ASC_, int BLOCK_, int WIDTH_, int FAST_>
struct order {
	static constexpr int THREADS = THREADS_, CONTIGUOUS = CONTIGUOUS_, VEC = VEC_, PART = PART_, INNER = INNER_,
			     ACC = 1 << ACC_, TAIL = TAIL_, COMB = COMB_, FUSE = FUSE_, ASC = ASC_, BLOCK = BLOCK_,
			     FAST = FAST_, WIDTH = WIDTH_ ? WIDTH_ : THREADS_, WARPS = (THREADS_ + 31) / 32;
};
/* Values of order.def, as matcher/row.h numbers them. */
enum { INNER_SWAP, INNER_LEFT, INNER_PAIRS };
enum { TAIL_TURN, TAIL_FIRST, TAIL_AFTER };
enum { COMB_ORDER, COMB_NEIGHBOURS, COMB_HALVES };
enum { BLOCK_ONEWARP, BLOCK_FIRSTDESC, BLOCK_FIRSTASC, BLOCK_SERIAL, BLOCK_HALVING, BLOCK_ALL };

/* Which elements a thread takes, in terms of parts and single ones. */
template <class O, int COLS> struct stretch {
	int base, parts, single, singles;
	static constexpr int PER = O::VEC < O::PART ? 0 : O::VEC - O::PART, STRIDE = O::CONTIGUOUS ? 1 : O::THREADS,
			     GROUPS = COLS >> O::VEC;
	/* All threads have the same number, which the compiler knows. */
	static constexpr bool EVEN = !O::CONTIGUOUS && GROUPS << O::VEC == COLS && GROUPS % O::THREADS == 0;

	__device__ __forceinline__ stretch(int t)
	{
		if (!O::CONTIGUOUS) {
			base = t << O::VEC;
			parts = (EVEN		? GROUPS / O::THREADS :
				 GROUPS > t	? (GROUPS - t - 1) / O::THREADS + 1 : 0) << PER;
			single = (GROUPS << O::VEC) + t;
			singles = !EVEN && single < COLS ? (COLS - single - 1) / O::THREADS + 1 : 0;
		} else {
			const int each = (COLS + O::THREADS - 1) / O::THREADS;
			int64_t begin = (int64_t)t * each;
			int n = begin < COLS ? (int)(COLS - begin < each ? COLS - begin : each) : 0;

			base = n ? (int)begin : 0;
			parts = n >> O::PART;
			single = base + (parts << O::PART);
			singles = n & ((1 << O::PART) - 1);
		}
	}
	/* The first element of part k. */
	__device__ __forceinline__ int at(int k) const
	{
		if (O::CONTIGUOUS)
			return base + (k << O::PART);
		return base + ((k >> PER) * O::THREADS << O::VEC) +
		       ((k & ((1 << PER) - 1)) << O::PART);
	}
};

/* A: arithmetic. X: elements; X::PRODUCT: products of two. */
template <class O, class A, class X, int COLS> struct sum {
	typedef typename A::T T;

	/* Empty ones change nothing: no sum is -0. Which side is which does not matter but for NaNs of 64 bits. */
	static constexpr bool SUMS = true, EITHER = sizeof(T) == 4;

	AF_FN T fold(T acc, T x, T y)
	{
		if (!X::PRODUCT)
			return A::ADD(acc, x);
		return O::FUSE ? A::FMA(x, y, acc) : A::ADD(acc, A::MUL(x, y));
	}
	AF_FN T one(const X &e, int i) { return X::PRODUCT ? A::MUL(e.x(i), e.y(i)) : e.x(i); }
	AF_FN T step(const X &e, T acc, int i)
	{
		return fold(acc, e.x(i), X::PRODUCT ? e.y(i) : acc);
	}
	AF_FN T part(const X &e, T acc, int i)
	{
		constexpr int N = 1 << O::PART, FIRST = O::INNER != INNER_LEFT;
		T t;

		if (N == 1)
			return step(e, acc, i);
		t = step(e, one(e, i + FIRST), i + !FIRST);
		if (O::INNER == INNER_PAIRS) {
			if (N > 2)
				t = A::ADD(t, step(e, one(e, i + 3), i + 2));
			if (N > 4)
				t = A::ADD(t, A::ADD(step(e, one(e, i + 5), i + 4), step(e, one(e, i + 7), i + 6)));
		} else {
#pragma unroll
			for (int j = 2; j < N; j++)
				t = step(e, t, i + j);
		}
		return A::ADD(acc, t);
	}

	/* What logical thread t adds up. */
	AF_FN T thread(const X &e, int t)
	{
		typedef stretch<O, COLS> W;
		enum { N = O::ACC, EACH = (W::GROUPS / O::THREADS << W::PER) / N, WIDE = N << O::PART,
		       UNROLL = !W::EVEN ? 4 : EACH * WIDE <= 64 ? (EACH ? EACH : 1) : WIDE < 32 ? 32 / WIDE : 1 };
		const W w(t);
		int full = w.parts / N * N;
		T acc[N];

#pragma unroll
		for (int j = 0; j < N; j++)
			acc[j] = 0;
#pragma unroll (UNROLL)
		for (int k = 0; k < full; k += N)
#pragma unroll
			for (int j = 0; j < N; j++)
				acc[j] = part(e, acc[j], w.at(k + j));
		if (O::TAIL == TAIL_TURN) {
#pragma unroll
			for (int j = 0; j < N - 1; j++)
				if (full + j < w.parts)
					acc[j] = part(e, acc[j], w.at(full + j));
		} else if (O::TAIL == TAIL_FIRST) {
#pragma unroll 1
			for (int k = full; k < w.parts; k++)
				acc[0] = part(e, acc[0], w.at(k));
		}
		if (O::TAIL != TAIL_AFTER)
#pragma unroll 1
			for (int k = 0; k < w.singles; k++)
				acc[0] = step(e, acc[0], w.single + k * stretch<O, COLS>::STRIDE);
		if (O::COMB == COMB_ORDER) {
#pragma unroll
			for (int j = 1; j < N; j++)
				acc[0] = A::ADD(acc[0], acc[j]);
		} else if (O::COMB == COMB_HALVES) {
#pragma unroll
			for (int n = N / 2; n; n /= 2)
#pragma unroll
				for (int j = 0; j < n; j++)
					acc[j] = A::ADD(acc[j], acc[j + n]);
		} else {
#pragma unroll
			for (int n = 1; n < N; n *= 2)
#pragma unroll
				for (int j = 0; j + n < N; j += 2 * n)
					acc[j] = A::ADD(acc[j], acc[j + n]);
		}
		if (O::TAIL == TAIL_AFTER) {
#pragma unroll 1
			for (int k = full; k < w.parts; k++)
				acc[0] = part(e, acc[0], w.at(k));
#pragma unroll 1
			for (int k = 0; k < w.singles; k++)
				acc[0] = step(e, acc[0], w.single + k * stretch<O, COLS>::STRIDE);
		}
		return acc[0];
	}
	AF_FN T join(T a, T b) { return A::ADD(a, b); }
	AF_FN T none() { return 0; }
	AF_FN T over(T v, int d) { return __shfl_xor_sync(0xffffffffu, v, d); }
};

/* Welford's updates: see row.h. */
template <class T> struct welford_state {
	T mean, m2, n;
};
template <class O, class A, class X, int COLS> struct welford {
	typedef welford_state<float> T;
	static constexpr bool SUMS = false, EITHER = false;

	AF_FN float by(float n) { return O::FAST ? A::RCP_FAST(n) : A::RCP(n); }
	AF_FN void step(T &s, float x)
	{
		float d = A::SUB(x, s.mean), q;

		s.n = s.n + 1.0f;
		q = by(s.n);
		s.mean = O::FUSE ? A::FMA(d, q, s.mean) : A::ADD(s.mean, A::MUL(d, q));
		s.m2 = O::FUSE ? A::FMA(d, A::SUB(x, s.mean), s.m2) : A::ADD(s.m2, A::MUL(d, A::SUB(x, s.mean)));
	}
	AF_FN T thread(const X &e, int t)
	{
		const stretch<O, COLS> w(t);
		T s = {0, 0, 0};

#pragma unroll 1
		for (int k = 0; k < w.parts; k++)
			step(s, e.x(w.at(k)));
#pragma unroll 1
		for (int k = 0; k < w.singles; k++)
			step(s, e.x(w.single + k * stretch<O, COLS>::STRIDE));
		return s;
	}
	/* b onto a */
	AF_FN T join(const T &a, const T &b)
	{
		float n = a.n + b.n, d = A::SUB(b.mean, a.mean), q, na, nb;
		T r;

		if (n == 0)
			return a;
		q = by(n);
		na = A::MUL(a.n, q);
		nb = A::MUL(b.n, q);
		r.n = n;
		if (O::FUSE) {
			r.mean = A::FMA(na, a.mean, A::MUL(nb, b.mean));
			r.m2 = A::FMA(A::MUL(A::MUL(d, d), a.n), nb, A::ADD(a.m2, b.m2));
		} else {
			r.mean = A::ADD(A::MUL(na, a.mean), A::MUL(nb, b.mean));
			r.m2 = A::ADD(A::ADD(a.m2, b.m2), A::MUL(A::MUL(A::MUL(d, d), a.n), nb));
		}
		return r;
	}
	AF_FN T none()
	{
		T s = {0, 0, 0};
		return s;
	}
	AF_FN T over(const T &v, int d)
	{
		T r;
		r.mean = __shfl_xor_sync(0xffffffffu, v.mean, d);
		r.m2 = __shfl_xor_sync(0xffffffffu, v.m2, d);
		r.n = __shfl_xor_sync(0xffffffffu, v.n, d);
		return r;
	}
};

/* Lanes 0 .. N - 1 of a warp, N a power of two; the result is in lane 0 (and, where joining
 * commutes, in all of them). The lower lane's goes first. */
template <class S> __device__ __forceinline__ typename S::T lanes_joined(typename S::T v, int n, bool ascending)
{
	int lane = threadIdx.x % 32;

	if (ascending)
#pragma unroll
		for (int d = 1; d < n; d *= 2) {
			typename S::T o = S::over(v, d);
			v = !S::EITHER && lane & d ? S::join(o, v) : S::join(v, o);
		}
	else
#pragma unroll
		for (int d = n / 2; d; d /= 2) {
			typename S::T o = S::over(v, d);
			v = !S::EITHER && lane & d ? S::join(o, v) : S::join(v, o);
		}
	return v;
}
/* From lane 0. */
template <class T> __device__ __forceinline__ T from_first(T v)
{
	return __shfl_sync(0xffffffffu, v, 0);
}
template <class T> __device__ __forceinline__ welford_state<T> from_first(welford_state<T> v)
{
	v.mean = from_first(v.mean), v.m2 = from_first(v.m2), v.n = from_first(v.n);
	return v;
}

/* s[0 .. n - 1] halved by one warp, n a power of two: each lane has columns of its own. */
template <class S> __device__ __forceinline__ typename S::T halved(typename S::T *s, int n)
{
	int lane = threadIdx.x % 32;

	for (int d = n / 2; d >= 32; d /= 2)
		for (int i = lane; i < d; i += 32)
			s[i] = S::join(s[i], s[i + d]);
	if (n > 32)
		n = 32;
	return lanes_joined<S>(lane < n ? s[lane] : S::none(), n, false);
}

/* From the warps' sums at s, all of them there, each on its own; where O lets that be. */
template <class O, class S> __device__ __forceinline__ typename S::T of_warps(const typename S::T *s)
{
	typedef typename S::T T;
	constexpr int W = O::WARPS;
	constexpr bool ASC = O::BLOCK == BLOCK_FIRSTASC;
	const int lane = threadIdx.x % 32;

	if (O::BLOCK == BLOCK_ONEWARP)
		return s[0];
	if constexpr (S::SUMS && W <= 16 && !(W & (W - 1))) { /* fewer steps than by way of the lanes */
		pack<T, W> all;
		T v[W];

		load<T, W, 16>(all, (const char *)s, 0);
#pragma unroll
		for (int w = 0; w < W; w++)
			v[w] = all.get(w);
		if (O::BLOCK == BLOCK_SERIAL) {
#pragma unroll
			for (int w = 1; w < W; w++)
				v[0] = S::join(v[0], v[w]);
		} else {
#pragma unroll
			for (int d = W / 2; d; d /= 2)
#pragma unroll
				for (int w = 0; w < d; w++)
					v[w] = ASC ? S::join(v[2 * w], v[2 * w + 1]) : S::join(v[w], v[w + d]);
		}
		return v[0];
	}
	if (O::BLOCK == BLOCK_SERIAL) {
		T v = s[0];
#pragma unroll 4
		for (int w = 1; w < W; w++)
			v = S::join(v, s[w]);
		return v;
	}
	return from_first(lanes_joined<S>(lane < W ? s[lane] : S::none(), 32, ASC));
}

/* In every thread of the group. shared: of this reduction (gen_plan.c says how much). */
template <class O> struct shares {
	static constexpr bool EACH = O::BLOCK == BLOCK_HALVING || O::BLOCK == BLOCK_ALL;
};
template <class O, class S, class G, class X>
__device__ __forceinline__ typename S::T along_row(const G &me, const X &e, char *shared)
{
	typedef typename S::T T;
	/* Of few columns most rounds, and the same ones in all programs, have nothing to add up. */
	enum { ROUNDS = (O::THREADS + G::size - 1) / G::size,
	       SOME = S::SUMS && !O::CONTIGUOUS && !O::VEC && X::COLUMNS < O::THREADS ? X::COLUMNS : O::THREADS,
	       UNROLL = ROUNDS * (X::COLUMNS / O::THREADS + 1) <= 32 ? ROUNDS : 1 };
	T *s = (T *)shared;
	const int lane = me.rank % 32;
	T v;

#pragma unroll (UNROLL)
	for (int k = 0; k < ROUNDS; k++) {
		const int from = k * G::size + (G::size == 32 ? 0 : me.rank - lane), t = from + lane;

		if ((k + 1) * G::size > O::THREADS && from >= O::THREADS)
			break;
		if (shares<O>::EACH) {
			if (t < O::THREADS)
				s[t] = S::thread(e, t);
			continue;
		}
		if (from < SOME) {
			v = O::THREADS % 32 == 0 || t < O::THREADS ? S::thread(e, t) : S::none();
			v = lanes_joined<S>(v, 32, O::ASC);
		} else {
			v = S::none();
		}
		if (lane == 0)
			s[t / 32] = v;
	}
	me.sync();
	if (!shares<O>::EACH)
		return of_warps<O, S>(s);
	if (O::BLOCK == BLOCK_ALL) {
		if (me.rank == 0) {
			v = s[0];
#pragma unroll 4
			for (int t = 1; t < O::THREADS; t++)
				v = S::join(v, s[t]);
			s[0] = v;
		}
		me.sync();
		return s[0];
	}
	constexpr int GROUPS = O::THREADS / O::WIDTH;
	T *of = s + O::THREADS;
#pragma unroll 1
	for (int g = me.rank / 32; g < GROUPS; g += me.size / 32) {
		v = halved<S>(s + g * O::WIDTH, O::WIDTH);
		if (lane == 0)
			of[g] = v;
	}
	me.sync();
	if (GROUPS <= 32)
		return from_first(halved<S>(of, GROUPS)); /* of up to 32, nothing is written */
	if (me.rank < 32) {
		v = halved<S>(of, GROUPS);
		if (lane == 0)
			s[0] = v; /* read by nobody any more */
	}
	me.sync();
	return s[0];
}

/*
 * The same without a way through shared memory but for the warps' sums: a thread has N logical ones that
 * are next to each other, and their columns, chunks of N, in registers: element j of chunk k is e.x(k, j).
 * Of orders that gen_plan.c has looked at: strided, one accumulator.
 */
template <class S, int N> __device__ __forceinline__ typename S::T traded(typename S::T a, typename S::T b, int d)
{
	const bool up = threadIdx.x & d; /* keeps b */
	const typename S::T keep = up ? b : a, o = S::over(up ? a : b, d);

	return !S::EITHER && up ? S::join(o, keep) : S::join(keep, o);
}
/* Over the 32 / N lanes that have a logical warp; the result is in the first of them. */
template <class S, int N, bool ASC> __device__ __forceinline__ typename S::T own_joined(const typename S::T *v)
{
	if (ASC) {
		typename S::T x[N];

#pragma unroll
		for (int j = 0; j < N; j++)
			x[j] = v[j];
#pragma unroll
		for (int n = N / 2; n; n /= 2)
#pragma unroll
			for (int j = 0; j < n; j++)
				x[j] = S::join(x[2 * j], x[2 * j + 1]);
		return lanes_joined<S>(x[0], 32 / N, true);
	}
	if (N == 1)
		return lanes_joined<S>(v[0], 32, false);
	if (N == 2) {
		typename S::T x = lanes_joined<S>(traded<S, N>(v[0], v[N - 1], 8), 8, false);
		return S::join(x, S::over(x, 8));
	}
	/* N == 4 */
	typename S::T x = traded<S, N>(traded<S, N>(v[0], v[1 % N], 4), traded<S, N>(v[2 % N], v[3 % N], 4), 2);
	x = lanes_joined<S>(x, 2, false);
	x = S::join(x, S::over(x, 2));
	return S::join(x, S::over(x, 4));
}
template <class O, class S, int N, int CHUNKS, class G, class X>
__device__ __forceinline__ typename S::T along_own(const G &me, const X &e, char *shared)
{
	constexpr int K = (CHUNKS + G::size - 1) / G::size;
	typename S::T v[N], *s = (typename S::T *)shared;

#pragma unroll
	for (int j = 0; j < N; j++)
		v[j] = 0;
#pragma unroll
	for (int k = 0; k < K; k++)
#pragma unroll
		for (int j = 0; j < N; j++)
			if (has_chunk<G::size, CHUNKS>(me.rank, k))
				v[j] = S::fold(v[j], e.x(k, j), e.y(k, j));
	v[0] = own_joined<S, N, O::ASC>(v);
	if (me.rank % (32 / N) == 0)
		s[me.rank / (32 / N)] = v[0];
	me.sync();
	return of_warps<O, S>(s);
}

/* Greatest or smallest, in any order. */
#define AF_EXTREME(name, row, none)                                                                \
	template <class A> struct name {                                                           \
		typedef typename A::T T;                                                           \
		AF_FN T join(T a, T b) { return A::row(a, b); }                                    \
		AF_FN T first() { return A::none(); }                                              \
	};
AF_EXTREME(by_ROWMAX, MAX, no_max)
AF_EXTREME(by_ROWMAX_NAN, MAX_NAN, lowest)
AF_EXTREME(by_ROWMIN, MIN, no_min)
AF_EXTREME(by_ROWMIN_NAN, MIN_NAN, highest)

template <class V> __device__ __forceinline__ V lane_xor(V v, int d)
{
	return __shfl_xor_sync(0xffffffffu, v, d);
}
template <> __device__ __forceinline__ int16_t lane_xor(int16_t v, int d)
{
	return (int16_t)__shfl_xor_sync(0xffffffffu, (int)v, d);
}
template <> __device__ __forceinline__ int8_t lane_xor(int8_t v, int d)
{
	return (int8_t)__shfl_xor_sync(0xffffffffu, (int)v, d);
}
template <> __device__ __forceinline__ uint8_t lane_xor(uint8_t v, int d)
{
	return (uint8_t)__shfl_xor_sync(0xffffffffu, (int)v, d);
}

/* v: of this thread's elements. s: 32 values. */
template <class J, class G, class V> __device__ __forceinline__ V extreme(const G &me, V v, char *shared)
{
	V *s = (V *)shared;
	const int lane = me.rank % 32, warps = me.size / 32;

	for (int d = 16; d; d /= 2)
		v = J::join(v, lane_xor(v, d));
	if (warps == 1)
		return v;
	if (lane == 0)
		s[me.rank / 32] = v;
	me.sync();
	v = lane < warps ? s[lane] : J::first();
	for (int d = 16; d; d /= 2)
		v = J::join(v, lane_xor(v, d));
	return v;
}
}

#endif
