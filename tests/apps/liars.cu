/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a residual and then a kernel that is named like an RMSNorm, over and over, and prints a
 * checksum of what they left. usage: liars MODE [STEPS] [ROWS] [COLS]
 *
 *   honest   it is one
 *   sums     it squares the sum of two elements
 *   short    it stops after 4,096 columns (COLS is 6,144 unless given)
 *   counts   it counts its calls in a __device__ variable, which is printed too
 *   atomics  it adds by atomics, so its results vary: rounded means are printed instead
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "liars_kernels.cuh"

#define CHECK(call)                                                                            \
	do {                                                                                   \
		cudaError_t e_ = (call);                                                       \
		if (e_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));            \
			exit(3);                                                               \
		}                                                                              \
	} while (0)

typedef void (*norm_kernel)(float *, const float *, const float *, int, float);

static const struct mode {
	const char *name;
	norm_kernel kernel;
	int cols;
} modes[] = {{"honest", rmsnorm_kernel, 512},         {"sums", rmsnorm_sums_kernel, 512},
	     {"short", rmsnorm_short_kernel, 6144},   {"counts", rmsnorm_counts_kernel, 512},
	     {"atomics", rmsnorm_atomics_kernel, 512}};

static std::vector<float> noise(size_t n, uint32_t seed)
{
	std::vector<float> v(n);

	for (float &x : v) {
		seed = seed * 1664525u + 1013904223u;
		x = (float)(int32_t)seed / 2147483648.0f;
	}
	return v;
}

static float *upload(const std::vector<float> &v)
{
	float *p;

	CHECK(cudaMalloc(&p, v.size() * sizeof(float)));
	CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice));
	return p;
}

static void print(const float *dev, size_t n, bool varies)
{
	std::vector<float> v(n);
	uint64_t sum = 14695981039346656037ull;
	double mean = 0;

	CHECK(cudaMemcpy(v.data(), dev, n * sizeof(float), cudaMemcpyDeviceToHost));
	for (float x : v) {
		uint32_t bits;

		memcpy(&bits, &x, 4);
		sum = (sum ^ bits) * 1099511628211ull;
		mean += std::fabs(x) / n;
	}
	if (varies)
		printf(" %.3g", mean);
	else
		printf(" %016llx", (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	const struct mode *m = nullptr;

	for (const struct mode &k : modes)
		if (argc > 1 && !strcmp(argv[1], k.name))
			m = &k;
	if (!m) {
		fprintf(stderr, "usage: liars honest|sums|short|counts|atomics [STEPS] [ROWS] [COLS]\n");
		return 2;
	}
	int steps = argc > 2 ? atoi(argv[2]) : 40, rows = argc > 3 ? atoi(argv[3]) : 2;
	int cols = argc > 4 ? atoi(argv[4]) : m->cols, n = rows * cols;
	bool varies = !strcmp(m->name, "atomics");
	float *x = upload(noise(n, 1)), *y = upload(noise(n, 2)), *w = upload(noise(cols, 3));
	float *out = upload(noise(n, 4));

	for (int i = 0; i < steps; i++) {
		residual_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
		m->kernel<<<rows, 256>>>(out, x, w, cols, 1e-5f);
		feed_kernel<<<(n + 255) / 256, 256>>>(y, out, n);
		CHECK(cudaGetLastError());
	}
	printf("%s", m->name);
	print(x, n, varies);
	print(out, n, varies);
	if (!strcmp(m->name, "counts")) {
		unsigned calls;

		CHECK(cudaMemcpyFromSymbol(&calls, norm_calls, sizeof(calls)));
		printf(" %u calls", calls);
	}
	printf("\n");
	return 0;
}
