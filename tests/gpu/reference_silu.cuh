/* SPDX-License-Identifier: Apache-2.0 */
/* silu -> mul in the plainest way, an element a thread; included after reference.cuh, likewise. */
#ifdef __CUDACC__
#if REF_FTZ
#define REF_FLUSHING ".ftz"
#else
#define REF_FLUSHING ""
#endif
__device__ inline float REF(rcp_fast)(float v)
{
	float r;

	asm("rcp.approx" REF_FLUSHING ".f32 %0, %1;" : "=f"(r) : "f"(v));
	return r;
}
__device__ inline float REF(div_full)(float a, float b)
{
	float r;

	asm("div.full" REF_FLUSHING ".f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	return r;
}
#undef REF_FLUSHING
/* Flushes as it is told, not as the compiler is. */
__device__ inline float REF(product)(bool flushes, float a, float b)
{
	float r;

	if (flushes)
		asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	else
		asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	return r;
}
#else
static float REF(rcp_fast)(float v)
{
	return softgpu::approx_rcp(v);
}
static float REF(product)(bool flushes, float a, float b)
{
	return flushes ? softgpu::flush(__fmul_rn(softgpu::flush(a), softgpu::flush(b))) : __fmul_rn(a, b);
}
static float REF(div_full)(float a, float b)
{
	return softgpu::nudge(__fdiv_rn(a, b), __float_as_uint(a) + __float_as_uint(b), 0x5a);
}
#endif

/* What hexp, __hdiv and hrcp make of values of the type. */
__device__ inline float REF(native)(int type, int what, float a, float b)
{
	if (type == REFERENCE_F16) {
		__half x = __float2half(a), y = __float2half(b);

		return __half2float(what == 0 ? hexp(x) : what == 1 ? __hdiv(x, y) : hrcp(x));
	}
	__nv_bfloat16 x = __float2bfloat16(a), y = __float2bfloat16(b);

	return __bfloat162float(what == 0 ? hexp(x) : what == 1 ? __hdiv(x, y) : hrcp(x));
}

__device__ inline float REF(narrow)(int type, int yes, float v)
{
	char bits[4];

	if (!yes)
		return v;
	ref_store(type, bits, 0, v);
	return ref_load(type, bits, 0);
}

extern "C" __global__ void REF(silu)(const silu_reference_args p)
{
	const silu_mul_args &k = p.k;
	const silu_fields &f = k.f;
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, row = i / k.cols, col = i % k.cols;
	const char *at[SILU_OPERANDS];
	float raw, x, e, d, q = 0, r;

	if (row >= k.rows)
		return;
	for (int n = 0; n < SILU_OPERANDS; n++)
		at[n] = (const char *)k.addr[n] + row * k.pitch[n];
	raw = ref_load(p.type, at[SILU_GATE], col);
	x = REF_Z(raw);
	e = f.exp == SILU_exp_FULL   ? REF_Z(expf(-x)) :
	    f.exp == SILU_exp_FAST ? REF_Z(__expf(-x)) : REF(native)(p.type, 0, -raw, 0);
	e = REF(narrow)(p.type, f.rounde, e);
	d = REF(narrow)(p.type, f.roundd, REF(add)(1.0f, e));
	r = f.div == SILU_div_RCP	 ? REF_Z(__frcp_rn(d)) :
	    f.div == SILU_div_RCPFAST	 ? REF_Z(REF(rcp_fast)(d)) :
	    f.div == SILU_div_RCPNATIVE ? REF(native)(p.type, 1, 1.0f, d) :
	    f.div == SILU_div_HRCP	 ? REF(native)(p.type, 2, d, 0) :
					   REF_Z((float)(1.0 / (1.0 + (double)REF_Z(e))));
	r = REF(narrow)(p.type, f.roundq, r);
	switch (f.div) {
	case SILU_div_DIV:
		q = REF(div)(x, d);
		break;
	case SILU_div_DIVFAST:
		q = REF(div_fast)(x, d);
		break;
	case SILU_div_DIVFULL:
		q = REF_Z(REF(div_full)(x, REF_Z(d)));
		break;
	case SILU_div_NATIVE:
		q = REF(native)(p.type, 1, raw, d);
		break;
	case SILU_div_DDIV:
		q = REF_Z((float)((double)x / (1.0 + (double)REF_Z(e))));
		break;
	case SILU_div_DMUL:
		q = REF_Z((float)((double)x * (1.0 / (1.0 + (double)REF_Z(e)))));
		break;
	default:
		q = REF(mul)(x, r);
	}
	{
		/* Stored only now: gate or up may be where these go. */
		float up = ref_load(p.type, at[SILU_UP], col), act = REF(narrow)(p.type, 1, q);

		if (k.addr[SILU_ACT])
			ref_store(p.type, (char *)at[SILU_ACT], col, q);
		ref_store(p.type, (char *)at[SILU_OUT], col, REF(product)(f.mulftz, act, up));
	}
}

#undef REF_Z
