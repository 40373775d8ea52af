/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise kernels and kernels over rows, of each type, in the spelling that is usual for each.
 * Arithmetic is in float.
 */
#ifndef CHAIN_RANDOM_KERNELS_CUH
#define CHAIN_RANDOM_KERNELS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef __nv_bfloat16 bf16;

static __device__ __forceinline__ float get(const float *p)
{
	return *p;
}

static __device__ __forceinline__ float get(const __half *p)
{
	return __half2float(*p);
}

static __device__ __forceinline__ float get(const bf16 *p)
{
	return __bfloat162float(*p);
}

static __device__ __forceinline__ void put(float *p, float v)
{
	*p = v;
}

static __device__ __forceinline__ void put(__half *p, float v)
{
	*p = __float2half(v);
}

static __device__ __forceinline__ void put(bf16 *p, float v)
{
	*p = __float2bfloat16(v);
}

/* Defines a kernel that sets out[i] for i < n. */
#define EACH(name, expression, ...)                                                                \
	template <typename T> __global__ void name(T *out, __VA_ARGS__, int n)                     \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n) {                                                                       \
			float v = get(x + i);                                                      \
                                                                                                   \
			put(out + i, expression);                                                  \
		}                                                                                  \
	}

EACH(each_add, v + get(y + i), const T *x, const T *y)
EACH(each_sub, v - get(y + i), const T *x, const T *y)
EACH(each_mul, v *get(y + i), const T *x, const T *y)
EACH(each_scale, v *s, const T *x, float s)
EACH(each_shift, v + s, const T *x, float s)
EACH(each_relu, fmaxf(v, 0.0f), const T *x)
EACH(each_neg, -v, const T *x)
EACH(each_square, v *v, const T *x)
EACH(each_sigmoid, 1.0f / (1.0f + expf(-v)), const T *x)
EACH(each_silu, v / (1.0f + expf(-v)), const T *x)
EACH(each_tanh, tanhf(v), const T *x)
EACH(each_gelu_tanh,
     0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * (v * v * v)))), const T *x)
EACH(each_gelu_erf, 0.5f * v * (1.0f + erff(v * 0.7071067812f)), const T *x)

template <typename T, typename F> __global__ void each_cast(T *out, const F *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		put(out + i, get(x + i));
}

/* The same row for all, the same number for all of a row. */
template <typename T>
__global__ void each_bias(T *out, const T *x, const T *bias, int rows, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows * cols)
		put(out + i, get(x + i) + get(bias + i % cols));
}

template <typename T>
__global__ void each_column(T *out, const T *x, const T *by, int rows, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows * cols)
		put(out + i, get(x + i) * get(by + i % cols));
}

template <typename T>
__global__ void each_row(T *out, const T *x, const float *by, int rows, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows * cols)
		put(out + i, get(x + i) * by[i / cols]);
}

/* The sum of every thread's v, in all threads. */
static __device__ __forceinline__ float sum_of_block(float v)
{
	__shared__ float part[32];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

	__syncthreads(); /* whoever still reads the last one's */
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (lane == 0)
		part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)(blockDim.x >> 5) ? part[lane] : 0.0f;
		for (int d = 16; d > 0; d >>= 1)
			v += __shfl_down_sync(0xffffffffu, v, d);
		if (lane == 0)
			part[0] = v;
	}
	__syncthreads();
	return part[0];
}

static __device__ __forceinline__ float max_of_block(float v)
{
	__shared__ float part[32];

	for (int d = 16; d > 0; d >>= 1)
		v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
	if ((threadIdx.x & 31) == 0)
		part[threadIdx.x >> 5] = v;
	__syncthreads();
	for (int i = 0; i < (int)(blockDim.x >> 5); i++)
		v = fmaxf(v, part[i]);
	return v;
}

/* A block for each row. */
template <typename T> __global__ void row_mean(float *out, const T *x, int cols)
{
	float sum = 0.0f;

	x += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += get(x + i);
	sum = sum_of_block(sum);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum / cols;
}

template <typename T>
__global__ void row_rmsnorm(T *out, const T *x, const T *weight, int cols, float eps)
{
	float ss = 0.0f, s;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x) {
		float v = get(x + i);

		ss += v * v;
	}
	s = rsqrtf(sum_of_block(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		put(out + i, get(x + i) * s * get(weight + i));
}

template <typename T>
__global__ void row_layernorm(T *out, float *mean, float *rstd, const T *x, const T *weight,
			      const T *bias, int cols, float eps)
{
	float sum = 0.0f, ss = 0.0f, m, s;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += get(x + i);
	m = sum_of_block(sum) / cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x) {
		float d = get(x + i) - m;

		ss += d * d;
	}
	s = rsqrtf(sum_of_block(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		put(out + i, (get(x + i) - m) * s * get(weight + i) + get(bias + i));
	if (threadIdx.x == 0 && mean) {
		mean[blockIdx.x] = m;
		rstd[blockIdx.x] = s;
	}
}

template <typename T> __global__ void row_softmax(T *out, const T *x, int cols)
{
	float best = -INFINITY, sum = 0.0f;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		best = fmaxf(best, get(x + i));
	best = max_of_block(best);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += expf(get(x + i) - best);
	sum = sum_of_block(sum);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		put(out + i, expf(get(x + i) - best) / sum);
}

/* No signature knows it. */
template <typename T> __global__ void stir(T *out, const T *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		put(out + i, 0.75f * get(x + (i * 7 + 3) % n) - 0.125f);
}

#endif
