/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = (a + x) * s + c in three kernels, again and again, y being the next x. Prints a checksum of
 * each buffer.
 *
 *   --n N         elements of each buffer (1,000,003)
 *   --repeat N    iterations (20)
 *   --type T      f32 or bf16
 *   --offset N    buffers begin so many elements behind an aligned address
 *   --stream      on a created stream instead of the default one
 *   --inplace     the steps work in place, on one intermediate
 *   --graph [N]   N iterations (2) are a graph, launched until there were --repeat of them
 *   --clear       intermediates are set to zero behind the last iteration (of each graph)
 *   --dense       nothing stands between iterations; else an event does, in a graph a small fill
 *   --forget      intermediates are never looked at
 *   --pause MS    so long nothing is done before each iteration (each launch of the graph)
 *   --time        says on stderr what an iteration took, and a copy of the bytes that it moves
 */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <cuda_runtime.h>
#include "chain_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "chain: %s: %s\n", #call, cudaGetErrorString(error_));     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BLOCK = 256, PERIOD = (1 << 20) + 7, PIECE = 8 << 20, LANES = 8 };

struct options {
	int n = 1000003, repeat = 20, offset = 0, graph = 0, pause = 0;
	bool bf16 = false, stream = false, inplace = false, clear = false, dense = false;
	bool forget = false, time = false;
};

/* Buffers of T. t and u are what steps hand each other. */
template <typename T> struct work {
	T *a, *c, *x[2], *t, *u;
	unsigned char *done; /* of each iteration of a graph */
	cudaStream_t stream;
	cudaEvent_t event;
};

static uint32_t bits_of(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static void from_float(float *to, float v)
{
	*to = v;
}

static void from_float(bf16 *to, float v)
{
	uint16_t high = (uint16_t)(bits_of(v) >> 16);

	memcpy(to, &high, sizeof(high));
}

/* What comes behind PERIOD elements is copies of them: an odd number, so that no block or row of
 * anything sees the same again. */
template <typename T> static T *buffer(const struct options &o, uint32_t seed)
{
	const size_t n = (size_t)o.n;
	std::vector<T> host(std::min(n, (size_t)PERIOD));
	T *p;

	for (T &v : host) {
		seed = seed * 1664525u + 1013904223u;
		from_float(&v, (float)(int32_t)seed / 2147483648.0f);
	}
	CHECK(cudaMalloc(&p, (n + (size_t)o.offset) * sizeof(T)));
	p += o.offset;
	CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
	for (size_t have = host.size(), more; have < n; have += more) {
		more = std::min(have, n - have);
		CHECK(cudaMemcpy(p + have, p, more * sizeof(T), cudaMemcpyDeviceToDevice));
	}
	return p;
}

/* A checksum of words in lanes, which the processor works on side by side. */
struct checksum {
	uint64_t lane[LANES];

	checksum()
	{
		for (size_t i = 0; i < LANES; i++)
			lane[i] = UINT64_C(14695981039346656037) + i;
	}
	static void take(uint64_t *to, uint64_t word)
	{
		*to = *to * UINT64_C(0x9e3779b97f4a7c15) + word;
	}
	/* Only the last piece may have another number of bytes than lanes go through. */
	void add(const unsigned char *at, size_t bytes)
	{
		uint64_t word[LANES];

		for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
			memcpy(word, at, sizeof(word));
			for (size_t i = 0; i < LANES; i++)
				take(&lane[i], word[i]);
		}
		for (size_t i = 0; i < bytes; i++)
			take(&lane[i % LANES], at[i]);
	}
	uint64_t all() const
	{
		uint64_t sum = LANES;

		for (uint64_t l : lane)
			take(&sum, l ^ l >> 32);
		return sum;
	}
};

/* Piece by piece: the next one is copied while one is summed up. */
template <typename T> static void print_checksum(const struct options &o, const char *name, const T *p)
{
	const size_t bytes = (size_t)o.n * sizeof(T), piece = std::min(bytes, (size_t)PIECE);
	const unsigned char *from = (const unsigned char *)p;
	static unsigned char *host[2];
	static cudaStream_t stream[2];
	struct checksum sum;
	size_t copied = 0;

	for (int k = 0; k < 2 && !host[k]; k++) {
		CHECK(cudaMallocHost(&host[k], piece));
		CHECK(cudaStreamCreate(&stream[k]));
	}
	for (size_t done = 0, turn = 0; done < bytes; done += piece, turn ^= 1) {
		for (; copied < bytes && copied < done + 2 * piece; copied += piece)
			CHECK(cudaMemcpyAsync(host[copied / piece % 2], from + copied,
					      std::min(piece, bytes - copied),
					      cudaMemcpyDeviceToHost, stream[copied / piece % 2]));
		CHECK(cudaStreamSynchronize(stream[turn]));
		sum.add(host[turn], std::min(piece, bytes - done));
	}
	printf("%s %016llx\n", name, (unsigned long long)sum.all());
}

template <typename T> static void iteration(const struct options &o, const struct work<T> &w, int i)
{
	const int grid = (o.n + BLOCK - 1) / BLOCK;
	T *u = o.inplace ? w.t : w.u;

	chain_add<<<grid, BLOCK, 0, w.stream>>>(w.t, w.a, w.x[i % 2], o.n);
	CHECK(cudaGetLastError());
	chain_scale<<<grid, BLOCK, 0, w.stream>>>(u, w.t, 0.625f, o.n);
	CHECK(cudaGetLastError());
	chain_add<<<grid, BLOCK, 0, w.stream>>>(w.x[1 - i % 2], u, w.c, o.n);
	CHECK(cudaGetLastError());
}

