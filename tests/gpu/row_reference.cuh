/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row programs, statement by statement: what generated kernels are compared with. A thread has a
 * row; every value of every column goes to memory, as if each statement were a kernel. Orders of
 * additions come from fused/order.inc, their definition.
 */
#ifndef AF_TESTS_GPU_ROW_REFERENCE_CUH
#define AF_TESTS_GPU_ROW_REFERENCE_CUH

#include "fused/gen_types.cuh"
#include "fused/fields.h"
#define _Static_assert static_assert
#include "matcher/row.h"
#undef _Static_assert

namespace reference
{
/* A value as its bits; loads and stores of any type. */
__device__ inline uint64_t peek(const char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)*(const uint8_t *)(p + i) << (8 * i);
	return v;
}
__device__ inline void poke(char *p, int bytes, uint64_t v)
{
	for (int i = 0; i < bytes; i++)
		*(uint8_t *)(p + i) = (uint8_t)(v >> (8 * i));
}
__device__ inline int bytes_of(int t)
{
	switch (t) {
	case DT_f64:
	case DT_i64:
		return 8;
	case DT_f32:
	case DT_i32:
		return 4;
	case DT_f16:
	case DT_bf16:
	case DT_i16:
		return 2;
	default:
		return 1;
	}
}

__device__ inline float as(uint64_t v, float) { return __uint_as_float((uint32_t)v); }
__device__ inline double as(uint64_t v, double) { return __longlong_as_double((int64_t)v); }
template <class I> __device__ inline I as(uint64_t v, I) { return (I)v; }
__device__ inline uint64_t bits(float v) { return __float_as_uint(v); }
__device__ inline uint64_t bits(double v) { return (uint64_t)__double_as_longlong(v); }
__device__ inline uint64_t bits(int64_t v) { return (uint64_t)v; }
__device__ inline uint64_t bits(int32_t v) { return (uint32_t)v; }
__device__ inline uint64_t bits(int16_t v) { return (uint16_t)v; }
__device__ inline uint64_t bits(uint16_t v) { return v; }
__device__ inline uint64_t bits(int8_t v) { return (uint8_t)v; }
__device__ inline uint64_t bits(uint8_t v) { return v; }

#define REF_CASE(name, ...)                                                                        \
	case ROW_##name:                                                                           \
		return bits(A::name(__VA_ARGS__));

