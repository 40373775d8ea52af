// SPDX-License-Identifier: Apache-2.0
// Sequences that look like a pattern and are none, or hardly: something stands between the members, or
// they do not cover the same elements. Prints a checksum of all memory. usage: breaks MODE [ITERATIONS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "breaks_kernels.cuh"

#define CHECK(call)                                                                            \
	do {                                                                                   \
		cudaError_t e_ = (call);                                                       \
		if (e_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));            \
			exit(3);                                                               \
		}                                                                              \
	} while (0)

enum { ROWS = 4, COLS = 512, N = ROWS * COLS, BUFFERS = 6 };
static const size_t BYTES = N * sizeof(float);

static float *x, *y, *t, *o, *gate, *up, *weight, *host;
static float **const buffer[BUFFERS] = {&x, &y, &t, &o, &gate, &up};
static cudaStream_t s;

static void add(float *to, const float *from, int n = N)
{
	accum<<<(n + 255) / 256, 256, 0, s>>>(to, from, n);
}

static void norm(float *out, const float *in, int rows = ROWS, int cols = COLS)
{
	rmsnorm<<<rows, 256, 0, s>>>(out, in, weight, cols, 1e-5f);
}

static void activate(float *out, const float *in)
{
	silu<<<(N + 255) / 256, 256, 0, s>>>(out, in, N);
}

static void multiply(float *out, const float *a, const float *b, int n = N)
{
	mul<<<(n + 255) / 256, 256, 0, s>>>(out, a, b, n);
}

static void gemm(float *out, const float *in)
{
	project<<<(N + 255) / 256, 256, 0, s>>>(out, in, N);
}

static void copy(float *to, const float *from)
{
	CHECK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, s));
}

/* Each mode is one layer; its result feeds the next by way of o, y, gate and up. */
static void pair()
{
	add(x, y);
	norm(o, x);
}

static void memcpy_between()
{
	add(x, y);
	copy(t, x);
	norm(o, x);
}

static void memcpy_through() /* the norm reads a copy */
{
	add(x, y);
	copy(t, x);
	norm(o, t);
}

static void memcpy_onto() /* the sum is replaced before the norm reads it */
{
	add(x, y);
	CHECK(cudaMemcpyAsync(x + 8, up, 64, cudaMemcpyDeviceToDevice, s));
	norm(o, x);
}

static void kernel_between()
{
	add(x, y);
	copy_row<<<N / 256, 256, 0, s>>>(t, x, N);
	norm(o, x);
}

static void kernel_through()
{
	add(x, y);
	copy_row<<<N / 256, 256, 0, s>>>(t, x, N);
	norm(o, t);
}

static void kernel_beside() /* it touches nothing of the pair's */
{
	add(x, y);
	copy_row<<<N / 256, 256, 0, s>>>(t, up, N);
	norm(o, x);
}

static void prefer_shared(const void *kernel)
{
	CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
}

static void attribute_of_another() /* of a kernel that is never held */
{
	add(x, y);
	prefer_shared((const void *)project);
	norm(o, x);
}

static void attribute_of_its_own() /* which the launch before it was to run without */
{
	add(x, y);
	prefer_shared((const void *)accum);
	norm(o, x);
}

static void roundtrip()
{
	add(x, y);
	CHECK(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamSynchronize(s));
	for (int i = 0; i < N; i += 3)
		host[i] = 0.75f * host[i] + 0.125f;
	CHECK(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, s));
	norm(o, x);
}

static void norm_in_place() /* as at the end of a token */
{
	add(x, y);
	norm(x, x);
	gemm(o, x);
}

static void last_row() /* logits are wanted for the last token only */
{
	add(x, y);
	norm(o, x + (ROWS - 1) * COLS, 1);
}

static void first_row()
{
	add(x, y);
	norm(o, x, 1);
}

static void half_a_row()
{
	add(x, y, COLS);
	norm(o, x, 1, COLS / 2);
}

static void rows_of_other_length() /* the same elements, but twice as many rows: legal */
{
	add(x, y);
	norm(o, x, 2 * ROWS, COLS / 2);
}

