/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of small steps, again and again. Prints a checksum of all buffers of each thread.
 *
 *   --mode M      plain    t = a + b; u = t * s; x = u - c
 *                 inplace  t = a + b; t = t * s; t = t - c; a = t
 *                 rows     t = x + bias; u = t * s; x = u - c
 *                 types    v = -f; h = bf16(v)
 *                 fill     v = 1.001; h = bf16(v)
 *                 free     as plain, on memory that is allocated and freed on the stream
 *                 lie      as plain, but the first step is no addition where the sum is large
 *                 alone    t = a + b, between launches that nobody knows
 *                 grow     as plain, and every other time a fourth step
 *                 across   as plain, but u lies across a, so that a's end changes
 *                 over     as across, and x is c
 *                 drift    as plain, twice, with a store to another place each time before both
 *                 swap     t = x * s; u = the halves of t, the other way round; x = x - u
 *                 apart    as plain, then v = silu(f); a store to another place each time; 16
 *                          steps that no probe has seen and have nothing to do with each other;
 *                          y = v * up
 *   --n N         elements of each buffer (100,003)
 *   --repeat N    iterations (40)
 *   --pause US    microseconds between iterations, during which no call is made (0)
 *   --between US  likewise, within each iteration, behind the second step (0)
 *   --wait        the stream is waited for after each iteration
 *   --threads N   so many threads do the same, each on a stream of its own (1)
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <unistd.h>
#include <cuda_runtime.h>
#include "links_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "links: %s: %s\n", #call, cudaGetErrorString(error_));     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BLOCK = 128, BUFFERS = 8, COLS = 64, SHIFT = 1000, FEW = 16 };

struct options {
	int n = 100003, repeat = 40, pause = 0, between = 0, threads = 1;
	bool wait = false;
	const char *mode = "plain";
};

struct work {
	int *at[BUFFERS]; /* a b s c t u x, and one for strangers */
	float *f, *v, *up, *y;
	__nv_bfloat16 *h;
	cudaStream_t stream;
	uint64_t sum;
};

enum { A, B, S, C, T, U, X, STRANGER };

static void add_to(uint64_t *sum, const void *p, size_t bytes)
{
	std::vector<unsigned char> host(bytes);

	CHECK(cudaMemcpy(host.data(), p, bytes, cudaMemcpyDeviceToHost));
	for (unsigned char c : host)
		*sum = (*sum ^ c) * UINT64_C(1099511628211);
}

