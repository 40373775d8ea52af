/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add -> RMSNorm in the plainest way: one thread a row, one element after the other, additions as
 * fused/order.inc defines them, and none of the fused kernels' own code. Included once for each
 * flavour:
 *   REF(name)   names of this flavour; nvcc builds the second with -ftz=true
 *   REF_FTZ     1 where subnormals are flushed
 */
#ifndef REF
#error "define REF(name) and REF_FTZ first"
#endif

#ifdef __CUDACC__
/* Intrinsics follow the compiler's -ftz; the approximations have no intrinsic of their own. */
#define REF_Z(v) (v)
#if REF_FTZ
#define REF_SQRT_FAST "sqrt.approx.ftz.f32 %0, %1;"
#else
#define REF_SQRT_FAST "sqrt.approx.f32 %0, %1;"
#endif
__device__ inline float REF(sqrt_fast)(float v)
{
	float r;

	asm(REF_SQRT_FAST : "=f"(r) : "f"(v));
	return r;
}
#undef REF_SQRT_FAST
#else
#define REF_Z(v) (REF_FTZ ? softgpu::flush(v) : (v))
static float REF(sqrt_fast)(float v)
{
	return softgpu::approx_sqrt(v);
}
#endif

__device__ inline float REF(add)(float a, float b)
{
	return REF_Z(__fadd_rn(REF_Z(a), REF_Z(b)));
}
__device__ inline float REF(mul)(float a, float b)
{
	return REF_Z(__fmul_rn(REF_Z(a), REF_Z(b)));
}
__device__ inline float REF(fma)(float a, float b, float c)
{
	return REF_Z(__fmaf_rn(REF_Z(a), REF_Z(b), REF_Z(c)));
}
__device__ inline float REF(div)(float a, float b)
{
	return REF_Z(__fdiv_rn(REF_Z(a), REF_Z(b)));
}
__device__ inline float REF(div_fast)(float a, float b)
{
	return REF_Z(__fdividef(REF_Z(a), REF_Z(b)));
}

