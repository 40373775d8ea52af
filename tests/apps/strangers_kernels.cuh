/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a program that nobody described: what they compute shows in no name, and their
 * arguments stand in all kinds of orders. The second half does what looks like something known and
 * is not.
 */
#ifndef AF_TESTS_APPS_STRANGERS_KERNELS_CUH
#define AF_TESTS_APPS_STRANGERS_KERNELS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef STRANGERS_BF16
typedef __nv_bfloat16 real;
static __device__ __forceinline__ float get(real v)
{
	return __bfloat162float(v);
}
static __device__ __forceinline__ real put(float v)
{
	return __float2bfloat16(v);
}
#elif defined(STRANGERS_FP16)
typedef __half real;
static __device__ __forceinline__ float get(real v)
{
	return __half2float(v);
}
static __device__ __forceinline__ real put(float v)
{
	return __float2half(v);
}
#else
typedef float real;
static __device__ __forceinline__ float get(real v)
{
	return v;
}
static __device__ __forceinline__ real put(float v)
{
	return v;
}
#endif

static __device__ __forceinline__ float warp_total(float v)
{
	for (int d = 16; d > 0; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

static __device__ __forceinline__ float block_total(float v)
{
	__shared__ float part[32];

	v = warp_total(v);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f;
	return warp_total(v);
}

/* The size first, the output last: out = a + b. */
__global__ void alpha(int n, const real *a, const real *b, real *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(get(a[i]) + get(b[i]));
}

/* In place, on a grid of two dimensions: x += y. */
__global__ void beta(real *x, int cols, int rows, const real *y)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;

	if (c < cols && r < rows)
		x[(size_t)r * cols + c] = put(get(x[(size_t)r * cols + c]) + get(y[(size_t)r * cols + c]));
}

/* A norm with eps; twice is what it does only if asked. */
__global__ void gamma_(const real *x, const real *w, float eps, int twice, real *out, int cols)
{
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += get(x[i]) * get(x[i]);
	float s = rsqrtf(block_total(ss) / cols + eps) * (twice == 7 ? 1.0f : 2.0f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = put(get(x[i]) * s * get(w[i]));
}

/* A norm with 1 + w and an eps of its own; a warp for each row, four rows a block. */
__global__ void delta(real *out, const real *w, const real *x, int rows, int cols)
{
	int r = blockIdx.x * blockDim.y + threadIdx.y;
	float ss = 0;

	if (r >= rows)
		return;
	x += (size_t)r * cols;
	out += (size_t)r * cols;
	for (int i = threadIdx.x; i < cols; i += 32)
		ss += get(x[i]) * get(x[i]);
	float s = rsqrtf(warp_total(ss) / cols + 1e-6f);
	for (int i = threadIdx.x; i < cols; i += 32)
		out[i] = put(get(x[i]) * s * (1.0f + get(w[i])));
}

/* silu, counted in 64 bits. */
__global__ void epsilon(real *out, long long n, const real *x)
{
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(get(x[i]) / (1.0f + expf(-get(x[i]))));
}

/* The grid is the size, each thread takes two: a *= b. */
__global__ void zeta(const real *b, real *a)
{
	size_t i = 2 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);

	a[i] = put(get(a[i]) * get(b[i]));
	a[i + 1] = put(get(a[i + 1]) * get(b[i + 1]));
}

/* silu(gate) * up, the gate second. */
__global__ void eta(real *out, const real *up, const real *gate, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(get(gate[i]) / (1.0f + expf(-get(gate[i]))) * get(up[i]));
}

/* A norm in place, of rows of 128 by its code, without an eps that anybody could see. */
__global__ void theta(real *x, const real *w)
{
	real *p = x + (size_t)blockIdx.x * 128 + threadIdx.x;
	float v = get(*p);

	*p = put(v * rsqrtf(block_total(v * v) / 128 + 1e-5f) * get(w[threadIdx.x]));
}

/* Told how many fours there are: out = a * b. */
__global__ void iota(real *out, const real *a, const real *b, int fours)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < fours)
		for (int k = 4 * i; k < 4 * i + 4; k++)
			out[k] = put(get(a[k]) * get(b[k]));
}

/* Whole fours only, what is left over stays as it was: out = a + b. */
__global__ void kappa(real *out, const real *a, const real *b, int n)
{
	int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);

	if (i + 3 < n)
		for (int k = i; k < i + 4; k++)
			out[k] = put(get(a[k]) + get(b[k]));
}

/* A norm with weights in float and no room for doubt in its grid: rows are grid.y; columns in fours. */
__global__ void lambda_(const float *w, const real *x, real *out, int fours)
{
	int cols = 4 * fours;
	float ss = 0;

	x += (size_t)blockIdx.y * cols;
	out += (size_t)blockIdx.y * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += get(x[i]) * get(x[i]);
	float s = rsqrtf(block_total(ss) / cols + 1e-5f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = put(get(x[i]) * s * w[i]);
}

/* A row of bias to every row. */
__global__ void mu(real *out, const real *x, const real *bias, int cols)
{
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[(size_t)blockIdx.x * cols + i] = put(get(x[(size_t)blockIdx.x * cols + i]) + get(bias[i]));
}

/* The gelu of engineers, all elements by few threads. */
__global__ void nu(const real *x, real *out, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float v = get(x[i]);

		out[i] = put(0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))));
	}
}

