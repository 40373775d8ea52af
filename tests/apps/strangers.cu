// SPDX-License-Identifier: Apache-2.0
// A program whose kernels no signature knows.
// usage: strangers [STEPS] [ROWS] [COLS]     prints a digest of all that it computed
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "strangers_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t e = (call);                                                            \
		if (e != cudaSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static real number(float v)
{
#ifdef STRANGERS_BF16
	return __float2bfloat16(v);
#elif defined(STRANGERS_FP16)
	return __float2half(v);
#else
	return v;
#endif
}

template <typename T> static T *make(size_t n, uint32_t seed)
{
	std::vector<T> host(n + 64);
	T *p;

	for (T &v : host) {
		seed = seed * 1664525u + 1013904223u;
		v = (T)number((float)(seed >> 8) / (1 << 23) - 1.0f);
	}
	CHECK(cudaMalloc((void **)&p, host.size() * sizeof(T)));
	CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

static uint64_t digest(const void *p, size_t bytes, uint64_t sum)
{
	std::vector<unsigned char> host(bytes);

	CHECK(cudaMemcpy(host.data(), p, bytes, cudaMemcpyDeviceToHost));
	for (unsigned char c : host)
		sum = (sum ^ c) * 1099511628211u;
	return sum;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 20, rows = argc > 2 ? atoi(argv[2]) : 4,
	    cols = argc > 3 ? atoi(argv[3]) : 384, n = rows * cols;
	real *a = make<real>(n, 1), *b = make<real>(n, 2), *s = make<real>(n, 3),
	     *o = make<real>(n, 4), *w = make<real>(cols, 5), *g = make<real>(n, 6),
	     *t = make<real>(n, 7), *u = make<real>(n, 8);
	float *x = make<float>(n, 9), *y = make<float>(n, 10);
	int *row = make<int>(1, 0);
	dim3 tiles((cols + 31) / 32, (rows + 3) / 4), tile(32, 4);
	unsigned blocks = (n + 255) / 256;
	uint64_t sum = 14695981039346656037u;

	if (n % 128) {
		fprintf(stderr, "strangers: rows * cols must be a multiple of 128\n");
		return 2;
	}
	CHECK(cudaMemset(row, 0, sizeof(*row)));
	for (int i = 0; i < steps; i++) {
		alpha<<<blocks, 256>>>(n, a, b, s);
		gamma_<<<rows, 128>>>(s, w, 1e-5f, 7, o, cols);
		beta<<<tiles, tile>>>(a, cols, rows, o);
		delta<<<(rows + 3) / 4, tile>>>(o, w, a, rows, cols);
		epsilon<<<blocks, 256>>>(t, n, o);
		zeta<<<n / 128, 64>>>(g, t);
		eta<<<blocks, 256>>>(u, b, t, n);
		theta<<<n / 128, 128>>>(t, w);
		iota<<<blocks, 64>>>(u, t, o, n / 4);
		kappa<<<blocks, 64>>>(s, u, b, n);
		lambda_<<<dim3(1, rows), 96>>>(x, s, u, cols / 4);
		mu<<<rows, 64>>>(t, u, w, cols);
		nu<<<2, 64>>>(t, s, n);
		omicron<<<rows, 32>>>(u, s, w, b, cols, 1e-5f);
		xi<<<rows, 32>>>(t, rows, cols);
		pi_<<<blocks, 256>>>(t, n);
		rho<<<blocks, 256>>>(s, u, 1, rows, cols);
		sigma<<<rows, 128>>>(u, s, cols);
		tau<<<rows, 64>>>(s, u, cols, cols);
		upsilon<<<blocks, 256>>>((unsigned short *)u, (const unsigned short *)s, n);
		phi<<<1, 128>>>(u, t, w, cols, (cols + 127) / 128);
		chi<<<1, 128>>>(t, w, cols);
		psi<<<n / 64, 64>>>(u, s, o);
		omega<<<n / 64, 64>>>(u, o);
		less<<<blocks, 256>>>(b, t, o, n);
		counting<<<blocks, 256>>>(s, u, b, n);
		spilling<<<blocks, 256>>>(u, s, t, n);
		limited<<<blocks, 256>>>(b, u, o, n);
		gathering<<<blocks, 256>>>(x, y, n);
		coupled<<<rows, 128>>>(u, s, w, cols);
		replacing<<<blocks, 256>>>(s, u, n);
		wrapped<<<blocks, 256>>>(pair{s, u}, n);
		picking<<<blocks, 256>>>(g, s, row, cols);
		CHECK(cudaGetLastError());
		sum = digest(a, n * sizeof(real), sum);
		sum = digest(b, n * sizeof(real), sum);
		sum = digest(o, n * sizeof(real), sum);
		sum = digest(t, n * sizeof(real), sum);
	}
	sum = digest(s, n * sizeof(real), sum);
	sum = digest(u, n * sizeof(real), sum);
	sum = digest(x, n * sizeof(float), sum);
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