static void plus_one()
{
	add(x, y);
	rmsnorm_plus_one<<<ROWS, 256, 0, s>>>(o, x, weight, COLS, 1e-5f);
}

static void gated()
{
	activate(t, gate);
	multiply(o, t, up);
}

static void gated_in_place()
{
	activate(t, gate);
	multiply(t, up, t);
	gemm(o, t);
}

static void gate_overwritten() /* the up projection goes where the gate was */
{
	activate(t, gate);
	add(gate, up);
	multiply(o, t, gate);
}

static void gate_overwritten_by_gemm()
{
	activate(t, gate);
	gemm(gate, up);
	multiply(o, t, gate);
}

static void gate_overwritten_by_memcpy()
{
	activate(t, gate);
	copy(gate, up);
	multiply(o, t, gate);
}

static void silu_read() /* somebody else wants the activation as well */
{
	activate(t, gate);
	copy_row<<<N / 256, 256, 0, s>>>(x, t, N);
	multiply(o, t, up);
}

static void half_a_product()
{
	activate(t, gate);
	multiply(o, t, up, N / 2);
}

static void squared() /* the activation times itself */
{
	activate(t, gate);
	multiply(o, t, t);
}

static void twins()
{
	activate(t, gate);
	activate(up, up);
	multiply(o, t, up);
}

static const struct {
	const char *name;
	void (*layer)();
} modes[] = {
	{"pair", pair},
	{"memcpy_between", memcpy_between},
	{"memcpy_through", memcpy_through},
	{"memcpy_onto", memcpy_onto},
	{"kernel_between", kernel_between},
	{"kernel_through", kernel_through},
	{"kernel_beside", kernel_beside},
	{"attribute_of_another", attribute_of_another},
	{"attribute_of_its_own", attribute_of_its_own},
	{"roundtrip", roundtrip},
	{"norm_in_place", norm_in_place},
	{"last_row", last_row},
	{"first_row", first_row},
	{"half_a_row", half_a_row},
	{"rows_of_other_length", rows_of_other_length},
	{"plus_one", plus_one},
	{"gated", gated},
	{"gated_in_place", gated_in_place},
	{"gate_overwritten", gate_overwritten},
	{"gate_overwritten_by_gemm", gate_overwritten_by_gemm},
	{"gate_overwritten_by_memcpy", gate_overwritten_by_memcpy},
	{"silu_read", silu_read},
	{"half_a_product", half_a_product},
	{"squared", squared},
	{"twins", twins},
};

static void allocate()
{
	std::vector<float> h(N);
	uint32_t seed = 12345;

	for (int b = 0; b < BUFFERS + 1; b++) {
		float **p = b < BUFFERS ? buffer[b] : &weight;

		for (float &v : h) {
			seed = seed * 1664525u + 1013904223u;
			v = (float)(int32_t)seed / 2147483648.0f;
		}
		CHECK(cudaMalloc(p, BYTES));
		CHECK(cudaMemcpy(*p, h.data(), BYTES, cudaMemcpyHostToDevice));
	}
	CHECK(cudaMallocHost(&host, BYTES));
	CHECK(cudaStreamCreate(&s));
}

static uint64_t checksum()
{
	std::vector<uint32_t> h(N);
	uint64_t sum = 1469598103934665603ull;

	CHECK(cudaDeviceSynchronize());
	for (float **p : buffer) {
		CHECK(cudaMemcpy(h.data(), *p, BYTES, cudaMemcpyDeviceToHost));
		for (uint32_t v : h)
			sum = (sum ^ v) * 1099511628211ull;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int iterations = argc > 2 ? atoi(argv[2]) : 60;

	for (const auto &m : modes) {
		if (argc < 2 || strcmp(argv[1], m.name))
			continue;
		allocate();
		for (int i = 0; i < iterations; i++) {
			m.layer();
			CHECK(cudaGetLastError());
			gemm(y, o);
			gemm(gate, y);
			gemm(up, gate);
			gemm(x, o);
		}
		printf("%016llx\n", (unsigned long long)checksum());
		return 0;
	}
	fprintf(stderr, "usage: breaks MODE [ITERATIONS]\n");
	return 2;
}