template <class A> __device__ inline uint64_t compared(int code, uint64_t x, uint64_t y, uint64_t z)
{
	typedef typename A::T T;
	T a = as(x, T()), b = as(y, T()), c = as(z, T());

	switch (code) {
		REF_CASE(EQ, a, b)
		REF_CASE(NE, a, b)
		REF_CASE(LT, a, b)
		REF_CASE(LE, a, b)
	case ROW_SELECT:
		return bits(A::SELECT((uint8_t)x, b, c));
	}
	return 0;
}
template <class A> __device__ inline uint64_t of_float(int code, uint64_t x, uint64_t y, uint64_t z)
{
	typedef typename A::T T;
	T a = as(x, T()), b = as(y, T()), c = as(z, T());

	switch (code) {
		REF_CASE(ADD, a, b)
		REF_CASE(SUB, a, b)
		REF_CASE(MUL, a, b)
		REF_CASE(FMA, a, b, c)
		REF_CASE(NEG, a)
		REF_CASE(ABS, a)
		REF_CASE(MIN, a, b)
		REF_CASE(MAX, a, b)
		REF_CASE(MIN_NAN, a, b)
		REF_CASE(MAX_NAN, a, b)
		REF_CASE(DIV, a, b)
		REF_CASE(RCP, a)
		REF_CASE(SQRT, a)
		REF_CASE(EXP, a)
		REF_CASE(LOG, a)
		REF_CASE(SIN, a)
		REF_CASE(COS, a)
		REF_CASE(TANH, a)
		REF_CASE(ERF, a)
		REF_CASE(POW, a, b)
	}
	return compared<A>(code, x, y, z);
}
template <class A> __device__ inline uint64_t of_f32(int code, uint64_t x, uint64_t y, uint64_t z)
{
	float a = as(x, 0.0f), b = as(y, 0.0f);

	switch (code) {
		REF_CASE(DIV_FAST, a, b)
		REF_CASE(DIV_FULL, a, b)
		REF_CASE(RCP_FAST, a)
		REF_CASE(SQRT_FAST, a)
		REF_CASE(RSQRT, a)
		REF_CASE(EXP_FAST, a)
		REF_CASE(LOG_FAST, a)
		REF_CASE(SIN_FAST, a)
		REF_CASE(COS_FAST, a)
		REF_CASE(TANH_FAST, a)
		REF_CASE(POW_FAST, a, b)
	}
	return of_float<A>(code, x, y, z);
}
template <class A> __device__ inline uint64_t of_int(int code, uint64_t x, uint64_t y, uint64_t z)
{
	typedef typename A::T T;
	T a = as(x, T()), b = as(y, T());

	switch (code) {
		REF_CASE(ADD, a, b)
		REF_CASE(SUB, a, b)
		REF_CASE(MUL, a, b)
		REF_CASE(NEG, a)
		REF_CASE(ABS, a)
		REF_CASE(MIN, a, b)
		REF_CASE(MAX, a, b)
		REF_CASE(MIN_NAN, a, b)
		REF_CASE(MAX_NAN, a, b)
		REF_CASE(AND, a, b)
		REF_CASE(OR, a, b)
		REF_CASE(NOT, a)
	}
	return compared<A>(code, x, y, z);
}
template <class A> __device__ inline uint64_t of_half(int code, uint64_t x, uint64_t y, uint64_t z)
{
	uint16_t a = (uint16_t)x, b = (uint16_t)y;

	switch (code) {
		REF_CASE(NEG, a)
		REF_CASE(ABS, a)
		REF_CASE(DIV, a, b)
		REF_CASE(RCP, a)
		REF_CASE(EXP, a)
	}
	return compared<A>(code, x, y, z);
}
template <class A> __device__ inline uint64_t of_eighth(int code, uint64_t x, uint64_t y, uint64_t z)
{
	uint8_t a = (uint8_t)x;

	switch (code) {
		REF_CASE(NEG, a)
		REF_CASE(ABS, a)
	}
	return compared<A>(code, x, y, z);
}
__device__ inline uint64_t of_bool(int code, uint64_t x, uint64_t y, uint64_t z)
{
	typedef af::t_bool A;
	uint8_t a = (uint8_t)x, b = (uint8_t)y;

	switch (code) {
		REF_CASE(AND, a, b)
		REF_CASE(OR, a, b)
		REF_CASE(NOT, a)
	}
	return compared<A>(code, x, y, z);
}
#undef REF_CASE

__device__ AF_NOINLINE uint64_t arithmetic(int code, int type, bool ftz, uint64_t x, uint64_t y, uint64_t z)
{
	switch (type) {
	case DT_f32:
		return ftz ? of_f32<af::t_f32<true> >(code, x, y, z) : of_f32<af::t_f32<false> >(code, x, y, z);
	case DT_f64:
		return of_float<af::t_f64>(code, x, y, z);
	case DT_f16:
		return of_half<af::t_f16>(code, x, y, z);
	case DT_bf16:
		return of_half<af::t_bf16>(code, x, y, z);
	case DT_i64:
		return of_int<af::t_i64>(code, x, y, z);
	case DT_i32:
		return of_int<af::t_i32>(code, x, y, z);
	case DT_i16:
		return of_int<af::t_i16>(code, x, y, z);
	case DT_i8:
		return of_int<af::t_i8>(code, x, y, z);
	case DT_u8:
		return of_int<af::t_u8>(code, x, y, z);
	case DT_bool:
		return of_bool(code, x, y, z);
	case DT_e4m3:
		return of_eighth<af::t_e4m3>(code, x, y, z);
	default:
		return of_eighth<af::t_e5m2>(code, x, y, z);
	}
}

