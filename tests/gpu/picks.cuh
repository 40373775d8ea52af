/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as people write them, one or more spellings and orders of an op, for the probe of chains to
 * recognise. Included once for each flavour that a program may be built in:
 *   PICKS(name)  the kernel's name in this flavour
 *   PICKS_FAST   1 where the flavour is --use_fast_math: the host compiler has no such flag, so what
 *                nvcc does to / and functions is written out for it
 */
#if defined(__CUDACC__) || !PICKS_FAST
#define P_DIV(a, b) ((a) / (b))
#define P_EXP(a) expf(a)
#define P_TANH(a) tanhf(a)
#define P_RCP(a) (1.0f / (a))
#else
#define P_DIV(a, b) __fdividef(a, b)
#define P_EXP(a) __expf(a)
#define P_TANH(a) softgpu::approx_tanh(a)
#define P_RCP(a) softgpu::approx_rcp(a)
#endif

#ifndef PICKS_COMMON
#define PICKS_COMMON
typedef __nv_bfloat16 picks_bf16;

__device__ inline float p_load(float v) { return v; }
__device__ inline float p_load(picks_bf16 v) { return __bfloat162float(v); }
__device__ inline void p_store(float *p, float v) { *p = v; }
__device__ inline void p_store(picks_bf16 *p, float v) { *p = __float2bfloat16(v); }

__device__ float picks_state;

/* Over the block: shuffles down, then the first warp. */
__device__ inline float p_block(float v)
{
	__shared__ float sums[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	for (int d = 16; d; d /= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (lane == 0)
		sums[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)blockDim.x / 32 ? sums[lane] : 0.0f;
		for (int d = 16; d; d /= 2)
			v += __shfl_down_sync(0xffffffffu, v, d);
		if (lane == 0)
			sums[0] = v;
	}
	__syncthreads();
	v = sums[0];
	__syncthreads();
	return v;
}
/* In shared memory, halving. */
__device__ inline float p_halving(float v)
{
	__shared__ float sums[1024];

	sums[threadIdx.x] = v;
	__syncthreads();
	for (int d = (int)blockDim.x / 2; d; d /= 2) {
		if ((int)threadIdx.x < d)
			sums[threadIdx.x] += sums[threadIdx.x + d];
		__syncthreads();
	}
	v = sums[0];
	__syncthreads();
	return v;
}
__device__ inline float p_greatest(float v)
{
	__shared__ float all[1024];

	all[threadIdx.x] = v;
	__syncthreads();
	for (int t = 0; t < (int)blockDim.x; t++)
		v = fmaxf(v, all[t]);
	__syncthreads();
	return v;
}
struct p_welford {
	float mean, m2, n;
};
__device__ inline p_welford p_joined(p_welford a, p_welford b)
{
	p_welford r;
	float n = a.n + b.n, d = b.mean - a.mean, q, na, nb;

	if (n == 0)
		return a;
	q = 1.0f / n;
	na = a.n * q;
	nb = b.n * q;
	r.mean = fmaf(na, a.mean, nb * b.mean);
	r.m2 = fmaf(d * d * a.n, nb, a.m2 + b.m2);
	r.n = n;
	return r;
}
__device__ inline p_welford p_from(p_welford v, int d)
{
	p_welford r;

	r.mean = __shfl_down_sync(0xffffffffu, v.mean, d);
	r.m2 = __shfl_down_sync(0xffffffffu, v.m2, d);
	r.n = __shfl_down_sync(0xffffffffu, v.n, d);
	return r;
}
#endif

#define P_ONE(name, to, from, body)                                                                \
	extern "C" __global__ void PICKS(name)(to *out, const from *in, int n)                     \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		if (i < n) {                                                                       \
			float x = p_load(in[i]);                                                   \
			p_store(out + i, body);                                                    \
		}                                                                                  \
	}
