/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of gen_eval.h. A block has a pair of program and order, and rows of it; threads have
 * columns, and logical threads of the order. gen_eval.c puts the prelude of generated kernels, the
 * numbers of statements and types, and order.inc around it.
 */
namespace af
{
namespace eval
{
struct eval_order {
	fields f;
	uint16_t fast;
};

__device__ inline float f32_of(uint32_t v, float) { return __uint_as_float(v); }
template <class I> __device__ inline I f32_of(uint32_t v, I) { return (I)v; }
__device__ inline uint32_t bits(float v) { return __float_as_uint(v); }
__device__ inline uint32_t bits(int32_t v) { return (uint32_t)v; }
__device__ inline uint32_t bits(int16_t v) { return (uint16_t)v; }
__device__ inline uint32_t bits(uint16_t v) { return v; }
__device__ inline uint32_t bits(int8_t v) { return (uint8_t)v; }
__device__ inline uint32_t bits(uint8_t v) { return v; }

#define EVAL_CASE(name, ...)                                                                       \
	case ROW_##name:                                                                           \
		return bits(A::name(__VA_ARGS__));

template <class A> __device__ inline uint32_t compared(int code, uint32_t x, uint32_t y, uint32_t z)
{
	typedef typename A::T T;
	T a = f32_of(x, T()), b = f32_of(y, T()), c = f32_of(z, T());

	switch (code) {
		EVAL_CASE(EQ, a, b)
		EVAL_CASE(NE, a, b)
		EVAL_CASE(LT, a, b)
		EVAL_CASE(LE, a, b)
	case ROW_SELECT:
		return bits(A::SELECT((uint8_t)x, b, c));
	}
	return 0;
}
template <bool FTZ> __device__ AF_NOINLINE uint32_t of_f32(int code, uint32_t x, uint32_t y, uint32_t z)
{
	typedef t_f32<FTZ> A;
	float a = f32_of(x, 0.0f), b = f32_of(y, 0.0f), c = f32_of(z, 0.0f);

	switch (code) {
		EVAL_CASE(ADD, a, b)
		EVAL_CASE(SUB, a, b)
		EVAL_CASE(MUL, a, b)
		EVAL_CASE(FMA, a, b, c)
		EVAL_CASE(NEG, a)
		EVAL_CASE(ABS, a)
		EVAL_CASE(MIN, a, b)
		EVAL_CASE(MAX, a, b)
		EVAL_CASE(MIN_NAN, a, b)
		EVAL_CASE(MAX_NAN, a, b)
		EVAL_CASE(DIV, a, b)
		EVAL_CASE(RCP, a)
		EVAL_CASE(SQRT, a)
		EVAL_CASE(EXP, a)
		EVAL_CASE(LOG, a)
		EVAL_CASE(SIN, a)
		EVAL_CASE(COS, a)
		EVAL_CASE(TANH, a)
		EVAL_CASE(ERF, a)
		EVAL_CASE(POW, a, b)
		EVAL_CASE(DIV_FAST, a, b)
		EVAL_CASE(DIV_FULL, a, b)
		EVAL_CASE(RCP_FAST, a)
		EVAL_CASE(SQRT_FAST, a)
		EVAL_CASE(RSQRT, a)
		EVAL_CASE(EXP_FAST, a)
		EVAL_CASE(LOG_FAST, a)
		EVAL_CASE(SIN_FAST, a)
		EVAL_CASE(COS_FAST, a)
		EVAL_CASE(TANH_FAST, a)
		EVAL_CASE(POW_FAST, a, b)
	}
	return compared<A>(code, x, y, z);
}
template <class A> __device__ inline uint32_t of_int(int code, uint32_t x, uint32_t y, uint32_t z)
{
	typedef typename A::T T;
	T a = f32_of(x, T()), b = f32_of(y, T());

	switch (code) {
		EVAL_CASE(ADD, a, b)
		EVAL_CASE(SUB, a, b)
		EVAL_CASE(MUL, a, b)
		EVAL_CASE(NEG, a)
		EVAL_CASE(ABS, a)
		EVAL_CASE(MIN, a, b)
		EVAL_CASE(MAX, a, b)
		EVAL_CASE(MIN_NAN, a, b)
		EVAL_CASE(MAX_NAN, a, b)
		EVAL_CASE(AND, a, b)
		EVAL_CASE(OR, a, b)
		EVAL_CASE(NOT, a)
	}
	return compared<A>(code, x, y, z);
}
template <class A> __device__ inline uint32_t of_half(int code, uint32_t x, uint32_t y, uint32_t z)
{
	uint16_t a = (uint16_t)x, b = (uint16_t)y;

	switch (code) {
		EVAL_CASE(NEG, a)
		EVAL_CASE(ABS, a)
		EVAL_CASE(DIV, a, b)
		EVAL_CASE(RCP, a)
		EVAL_CASE(EXP, a)
	}
	return compared<A>(code, x, y, z);
}
__device__ inline uint32_t of_bool(int code, uint32_t x, uint32_t y, uint32_t z)
{
	typedef t_bool A;
	uint8_t a = (uint8_t)x, b = (uint8_t)y;

	switch (code) {
		EVAL_CASE(AND, a, b)
		EVAL_CASE(OR, a, b)
		EVAL_CASE(NOT, a)
	}
	return compared<A>(code, x, y, z);
}
#undef EVAL_CASE

__device__ AF_NOINLINE uint32_t of_others(int code, int type, uint32_t x, uint32_t y, uint32_t z)
{
	switch (type) {
	case DT_f16:
		return of_half<t_f16>(code, x, y, z);
	case DT_bf16:
		return of_half<t_bf16>(code, x, y, z);
	case DT_i32:
		return of_int<t_i32>(code, x, y, z);
	case DT_u8:
		return of_int<t_u8>(code, x, y, z);
	default:
		return of_bool(code, x, y, z);
	}
}
__device__ AF_NOINLINE uint32_t arithmetic(int code, int type, int ftz, uint32_t x, uint32_t y, uint32_t z)
{
	if (type != DT_f32)
		return of_others(code, type, x, y, z);
	return ftz ? of_f32<true>(code, x, y, z) : of_f32<false>(code, x, y, z);
}

/* What is small is a float or an i32 on the way, exactly. */
template <class FROM, bool FTZ> __device__ AF_NOINLINE uint32_t cast_wide(int to, typename FROM::T v)
{
#define EVAL_TO(name, type)                                                                        \
	case DT_##name:                                                                            \
		return bits(cast<type, FROM, FTZ>::f(v));
	switch (to) {
		EVAL_TO(f16, t_f16)
		EVAL_TO(bf16, t_bf16)
		EVAL_TO(i16, t_i16)
		EVAL_TO(i8, t_i8)
		EVAL_TO(u8, t_u8)
		EVAL_TO(bool, t_bool)
		EVAL_TO(e4m3, t_e4m3)
		EVAL_TO(e5m2, t_e5m2)
	}
#undef EVAL_TO
	return 0;
}
__device__ inline uint32_t cast_float(int to, float v)
{
	return to == DT_i32 ? bits(cast<t_i32, t_f32<false>, false>::f(v)) : cast_wide<t_f32<false>, false>(to, v);
}
__device__ inline uint32_t cast_int(int to, int32_t v)
{
	return to == DT_i32 ? (uint32_t)v :
	       to == DT_f32 ? bits(cast<t_f32<false>, t_i32, false>::f(v)) :
			      cast_wide<t_i32, false>(to, v);
}
__device__ AF_NOINLINE uint32_t cast_any(int to, int from, int ftz, uint32_t v)
{
	float f;

	switch (from) {
	case DT_f32:
		f = __uint_as_float(v);
		return ftz && to != DT_i32 ? cast_wide<t_f32<false>, true>(to, f) : cast_float(to, f);
	case DT_f16:
		f = f16::load((uint16_t)v);
		break;
	case DT_bf16:
		f = bf16::load((uint16_t)v);
		break;
	case DT_e4m3:
		f = e4m3::load((uint8_t)v);
		break;
	case DT_e5m2:
		f = e5m2::load((uint8_t)v);
		break;
	case DT_i16:
		return cast_int(to, (int16_t)v);
	case DT_i8:
		return cast_int(to, (int8_t)v);
	case DT_u8:
		return cast_int(to, (int32_t)(uint8_t)v);
	case DT_bool:
		return cast_int(to, (uint8_t)v ? 1 : 0);
	default:
		return cast_int(to, (int32_t)v);
	}
	if (to == DT_f32)
		return bits(ftz ? t_f32<true>::z(f) : f);
	return cast_float(to, f);
}

__device__ inline uint32_t peek(const char *p, int type)
{
	switch (type) {
	case DT_f32:
	case DT_i32:
		return *(const uint32_t *)p;
	case DT_f16:
	case DT_bf16:
	case DT_i16:
		return *(const uint16_t *)p;
	default:
		return *(const uint8_t *)p;
	}
}
__device__ inline bool is_nan(uint32_t v, int type)
{
	switch (type) {
	case DT_f32:
		return (v & 0x7fffffffu) > 0x7f800000u;
	case DT_f16:
		return (v & 0x7fffu) > 0x7c00u;
	case DT_bf16:
		return (v & 0x7fffu) > 0x7f80u;
	case DT_e4m3:
		return (v & 0x7fu) == 0x7fu;
	case DT_e5m2:
		return (v & 0x7fu) > 0x7cu;
	default:
		return false;
	}
}

/* Where a block is. */
struct place {
	const eval_program *p;
	const eval_order *o;
	const uint32_t *fixed; /* what reductions came to, by statement */
	int64_t row, delta;
	int stage;
	bool any_nan;
};

__device__ AF_NOINLINE char *element(const eval_program *p, const eval_operand *o, int64_t row, int64_t col)
{
	int64_t at = (int64_t)o->addr + col * o->step;

	for (int d = p->ndim - 1; d > 0; d--) {
		at += row % p->size[d] * o->stride[d];
		row /= p->size[d];
	}
	return (char *)(at + row * o->stride[0]);
}

/* The steps of a stage for one column; how many of its stores differ from what is there. v:
 * EVAL_STMTS values. */
__device__ AF_NOINLINE int column(const place &w, int64_t col, uint32_t *v)
{
	const eval_program *p = w.p;
	int differ = 0;

#pragma unroll 1
	for (int i = w.stage ? p->end[w.stage - 1] : 0; i < p->end[w.stage]; i++) {
		const int k = p->step[i];
		const eval_stmt s = p->stmt[k];
		const eval_operand *o = &p->operand[s.at];
		const uint32_t a = s.arg[0] == EVAL_NONE ? 0 : v[s.arg[0]], b = s.arg[1] == EVAL_NONE ? 0 : v[s.arg[1]],
			       c = s.arg[2] == EVAL_NONE ? 0 : v[s.arg[2]];

		switch (s.code) {
		case ROW_LOAD:
			v[k] = o->step && col >= o->width ?
				       0 :
				       peek(element(p, o, w.row, o->step ? col : 0) + w.delta, s.type);
			break;
		case ROW_STORE:
			if (col < o->width) { /* 1 where all columns have one place */
				uint32_t is = peek(element(p, o, w.row, col), s.type);

				differ += is != a && !(w.any_nan && is_nan(is, s.type) && is_nan(a, s.type));
			}
			break;
		case ROW_CONST:
			v[k] = p->imm[s.at];
			break;
		case ROW_COL:
			v[k] = (uint32_t)col;
			break;
		case ROW_ROW:
			v[k] = (uint32_t)w.row;
			break;
		case ROW_CAST:
			v[k] = cast_any(s.type, s.from, s.flags & 1, a);
			break;
		default:
			/* Comparisons are of what they compare. */
			v[k] = s.code >= ROW_SUM ? w.fixed[k] :
				       arithmetic(s.code, s.code >= ROW_EQ && s.code <= ROW_LE ? s.from : s.type, s.flags & 1,
						  a, b, c);
		}
	}
	return differ;
}

/* What the stage's reduction takes of a column, or of two a product. */
struct context {
	place w;
	int arg[2]; /* arg[1] < 0: no product */
	uint32_t how;
};
struct taken {
	float x, y;
};
__device__ AF_NOINLINE taken take(const context *c, int64_t col)
{
	uint32_t v[EVAL_STMTS];
	taken t = {0, 0};

	column(c->w, col, v);
	t.x = __uint_as_float(v[c->arg[0]]);
	if (c->arg[1] >= 0)
		t.y = __uint_as_float(v[c->arg[1]]);
	return t;
}
/* A sum, or Welford's state. What it is added up by goes with it, as order.inc hands on nothing else. */
enum { FTZ = 1, FUSE_BOTH = 2, FAST = 4, WELFORD = 8 };
struct state {
	float mean, m2, n;
	uint32_t how;
};
__device__ inline float op(uint32_t how, int code, float a, float b, float d)
{
	return __uint_as_float(arithmetic(code, DT_f32, how & FTZ, bits(a), bits(b), bits(d)));
}
__device__ inline float muladd(uint32_t how, float a, float b, float c)
{
	return how & FUSE_BOTH ? op(how, ROW_FMA, a, b, c) : op(how, ROW_ADD, c, op(how, ROW_MUL, a, b, 0), 0);
}
__device__ inline float by(uint32_t how, float n)
{
	return op(how, how & FAST ? ROW_RCP_FAST : ROW_RCP, n, 0, 0);
}
/* A state and element i. */
__device__ AF_NOINLINE state updated(const context *c, state s, int64_t i)
{
	const taken t = take(c, i);
	float x = t.x, d;

	s.how = c->how;
	if (!(s.how & WELFORD)) {
		s.mean = c->arg[1] < 0 ? op(s.how, ROW_ADD, s.mean, x, 0) : op(s.how, ROW_FMA, x, t.y, s.mean);
		return s;
	}
	d = op(s.how, ROW_SUB, x, s.mean, 0);
	s.n += 1.0f;
	s.mean = muladd(s.how, d, by(s.how, s.n), s.mean);
	s.m2 = muladd(s.how, d, op(s.how, ROW_SUB, x, s.mean, 0), s.m2);
	return s;
}
__device__ AF_NOINLINE state joined(state a, state b)
{
	float n = a.n + b.n, d, q, na, nb;
	state r = a.n != 0 ? a : b;

	r.how = a.how | b.how;
	if (!(r.how & WELFORD)) {
		r.mean = op(r.how, ROW_ADD, a.mean, b.mean, 0);
		return r;
	}
	if (n == 0)
		return a;
	d = op(r.how, ROW_SUB, b.mean, a.mean, 0);
	q = by(r.how, n);
	na = op(r.how, ROW_MUL, a.n, q, 0);
	nb = op(r.how, ROW_MUL, b.n, q, 0);
	r.mean = muladd(r.how, na, a.mean, op(r.how, ROW_MUL, nb, b.mean, 0));
	d = op(r.how, ROW_MUL, op(r.how, ROW_MUL, d, d, 0), a.n, 0);
	r.m2 = muladd(r.how, d, nb, op(r.how, ROW_ADD, a.m2, b.m2, 0));
	r.n = n;
	return r;
}
__device__ inline state empty()
{
	state s = {0, 0, 0, 0};
	return s;
}
/* Element i by itself. */
__device__ AF_NOINLINE state alone(const context *c, int64_t i)
{
	state s = empty();
	taken t;

	if (c->how & WELFORD)
		return updated(c, s, i);
	t = take(c, i);
	s.how = c->how;
	s.mean = c->arg[1] < 0 ? t.x : op(s.how, ROW_MUL, t.x, t.y, 0);
	return s;
}

/* Threads' sums are in the block's memory when it comes to adding them up. */
#define ORDER_SUMMED
#define ORDER_QUALIFIER __device__ AF_NOINLINE
#define ORDER_CTX const context *
#define NODE state
#define NODE_ZERO empty()
#define ADD(a, b) joined(a, b)
#define SQUARE(i) alone(ctx, i)
#define FUSE(a, i) updated(ctx, a, i)
#define ORDER_FN order
#include "fused/order.inc"
#undef ORDER_FN
#undef ADD
#undef SQUARE
#undef FUSE
#undef NODE
#undef NODE_ZERO

/* All threads' sums, then one thread goes up the tree: few rows are looked at, in many blocks. */
__device__ inline void reduce(const place &w, uint32_t *fixed, char *room)
{
	const eval_program *p = w.p;
	const int k = p->reduction[w.stage];
	const eval_stmt s = p->stmt[k];
	const bool welford = s.code == ROW_WELFORD;
	fields f = w.o->f;
	context c = {w, {s.arg[0], s.code == ROW_DOT ? s.arg[1] : -1}, 0};

	c.how = (s.flags & 1 ? FTZ : 0u) | (f.fma == FIELD_fma_YES ? FUSE_BOTH : 0u) |
		(w.o->fast ? FAST : 0u) | (welford ? WELFORD : 0u);
	if (welford || s.code == ROW_SUM || s.code == ROW_DOT) {
		state *all = (state *)room;

		if (welford)
			f.fma = FIELD_fma_YES; /* FUSE is the update */
		for (int t = threadIdx.x; t < f.threads; t += blockDim.x)
			all[t] = order_thread(&f, p->cols, &c, t);
		__syncthreads();
		if (threadIdx.x == 0) {
			state q = order(&f, p->cols, &c, all);

			fixed[k] = bits(q.mean);
			for (int i = k + 1; welford && i < EVAL_STMTS; i++)
				if (p->stmt[i].code == ROW_WELFORD_M2 && p->stmt[i].arg[0] == k)
					fixed[i] = bits(q.m2);
		}
	} else {
		const int join = s.code == ROW_ROWMAX	  ? ROW_MAX :
				 s.code == ROW_ROWMAX_NAN ? ROW_MAX_NAN :
				 s.code == ROW_ROWMIN	  ? ROW_MIN :
							    ROW_MIN_NAN;
		uint32_t *all = (uint32_t *)room, v[EVAL_STMTS], most = 0;

		for (int64_t i = threadIdx.x; i < p->cols; i += blockDim.x) {
			column(w, i, v);
			most = i < blockDim.x ? v[s.arg[0]] : arithmetic(join, s.type, s.flags & 1, most, v[s.arg[0]], 0);
		}
		all[threadIdx.x] = most;
		__syncthreads();
		for (int t = 1; threadIdx.x == 0 && t < (int)blockDim.x && t < p->cols; t++)
			most = arithmetic(join, s.type, s.flags & 1, most, all[t], 0);
		if (threadIdx.x == 0) /* of one column, too, what the operation makes of it */
			fixed[k] = arithmetic(join, s.type, s.flags & 1, most, most, 0);
	}
	__syncthreads();
}

__device__ inline void run(const eval_args &a)
{
	__shared__ uint32_t fixed[EVAL_STMTS];
	alignas(16) __shared__ char room[1024 * sizeof(state)];
	const uint32_t pair = ((const uint32_t *)a.pair)[blockIdx.x];
	const eval_program *p = (const eval_program *)a.program + (pair & 0xffff);
	place w = {p, (const eval_order *)a.order + (pair >> 16), fixed, 0, a.delta, 0, a.any_nan != 0};
	uint32_t v[EVAL_STMTS];
	int differ = 0;

	if (p->nstage == 1) {
		const int64_t n = a.rows * p->cols, each = (int64_t)gridDim.y * blockDim.x;

		for (int64_t i = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; i < n; i += each) {
			w.row = i / p->cols;
			differ += column(w, i % p->cols, v);
		}
	} else {
		for (w.row = blockIdx.y; w.row < a.rows; w.row += gridDim.y) {
			for (w.stage = 0; w.stage + 1 < p->nstage; w.stage++)
				reduce(w, fixed, room);
			for (int64_t i = threadIdx.x; i < p->cols; i += blockDim.x)
				differ += column(w, i, v);
			__syncthreads();
		}
	}
	if (differ)
		atomicAdd((unsigned *)a.differ + blockIdx.x, (unsigned)differ);
}
}
}

extern "C" __global__ void __launch_bounds__(128) af_eval(const __grid_constant__ eval_args a)
{
	af::eval::run(a);
}
AF_KERNEL(af_eval)

extern "C" __global__ void __launch_bounds__(128) af_eval_floats(uint64_t to, int64_t n, uint32_t first, uint32_t step)
{
	const int64_t each = (int64_t)gridDim.x * blockDim.x;

	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += each)
		((uint32_t *)to)[i] = first + (uint32_t)i * step;
}
AF_KERNEL(af_eval_floats)