/* A float as an integer, as the compiler has it where a kernel says (I)v; of bytes without a sign, as
 * c10::convert says it. The software GPU's compiler may do anything there. */
template <class TO> struct of_number {
	template <class F> static __device__ bool cast(F, uint64_t &) { return false; }
};
#if !AF_SOFTGPU
template <class I> struct of_number<af::t_int<I> > {
	template <class F> static __device__ bool cast(F v, uint64_t &to)
	{
		to = bits(sizeof(I) == 1 && (I)-1 > (I)0 ? (I)(int64_t)v : (I)v);
		return true;
	}
};
#endif
template <class TO> __device__ inline bool cast_number(int from, uint64_t v, uint64_t &to)
{
	switch (from) {
	case DT_f32:
		return of_number<TO>::cast(as(v, float()), to);
	case DT_f64:
		return of_number<TO>::cast(as(v, double()), to);
	case DT_f16:
		return of_number<TO>::cast(af::f16::load((uint16_t)v), to);
	case DT_bf16:
		return of_number<TO>::cast(af::bf16::load((uint16_t)v), to);
	default:
		return false;
	}
}

template <class TO, bool FTZ> __device__ inline uint64_t cast_to(int from, uint64_t v)
{
	uint64_t to;

	if (cast_number<TO>(from, v, to))
		return to;
#define REF_FROM(name, type)                                                                       \
	case DT_##name:                                                                            \
		return bits(af::cast<TO, type, FTZ>::f(as(v, typename type::T())));
	switch (from) {
		REF_FROM(f32, af::t_f32<false>)
		REF_FROM(f64, af::t_f64)
		REF_FROM(f16, af::t_f16)
		REF_FROM(bf16, af::t_bf16)
		REF_FROM(i64, af::t_i64)
		REF_FROM(i32, af::t_i32)
		REF_FROM(i16, af::t_i16)
		REF_FROM(i8, af::t_i8)
		REF_FROM(u8, af::t_u8)
		REF_FROM(bool, af::t_bool)
		REF_FROM(e4m3, af::t_e4m3)
		REF_FROM(e5m2, af::t_e5m2)
	}
#undef REF_FROM
	return 0;
}
template <bool FTZ> __device__ AF_NOINLINE uint64_t cast(int to, int from, uint64_t v)
{
#define REF_TO(name, type)                                                                         \
	case DT_##name:                                                                            \
		return cast_to<type, FTZ>(from, v);
	switch (to) {
		REF_TO(f32, af::t_f32<false>)
		REF_TO(f64, af::t_f64)
		REF_TO(f16, af::t_f16)
		REF_TO(bf16, af::t_bf16)
		REF_TO(i64, af::t_i64)
		REF_TO(i32, af::t_i32)
		REF_TO(i16, af::t_i16)
		REF_TO(i8, af::t_i8)
		REF_TO(u8, af::t_u8)
		REF_TO(bool, af::t_bool)
		REF_TO(e4m3, af::t_e4m3)
		REF_TO(e5m2, af::t_e5m2)
	}
#undef REF_TO
	return 0;
}

