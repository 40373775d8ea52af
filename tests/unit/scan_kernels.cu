// SPDX-License-Identifier: Apache-2.0
/* Kernels with parameters of every kind, for test_scan.c, which has their layout. */
struct large {
	char bytes[20000];
};
struct __align__(16) four {
	float value[4];
};
struct nothing {};

__device__ int counter;

__global__ void plain(float *out, const float *a, const float *b, int n)
{
	__shared__ float part[33];

	part[threadIdx.x] = a[0];
	__syncthreads();
	if ((int)threadIdx.x < n)
		out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + part[3];
}

template <class T> __global__ void mixed(T *out, four v, nothing, double d, char c)
{
	out[0] = (T)(v.value[2] + d + c);
}
template __global__ void mixed<float>(float *, four, nothing, double, char);

__global__ void none()
{
	counter = 1;
}

#ifndef SCAN_SMALL
__global__ void huge(const __grid_constant__ large l, int *out, short s)
{
	out[0] = l.bytes[threadIdx.x] + s;
}
#endif

namespace
{
__global__ void hidden(int *out)
{
	out[0] = 7;
}
} // namespace

void scan_kernels_launch()
{
	hidden<<<1, 1>>>(nullptr);
}
#ifdef SCAN_MAIN
int main()
{
	return 0;
}
#endif
