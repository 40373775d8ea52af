// SPDX-License-Identifier: Apache-2.0
// What launches cost. usage: launch_cost [MODE] [BATCHES] [COLS]
// MODE: nothing (an empty kernel that no signature knows), add (decoded, begins a pattern that never
// completes), pair (add -> RMSNorm). Prints, in ns per launch of the program and as medians of
// batches: the host time of the launch calls, and the time until the device has finished; then the
// time of the first launches in us.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "pairs_kernels.cuh"

enum { BATCH = 250 }; // far below the driver's queue: the device never makes the host wait

__global__ void nothing(float *x, int n)
{
	if (n < 0)
		x[0] = 1.0f;
}

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> &v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "nothing";
	int batches = argc > 2 ? atoi(argv[2]) : 400, cols = argc > 3 ? atoi(argv[3]) : 4096;
	bool adds = strcmp(mode, "nothing"), norms = !strcmp(mode, "pair");
	int blocks = (cols + 255) / 256, launches = norms ? 2 : 1;
	std::vector<double> host, all;
	double begin = now(), first = 0;
	cudaStream_t stream;
	float *x;

	if (cudaMalloc(&x, 5 * cols * sizeof(float)) || cudaMemset(x, 0, 5 * cols * sizeof(float)) ||
	    cudaStreamCreate(&stream))
		return 1;
	float *a = x, *b = a + cols, *s = b + cols, *w = s + cols, *o = w + cols;
	for (int batch = 0; batch < batches; batch++) {
		double start = now(), queued;

		for (int i = 0; i < BATCH; i++) {
			if (adds)
				add_rows<<<blocks, 256, 0, stream>>>(s, a, b, cols);
			else
				nothing<<<1, 32, 0, stream>>>(x, i);
			if (norms)
				rms_norm<<<1, 256, 0, stream>>>(o, s, w, cols, 1e-5f);
		}
		queued = now();
		if (cudaStreamSynchronize(stream))
			return 1;
		if (!batch)
			first = now() - begin;
		if (batch < batches / 2)
			continue; // verdicts are loaded or found meanwhile
		host.push_back((queued - start) / (launches * BATCH) * 1e9);
		all.push_back((now() - start) / (launches * BATCH) * 1e9);
	}
	printf("%.1f %.1f %.0f\n", median(host), median(all), first * 1e6);
	return 0;
}
