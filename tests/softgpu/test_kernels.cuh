/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for the tests of the software GPU; nvcc and the host compiler both build them. */
#ifndef AF_TESTS_SOFTGPU_TEST_KERNELS_CUH
#define AF_TESTS_SOFTGPU_TEST_KERNELS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ int test_counter;
__constant__ float test_factors[4];

extern "C" {

__global__ void test_scale(float *x, float factor, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= factor;
}

/* Every alignment a parameter can have. */
__global__ void test_layout(char a, double b, short c, float4 d, char e, int *out)
{
	out[0] = a;
	out[1] = (int)b;
	out[2] = c;
	out[3] = (int)(d.x + d.y + d.z + d.w);
	out[4] = e;
}

__global__ void test_nothing()
{
}

__global__ void test_mark(int *p, int value)
{
	*p = value;
}

/* log[1 + n] = value; log[0] = n. One thread. */
__global__ void test_append(int *log, int value)
{
	log[0]++;
	log[log[0]] = value;
}

/* Waits until the host, or another stream, stores something other than 0. One thread. */
__global__ void test_wait(volatile int *flag)
{
	while (!*flag)
		__nanosleep(100);
}

/* Counts, and scales by a constant of the module. */
__global__ void test_globals(float *x, int n)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		test_counter++;
	if ((int)threadIdx.x < n)
		x[threadIdx.x] *= test_factors[threadIdx.x % 4];
}

/* *sum += x in an order that nobody knows. */
__global__ void test_atomic_shared(float *sum, const float *x)
{
	__shared__ float total;

	if (threadIdx.x == 0)
		total = 0.0f;
	__syncthreads();
	atomicAdd(&total, x[threadIdx.x]);
	__syncthreads();
	if (threadIdx.x == 0)
		*sum = total;
}

__global__ void test_atomic_global(float *sum, const float *x)
{
	if (threadIdx.x == 0)
		atomicAdd(sum, x[blockIdx.x]);
}

/* What is in shared memory before anybody wrote it. */
__global__ void test_garbage(unsigned *out)
{
	extern __shared__ unsigned dynamic[];
	__shared__ unsigned fixed[32];

	out[threadIdx.x] = fixed[threadIdx.x];
	out[32 + threadIdx.x] = dynamic[threadIdx.x];
	__syncthreads();
	fixed[threadIdx.x] = dynamic[threadIdx.x] = 0;
}

/* dynamic[last] = value, then read back by another thread: last byte of dynamic shared memory. */
__global__ void __launch_bounds__(512) test_dynamic(unsigned *out, int last)
{
	extern __shared__ unsigned dynamic[];
	__shared__ unsigned fixed[32];

	if (threadIdx.x == 0)
		dynamic[last] = fixed[last % 32] = 42;
	__syncthreads();
	if (threadIdx.x == 1)
		*out = dynamic[last] == fixed[last % 32] ? dynamic[last] : 0;
}

/* x[i] = 1 wherever that is. */
__global__ void test_store(float *x, int i)
{
	x[i] = 1.0f;
}

__global__ void test_stuck()
{
	if (threadIdx.x == 0)
		__syncwarp();
	else
		__syncthreads();
}
}

template <class T> __global__ void test_template(T *out, T a, T b)
{
	*out = a + b;
}

static __global__ void test_static(int *p)
{
	*p = 17;
}

namespace test_space
{
__global__ void inner(int *p)
{
	*p = 18;
}
} // namespace test_space

#endif
