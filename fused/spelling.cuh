/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of add -> RMSNorm besides the sum of squares, in every spelling of candidate.def. */
#ifndef AF_FUSED_SPELLING_CUH
#define AF_FUSED_SPELLING_CUH

#include "fused/add_rmsnorm.h"
#include "fused/device.h"

namespace af
{
template <class T, bool FTZ> struct spelling {
	typedef arith<FTZ> A;
	typedef typename T::bits bits;

	static __device__ __forceinline__ bits sum(const fields &f, bits a, bits b)
	{
		float x = T::load(a), y = T::load(b);

		return T::round(f.addftz ? arith<true>::add(x, y) : arith<false>::add(x, y));
	}

	/* The row's scale, or its divisor where f.root says so, from the sum of squares. */
	static __device__ __forceinline__ float scale(const add_rmsnorm_args &p, float ss)
	{
		float m, y, s;
		double d;

		if (p.f.mean == FIELD_mean_DIV)
			m = A::div_rn(ss, p.n);
		else if (p.f.mean == FIELD_mean_DIVFAST)
			m = A::div_fast(ss, p.n);
		else if (p.f.mean == FIELD_mean_MUL)
			m = A::mul(ss, p.inverse_n);
		else if (p.f.mean == FIELD_mean_FMA)
			m = A::fma(ss, p.inverse_n, p.eps);
		else if (p.f.mean == FIELD_mean_FMAFAST)
			m = A::fma(ss, A::div_fast(1.0f, p.n), p.eps);
		else
			m = A::div_rn(A::add(ss, p.eps), p.n);
		y = m;
		if (p.f.mean < FIELD_mean_FMA && !p.f.epsd)
			y = A::add(m, p.eps);
		d = y;
		if (p.f.mean < FIELD_mean_FMA && p.f.epsd) {
			d = add_double(m, p.eps_double);
			y = (float)d;
		}
		if (p.f.root == FIELD_root_RSQRT)
			s = A::rsqrt_fast(y);
		else if (p.f.root == FIELD_root_RCPSQRT)
			s = A::rcp_rn(A::sqrt_rn(y));
		else if (p.f.root == FIELD_root_DOUBLE)
			s = (float)rcp_sqrt_double(d);
		else if (p.f.root == FIELD_root_XDIV)
			s = A::sqrt_rn(y);
		else
			s = A::sqrt_fast(y);
		return p.f.round & FIELD_round_SCALE ? T::load(T::round(s)) : s;
	}

	/* One element, where f.root multiplies. A product is the same either way round, so that one
	 * pair of products serves all orders. */
	static __device__ __forceinline__ bits norm(const fields &f, float s, bits v, float w)
	{
		float x = T::load(v), first;

		if (f.weight == FIELD_weight_ONEPLUS)
			w = A::add(1.0f, w);
		first = A::mul(f.product == FIELD_product_X_SW ? w : x,
			       f.product == FIELD_product_XW_S ? w : s);
		if (f.round & FIELD_round_FIRST)
			first = T::load(T::round(first));
		return T::round(A::mul(first, f.product == FIELD_product_XS_W ? w :
					      f.product == FIELD_product_X_SW ? x : s));
	}

	/* One element, where f.root divides by s. */
	static __device__ AF_NOINLINE bits norm_div(const fields &f, float s, bits v, float w)
	{
		float x = T::load(v), by, first;

		if (f.weight == FIELD_weight_ONEPLUS)
			w = A::add(1.0f, w);
		by = f.product == FIELD_product_XS_W ? x : f.product == FIELD_product_X_SW ? w : A::mul(x, w);
		if (f.product == FIELD_product_XW_S && f.round & FIELD_round_FIRST)
			by = T::load(T::round(by));
		first = f.root == FIELD_root_XDIV ? A::div_rn(by, s) : A::div_fast(by, s);
		if (f.product == FIELD_product_XW_S)
			return T::round(first);
		if (f.round & FIELD_round_FIRST)
			first = T::load(T::round(first));
		return T::round(A::mul(first, f.product == FIELD_product_XS_W ? w : x));
	}

	static __device__ __forceinline__ bool divides(const fields &f)
	{
		return f.root >= FIELD_root_XDIV;
	}
};
}

#endif
