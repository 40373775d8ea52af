// SPDX-License-Identifier: Apache-2.0
// Kernels of the pairs program: a residual add and an RMSNorm as people write them, and a few others.
#pragma once

__global__ void add_rows(float *out, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] + b[i];
}

// What a row is multiplied by; the same in all threads of its block.
__device__ inline float scale_of(const float *row, int cols, float eps)
{
	__shared__ float part[32];
	float sum = 0.0f;

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += row[i] * row[i];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(0xffffffffu, sum, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0.0f;
		for (int d = 16; d > 0; d /= 2)
			sum += __shfl_down_sync(0xffffffffu, sum, d);
		if (threadIdx.x == 0)
			part[0] = rsqrtf(sum / cols + eps);
	}
	__syncthreads();
	return part[0];
}

__global__ void rms_norm(float *out, const float *in, const float *weight, int cols, float eps)
{
	const float *row = in + (size_t)blockIdx.x * cols;
	const float scale = scale_of(row, cols, eps);

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[(size_t)blockIdx.x * cols + i] = row[i] * scale * weight[i];
}

// No signature knows this one.
__global__ void scale_all(float *x, float f, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= f;
}

// Waits until a device value changes, then tells the host.
__global__ void watch(const volatile float *value, float old, volatile int *flag, long long most)
{
	for (long long i = 0; i < most && *value == old; i++)
		;
	*flag = *value == old ? 2 : 1;
}
