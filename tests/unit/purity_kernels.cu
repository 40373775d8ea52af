/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel for each thing that test_purity looks for, and harmless ones. */
#include <assert.h>
#include <stdio.h>

#include <cuda_fp16.h>

__device__ unsigned counter;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ float coefficient[4];
typedef float (*function)(float);
__device__ __noinline__ float reads_table(float x)
{
	return x * x + table[1];
}
__device__ __noinline__ float reads_nothing(float x)
{
	return x * x + 1;
}
__device__ function functions[2] = {reads_table, reads_nothing};

#define KERNEL(name) extern "C" __global__ void name
#define I threadIdx.x

KERNEL(plain)(float *o, const float *a, int n)
{
	__shared__ float s[32];
	float v = I < n ? a[I] : 0;

	for (int d = 16; d; d >>= 1)
		v += __shfl_xor_sync(~0u, v, d);
	s[I / 32] = v;
	__syncthreads();
	o[I] = s[0] / o[I + n];
}
KERNEL(named_barrier)(float *o)
{
	asm volatile("bar.sync 3, 128;");
	o[I] = 1;
}
KERNEL(library_functions)(float *o)
{
	o[I] = sinf(o[I]) + powf(o[1], 2.5f) + sqrtf(o[5]);
}
KERNEL(local_table)(float *o, int i)
{
	const float t[8] = {1, 2, 3, 4, 5, 6, 7, 9};

	o[I] = t[i];
}
KERNEL(calls_plain)(float *o)
{
	o[I] = reads_nothing(o[I]);
}
KERNEL(writes_variable)(float *o)
{
	counter++;
	o[I] = 1;
}
KERNEL(reads_variable)(float *o)
{
	o[I] = table[I % 4];
}
KERNEL(reads_constant)(float *o)
{
	o[I] = coefficient[2];
}
KERNEL(indexes_constant)(float *o)
{
	o[I] = coefficient[I % 4];
}
KERNEL(calls_reader)(float *o)
{
	o[I] = reads_table(o[I]);
}
KERNEL(calls_pointer)(float *o, int i)
{
	o[I] = functions[i](o[I]);
}
KERNEL(prints)(float *o)
{
	printf("%f\n", o[0]);
}
KERNEL(asserts)(float *o)
{
	assert(o[0] > 0);
	o[0] = 2;
}
KERNEL(allocates)(float **o)
{
	o[0] = (float *)malloc(4);
}
KERNEL(fetches_texture)(cudaTextureObject_t t, float *o)
{
	o[I] = tex1Dfetch<float>(t, I) + tex2D<float>(t, o[1], o[2]);
}
KERNEL(writes_surface)(cudaSurfaceObject_t t)
{
	surf1Dwrite(1.0f, t, I * 4);
}
KERNEL(reads_surface)(cudaSurfaceObject_t t, float *o)
{
	surf1Dread(&o[0], t, 4);
}
KERNEL(reads_clock)(long long *o)
{
	o[I] = clock64();
}
KERNEL(reads_timer)(unsigned long long *o)
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	o[I] = t;
}
KERNEL(reads_processor)(unsigned *o)
{
	unsigned t;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(t));
	o[I] = t;
}
KERNEL(adds_shared_float)(float *o, const float *a)
{
	__shared__ float s;

	if (!I)
		s = 0;
	__syncthreads();
	atomicAdd(&s, a[I]);
	__syncthreads();
	o[I] = s;
}
KERNEL(adds_float)(float *o, const float *a)
{
	atomicAdd(o, a[I]);
}
KERNEL(adds_float_back)(float *o, const float *a)
{
	o[1 + I] = atomicAdd(o, a[I]);
}
KERNEL(adds_double)(double *o, const double *a)
{
	atomicAdd(o, a[I]);
}
KERNEL(adds_halves)(__half2 *o, const __half2 *a)
{
	atomicAdd(o, a[I]);
}
KERNEL(adds_anywhere)(float *o, int shared)
{
	__shared__ float s[4];

	o[5] = atomicAdd(shared ? &s[1] : o, 1.0f);
}
KERNEL(swaps)(int *o)
{
	o[1 + I] = atomicCAS(o, 1, (int)I);
}
KERNEL(swaps_shared)(int *o)
{
	__shared__ int s;

	s = 0;
	__syncthreads();
	o[1 + I] = atomicCAS(&s, 1, (int)I);
}
KERNEL(counts)(int *o)
{
	atomicAdd(o, 1);
}
KERNEL(counts_back)(int *o)
{
	o[1 + I] = atomicAdd(o, (int)I);
}
KERNEL(counts_shared)(int *o)
{
	__shared__ int s;

	s = 0;
	__syncthreads();
	atomicMax(&s, o[I]);
	__syncthreads();
	o[I] = s;
}
KERNEL(exchanges)(int *o)
{
	o[1 + I] = atomicExch(o, (int)I);
}
