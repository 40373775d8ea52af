/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorms that are not what their names say, and one that is. */
#ifndef AF_TESTS_APPS_LIARS_KERNELS_CUH
#define AF_TESTS_APPS_LIARS_KERNELS_CUH

__device__ unsigned norm_calls;

/* x += y, the residual of each step. */
__global__ void residual_kernel(float *x, const float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += y[i];
}

/* What goes into the next step. */
__global__ void feed_kernel(float *y, const float *norm, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = 0.25f * norm[i];
}

__device__ inline float block_sum(float v)
{
	__shared__ float sums[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	for (int d = 16; d > 0; d /= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (lane == 0)
		sums[warp] = v;
	__syncthreads();
	v = lane < (int)blockDim.x / 32 ? sums[lane] : 0.0f;
	for (int d = 16; d > 0; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

/* The honest one. */
__global__ void rmsnorm_kernel(float *out, const float *x, const float *w, int cols, float eps)
{
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += x[i] * x[i];
	float s = rsqrtf(block_sum(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* Squares the sum of two elements at a time. */
__global__ void rmsnorm_sums_kernel(float *out, const float *x, const float *w, int cols, float eps)
{
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
		float v = x[2 * i] + x[2 * i + 1];

		ss += v * v;
	}
	float s = rsqrtf(block_sum(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* Stops after 4,096 columns. */
__global__ void rmsnorm_short_kernel(float *out, const float *x, const float *w, int cols, float eps)
{
	int most = cols < 4096 ? cols : 4096;
	float ss = 0;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < most; i += blockDim.x)
		ss += x[i] * x[i];
	float s = rsqrtf(block_sum(ss) / cols + eps);
	for (int i = threadIdx.x; i < most; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* Counts its calls besides. */
__global__ void rmsnorm_counts_kernel(float *out, const float *x, const float *w, int cols, float eps)
{
	float ss = 0;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		norm_calls++;
	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += x[i] * x[i];
	float s = rsqrtf(block_sum(ss) / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

/* Lets the warps' sums fall in as they come. */
__global__ void rmsnorm_atomics_kernel(float *out, const float *x, const float *w, int cols, float eps)
{
	__shared__ float total;
	float ss = 0;

	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += x[i] * x[i];
	for (int d = 16; d > 0; d /= 2)
		ss += __shfl_down_sync(0xffffffffu, ss, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(&total, ss);
	__syncthreads();
	float s = rsqrtf(total / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = x[i] * s * w[i];
}

#endif