template <typename T> static void clear(const struct options &o, const struct work<T> &w)
{
	CHECK(cudaMemsetAsync(w.t, 0, (size_t)o.n * sizeof(T), w.stream));
	CHECK(cudaMemsetAsync(w.u, 0, (size_t)o.n * sizeof(T), w.stream));
}

template <typename T> static cudaGraphExec_t captured(const struct options &o, const struct work<T> &w)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < o.graph; i++) {
		iteration(o, w, i);
		if (!o.dense)
			CHECK(cudaMemsetAsync(w.done + i, 1, 1, w.stream));
	}
	if (o.clear)
		clear(o, w);
	CHECK(cudaStreamEndCapture(w.stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

/* Half of the bytes that an iteration moves are read by this, half written. */
template <typename T> static void copy(const struct options &o, const struct work<T> &w)
{
	T *const from[] = {w.a, w.c, w.x[0], w.x[1]};

	for (const T *p : from)
		CHECK(cudaMemcpyAsync(w.t, p, (size_t)o.n * sizeof(T), cudaMemcpyDeviceToDevice,
				      w.stream));
}

/* Median of what calls of f take. */
template <typename F> static float median_ms(cudaStream_t stream, int times, F f)
{
	cudaEvent_t begin, end;
	std::vector<float> ms;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (int i = 0; i < times; i++) {
		float t;

		CHECK(cudaEventRecord(begin, stream));
		f(i);
		CHECK(cudaEventRecord(end, stream));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&t, begin, end));
		ms.push_back(t);
	}
	std::sort(ms.begin(), ms.end());
	return ms.empty() ? 0 : ms[ms.size() / 2];
}

template <typename T> static void run(const struct options &o)
{
	const int per_round = o.graph ? o.graph : 1;
	struct work<T> w = {};
	cudaGraphExec_t exec = NULL;
	float ms;

	w.a = buffer<T>(o, 1);
	w.c = buffer<T>(o, 2);
	w.x[0] = buffer<T>(o, 3);
	w.x[1] = buffer<T>(o, 4);
	w.t = buffer<T>(o, 5);
	w.u = buffer<T>(o, 6);
	CHECK(cudaMalloc(&w.done, (size_t)per_round));
	CHECK(cudaEventCreate(&w.event));
	if (o.stream || o.graph)
		CHECK(cudaStreamCreate(&w.stream));
	CHECK(cudaDeviceSynchronize());
	if (o.graph)
		exec = captured(o, w);
	auto round = [&](int i) {
		if (o.pause)
			std::this_thread::sleep_for(std::chrono::milliseconds(o.pause));
		if (exec) {
			CHECK(cudaGraphLaunch(exec, w.stream));
			return;
		}
		iteration(o, w, i);
		if (!o.dense)
			CHECK(cudaEventRecord(w.event, w.stream));
	};
	if (o.time) {
		ms = median_ms(w.stream, o.repeat / per_round, round) / (float)per_round;
	} else {
		for (int i = 0; i < o.repeat / per_round; i++)
			round(i);
	}
	if (!exec && o.clear)
		clear(o, w);
	CHECK(cudaDeviceSynchronize());
	print_checksum(o, "y", w.x[(o.graph ? o.graph : o.repeat) % 2]);
	print_checksum(o, "x", w.x[1 - (o.graph ? o.graph : o.repeat) % 2]);
	print_checksum(o, "a", w.a);
	print_checksum(o, "c", w.c);
	if (!o.forget) {
		print_checksum(o, "t", w.t);
		print_checksum(o, "u", w.u);
	}
	if (o.time)
		fprintf(stderr, "%.5f ms per iteration, %.5f ms for a copy of 8 * %d elements\n",
			(double)ms, (double)median_ms(w.stream, 9, [&](int) { copy(o, w); }), o.n);
}

static void usage()
{
	fprintf(stderr, "usage: chain [--n N] [--repeat N] [--type f32|bf16] [--offset N] [--stream] "
			"[--inplace]\n"
			"             [--graph [N]] [--clear] [--dense] [--forget] [--pause MS]\n"
			"             [--time]\n");
	exit(2);
}

static struct options parse(int argc, char **argv)
{
	struct options o;
	struct {
		const char *name;
		int *value;
		int least;
	} numbers[] = {{"--n", &o.n, 1}, {"--repeat", &o.repeat, 1}, {"--offset", &o.offset, 0},
		       {"--pause", &o.pause, 0}};
	struct {
		const char *name;
		bool *value;
	} flags[] = {{"--stream", &o.stream}, {"--inplace", &o.inplace}, {"--clear", &o.clear},
		     {"--dense", &o.dense},   {"--forget", &o.forget},   {"--time", &o.time}};

	for (int i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : "";
		bool known = false;

		for (auto &f : flags)
			if (!strcmp(argv[i], f.name))
				known = *f.value = true;
		for (auto &n : numbers)
			if (!strcmp(argv[i], n.name) && (*n.value = atoi(next)) >= n.least) {
				known = true;
				i++;
				break;
			}
		if (!known && !strcmp(argv[i], "--graph")) {
			o.graph = atoi(next) > 0 ? atoi(argv[++i]) : 2;
		} else if (!known && !strcmp(argv[i], "--type") &&
			   (!strcmp(next, "f32") || !strcmp(next, "bf16"))) {
			o.bf16 = !strcmp(argv[++i], "bf16");
		} else if (!known) {
			usage();
		}
	}
	if (o.graph && o.graph % 2) {
		fprintf(stderr, "chain: a graph has an even number of iterations: y is the next x\n");
		exit(2);
	}
	return o;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);

	if (o.bf16)
		run<bf16>(o);
	else
		run<float>(o);
	return 0;
}