/* Sums. What Welford's state is added up by goes with it, as order.inc hands on nothing else. */
struct context {
	const uint64_t *x, *y; /* y: of products */
	bool ftz, fuse, fast;
};
struct state {
	float mean, m2, n;
	bool ftz, fuse, fast;
};
__device__ inline float op32(bool ftz, int code, float a, float b, float d)
{
	return as(arithmetic(code, DT_f32, ftz, bits(a), bits(b), bits(d)), 0.0f);
}
__device__ inline float muladd(const state &s, float a, float b, float c)
{
	return s.fuse ? op32(s.ftz, ROW_FMA, a, b, c) :
			op32(s.ftz, ROW_ADD, c, op32(s.ftz, ROW_MUL, a, b, 0), 0);
}
__device__ inline state updated(const context *c, state s, int64_t i)
{
	float x = as(c->x[i], 0.0f), d;

	s.ftz = c->ftz, s.fuse = c->fuse, s.fast = c->fast;
	d = op32(s.ftz, ROW_SUB, x, s.mean, 0);
	s.n += 1.0f;
	s.mean = muladd(s, d, op32(s.ftz, s.fast ? ROW_RCP_FAST : ROW_RCP, s.n, 0, 0), s.mean);
	s.m2 = muladd(s, d, op32(s.ftz, ROW_SUB, x, s.mean, 0), s.m2);
	return s;
}
__device__ inline state joined(state a, state b)
{
	float n = a.n + b.n, d, q, na, nb;
	state r = a.n != 0 ? a : b;

	if (n == 0)
		return a;
	d = op32(r.ftz, ROW_SUB, b.mean, a.mean, 0);
	q = op32(r.ftz, r.fast ? ROW_RCP_FAST : ROW_RCP, n, 0, 0);
	na = op32(r.ftz, ROW_MUL, a.n, q, 0);
	nb = op32(r.ftz, ROW_MUL, b.n, q, 0);
	r.mean = muladd(r, na, a.mean, op32(r.ftz, ROW_MUL, nb, b.mean, 0));
	d = op32(r.ftz, ROW_MUL, op32(r.ftz, ROW_MUL, d, d, 0), a.n, 0);
	r.m2 = muladd(r, d, nb, op32(r.ftz, ROW_ADD, a.m2, b.m2, 0));
	r.n = n;
	return r;
}
__device__ inline state empty()
{
	state s = {0, 0, 0, false, false, false};
	return s;
}

#define ORDER_QUALIFIER __device__ inline
#define ORDER_CTX const context *
#define SQUARE(i) (ctx->y ? X_MUL(ctx->x[i], ctx->y[i]) : ctx->x[i])
#define FUSE(a, i) (ctx->y ? X_FMA(ctx->x[i], ctx->y[i], a) : ADD(a, ctx->x[i]))
#define X_MUL(a, b) arithmetic(ROW_MUL, X_TYPE, X_FTZ, a, b, 0)
#define X_FMA(a, b, c) arithmetic(ROW_FMA, X_TYPE, X_FTZ, a, b, c)
#define ADD(a, b) arithmetic(ROW_ADD, X_TYPE, X_FTZ, a, b, 0)
#define NODE uint64_t
#define NODE_ZERO 0
#define X_TYPE DT_f32
#define X_FTZ false
#define ORDER_FN order_f32
#include "fused/order.inc"
#undef ORDER_FN
#undef X_FTZ
#define X_FTZ true
#define ORDER_FN order_ftz
#include "fused/order.inc"
#undef ORDER_FN
#undef X_FTZ
#undef X_TYPE
#define X_TYPE DT_f64
#define X_FTZ false
#define ORDER_FN order_f64
#include "fused/order.inc"
#undef ORDER_FN
#undef NODE
#undef NODE_ZERO
#undef ADD
#undef SQUARE
#undef FUSE
#define NODE state
#define NODE_ZERO empty()
#define ADD(a, b) joined(a, b)
#define SQUARE(i) updated(ctx, empty(), i)
#define FUSE(a, i) updated(ctx, a, i)
#define ORDER_FN order_welford
#include "fused/order.inc"
#undef ORDER_FN
#undef NODE
#undef NODE_ZERO
#undef ADD
#undef SQUARE
#undef FUSE

/* HALVING in two steps, which order.inc does not know. ADD: of two nodes. */
#define REF_HALVED(name, thread, node, add)                                                        \
	__device__ inline node name(const fields *f, int width, int64_t cols, const context *ctx, node *s) \
	{                                                                                          \
		for (int t = 0; t < f->threads; t++)                                               \
			s[t] = thread(f, cols, ctx, t);                                            \
		for (int g = 0; g < f->threads; g += width)                                        \
			for (int d = width / 2; d; d /= 2)                                         \
				for (int t = 0; t < d; t++)                                        \
					s[g + t] = add(s[g + t], s[g + t + d]);                    \
		for (int d = f->threads / width / 2; d; d /= 2)                                    \
			for (int t = 0; t < d; t++)                                                \
				s[t * width] = add(s[t * width], s[(t + d) * width]);              \
		return s[0];                                                                       \
	}
