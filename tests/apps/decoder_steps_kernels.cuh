/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's steps in smaller steps, as eager frameworks and first versions by hand have them: one
 * kernel for each operation. `real` is the type of activations; statistics are kept in float.
 */
#ifndef DECODER_STEPS_KERNELS_CUH
#define DECODER_STEPS_KERNELS_CUH

#include <cuda_fp8.h>
#include "decoder_kernels.cuh"

static __device__ __forceinline__ int element()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* The sum of every thread's v, in all threads. */
static __device__ __forceinline__ float block_sum(float v)
{
	__shared__ float partial[32];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

	__syncthreads(); /* whoever still reads the last one's */
	v = warp_sum(v);
	if (lane == 0)
		partial[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.0f;
		v = warp_sum(v);
		if (lane == 0)
			partial[0] = v;
	}
	__syncthreads();
	return partial[0];
}

/* Casts. */
__global__ void cast_up_kernel(float *out, const real *x, int n)
{
	int i = element();

	if (i < n)
		out[i] = to_float(x[i]);
}

__global__ void cast_down_kernel(real *out, const float *x, int n)
{
	int i = element();

	if (i < n)
		out[i] = to_real(x[i]);
}

/* Statistics, in float. */
__global__ void square_kernel(float *out, const float *x, int n)
{
	int i = element();

	if (i < n)
		out[i] = x[i] * x[i];
}

/* One block per row. */
__global__ void mean_kernel(float *out, const float *x, int cols)
{
	float sum = 0.0f;

	x += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += x[i];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum / cols;
}

__global__ void add_number_kernel(float *x, float c, int n)
{
	int i = element();

	if (i < n)
		x[i] = x[i] + c;
}

__global__ void rsqrt_kernel(float *x, int n)
{
	int i = element();

	if (i < n)
		x[i] = rsqrtf(x[i]);
}

/* out = a + b, out = x - by[row], out = x * by[row] */
__global__ void add_float_kernel(float *out, const float *a, const float *b, int n)
{
	int i = element();

	if (i < n)
		out[i] = a[i] + b[i];
}

__global__ void sub_row_kernel(float *out, const float *x, const float *by, int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		out[i] = x[i] - by[i / cols];
}

__global__ void mul_row_kernel(float *out, const float *x, const float *by, int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		out[i] = x[i] * by[i / cols];
}

/* x *= weight[column], x += bias[column] */
__global__ void weight_kernel(real *out, const real *x, const real *weight, int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		out[i] = to_real(to_float(x[i]) * to_float(weight[i % cols]));
}

__global__ void bias_kernel(real *x, const real *bias, int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		x[i] = to_real(to_float(x[i]) + to_float(bias[i % cols]));
}

/* One block per row; leaves mean and 1 / deviation, as training has it. */
__global__ void layernorm_kernel(real *out, float *mean, float *rstd, const real *x,
				 const real *weight, const real *bias, int dim, float eps)
{
	float sum = 0.0f, square = 0.0f, m, s;

	x += (size_t)blockIdx.x * dim;
	out += (size_t)blockIdx.x * dim;
	for (int i = threadIdx.x; i < dim; i += blockDim.x)
		sum += to_float(x[i]);
	m = block_sum(sum) / dim;
	for (int i = threadIdx.x; i < dim; i += blockDim.x) {
		float d = to_float(x[i]) - m;

		square += d * d;
	}
	s = rsqrtf(block_sum(square) / dim + eps);
	for (int i = threadIdx.x; i < dim; i += blockDim.x)
		out[i] = to_real((to_float(x[i]) - m) * s * to_float(weight[i]) +
				 to_float(bias[i]));
	if (threadIdx.x == 0) {
		mean[blockIdx.x] = m;
		rstd[blockIdx.x] = s;
	}
}

/* Activations, in place. */
__global__ void gelu_tanh_kernel(real *x, int n)
{
	int i = element();

	if (i < n) {
		float v = to_float(x[i]);

		x[i] = to_real(0.5f * v *
			       (1.0f + tanhf(0.7978845608f * (v + 0.044715f * (v * v * v)))));
	}
}

