// SPDX-License-Identifier: Apache-2.0
// Launches that come between the members of a group: whether they can be let by is what tests ask. Prints
// a checksum. usage: crossings MODE ITERATIONS [ROUNDS]: so many pairs as programs make them, then rounds
// of what the mode is about.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "crossings_kernels.cuh"

#define CHECK(call)                                                                            \
	do {                                                                                   \
		int e_ = (int)(call);                                                          \
		if (e_) {                                                                      \
			fprintf(stderr, "%s: error %d\n", #call, e_);                          \
			exit(3);                                                               \
		}                                                                              \
	} while (0)

enum { ROWS = 8, COLS = 256, N = ROWS * COLS };
static_assert((int)N == (int)BEFORE, "the changed kernel clears what lies before its output");

static float *a, *b, *c, *d, *s, *t, *o, *wide, *weight;
static cudaStream_t stream, other;
static uint64_t sum = 1469598103934665603ull;

static void add(float *out, const float *x, const float *y)
{
	add_rows<<<(N + 255) / 256, 256, 0, stream>>>(out, x, y, N);
	CHECK(cudaGetLastError());
}

static void norm(float *out, const float *in)
{
	rms_norm<<<ROWS, 256, 0, stream>>>(out, in, weight, COLS, 1e-5f);
	CHECK(cudaGetLastError());
}

static void norm_wide(float *out, const float *in)
{
	rms_norm_wide<<<ROWS, 256, 0, stream>>>(out, in, weight, COLS, 1e-5f);
	CHECK(cudaGetLastError());
}

static void fill(float *to, uint32_t seed)
{
	std::vector<float> h(N);

	for (float &v : h) {
		seed = seed * 1664525u + 1013904223u;
		v = (float)(int32_t)seed / 2147483648.0f;
	}
	CHECK(cudaMemcpy(to, h.data(), N * sizeof(float), cudaMemcpyHostToDevice));
}

static void digest(const float *from)
{
	std::vector<uint32_t> h(N);

	CHECK(cudaMemcpy(h.data(), from, N * sizeof(float), cudaMemcpyDeviceToHost));
	for (uint32_t v : h)
		sum = (sum ^ v) * 1099511628211ull;
}

template <typename F> static F *driver(const char *name, F *)
{
	return (F *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}
#define DRIVER(name) driver(#name, name)

/* Both norms follow sums: they are known from their own groups. In the second build one is not. */
static void rebuilt_pairs(int)
{
	add(s, a, b);
	norm(o, s);
#ifndef CROSSINGS_SECOND
	add(t, c, b);
	norm_wide(o, t);
#endif
}

static void rebuilt(int i)
{
	fill(a, i + 9);
	fill(t, i);
	CHECK(cudaDeviceSynchronize());
	add(s, a, b);
	norm_wide(wide, t); /* behind a; the second build's clears it */
	norm(o, s);
	CHECK(cudaStreamSynchronize(stream));
	digest(a);
}

static void pairs(int)
{
	add(s, a, b);
	norm(o, s);
}

/* x and y are the same bytes at two addresses. */
static float *x, *y;

static void aliased_begin()
{
	const size_t unit = 2 << 20;
	CUmemAllocationProp p = {};
	CUmemAccessDesc access = {};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = p.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(DRIVER(cuMemAddressReserve)(&at, 2 * unit, 0, 0, 0));
	CHECK(DRIVER(cuMemCreate)(&handle, unit, &p, 0));
	CHECK(DRIVER(cuMemMap)(at, unit, 0, handle, 0));
	CHECK(DRIVER(cuMemMap)(at + unit, unit, 0, handle, 0));
	CHECK(DRIVER(cuMemSetAccess)(at, 2 * unit, &access, 1));
	x = (float *)at;
	y = (float *)(at + unit);
}

static void aliased(int i)
{
	fill(x, i + 9);
	add(s, x, b);
	norm(y, t); /* replaces x */
	norm(o, s);
	CHECK(cudaStreamSynchronize(stream));
	digest(x);
}

/* The mapping appears when the pairs are a way. */
static void aliased_late(int i)
{
	if (!x)
		aliased_begin();
	aliased(i);
}

/* Another stream reads the sum when it hears of a launch behind it. */
static cudaEvent_t event;
static float *got;

static void event_begin()
{
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CHECK(cudaMalloc(&got, N * sizeof(float)));
}

static void completion_event(int i)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute tells = {};

	fill(a, i + 9);
	fill(s, 5);
	CHECK(cudaDeviceSynchronize());
	add(s, a, b);
	tells.id = cudaLaunchAttributeLaunchCompletionEvent;
	tells.val.launchCompletionEvent.event = event;
	config.gridDim = dim3(ROWS);
	config.blockDim = dim3(256);
	config.stream = stream;
	config.attrs = &tells;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, rms_norm, d, (const float *)t, (const float *)weight,
				 (int)COLS, 1e-5f));
	CHECK(cudaStreamWaitEvent(other, event, 0));
	add_rows<<<(N + 255) / 256, 256, 0, other>>>(got, s, c, N);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	digest(got);
}