/* A softmax of each row. */
__global__ void xi(real *x, int rows, int cols)
{
	float top = -3e38f, sum = 0;

	x += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += 32)
		top = fmaxf(top, get(x[i]));
	for (int d = 16; d > 0; d /= 2)
		top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
	for (int i = threadIdx.x; i < cols; i += 32)
		sum += expf(get(x[i]) - top);
	sum = warp_total(sum);
	if ((int)blockIdx.x < rows)
		for (int i = threadIdx.x; i < cols; i += 32)
			x[i] = put(expf(get(x[i]) - top) / sum);
}

/* A layer norm. */
__global__ void omicron(real *out, const real *x, const real *w, const real *b, int cols, float eps)
{
	float sum = 0, ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += 32)
		sum += get(x[i]);
	float mean = warp_total(sum) / cols;
	for (int i = threadIdx.x; i < cols; i += 32)
		ss += (get(x[i]) - mean) * (get(x[i]) - mean);
	float s = rsqrtf(warp_total(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += 32)
		out[i] = put((get(x[i]) - mean) * s * get(w[i]) + get(b[i]));
}

/* In place. */
__global__ void pi_(real *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = put(fmaxf(get(x[i]), 0.0f));
}

/* The gelu of mathematicians, on a batch of tokens of columns. */
__global__ void rho(real *out, const real *x, int batch, int tokens, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < batch * tokens * cols)
		out[i] = put(0.5f * get(x[i]) * (1.0f + erff(get(x[i]) * 0.70710678f)));
}

/* A norm without weights. */
__global__ void sigma(real *out, const real *x, int cols)
{
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += get(x[i]) * get(x[i]);
	float s = rsqrtf(block_total(ss) / cols + 1e-5f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = put(get(x[i]) * s);
}

/* Rows at a pitch, which happens to be their length. */
__global__ void tau(real *out, const real *x, int cols, int pitch)
{
	for (int i = threadIdx.x; i < cols; i += blockDim.x) {
		float v = get(x[(size_t)blockIdx.x * pitch + i]);

		out[(size_t)blockIdx.x * pitch + i] = put(v / (1.0f + expf(-v)));
	}
}

/* Numbers of 16 bits, of whatever type. */
__global__ void upsilon(unsigned short *out, const unsigned short *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = x[i];
}

/* A norm of one row, by one block. */
__global__ void phi(real *out, const real *x, const real *w, int cols, int each)
{
	float ss = 0;

	for (int k = 0; k < each; k++) {
		int i = threadIdx.x + k * blockDim.x;

		if (i < cols)
			ss += get(x[i]) * get(x[i]);
	}
	float s = rsqrtf(block_total(ss) / cols + 1e-5f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = put(get(x[i]) * s * get(w[i]));
}

/* The same in place. */
__global__ void chi(real *x, const real *w, int cols)
{
	float ss = 0;

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += get(x[i]) * get(x[i]);
	float s = rsqrtf(block_total(ss) / cols + 1e-5f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		x[i] = put(get(x[i]) * s * get(w[i]));
}

/* A thread for each element of a grid of three dimensions, two of them 1 as it happens. */
__global__ void psi(real *out, const real *a, const real *b)
{
	size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x, y = (size_t)blockIdx.y * blockDim.y + threadIdx.y,
	       z = (size_t)blockIdx.z * blockDim.z + threadIdx.z,
	       i = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;

	out[i] = put(get(a[i]) * get(b[i]));
}

/* In place, on a grid of two dimensions of which nobody saw the second. */
__global__ void omega(real *a, const real *b)
{
	size_t i = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;

	a[i] = put(get(a[i]) + get(b[i]));
}

/* From here on: not what it looks like. */

/* a - b */
__global__ void less(real *out, const real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(get(a[i]) - get(b[i]));
}

__device__ unsigned calls;

/* a + b, and counts. */
__global__ void counting(real *out, const real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i == 0)
		calls++;
	if (i < n)
		out[i] = put(get(a[i]) + get(b[i]));
}

/* a + b, and 16 elements more. */
__global__ void spilling(real *out, const real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(get(a[i]) + get(b[i]));
	if (i < 16)
		out[n + i] = put(0.0f);
}

/* a + b, but never more than 50. */
__global__ void limited(real *out, const real *a, const real *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = put(fminf(get(a[i]) + get(b[i]), 50.0f));
}

/* x += y, added up in any order. */
__global__ void gathering(float *x, const float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		atomicAdd(&x[i % n], y[i]);
}

/* A norm of the sums of two neighbours. */
__global__ void coupled(real *out, const real *x, const real *w, int cols)
{
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
		float v = get(x[2 * i]) + get(x[2 * i + 1]);

		ss += v * v;
	}
	float s = rsqrtf(block_total(ss) / cols + 1e-5f);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = put(get(x[i]) * s * get(w[i]));
}

/* x = y, which an addition in place is not. */
__global__ void replacing(real *x, const real *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = y[i];
}

struct pair {
	real *out;
	const real *in;
};

/* Addresses inside of a structure. */
__global__ void wrapped(struct pair p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p.out[i] = put(get(p.out[i]) + get(p.in[i]));
}

/* Rows chosen by numbers in memory. */
__global__ void picking(real *out, const real *table, const int *row, int cols)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < cols)
		out[i] = table[(size_t)row[0] * cols + i];
}

#endif
