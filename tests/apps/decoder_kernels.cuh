/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a small Llama-like decoder, one for each step of the model. `real` is the type of
 * weights and activations; sums are kept in float. Matrices are row-major. The _at_ forms are for a
 * graph that is captured once: positions, and places in the cache and among the tokens, are counted
 * from *step.
 */
#ifndef DECODER_KERNELS_CUH
#define DECODER_KERNELS_CUH

#include <cuda_bf16.h>

#ifdef DECODER_BF16
typedef __nv_bfloat16 real;
static __device__ __forceinline__ float to_float(real v)
{
	return __bfloat162float(v);
}
static __device__ __forceinline__ real to_real(float v)
{
	return __float2bfloat16(v);
}
#else
typedef float real;
static __device__ __forceinline__ float to_float(real v)
{
	return v;
}
static __device__ __forceinline__ real to_real(float v)
{
	return v;
}
#endif

static __device__ __forceinline__ float warp_sum(float v)
{
	for (int offset = 16; offset > 0; offset >>= 1)
		v += __shfl_down_sync(0xffffffffu, v, offset);
	return v;
}

/* x[row] = table[tokens[row]] */
static __device__ __forceinline__ void embed(real *x, const real *table, const int *tokens, int dim)
{
	const real *from = table + (size_t)tokens[blockIdx.x] * dim;

	for (int i = threadIdx.x; i < dim; i += blockDim.x)
		x[(size_t)blockIdx.x * dim + i] = from[i];
}

__global__ void embed_kernel(real *x, const real *table, const int *tokens, int dim)
{
	embed(x, table, tokens, dim);
}

__global__ void embed_at_kernel(real *x, const real *table, const int *tokens, int dim,
				const int *step)
{
	embed(x, table, tokens + *step, dim);
}

/* a += b */
__global__ void accum_kernel(real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = to_real(to_float(a[i]) + to_float(b[i]));
}

/* out = a + b */
__global__ void add_kernel(real *out, const real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = to_real(to_float(a[i]) + to_float(b[i]));
}

/* One block per row: out = x / sqrt(mean(x^2) + eps) * weight */
__global__ void rmsnorm_kernel(real *out, const real *x, const real *weight, int dim, float eps)
{
	__shared__ float partial[32];
	__shared__ float scale;
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	float ss = 0.0f;

	x += (size_t)blockIdx.x * dim;
	out += (size_t)blockIdx.x * dim;
	for (int i = threadIdx.x; i < dim; i += blockDim.x) {
		float v = to_float(x[i]);

		ss += v * v;
	}
	ss = warp_sum(ss);
	if (lane == 0)
		partial[warp] = ss;
	__syncthreads();
	if (warp == 0) {
		ss = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.0f;
		ss = warp_sum(ss);
		if (lane == 0)
			scale = rsqrtf(ss / dim + eps);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < dim; i += blockDim.x)
		out[i] = to_real(to_float(x[i]) * scale * to_float(weight[i]));
}

/* One warp per output: out[row][o] = w[o] . x[row]; blockIdx.y is the row. */
static __device__ __forceinline__ void matmul(real *out, const real *w, const real *x, int in,
					      int outs)
{
	int lane = threadIdx.x & 31;
	int o = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
	float sum = 0.0f;

	if (o >= outs)
		return;
	w += (size_t)o * in;
	x += (size_t)blockIdx.y * in;
	for (int i = lane; i < in; i += 32)
		sum += to_float(w[i]) * to_float(x[i]);
	sum = warp_sum(sum);
	if (lane == 0)
		out[(size_t)blockIdx.y * outs + o] = to_real(sum);
}

__global__ void matmul_kernel(real *out, const real *w, const real *x, int in, int outs)
{
	matmul(out, w, x, in, outs);
}

__global__ void matmul_at_kernel(real *out, const real *w, const real *x, int in, int outs,
				 const int *step)
{
	matmul(out + (size_t)*step * outs, w, x, in, outs);
}

/* Turns pairs of x[row] by angles of position first + row. One block per row. */
static __device__ __forceinline__ void rope(real *x, int dim, int head_dim, int first)
{
	float position = (float)(first + (int)blockIdx.x);

	x += (size_t)blockIdx.x * dim;
	for (int i = threadIdx.x; i < dim / 2; i += blockDim.x) {
		float frequency = powf(10000.0f, -(float)(2 * i % head_dim) / head_dim);
		float s = sinf(position * frequency), c = cosf(position * frequency);
		float a = to_float(x[2 * i]), b = to_float(x[2 * i + 1]);

		x[2 * i] = to_real(a * c - b * s);
		x[2 * i + 1] = to_real(a * s + b * c);
	}
}

__global__ void rope_kernel(real *x, int dim, int head_dim, int first)
{
	rope(x, dim, head_dim, first);
}

__global__ void rope_at_kernel(real *x, int dim, int head_dim, int first, bool cached,
			       const int *step)
{
	rope(x + (cached ? (size_t)*step * dim : 0), dim, head_dim, first + *step);
}

/*
 * Attention of head blockIdx.x, row blockIdx.y, which sees positions 0 .. first + row.
 * scores: [rows][heads][limit]; keys and values: [position][dim].
 */