__global__ void gelu_erf_kernel(real *x, int n)
{
	int i = element();

	if (i < n) {
		float v = to_float(x[i]);

		x[i] = to_real(0.5f * v * (1.0f + erff(v * 0.7071067812f)));
	}
}

/* The operations that gelu and a soft cap are made of. */
__global__ void product_kernel(real *out, const real *a, const real *b, int n)
{
	int i = element();

	if (i < n)
		out[i] = to_real(to_float(a[i]) * to_float(b[i]));
}

__global__ void scale_kernel(real *out, const real *x, float s, int n)
{
	int i = element();

	if (i < n)
		out[i] = to_real(to_float(x[i]) * s);
}

__global__ void shift_kernel(real *x, float c, int n)
{
	int i = element();

	if (i < n)
		x[i] = to_real(to_float(x[i]) + c);
}

__global__ void tanh_kernel(real *x, int n)
{
	int i = element();

	if (i < n)
		x[i] = to_real(tanhf(to_float(x[i])));
}

/* Scores of every position that there is room for, seen or not. */
__global__ void all_scores_kernel(float *scores, const real *q, const real *keys, int dim,
				  int head_dim, int limit)
{
	int head = blockIdx.x, row = blockIdx.y;

	q += (size_t)row * dim + head * head_dim;
	scores += ((size_t)row * gridDim.x + head) * limit;
	for (int t = threadIdx.x; t < limit; t += blockDim.x) {
		const real *k = keys + (size_t)t * dim + head * head_dim;
		float sum = 0.0f;

		for (int i = 0; i < head_dim; i++)
			sum += to_float(q[i]) * to_float(k[i]);
		scores[t] = sum;
	}
}

/* What each row sees: as zeros and -infinity, as truths. One block per row. */
static __device__ __forceinline__ void make_mask(float *mask, bool *seen, int first, int limit)
{
	for (int t = threadIdx.x; t < limit; t += blockDim.x) {
		bool sees = t <= first + (int)blockIdx.x;

		mask[(size_t)blockIdx.x * limit + t] = sees ? 0.0f : -INFINITY;
		seen[(size_t)blockIdx.x * limit + t] = sees;
	}
}

__global__ void make_mask_kernel(float *mask, bool *seen, int first, int limit)
{
	make_mask(mask, seen, first, limit);
}

__global__ void make_mask_at_kernel(float *mask, bool *seen, int first, int limit, const int *step)
{
	make_mask(mask, seen, first + *step, limit);
}

__global__ void scale_scores_kernel(float *x, float s, int n)
{
	int i = element();

	if (i < n)
		x[i] = x[i] * s;
}

__global__ void add_mask_kernel(float *x, const float *mask, int rows, int heads, int limit)
{
	int i = element();

	if (i < rows * heads * limit)
		x[i] = x[i] + mask[i / (heads * limit) * limit + i % limit];
}

__global__ void choose_kernel(float *x, const bool *seen, float other, int rows, int heads,
			      int limit)
{
	int i = element();

	if (i < rows * heads * limit)
		x[i] = seen[i / (heads * limit) * limit + i % limit] ? x[i] : other;
}

/* One block per row. */
__global__ void softmax_row_kernel(float *x, int cols)
{
	__shared__ float partial[32];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	float best = -INFINITY, sum = 0.0f;

	x += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		best = fmaxf(best, x[i]);
	for (int offset = 16; offset > 0; offset >>= 1)
		best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, offset));
	if (lane == 0)
		partial[warp] = best;
	__syncthreads();
	for (int i = 0; i < (int)(blockDim.x >> 5); i++)
		best = fmaxf(best, partial[i]);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += expf(x[i] - best);
	sum = block_sum(sum);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		x[i] = expf(x[i] - best) / sum;
}

