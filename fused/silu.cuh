/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of silu -> mul in every spelling of silu.def. */
#ifndef AF_FUSED_SILU_CUH
#define AF_FUSED_SILU_CUH

#include "fused/device.h"
#include "fused/silu_mul.h"

namespace af
{
template <class T, bool FTZ> struct silu {
	typedef arith<FTZ> A;
	typedef typename T::bits bits;

	static __device__ __forceinline__ float narrowed(bool yes, float v)
	{
		return yes ? T::load(T::round(v)) : v;
	}
	/* Conversions flush as the flavour does. */
	static __device__ __forceinline__ float flushed(float v)
	{
		return FTZ ? A::mul(v, 1.0f) : v;
	}

	/* Any spelling. */
	static __device__ AF_NOINLINE float any(const silu_fields &f, float x)
	{
		float e = f.exp == SILU_exp_FULL   ? A::exp_full(-x) :
			  f.exp == SILU_exp_FAST ? A::exp_fast(-x) : native<T>::exp(-x);
		float d, r;

		e = narrowed(f.rounde, e);
		if (f.div >= SILU_div_DDIV) {
			double dd = add_double(1.0, (double)flushed(e));

			if (f.div == SILU_div_DDIV)
				return flushed((float)div_double((double)flushed(x), dd));
			if (f.div == SILU_div_DMUL)
				return flushed((float)mul_double((double)flushed(x), div_double(1.0, dd)));
			return A::mul(x, narrowed(f.roundq, flushed((float)div_double(1.0, dd))));
		}
		d = narrowed(f.roundd, A::add(1.0f, e));
		switch (f.div) {
		case SILU_div_DIV:
			return A::div_rn(x, d);
		case SILU_div_DIVFAST:
			return A::div_fast(x, d);
		case SILU_div_DIVFULL:
			return A::div_full(x, d);
		case SILU_div_NATIVE:
			return native<T>::div(x, d);
		case SILU_div_RCP:
			r = A::rcp_rn(d);
			break;
		case SILU_div_RCPFAST:
			r = A::rcp_fast(d);
			break;
		case SILU_div_RCPNATIVE:
			r = native<T>::div(1.0f, d);
			break;
		default:
			r = native<T>::rcp(d);
		}
		return A::mul(x, narrowed(f.roundq, r));
	}

	/* The usual ones, for loops that know which before they begin. */
	template <int EXP, int DIV> struct known {
		const silu_fields &f;
		__device__ __forceinline__ float operator()(float x) const
		{
			float d = A::add(1.0f, EXP == SILU_exp_FULL ? A::exp_full(-x) : A::exp_fast(-x));

			return DIV == SILU_div_DIV     ? A::div_rn(x, d) :
			       DIV == SILU_div_DIVFAST ? A::div_fast(x, d) :
			       DIV == SILU_div_RCP     ? A::mul(x, A::rcp_rn(d)) : A::mul(x, A::rcp_fast(d));
		}
	};
	struct sixteen {
		const silu_fields &f;
		__device__ __forceinline__ float operator()(float x) const
		{
			return native<T>::div(x, narrowed(true, A::add(1.0f, native<T>::exp(-x))));
		}
	};
	struct whatever {
		const silu_fields &f;
		__device__ __forceinline__ float operator()(float x) const
		{
			return any(f, x);
		}
	};

	static __device__ __forceinline__ bits product(const silu_fields &f, bits act, bits up)
	{
		float x = T::load(act), y = T::load(up);

		return T::round(f.mulftz ? arith<true>::mul(x, y) : arith<false>::mul(x, y));
	}
};
}

#endif
