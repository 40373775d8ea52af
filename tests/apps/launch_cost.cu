// SPDX-License-Identifier: Apache-2.0
// Host time of a launch that nothing can fuse. usage: launch_cost [LAUNCHES] ; prints ns per launch,
// the median of 15 batches, then the host time of the first launches in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void nothing(float *x, int n)
{
	if (n < 0)
		x[0] = 1.0f;
}

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 20000;
	std::vector<double> ns;
	double begin = now(), first;
	float *x;

	if (cudaMalloc(&x, 4096))
		return 1;
	nothing<<<1, 32>>>(x, 0);
	if (cudaDeviceSynchronize())
		return 1;
	first = now() - begin;
	for (int batch = 0; batch < 15; batch++) {
		double t = 0;

		/* Batches shorter than the driver's queue: the device never makes the host wait. */
		for (int done = 0; done < launches; done += 500) {
			double start = now();

			for (int i = 0; i < 500; i++)
				nothing<<<1, 32>>>(x, i);
			t += now() - start;
			cudaDeviceSynchronize();
		}
		ns.push_back(t / launches * 1e9);
	}
	std::sort(ns.begin(), ns.end());
	printf("%.1f %.0f\n", ns[ns.size() / 2], first * 1e6);
	return 0;
}