static void setup(const struct options &o, struct work *w)
{
	std::vector<int> host((size_t)o.n);
	std::vector<float> numbers((size_t)o.n);
	uint32_t seed = 7;

	for (int k = 0; k < BUFFERS; k++) {
		for (int &v : host) {
			seed = seed * 1664525u + 1013904223u;
			v = (int)(seed >> 8) % 2000 - 1000;
		}
		CHECK(cudaMalloc(&w->at[k], (size_t)o.n * sizeof(int)));
		CHECK(cudaMemcpy(w->at[k], host.data(), host.size() * sizeof(int),
				 cudaMemcpyHostToDevice));
	}
	for (float &v : numbers) {
		seed = seed * 1664525u + 1013904223u;
		v = (float)(int32_t)seed / 65536.0f;
	}
	CHECK(cudaMalloc(&w->f, (size_t)o.n * sizeof(float)));
	CHECK(cudaMalloc(&w->v, (size_t)o.n * sizeof(float)));
	CHECK(cudaMalloc(&w->up, (size_t)o.n * sizeof(float)));
	CHECK(cudaMalloc(&w->y, (size_t)o.n * sizeof(float)));
	CHECK(cudaMalloc(&w->h, (size_t)o.n * sizeof(*w->h)));
	CHECK(cudaMemcpy(w->f, numbers.data(), numbers.size() * sizeof(float),
			 cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(w->up, numbers.data(), numbers.size() * sizeof(float),
			 cudaMemcpyHostToDevice));
	CHECK(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
}

static bool is(const struct options &o, const char *mode)
{
	return !strcmp(o.mode, mode);
}

/* u where all threads of one kernel would have to have read a before any stores u. */
static void across(const struct options &o, struct work *w)
{
	const int n = o.n - SHIFT, grid = (n + BLOCK - 1) / BLOCK;
	int **p = w->at, *u = p[A] + SHIFT;

	links_add<<<grid, BLOCK, 0, w->stream>>>(p[T], p[A], p[B], n);
	links_mul<<<grid, BLOCK, 0, w->stream>>>(u, p[T], p[S], n);
	links_sub<<<grid, BLOCK, 0, w->stream>>>(is(o, "over") ? p[C] : p[X], u, p[C], n);
	CHECK(cudaGetLastError());
	links_stranger<<<1, 32, 0, w->stream>>>(p[STRANGER]);
}

/* Where no store has been before, nor will be soon. */
static int *once(const struct options &o, struct work *w, int i)
{
	return w->at[STRANGER] + 4 + i * FEW % (o.n - 2 * FEW);
}

static void elsewhere(const struct options &o, struct work *w, int i)
{
	links_stranger<<<1, 32, 0, w->stream>>>(w->at[STRANGER]);
	links_add<<<1, BLOCK, 0, w->stream>>>(once(o, w, i), w->at[B], w->at[C], FEW);
	links_stranger<<<1, 32, 0, w->stream>>>(w->at[STRANGER]);
}

/* A pair that is refused for what lies between its members, of which the first comes only once. */
static void pair(const struct options &o, struct work *w, int i)
{
	const int grid = (o.n + BLOCK - 1) / BLOCK;
	int **p = w->at;

	links_silu<<<grid, BLOCK, 0, w->stream>>>(w->v, w->f, o.n);
	links_sub<<<1, BLOCK, 0, w->stream>>>(once(o, w, i), p[B], p[C], FEW);
	for (int k = 0; k < FEW; k++)
		links_sub<<<1, BLOCK, 0, w->stream>>>(p[U] + k * FEW, p[B] + k, p[C] + k, FEW);
	links_gate<<<grid, BLOCK, 0, w->stream>>>(w->y, w->v, w->up, o.n);
	CHECK(cudaGetLastError());
}

static void iteration(const struct options &o, struct work *w, int i)
{
	if (is(o, "across") || is(o, "over")) {
		across(o, w);
		return;
	}
	const int grid = (o.n + BLOCK - 1) / BLOCK, rows = o.n / COLS;
	int **p = w->at, *t = p[T], *u = p[U];

	if (is(o, "types") || is(o, "fill")) {
		if (is(o, "fill"))
			links_fill<<<grid, BLOCK, 0, w->stream>>>(w->v, 1.001f, o.n);
		else
			links_neg<<<grid, BLOCK, 0, w->stream>>>(w->v, w->f, o.n);
		links_round<<<grid, BLOCK, 0, w->stream>>>(w->h, w->v, o.n);
		links_stranger<<<1, 32, 0, w->stream>>>(p[STRANGER]);
		return;
	}
	if (is(o, "swap")) {
		const int half = o.n / 2;

		links_mul<<<grid, BLOCK, 0, w->stream>>>(t, p[X], p[S], 2 * half);
		links_swap<<<grid, BLOCK, 0, w->stream>>>(u, t + half, t, half);
		links_sub<<<grid, BLOCK, 0, w->stream>>>(p[X], p[X], u, 2 * half);
		links_stranger<<<1, 32, 0, w->stream>>>(p[STRANGER]);
		return;
	}
	if (is(o, "drift")) {
		elsewhere(o, w, 2 * i);
		links_add<<<grid, BLOCK, 0, w->stream>>>(t, p[B], p[X], o.n);
		links_mul<<<grid, BLOCK, 0, w->stream>>>(u, t, p[S], o.n);
		links_sub<<<grid, BLOCK, 0, w->stream>>>(p[X], u, p[C], o.n);
		elsewhere(o, w, 2 * i + 1);
	}
	if (is(o, "free")) {
		CHECK(cudaMallocAsync(&t, (size_t)o.n * sizeof(int), w->stream));
		CHECK(cudaMallocAsync(&u, (size_t)o.n * sizeof(int), w->stream));
	}
	if (is(o, "inplace"))
		u = t;
	if (is(o, "rows"))
		links_bias<<<grid, BLOCK, 0, w->stream>>>(t, p[X], p[B], rows, COLS);
	else if (is(o, "lie"))
		links_liar<<<grid, BLOCK, 0, w->stream>>>(t, p[A], p[X], o.n);
	else
		links_add<<<grid, BLOCK, 0, w->stream>>>(t, p[A], is(o, "inplace") ? p[B] : p[X],
							 o.n);
	CHECK(cudaGetLastError());
	if (!is(o, "alone")) {
		links_mul<<<grid, BLOCK, 0, w->stream>>>(u, t, p[S],
							 is(o, "rows") ? rows * COLS : o.n);
		if (o.between)
			usleep((useconds_t)o.between);
		links_sub<<<grid, BLOCK, 0, w->stream>>>(is(o, "inplace") ? p[A] : p[X], u, p[C],
							 is(o, "rows") ? rows * COLS : o.n);
		if (is(o, "grow") && i % 2)
			links_add<<<grid, BLOCK, 0, w->stream>>>(p[A], p[X], p[B], o.n);
	}
	CHECK(cudaGetLastError());
	if (is(o, "apart"))
		pair(o, w, i);
	if (is(o, "free")) {
		CHECK(cudaFreeAsync(t, w->stream));
		CHECK(cudaFreeAsync(u, w->stream));
	}
	links_stranger<<<1, 32, 0, w->stream>>>(p[STRANGER]);
}

static void run(const struct options *o, struct work *w)
{
	const size_t bytes = (size_t)o->n * sizeof(int);

	for (int i = 0; i < o->repeat; i++) {
		iteration(*o, w, i);
		if (o->wait)
			CHECK(cudaStreamSynchronize(w->stream));
		if (o->pause)
			usleep((useconds_t)o->pause);
	}
	CHECK(cudaStreamSynchronize(w->stream));
	w->sum = UINT64_C(14695981039346656037);
	for (int k = 0; k < BUFFERS; k++)
		add_to(&w->sum, w->at[k], bytes);
	if (is(*o, "apart"))
		add_to(&w->sum, w->y, bytes);
	if (is(*o, "types") || is(*o, "fill")) {
		add_to(&w->sum, w->v, bytes);
		add_to(&w->sum, w->h, (size_t)o->n * sizeof(*w->h));
	}
}

static void usage()
{
	fprintf(stderr,
		"usage: links [--mode plain|inplace|rows|types|fill|free|lie|alone|grow|across|over|"
		"drift|swap|apart]\n             [--n N] [--repeat N] [--pause US] [--between US] [--wait] "
		"[--threads N]\n");
	exit(2);
}

static struct options parse(int argc, char **argv)
{
	struct options o;
	struct {
		const char *name;
		int *value;
	} numbers[] = {{"--n", &o.n},
		       {"--repeat", &o.repeat},
		       {"--pause", &o.pause},
		       {"--between", &o.between},
		       {"--threads", &o.threads}};

	for (int i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : "";
		bool known = !strcmp(argv[i], "--wait");

		o.wait |= known;
		for (auto &f : numbers)
			if (!strcmp(argv[i], f.name) && (*f.value = atoi(next)) >= 0)
				known = true;
		if (!strcmp(argv[i], "--mode"))
			known = *(o.mode = next);
		if (!known || o.n < 2 * SHIFT)
			usage();
		i += strcmp(argv[i], "--wait") != 0;
	}
	return o;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	std::vector<struct work> work((size_t)o.threads);
	std::vector<std::thread> threads;

	for (struct work &w : work)
		setup(o, &w);
	CHECK(cudaDeviceSynchronize());
	for (struct work &w : work)
		threads.emplace_back(run, &o, &w);
	for (std::thread &t : threads)
		t.join();
	for (const struct work &w : work)
		printf("%016llx\n", (unsigned long long)w.sum);
	return 0;
}