#define REF_ADD(a, b) arithmetic(ROW_ADD, DT_f32, false, a, b, 0)
#define REF_ADDZ(a, b) arithmetic(ROW_ADD, DT_f32, true, a, b, 0)
#define REF_ADDD(a, b) arithmetic(ROW_ADD, DT_f64, false, a, b, 0)
REF_HALVED(halved_f32, order_f32_thread, uint64_t, REF_ADD)
REF_HALVED(halved_ftz, order_ftz_thread, uint64_t, REF_ADDZ)
REF_HALVED(halved_f64, order_f64_thread, uint64_t, REF_ADDD)
REF_HALVED(halved_welford, order_welford_thread, state, joined)

/* scratch: 1,024 states. m2: the second result of WELFORD. */
__device__ inline uint64_t reduced(const row *r, const row_stmt *s, const uint64_t *x, const uint64_t *y,
				   char *scratch, uint64_t *m2)
{
	static_assert(sizeof(state) <= 16, "scratch");
	const row_order *o = &r->order[s->at];
	const bool ftz = s->flags & ROW_FTZ, split = o->block == ORDER_block_HALVING && o->width;
	context c = {x, s->code == ROW_DOT ? y : 0, ftz, o->fma == ORDER_fma_YES, o->fast != 0};
	fields f = {};
	int join = s->code == ROW_ROWMAX ? ROW_MAX : s->code == ROW_ROWMAX_NAN ? ROW_MAX_NAN :
		   s->code == ROW_ROWMIN ? ROW_MIN : ROW_MIN_NAN;
	uint64_t *node = (uint64_t *)scratch;

	f.threads = o->threads, f.walk = o->walk, f.vec = o->vec, f.part = o->part, f.inner = o->inner;
	f.acc = o->acc, f.tail = o->tail, f.comb = o->comb, f.fma = o->fma, f.warp = o->warp;
	f.block = o->block;
	if (s->code == ROW_WELFORD) {
		state *of = (state *)scratch;
		f.fma = FIELD_fma_YES; /* FUSE is the update */
		state q = split ? halved_welford(&f, o->width, r->cols, &c, of) :
				  order_welford(&f, r->cols, &c, of);
		*m2 = bits(q.m2);
		return bits(q.mean);
	}
	if (s->code == ROW_SUM || s->code == ROW_DOT) {
		if (s->type == DT_f64)
			return split ? halved_f64(&f, o->width, r->cols, &c, node) : order_f64(&f, r->cols, &c, node);
		if (ftz)
			return split ? halved_ftz(&f, o->width, r->cols, &c, node) : order_ftz(&f, r->cols, &c, node);
		return split ? halved_f32(&f, o->width, r->cols, &c, node) : order_f32(&f, r->cols, &c, node);
	}
	uint64_t v = arithmetic(join, s->type, ftz, x[0], x[0], 0);
	for (int64_t i = 1; i < r->cols; i++)
		v = arithmetic(join, s->type, ftz, v, x[i], 0);
	return v;
}

/* Is the row one of the operand's? */
static __device__ bool has_row(const row *r, const row_operand *o, int64_t index, bool store)
{
	for (int d = r->ndim; d-- > 0; index /= r->size[d])
		if (o->most[d] && (store || o->stride[d]) && index % r->size[d] >= o->most[d])
			return false;
	return true;
}

__device__ inline char *element(const row *r, const row_operand *o, int64_t index, int64_t col)
{
	int64_t at = (int64_t)o->addr + col * o->step;

	for (int d = r->ndim - 1; d >= 0; d--) {
		at += index % r->size[d] * o->stride[d];
		index /= r->size[d];
	}
	return (char *)at;
}

