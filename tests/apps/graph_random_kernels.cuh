/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of graph_random: some that a signature tells of, some that none does. */
#ifndef GRAPH_RANDOM_KERNELS_CUH
#define GRAPH_RANDOM_KERNELS_CUH

/* out = a + b */
__global__ void graph_add(float *out, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] + b[i];
}

/* One block of a power of two of threads per row: out = x / sqrt(mean(x^2) + eps) * weight */
__global__ void graph_norm(float *out, const float *x, const float *weight, int cols, float eps)
{
	__shared__ float part[64];
	float ss = 0.0f;

	x += (size_t)blockIdx.x * cols;
	out += (size_t)blockIdx.x * cols;
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		ss += x[i] * x[i];
	part[threadIdx.x] = ss;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if ((int)threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	ss = rsqrtf(part[0] / cols + eps);
	for (int i = threadIdx.x; i < cols; i += blockDim.x)
		out[i] = x[i] * ss * weight[i];
}

/* out = x * sigmoid(x) */
__global__ void graph_silu(float *out, const float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = x[i] / (1.0f + expf(-x[i]));
}

/* out = a * b */
__global__ void graph_mul(float *out, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] * b[i];
}

#define GRAPH_EACH(name, to, from, value)                                                          \
	__global__ void name(to *out, const from *a, int n)                                        \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
                                                                                                   \
		if (i < n)                                                                         \
			out[i] = value;                                                            \
	}

GRAPH_EACH(graph_relu, float, float, fmaxf(a[i], 0.0f))
GRAPH_EACH(graph_neg, float, float, -a[i])
GRAPH_EACH(graph_irelu, int, int, a[i] > 0 ? a[i] : 0)
GRAPH_EACH(graph_cast, float, int, (float)a[i])

/* out = a * s */
__global__ void graph_scale(float *out, const float *a, float s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = a[i] * s;
}

/* out = a + b, and a * b, of whole numbers */
__global__ void graph_iadd(int *out, const int *a, const int *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = (int)((unsigned)a[i] + (unsigned)b[i]);
}

__global__ void graph_imul(int *out, const int *a, const int *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = (int)((unsigned)a[i] * (unsigned)b[i]);
}

/* No signature knows it. Keeps values small. */
__global__ void graph_mix(float *out, const float *a, const float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		float v = a[i] - 0.75f * b[(i * 7 + 3) % n] + 0.01f * i;

		out[i] = v / (1.0f + fabsf(v));
	}
}

#endif