#define P_TWO(name, type, body)                                                                    \
	extern "C" __global__ void PICKS(name)(type *out, const type *a, const type *b, int n)     \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		if (i < n) {                                                                       \
			float x = p_load(a[i]), y = p_load(b[i]);                                  \
			p_store(out + i, body);                                                    \
		}                                                                                  \
	}
P_TWO(add_f32, float, x + y)
P_TWO(add_bf16, picks_bf16, x + y)
P_TWO(mul_f32, float, x * y)
P_TWO(div_f32, float, P_DIV(x, y))
P_ONE(silu_f32, float, float, P_DIV(x, 1.0f + P_EXP(-x)))
P_ONE(silu_rcp_f32, float, float, x *P_RCP(1.0f + P_EXP(-x)))
P_ONE(silu_bf16, picks_bf16, picks_bf16, P_DIV(x, 1.0f + P_EXP(-x)))
P_ONE(gelu_f32, float, float, 0.5f * x * (1.0f + P_TANH(0.7978845608028654f * (x + 0.044715f * (x * x * x)))))
P_ONE(gelu_left_f32, float, float, 0.5f * x * (1.0f + P_TANH(0.7978845608028654f * (x + 0.044715f * x * x * x))))
P_ONE(gelu_cdf_bf16, picks_bf16, picks_bf16, x *(0.5f * (1.0f + P_TANH(0.7978845608028654f * (x + 0.044715f * (x * x * x))))))
P_ONE(gelu_erf_f32, float, float, 0.5f * x * (1.0f + erff(x * 0.7071067811865476f)))
P_ONE(gelu_erf_last_f32, float, float, 0.5f * (x * (1.0f + erff(x * 0.7071067811865476f))))
P_ONE(narrow_bf16, picks_bf16, float, x)
P_ONE(widen_bf16, float, picks_bf16, x)
P_ONE(relu_f32, float, float, fmaxf(x, 0.0f))
/* Not what they are said to be. */
P_ONE(liar_f32, float, float, P_DIV(x, 1.0f + P_EXP(-x)) * (x > 3.0f ? 1.0001f : 1.0f))
P_ONE(state_f32, float, float, P_DIV(x, 1.0f + P_EXP(-x)) + picks_state)
P_ONE(short_f32, float, float, i < 200 ? x + x : out[i])

extern "C" __global__ void PICKS(scale_f32)(float *out, const float *in, int n, float by, float plus)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * by + plus;
}
extern "C" __global__ void PICKS(bias_f32)(float *out, const float *in, const float *bias, int rows, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows * cols)
		out[i] = in[i] + bias[i % cols];
}

#define P_SOFTMAX(name, type, sum, over)                                                           \
	extern "C" __global__ void PICKS(name)(type *out, const type *in, int cols)                \
	{                                                                                          \
		const type *x = in + (int64_t)blockIdx.x * cols;                                   \
		float m = -INFINITY, s = 0;                                                        \
		for (int i = threadIdx.x; i < cols; i += blockDim.x)                               \
			m = fmaxf(m, p_load(x[i]));                                                \
		m = p_greatest(m);                                                                 \
		for (int i = threadIdx.x; i < cols; i += blockDim.x)                               \
			s += P_EXP(p_load(x[i]) - m);                                              \
		s = sum(s);                                                                        \
		for (int i = threadIdx.x; i < cols; i += blockDim.x) {                             \
			float e = P_EXP(p_load(x[i]) - m);                                         \
			p_store(out + (int64_t)blockIdx.x * cols + i, over);                       \
		}                                                                                  \
	}
P_SOFTMAX(softmax_f32, float, p_block, P_DIV(e, s))
P_SOFTMAX(softmax_rcp_f32, float, p_halving, e *P_RCP(s))