#ifndef REF_COMMON
#define REF_COMMON
__device__ inline float ref_load(int type, const char *p, int64_t i)
{
	if (type == REFERENCE_F32)
		return ((const float *)p)[i];
	if (type == REFERENCE_F16)
		return __half2float(((const __half *)p)[i]);
	return __bfloat162float(((const __nv_bfloat16 *)p)[i]);
}
__device__ inline void ref_store(int type, char *p, int64_t i, float v)
{
	if (type == REFERENCE_F32)
		((float *)p)[i] = v;
	else if (type == REFERENCE_F16)
		((__half *)p)[i] = __float2half_rn(v);
	else
		((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn(v);
}
__device__ inline float ref_round(int type, float v)
{
	if (type == REFERENCE_F32)
		return v;
	return type == REFERENCE_F16 ? __half2float(__float2half_rn(v)) :
				       __bfloat162float(__float2bfloat16_rn(v));
}
#endif

#define NODE float
#define NODE_ZERO 0.0f
#define ADD(p, q) REF(add)(p, q)
#define SQUARE(i) REF(mul)(ctx[i], ctx[i])
#define FUSE(p, i) REF(fma)(ctx[i], ctx[i], p)
#define ORDER_CTX const float *
#define ORDER_QUALIFIER __device__
#define ORDER_FN REF(order)
#include "fused/order.inc"
#undef NODE
#undef NODE_ZERO
#undef ADD
#undef SQUARE
#undef FUSE
#undef ORDER_CTX
#undef ORDER_QUALIFIER
#undef ORDER_FN

/* The row's scale or divisor. */
__device__ inline float REF(scale)(const reference_args &p, float ss)
{
	const fields &f = p.f;
	float n = (float)p.cols, y, m = 0;
	double d;

	if (f.mean == FIELD_mean_AFTER) {
		y = REF(div)(REF(add)(ss, p.eps), n);
	} else if (f.mean == FIELD_mean_FMA) {
		y = REF(fma)(ss, __fdiv_rn(1.0f, n), p.eps);
	} else if (f.mean == FIELD_mean_FMAFAST) {
		y = REF(fma)(ss, REF(div_fast)(1.0f, n), p.eps);
	} else {
		if (f.mean == FIELD_mean_DIV)
			m = REF(div)(ss, n);
		else if (f.mean == FIELD_mean_DIVFAST)
			m = REF(div_fast)(ss, n);
		else
			m = REF(mul)(ss, __fdiv_rn(1.0f, n));
		y = f.epsd ? (float)((double)m + p.eps_double) : REF(add)(m, p.eps);
	}
	d = f.epsd ? (double)m + p.eps_double : y;
	switch (f.root) {
	case FIELD_root_RSQRT:
		y = REF_Z(rsqrtf(REF_Z(y)));
		break;
	case FIELD_root_RCPSQRT:
		y = REF(div)(1.0f, REF_Z(__fsqrt_rn(REF_Z(y))));
		break;
	case FIELD_root_DOUBLE:
		y = (float)(1.0 / sqrt(d));
		break;
	case FIELD_root_XDIV:
		y = REF_Z(__fsqrt_rn(REF_Z(y)));
		break;
	default:
		y = REF_Z(REF(sqrt_fast)(REF_Z(y)));
	}
	return f.round == FIELD_round_SCALE || f.round == FIELD_round_BOTH ? ref_round(p.type, y) : y;
}

__device__ inline float REF(norm)(const reference_args &p, float s, float x, float w)
{
	const fields &f = p.f;
	bool first = f.round == FIELD_round_FIRST || f.round == FIELD_round_BOTH;
	bool divide = f.root == FIELD_root_XDIV || f.root == FIELD_root_XDIVFAST;
	float t;

	if (f.weight == FIELD_weight_ONEPLUS)
		w = REF(add)(1.0f, w);
#define REF_SCALED(v) \
	(!divide ? REF(mul)(v, s) : f.root == FIELD_root_XDIV ? REF(div)(v, s) : REF(div_fast)(v, s))
	if (f.product == FIELD_product_XS_W) {
		t = REF_SCALED(x);
		return REF(mul)(first ? ref_round(p.type, t) : t, w);
	}
	if (f.product == FIELD_product_X_SW) {
		t = REF_SCALED(w);
		return REF(mul)(x, first ? ref_round(p.type, t) : t);
	}
	t = REF(mul)(x, w);
	t = first ? ref_round(p.type, t) : t;
	return REF_SCALED(t);
#undef REF_SCALED
}

extern "C" __global__ void REF(reference)(reference_args p)
{
	int64_t r = blockIdx.x;
	const char *a = (const char *)p.a + r * p.pitch_a, *b = (const char *)p.b + r * p.pitch_b;
	float *x = (float *)p.x + r * p.cols, s;

	for (int64_t i = 0; i < p.cols; i++) {
		float u = ref_load(p.type, a, i), v = ref_load(p.type, b, i), t;

		/* The add has a flavour of its own. */
#ifdef __CUDACC__
		if (p.f.addftz)
			asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(t) : "f"(u), "f"(v));
		else
			asm("add.rn.f32 %0, %1, %2;" : "=f"(t) : "f"(u), "f"(v));
#else
		t = p.f.addftz ? softgpu::flush(__fadd_rn(softgpu::flush(u), softgpu::flush(v))) :
				 __fadd_rn(u, v);
#endif
		x[i] = ref_round(p.type, t);
	}
	s = REF(scale)(p, REF(order)(&p.f, p.cols, x, (float *)p.nodes + r * 1024));
	for (int64_t i = 0; i < p.cols; i++) {
		float w = ref_load(p.weight_type, (const char *)p.w, i);

		if (p.sum)
			ref_store(p.type, (char *)p.sum + r * p.pitch_sum, i, x[i]);
		ref_store(p.type, (char *)p.out + r * p.pitch_out, i, REF(norm)(p, s, x[i], w));
	}
}
