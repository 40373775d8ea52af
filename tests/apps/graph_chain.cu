/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (a + b) * s + c in three kernels of a graph, launched again and again:
 *
 *   graph_chain HABIT TYPE LAUNCHES [SEEN [CHAINS [ELEMENTS]]]
 *
 * HABIT: `capture` and `explicit` make the graph once; `update` captures anew for every launch and
 * updates the executable graph; `params` sets the parameters of a node that is no part of the chain
 * before every launch; `edit` changes a member half-way. TYPE: `int` or `float`, `scale` (float,
 * s a number) or `tiny` (floats, a, b and c subnormal). SEEN: `dead` (what the first two kernels
 * leave is overwritten in the graph, nobody looks before; the default), `read` (the second one's is
 * copied away before), `kept` (nothing overwrites it); or `across-dead` and so on: what the second
 * leaves lies across what the first read. CHAINS: so many of them in the graph, each
 * with other memory. Prints a checksum of all memory after each launch.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>
#include <cuda_runtime.h>
#include "graph_chain_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "graph_chain: %s: %s\n", #call,                            \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { A, B, S, C, T0, T1, OUT, OTHER, ASIDE, BUFFERS, BLOCK = 128, SHIFT = 104 };

static int elements = 1000;
static bool whole, by_number, tiny, across;
static const char *seen = "dead";

/* The memory of one chain, 4 bytes an element. */
struct chain {
	char *buffer[BUFFERS];
	int elements;
};

/* Every chain has its operands aligned in another way, so that it needs a kernel of its own. */
static int offset(unsigned number, int buffer)
{
	return buffer <= C ? 32 >> (number >> 2 * buffer & 3) : 0;
}

static std::vector<struct chain> chains;

static size_t bytes(const struct chain &c)
{
	return (size_t)c.elements * 4;
}

/* A launch as the runtime takes it. */
struct call {
	void *out, *a, *b, *list[4];
	float s;
	int n;
	cudaKernelNodeParams p;

	call(const struct chain &c, void *kernel, int o, int x, int y)
	{
		out = c.buffer[o], a = c.buffer[x];
		n = c.elements;
		list[0] = &out, list[1] = &a, list[2] = &b, list[3] = &n;
		if (y >= 0)
			b = c.buffer[y];
		else
			s = 0.75f, list[2] = &s;
		memset(&p, 0, sizeof(p));
		p.func = kernel;
		p.gridDim = dim3((n + BLOCK - 1) / BLOCK);
		p.blockDim = dim3(BLOCK);
		p.kernelParams = list;
	}
	call(const call &) = delete;
};

static void *add_kernel()
{
	return whole ? (void *)chain_iadd : (void *)chain_fadd;
}

static void *mul_kernel()
{
	return by_number ? (void *)chain_fscale : whole ? (void *)chain_imul : (void *)chain_fmul;
}

static void *mix_kernel()
{
	return whole ? (void *)chain_imix : (void *)chain_fmix;
}

/* Sends work to a stream, or adds it to a graph behind what was added before. */
struct sink {
	cudaStream_t stream;
	cudaGraph_t graph;
	std::vector<cudaGraphNode_t> node;

	cudaGraphNode_t *next()
	{
		node.push_back(NULL);
		return &node.back();
	}
	const cudaGraphNode_t *before() const
	{
		return node.size() > 1 ? &node[node.size() - 2] : NULL;
	}
	void launch(const call &c)
	{
		if (!graph) {
			CHECK(cudaLaunchKernel(c.p.func, c.p.gridDim, c.p.blockDim, (void **)c.list,
					       0, stream));
			return;
		}
		cudaGraphNode_t *n = next();
		CHECK(cudaGraphAddKernelNode(n, graph, before(), before() != NULL, &c.p));
	}
	void fill(const struct chain &c, int o)
	{
		if (!graph) {
			CHECK(cudaMemsetAsync(c.buffer[o], 3, bytes(c), stream));
			return;
		}
		cudaMemsetParams p;
		cudaGraphNode_t *n = next();

		memset(&p, 0, sizeof(p));
		p.dst = c.buffer[o];
		p.elementSize = 1;
		p.value = 3;
		p.width = bytes(c);
		p.height = 1;
		CHECK(cudaGraphAddMemsetNode(n, graph, before(), before() != NULL, &p));
	}
	void copy(const struct chain &c, int o, int from)
	{
		if (!graph) {
			CHECK(cudaMemcpyAsync(c.buffer[o], c.buffer[from], bytes(c),
					      cudaMemcpyDeviceToDevice, stream));
			return;
		}
		cudaGraphNode_t *n = next();
		CHECK(cudaGraphAddMemcpyNode1D(n, graph, before(), before() != NULL, c.buffer[o],
					       c.buffer[from], bytes(c), cudaMemcpyDeviceToDevice));
	}
};