#define P_NORM(name, type, part, ...)                                                              \
	extern "C" __global__ void PICKS(name)(type *out, const type *in, const type *weight, const type *bias, \
					       int cols, float eps)                                \
	{                                                                                          \
		const type *x = in + (int64_t)blockIdx.x * cols;                                   \
		float mean, var = 0, n = (float)cols;                                       \
		part __VA_ARGS__ float rs = rsqrtf(var + eps);                                     \
		for (int i = threadIdx.x; i < cols; i += blockDim.x)                               \
			p_store(out + (int64_t)blockIdx.x * cols + i,                              \
				(p_load(x[i]) - mean) * rs * p_load(weight[i]) + p_load(bias[i])); \
	}
#define P_EACH for (int i = threadIdx.x; i < cols; i += blockDim.x)
#define P_MEAN                                                                                     \
	float s = 0;                                                                               \
	P_EACH s += p_load(x[i]);                                                                  \
	mean = P_DIV(p_block(s), n);
P_NORM(layernorm_f32, float, P_MEAN, P_EACH {
	float d = p_load(x[i]) - mean;
	var += d * d;
} var = P_DIV(p_block(var), n);)
P_NORM(layernorm_bf16, picks_bf16, P_MEAN, P_EACH {
	float d = p_load(x[i]) - mean;
	var += d * d;
} var = P_DIV(p_block(var), n);)
P_NORM(layernorm_squares_f32, float, P_MEAN, P_EACH {
	float d = p_load(x[i]);
	var += d * d;
} var = P_DIV(p_block(var), n) - mean * mean;)
P_NORM(layernorm_welford_f32, float, p_welford w = {}; P_EACH {
	float d = p_load(x[i]) - w.mean;
	w.n += 1.0f;
	w.mean = fmaf(d, 1.0f / w.n, w.mean);
	w.m2 = fmaf(d, p_load(x[i]) - w.mean, w.m2);
} for (int d = 16; d; d /= 2) w = p_joined(w, p_from(w, d));
	__shared__ p_welford all; if (threadIdx.x == 0) all = w; __syncthreads(); w = all;
	mean = w.mean; var = P_DIV(w.m2, n);)

extern "C" __global__ void PICKS(rmsnorm_f32)(float *out, const float *in, const float *weight, int cols, float eps)
{
	const float *x = in + (int64_t)blockIdx.x * cols;
	float ss = 0;

	P_EACH ss += x[i] * x[i];
	ss = p_halving(ss);
	float s = rsqrtf(P_DIV(ss, (float)cols) + eps);
	P_EACH out[(int64_t)blockIdx.x * cols + i] = weight[i] * (x[i] * s);
}
/* What is scaled is rounded before the weight is looked at. */
extern "C" __global__ void PICKS(rmsnorm_bf16)(picks_bf16 *out, const picks_bf16 *in, const picks_bf16 *weight, int cols,
					      float eps)
{
	const picks_bf16 *x = in + (int64_t)blockIdx.x * cols;
	float ss = 0;

	P_EACH ss += p_load(x[i]) * p_load(x[i]);
	ss = p_block(ss);
	float s = rsqrtf(P_DIV(ss, (float)cols) + eps);
	P_EACH
	{
		picks_bf16 y = __float2bfloat16(p_load(x[i]) * s);
		p_store(out + (int64_t)blockIdx.x * cols + i, p_load(y) * p_load(weight[i]));
	}
}
extern "C" __global__ void PICKS(sum_f32)(float *out, const float *in, int rows, int cols)
{
	/* A warp a row. */
	int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	float s = 0;

	if (row >= rows)
		return;
	for (int i = threadIdx.x % 32; i < cols; i += 32)
		s += in[(int64_t)row * cols + i];
	for (int d = 16; d; d /= 2)
		s += __shfl_xor_sync(0xffffffffu, s, d);
	if (threadIdx.x % 32 == 0)
		out[row] = s;
}
#undef P_DIV
#undef P_EXP
#undef P_TANH
#undef P_RCP
#undef P_ONE
#undef P_TWO
#undef P_SOFTMAX
#undef P_NORM
#undef P_EACH
#undef P_MEAN
