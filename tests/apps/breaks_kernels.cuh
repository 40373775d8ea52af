// SPDX-License-Identifier: Apache-2.0
// Kernels of the breaks program, as hand-written decoders have them: accum in place, one block a row
// for the norm, silu and mul apart.
#pragma once

__global__ void accum(float *x, const float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += y[i];
}

__global__ void copy_row(float *to, const float *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = from[i];
}

__device__ inline float inverse_rms(const float *row, int cols, float eps)
{
	__shared__ float part[256];
	float sum = 0.0f;

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		sum += row[i] * row[i];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
		if (threadIdx.x < d)
			part[threadIdx.x] += part[threadIdx.x + d];
		__syncthreads();
	}
	return rsqrtf(part[0] / cols + eps);
}

__global__ void rmsnorm(float *out, const float *in, const float *weight, int cols, float eps)
{
	const float *row = in + (size_t)blockIdx.x * cols;
	float scale = inverse_rms(row, cols, eps);

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[(size_t)blockIdx.x * cols + i] = row[i] * scale * weight[i];
}

__global__ void rmsnorm_plus_one(float *out, const float *in, const float *weight, int cols, float eps)
{
	const float *row = in + (size_t)blockIdx.x * cols;
	float scale = inverse_rms(row, cols, eps);

	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[(size_t)blockIdx.x * cols + i] = row[i] * scale * (1.0f + weight[i]);
}

__global__ void silu(float *out, const float *gate, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = gate[i] / (1.0f + expf(-gate[i]));
}

__global__ void mul(float *out, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] * b[i];
}

// Stands for the matrix product: no signature knows it. Mixes neighbours, keeps values in bounds and
// away from zero.
__global__ void project(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = fmaxf(-2.0f, fminf(2.0f, in[i] - 0.5f * in[(i + 1) % n] + 0.1f * (i % 7)));
}