static __device__ __forceinline__ void scores_of(float *scores, const real *q, const real *keys,
						 int dim, int head_dim, int first, int limit)
{
	int head = blockIdx.x, row = blockIdx.y;

	q += (size_t)row * dim + head * head_dim;
	scores += ((size_t)row * gridDim.x + head) * limit;
	for (int t = threadIdx.x; t <= first + row; t += blockDim.x) {
		const real *k = keys + (size_t)t * dim + head * head_dim;
		float sum = 0.0f;

		for (int i = 0; i < head_dim; i++)
			sum += to_float(q[i]) * to_float(k[i]);
		scores[t] = sum / sqrtf((float)head_dim);
	}
}

__global__ void scores_kernel(float *scores, const real *q, const real *keys, int dim, int head_dim,
			      int first, int limit)
{
	scores_of(scores, q, keys, dim, head_dim, first, limit);
}

__global__ void scores_at_kernel(float *scores, const real *q, const real *keys, int dim,
				 int head_dim, int first, int limit, const int *step)
{
	scores_of(scores, q, keys, dim, head_dim, first + *step, limit);
}

static __device__ __forceinline__ void softmax(float *scores, int first, int limit)
{
	extern __shared__ float shared[];
	int n = first + (int)blockIdx.y + 1;
	float best = -INFINITY, sum = 0.0f;

	scores += ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * limit;
	for (int t = threadIdx.x; t < n; t += blockDim.x)
		best = fmaxf(best, scores[t]);
	shared[threadIdx.x] = best;
	__syncthreads();
	for (int width = blockDim.x / 2; width > 0; width /= 2) {
		if ((int)threadIdx.x < width)
			shared[threadIdx.x] =
				fmaxf(shared[threadIdx.x], shared[threadIdx.x + width]);
		__syncthreads();
	}
	best = shared[0];
	__syncthreads();
	for (int t = threadIdx.x; t < n; t += blockDim.x) {
		scores[t] = expf(scores[t] - best);
		sum += scores[t];
	}
	shared[threadIdx.x] = sum;
	__syncthreads();
	for (int width = blockDim.x / 2; width > 0; width /= 2) {
		if ((int)threadIdx.x < width)
			shared[threadIdx.x] += shared[threadIdx.x + width];
		__syncthreads();
	}
	for (int t = threadIdx.x; t < n; t += blockDim.x)
		scores[t] /= shared[0];
}

__global__ void softmax_kernel(float *scores, int first, int limit)
{
	softmax(scores, first, limit);
}

__global__ void softmax_at_kernel(float *scores, int first, int limit, const int *step)
{
	softmax(scores, first + *step, limit);
}

/* out[row][head] = sum over positions of scores * values */
static __device__ __forceinline__ void values_of(real *out, const float *scores, const real *values,
						 int dim, int head_dim, int first, int limit)
{
	int head = blockIdx.x, row = blockIdx.y;

	scores += ((size_t)row * gridDim.x + head) * limit;
	for (int i = threadIdx.x; i < head_dim; i += blockDim.x) {
		float sum = 0.0f;

		for (int t = 0; t <= first + row; t++)
			sum += scores[t] * to_float(values[(size_t)t * dim + head * head_dim + i]);
		out[(size_t)row * dim + head * head_dim + i] = to_real(sum);
	}
}

__global__ void values_kernel(real *out, const float *scores, const real *values, int dim,
			      int head_dim, int first, int limit)
{
	values_of(out, scores, values, dim, head_dim, first, limit);
}

__global__ void values_at_kernel(real *out, const float *scores, const real *values, int dim,
				 int head_dim, int first, int limit, const int *step)
{
	values_of(out, scores, values, dim, head_dim, first + *step, limit);
}

/* x = x * sigmoid(x) */
__global__ void silu_kernel(real *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		float v = to_float(x[i]);

		x[i] = to_real(v / (1.0f + expf(-v)));
	}
}

/* a *= b */
__global__ void mul_kernel(real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = to_real(to_float(a[i]) * to_float(b[i]));
}

/* *token = index of the largest logit, the first one of equals. One block. */
static __device__ __forceinline__ void argmax(int *token, const real *logits, int n)
{
	__shared__ float value[256];
	__shared__ int index[256];
	int best = 0;

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		if (i == (int)threadIdx.x || to_float(logits[i]) > to_float(logits[best]))
			best = i;
	value[threadIdx.x] = (int)threadIdx.x < n ? to_float(logits[best]) : -INFINITY;
	index[threadIdx.x] = best;
	__syncthreads();
	for (int width = blockDim.x / 2; width > 0; width /= 2) {
		if ((int)threadIdx.x < width) {
			float other = value[threadIdx.x + width];

			if (other > value[threadIdx.x] ||
			    (other == value[threadIdx.x] &&
			     index[threadIdx.x + width] < index[threadIdx.x])) {
				value[threadIdx.x] = other;
				index[threadIdx.x] = index[threadIdx.x + width];
			}
		}
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*token = index[0];
}

__global__ void argmax_kernel(int *token, const real *logits, int n)
{
	argmax(token, logits, n);
}

__global__ void argmax_at_kernel(int *token, const real *logits, int n, const int *step)
{
	argmax(token + *step, logits, n);
}

__global__ void advance_kernel(int *step)
{
	++*step;
}

#endif