/* A parameter of the first kernel is another each time: nothing is to be learned of it. */
static long resident()
{
	long all = 0, kept = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld %ld", &all, &kept) != 2)
		kept = 0;
	if (f)
		fclose(f);
	return kept * 4;
}

static void steps(int i)
{
	static long before;

	if (i == 20000)
		before = resident();
	if (i == 59999)
		printf("%ld KiB more\n", resident() - before);
	add_step<<<1, 32, 0, stream>>>(s, a, b, 32, i);
	rms_norm<<<1, 32, 0, stream>>>(o, s, weight, 32, 1e-5f);
	CHECK(cudaGetLastError());
}

static void none(int) {}

static bool is_sum(const float *out, const float *x, const float *y)
{
	std::vector<float> h[3] = {std::vector<float>(N), std::vector<float>(N), std::vector<float>(N)};
	const float *from[3] = {out, x, y};

	for (int i = 0; i < 3; i++)
		CHECK(cudaMemcpy(h[i].data(), from[i], N * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		if (h[0][i] != h[1][i] + h[2][i])
			return false;
	return true;
}

/* Two that are held go out at the synchronization. The driver may refuse the first. */
static void late_error(int)
{
	cudaError_t e;

	fill(s, 5);
	fill(t, 6);
	CHECK(cudaDeviceSynchronize());
	add(s, a, b);
	add(t, c, b);
	e = cudaStreamSynchronize(stream);
	cudaGetLastError();
	printf("error %d: %s %s\n", (int)e, is_sum(s, a, b) ? "sum" : "-", is_sum(t, c, b) ? "sum" : "-");
}

static const struct {
	const char *name;
	void (*begin)();
	void (*pairs)(int), (*round)(int);
} modes[] = {
	{"rebuilt", nullptr, rebuilt_pairs, rebuilt},
	{"aliased", aliased_begin, pairs, aliased},
	{"aliased_late", nullptr, pairs, aliased_late},
	{"late_error", nullptr, pairs, late_error},
	{"steps", nullptr, steps, none},
	{"completion_event", event_begin, pairs, completion_event},
};

static void allocate()
{
	std::vector<float> half(COLS, 0.5f);
	uint32_t seed = 0;

	CHECK(cudaMalloc(&a, 2 * N * sizeof(float)));
	wide = a + N;
	for (float **p : {&b, &c, &d, &s, &t, &o})
		CHECK(cudaMalloc(p, N * sizeof(float)));
	for (float *p : {a, wide, b, c, d, s, t, o})
		fill(p, ++seed);
	CHECK(cudaMalloc(&weight, COLS * sizeof(float)));
	CHECK(cudaMemcpy(weight, half.data(), COLS * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
}

int main(int argc, char **argv)
{
	const int iterations = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 3 ? atoi(argv[3]) : 20;

	for (const auto &m : modes) {
		if (argc < 3 || strcmp(argv[1], m.name))
			continue;
		allocate();
		if (m.begin)
			m.begin();
		for (int i = 0; i < iterations; i++) {
			m.pairs(i);
			if (i % 64 == 63)
				CHECK(cudaStreamSynchronize(stream));
		}
		CHECK(cudaStreamSynchronize(stream));
		for (int i = 0; i < rounds; i++) {
			m.round(i);
			digest(s);
			digest(o);
		}
		printf("%016llx\n", (unsigned long long)sum);
		return 0;
	}
	fprintf(stderr, "usage: crossings MODE ITERATIONS [ROUNDS]\n");
	return 2;
}