/* value: room for the row's values, [statement][column]; scratch: 16 KiB of the row's own. */
__device__ inline void run(const row *r, int64_t index, uint64_t *value, char *scratch)
{
	const int64_t cols = r->cols;

	for (int i = 0; i < r->nstmt; i++) {
		const row_stmt *s = &r->stmt[i];
		uint64_t *v = value + i * cols, none = 0;
		const uint64_t *a = s->arg[0] == ROW_NONE ? 0 : value + s->arg[0] * cols;
		const uint64_t *b = s->arg[1] == ROW_NONE ? 0 : value + s->arg[1] * cols;
		const uint64_t *d = s->arg[2] == ROW_NONE ? 0 : value + s->arg[2] * cols;

		if (s->code >= ROW_SUM && s->code != ROW_WELFORD_M2) {
			uint64_t m2 = 0, result = reduced(r, s, a, b, scratch, &m2);

			for (int64_t c = 0; c < cols; c++)
				v[c] = result;
			for (int k = i + 1; k < r->nstmt; k++)
				if (r->stmt[k].code == ROW_WELFORD_M2 && r->stmt[k].arg[0] == i)
					for (int64_t c = 0; c < cols; c++)
						value[k * cols + c] = m2;
			continue;
		}
		for (int64_t c = 0; c < cols && s->code != ROW_STORE && s->code != ROW_WELFORD_M2; c++) {
			const row_operand *o = &r->operand[s->at];
			int64_t k = c + s->shift;

			switch (s->code) {
			case ROW_LOAD:
				v[c] = has_row(r, o, index, false) && (!o->step || (k >= 0 && k < o->width)) ?
					       peek(element(r, o, index, o->step ? k : 0), bytes_of(s->type)) : none;
				break;
			case ROW_CONST:
				v[c] = r->imm[s->at];
				break;
			case ROW_COL:
				v[c] = (uint32_t)c;
				break;
			case ROW_ROW:
				v[c] = (uint32_t)index;
				break;
			case ROW_CAST:
				v[c] = s->flags & ROW_FTZ ? cast<true>(s->type, r->stmt[s->arg[0]].type, a[c]) :
							    cast<false>(s->type, r->stmt[s->arg[0]].type, a[c]);
				break;
			case ROW_SHIFT:
				v[c] = k >= 0 && k < cols ? a[k] : none;
				break;
			case ROW_PAIR:
				v[c] = (c ^ 1) < cols ? a[c ^ 1] : none;
				break;
			case ROW_CAT:
				v[c] = c < s->shift ? a[c] : b[c];
				break;
			case ROW_EQ:
			case ROW_NE:
			case ROW_LT:
			case ROW_LE:
				v[c] = arithmetic(s->code, r->stmt[s->arg[0]].type, s->flags & ROW_FTZ, a[c], b[c], 0);
				break;
			default:
				v[c] = arithmetic(s->code, s->type, s->flags & ROW_FTZ, a[c], b ? b[c] : 0, d ? d[c] : 0);
			}
		}
	}
	for (int i = 0; i < r->nstmt; i++) {
		const row_stmt *s = &r->stmt[i];
		const row_operand *o = &r->operand[s->at];

		if (s->code != ROW_STORE || s->flags & ROW_DEAD)
			continue;
		for (int64_t c = 0; c < cols; c++) {
			int64_t k = o->step ? c + s->shift : 0;

			char *at = element(r, o, index, k);

			bool kept = !o->keep.hi || ((uint64_t)at >= o->keep.lo && (uint64_t)at < o->keep.hi);

			for (int n = 0; n < o->nhole; n++)
				kept &= (uint64_t)at < o->hole[n].lo || (uint64_t)at >= o->hole[n].hi;
			if (k >= 0 && k < o->width && kept && has_row(r, o, index, true))
				poke(at, bytes_of(s->type), value[s->arg[0] * cols + c]);
		}
	}
}
} // namespace reference

/* A thread for each of `rows` rows; value: nstmt * cols numbers each, scratch: 16 KiB each. */
extern "C" __global__ void row_reference(const row *r, int64_t rows, uint64_t *value, char *scratch)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows)
		reference::run(r, i, value + i * r->nstmt * r->cols, scratch + i * 16384);
}

#endif