/* Rows of the tables for positions first, first + 1, ... One block per row. */
static __device__ __forceinline__ void look_up(real *cos_now, real *sin_now, const real *cos_table,
					       const real *sin_table, int head_dim, int first)
{
	size_t from = (size_t)(first + (int)blockIdx.x) * head_dim;

	for (int i = threadIdx.x; i < head_dim; i += blockDim.x) {
		cos_now[(size_t)blockIdx.x * head_dim + i] = cos_table[from + i];
		sin_now[(size_t)blockIdx.x * head_dim + i] = sin_table[from + i];
	}
}

__global__ void look_up_kernel(real *cos_now, real *sin_now, const real *cos_table,
			       const real *sin_table, int head_dim, int first)
{
	look_up(cos_now, sin_now, cos_table, sin_table, head_dim, first);
}

__global__ void look_up_at_kernel(real *cos_now, real *sin_now, const real *cos_table,
				  const real *sin_table, int head_dim, int first, const int *step)
{
	look_up(cos_now, sin_now, cos_table, sin_table, head_dim, first + *step);
}

/* out[row][head] = x[row][head] * table[row] */
__global__ void mul_table_kernel(real *out, const real *x, const real *table, int rows, int heads,
				 int head_dim)
{
	int i = element();

	if (i < rows * heads * head_dim) {
		float t = to_float(table[i / (heads * head_dim) * head_dim + i % head_dim]);

		out[i] = to_real(to_float(x[i]) * t);
	}
}

/* out[row] = -x[row], x of rows that are twice as long */
__global__ void neg_half_kernel(real *out, const real *x, int rows, int half)
{
	int i = element();

	if (i < rows * half)
		out[i] = to_real(-to_float(x[i / half * 2 * half + i % half]));
}

/* out[row] = a[row], b[row]; b's rows are as long as out's */
__global__ void cat_half_kernel(real *out, const real *a, const real *b, int rows, int half)
{
	int i = element();

	if (i < rows * 2 * half) {
		int row = i / (2 * half), c = i % (2 * half);

		out[i] = c < half ? a[row * half + c] : b[row * 2 * half + c - half];
	}
}

static __device__ __forceinline__ void keep(real *cache, const real *x, int n)
{
	int i = element();

	if (i < n)
		cache[i] = x[i];
}

__global__ void keep_kernel(real *cache, const real *x, int n)
{
	keep(cache, x, n);
}

__global__ void keep_at_kernel(real *cache, const real *x, int n, int dim, const int *step)
{
	keep(cache + (size_t)*step * dim, x, n);
}

/* Rows of a table of 8-bit numbers, and what each of them is to be multiplied by. */
static __device__ __forceinline__ void embed8(unsigned char *out, float *scale,
					      const unsigned char *table, const float *scales,
					      const int *tokens, int dim)
{
	const int token = tokens[blockIdx.x];

	for (int i = threadIdx.x; i < dim; i += blockDim.x)
		out[(size_t)blockIdx.x * dim + i] = table[(size_t)token * dim + i];
	if (threadIdx.x == 0)
		scale[blockIdx.x] = scales[token];
}

__global__ void embed8_kernel(unsigned char *out, float *scale, const unsigned char *table,
			      const float *scales, const int *tokens, int dim)
{
	embed8(out, scale, table, scales, tokens, dim);
}

__global__ void embed8_at_kernel(unsigned char *out, float *scale, const unsigned char *table,
				 const float *scales, const int *tokens, int dim, const int *step)
{
	embed8(out, scale, table, scales, tokens + *step, dim);
}

__global__ void dequantise_int8_kernel(real *out, const signed char *x, const float *scale,
				       int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		out[i] = to_real((float)x[i] * scale[i / cols]);
}

__global__ void dequantise_fp8_kernel(real *out, const __nv_fp8_e4m3 *x, const float *scale,
				      int rows, int cols)
{
	int i = element();

	if (i < rows * cols)
		out[i] = to_real((float)x[i] * scale[i / cols]);
}

#endif