/* The last node of each chain mixes what came out into what goes in; aside: its other operand. */
static void work(struct sink &to, int aside)
{
	for (const struct chain &c : chains) {
		to.launch(call(c, add_kernel(), T0, A, B));
		to.launch(call(c, mul_kernel(), T1, T0, by_number ? -1 : S));
		to.launch(call(c, add_kernel(), OUT, T1, C));
		if (!strcmp(seen, "read"))
			to.copy(c, OTHER, T1);
		if (strcmp(seen, "kept")) {
			to.fill(c, T0);
			to.fill(c, T1);
		}
		to.launch(call(c, mix_kernel(), A, OUT, aside));
	}
}

static cudaGraph_t capture(cudaStream_t stream, int aside)
{
	struct sink to = {stream, NULL, {}};
	cudaGraph_t g;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	work(to, aside);
	CHECK(cudaStreamEndCapture(stream, &g));
	return g;
}

static void open_memory(unsigned n)
{
	uint64_t state = 88172645463325252u;

	for (unsigned k = 0; k < n; k++) {
		struct chain c = {{}, elements};
		std::vector<uint32_t> host(c.elements);

		for (int i = 0; i < BUFFERS; i++) {
			char *&b = c.buffer[i];

			for (uint32_t &v : host) {
				float f;

				state ^= state << 13, state ^= state >> 7, state ^= state << 17;
				v = (uint32_t)(state >> 20) % 2001;
				f = ((float)v / 1000 - 1) * (tiny && i != S ? 1e-41f : 1.0f);
				if (!whole)
					memcpy(&v, &f, 4);
			}
			if (i == T1 && across) {
				b = c.buffer[A] + SHIFT * 4;
				continue;
			}
			CHECK(cudaMalloc((void **)&b, bytes(c) + SHIFT * 4 + 32));
			b += offset(k, i);
			CHECK(cudaMemcpy(b, host.data(), bytes(c), cudaMemcpyHostToDevice));
		}
		chains.push_back(c);
	}
}

static uint64_t checksum()
{
	uint64_t h = 14695981039346656037u;

	CHECK(cudaDeviceSynchronize());
	for (const struct chain &c : chains)
		for (const char *b : c.buffer) {
			std::vector<uint32_t> host(c.elements);

			CHECK(cudaMemcpy(host.data(), b, bytes(c), cudaMemcpyDeviceToHost));
			for (uint32_t v : host)
				h = (h ^ v) * UINT64_C(0x100000001b3);
		}
	return h;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: graph_chain capture|explicit|update|params|edit "
				"int|float|scale|tiny LAUNCHES [[across-]dead|read|kept [CHAINS "
				"[ELEMENTS]]]\n");
		return 2;
	}
	const char *habit = argv[1];
	const int launches = atoi(argv[3]);
	cudaGraphExecUpdateResultInfo info;
	struct sink nodes = {NULL, NULL, {}};
	cudaGraphExec_t exec;
	cudaStream_t stream;

	whole = !strcmp(argv[2], "int");
	by_number = !strcmp(argv[2], "scale");
	tiny = !strcmp(argv[2], "tiny");
	seen = argc > 4 ? argv[4] : seen;
	across = !strncmp(seen, "across-", 7);
	seen += across ? 7 : 0;
	elements = argc > 6 ? atoi(argv[6]) : elements;
	open_memory(argc > 5 ? (unsigned)atoi(argv[5]) : 1);
	CHECK(cudaStreamCreate(&stream));
	if (!strcmp(habit, "capture") || !strcmp(habit, "update")) {
		nodes.graph = capture(stream, ASIDE);
	} else {
		CHECK(cudaGraphCreate(&nodes.graph, 0));
		work(nodes, ASIDE);
	}
	CHECK(cudaGraphInstantiate(&exec, nodes.graph, 0));
	for (int i = 0; i < launches; i++) {
		const int aside = i & 1 ? ASIDE : C;

		if (!strcmp(habit, "update")) {
			cudaGraph_t g = capture(stream, aside);

			CHECK(cudaGraphExecUpdate(exec, g, &info));
			CHECK(cudaGraphDestroy(g));
		} else if (!strcmp(habit, "params")) {
			const call c(chains.back(), mix_kernel(), A, OUT, aside);

			CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes.node.back(), &c.p));
		} else if (!strcmp(habit, "edit") && i == launches / 2) {
			/* The first member leaves its sum elsewhere, the second takes what is
			 * there. */
			const call c(chains[0], add_kernel(), OTHER, A, B);

			CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes.node[0], &c.p));
		}
		CHECK(cudaGraphLaunch(exec, stream));
		printf("%016llx\n", (unsigned long long)checksum());
		usleep(1000);
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(nodes.graph));
	return 0;
}
