/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that can be computed in one way only: whole numbers, signs, conversions. But for silu. */
#ifndef LINKS_KERNELS_CUH
#define LINKS_KERNELS_CUH

#include <cuda_bf16.h>

static __device__ __forceinline__ int place()
{
	return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void links_add(int *out, const int *a, const int *b, int n)
{
	if (place() < n)
		out[place()] = a[place()] + b[place()];
}

__global__ void links_mul(int *out, const int *a, const int *b, int n)
{
	if (place() < n)
		out[place()] = a[place()] * b[place()];
}

__global__ void links_sub(int *out, const int *a, const int *b, int n)
{
	if (place() < n)
		out[place()] = a[place()] - b[place()];
}

/* Each row of cols elements less the same row. */
__global__ void links_bias(int *out, const int *x, const int *bias, int rows, int cols)
{
	if (place() < rows * cols)
		out[place()] = x[place()] + bias[place() % cols];
}

__global__ void links_neg(float *out, const float *x, int n)
{
	if (place() < n)
		out[place()] = -x[place()];
}

__global__ void links_fill(float *out, float v, int n)
{
	if (place() < n)
		out[place()] = v;
}

__global__ void links_round(__nv_bfloat16 *out, const float *x, int n)
{
	if (place() < n)
		out[place()] = __float2bfloat16(x[place()]);
}

/* front and back have n elements each; in out they follow each other. */
__global__ void links_swap(int *out, const int *back, const int *front, int n)
{
	if (place() < 2 * n)
		out[place()] = place() < n ? back[place()] : front[place() - n];
}

__global__ void links_silu(float *out, const float *x, int n)
{
	if (place() < n)
		out[place()] = x[place()] / (1.0f + expf(-x[place()]));
}

__global__ void links_gate(float *out, const float *a, const float *b, int n)
{
	if (place() < n)
		out[place()] = a[place()] * b[place()];
}

/* Nobody knows what this does. */
__global__ void links_stranger(int *x)
{
	if (!place())
		x[0] ^= 1;
}

/* Says it is an addition, and is not where the sum is large: only live data tells. */
__global__ void links_liar(int *out, const int *a, const int *b, int n)
{
	if (place() < n) {
		int sum = a[place()] + b[place()];

		out[place()] = sum > 1000000 ? sum - 1 : sum;
	}
}

#endif
