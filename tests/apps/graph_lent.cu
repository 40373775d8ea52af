/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs do with a graph once an executable graph was made of it. Prints checksums of all
 * memory and the answers; two runs must print the same.
 *
 *   graph_lent MODE [LAUNCHES]
 *
 *   kept      captured, destroyed at once
 *   open      nobody touches it
 *   edited    a node is changed, it is instantiated again, and more of it changed
 *   late      a node is changed some milliseconds later
 *   calls     each time another call that touches it, right away
 *   threads   one thread launches, another one changes the graph and instantiates it
 *   order     executable graphs go before and after it, and two are made of one
 *   capture   instantiated while a stream is captured
 *   reset     the device is reset
 *   fork      a child destroys all there is
 *   twice     it is destroyed twice, before and after the executable graph is
 *   gone      the executable graph is edited by handles of a graph that is gone
 *   child     it is a child graph's own, which goes with its parent
 *   inside    the same, and it is destroyed by itself first
 *
 * The last four do what only the software GPU is known to answer.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
#include <cuda_runtime.h>
#include "graph_random_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "graph_lent: %s: %s\n", #call,                             \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BUFFERS = 6, WEIGHTS = BUFFERS, ALL, ROWS = 4, COLS = 64, ELEMENTS = ROWS * COLS };
enum { ADD, NORM, SILU, MUL, MIX, NODES };

static float *buffer[ALL];
static cudaStream_t stream;
static unsigned launches = 40;

/* The launch of node i of the chain; b: what the first one adds. */
struct arguments {
	void *out, *a, *b, *list[5];
	int n, cols;
	float eps;
	cudaKernelNodeParams p;

	explicit arguments(int i, int other = 1)
	{
		static void *const kernel[] = {(void *)graph_add, (void *)graph_norm,
					       (void *)graph_silu, (void *)graph_mul,
					       (void *)graph_mix};
		static const int to[] = {0, 2, 3, 1, 0}, x[] = {0, 0, 2, 3, 1},
				 y[] = {1, WEIGHTS, -1, 0, 2};
		unsigned k = 0;

		out = buffer[to[i]], a = buffer[x[i]];
		b = y[i] < 0 ? NULL : buffer[i == ADD ? other : y[i]];
		n = ELEMENTS, cols = COLS, eps = 1e-5f;
		list[k++] = &out, list[k++] = &a;
		if (b)
			list[k++] = &b;
		list[k++] = i == NORM ? &cols : &n;
		if (i == NORM)
			list[k++] = &eps;
		memset(&p, 0, sizeof(p));
		p.func = kernel[i];
		p.gridDim = dim3(ROWS);
		p.blockDim = dim3(COLS);
		p.kernelParams = list;
	}
	arguments(const struct arguments &) = delete;
};

struct chain {
	cudaGraph_t graph;
	cudaGraphNode_t node[NODES];
};

static struct chain made(int other = 1)
{
	struct chain c;

	CHECK(cudaGraphCreate(&c.graph, 0));
	for (int i = 0; i < NODES; i++) {
		struct arguments args(i, other);

		CHECK(cudaGraphAddKernelNode(&c.node[i], c.graph, i ? &c.node[i - 1] : NULL, i > 0,
					     &args.p));
	}
	return c;
}

static cudaGraph_t captured()
{
	cudaGraph_t g;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++) {
		struct arguments a(i);

		CHECK(cudaLaunchKernel(a.p.func, a.p.gridDim, a.p.blockDim, a.p.kernelParams, 0,
				       stream));
	}
	CHECK(cudaStreamEndCapture(stream, &g));
	return g;
}

static cudaGraphExec_t instantiated(cudaGraph_t g)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, g, 0));
	return exec;
}

/* The program's first node adds something else from now on. */
static void change(const struct chain &c, int other)
{
	struct arguments args(ADD, other);

	CHECK(cudaGraphKernelNodeSetParams(c.node[ADD], &args.p));
}

static void open_world()
{
	std::vector<float> host(ELEMENTS);
	uint32_t x = 1;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (float *&b : buffer) {
		CHECK(cudaMalloc(&b, ELEMENTS * sizeof(float)));
		for (float &v : host) {
			x = x * 1664525 + 1013904223;
			v = (float)((int)(x >> 16) % 2001 - 1000) / 1000;
		}
		CHECK(cudaMemcpy(b, host.data(), ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
	}
}

static void say_memory()
{
	std::vector<uint32_t> host(ELEMENTS);
	uint64_t h = 0;

	CHECK(cudaStreamSynchronize(stream));
	for (const float *b : buffer) {
		CHECK(cudaMemcpy(host.data(), b, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
		for (uint32_t v : host)
			h = (h ^ ((v & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : v)) *
			    UINT64_C(0x100000001b3);
	}
	printf(" %016llx", (unsigned long long)h);
}

static void say(const char *what, cudaError_t r)
{
	printf(" %s:%d", what, (int)r);
	(void)cudaGetLastError();
}

static void launch(cudaGraphExec_t exec)
{
	for (unsigned i = 0; i < launches; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
		say_memory();
		usleep(1000);
	}
}

static void kept()
{
	cudaGraph_t g = captured();
	cudaGraphExec_t exec = instantiated(g);

	CHECK(cudaGraphDestroy(g));
	launch(exec);
	CHECK(cudaGraphExecDestroy(exec));
}

static void open()
{
	struct chain c = made();
	cudaGraphExec_t exec = instantiated(c.graph);

	launch(exec);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(c.graph));
}

static void edited()
{
	struct chain c = made();
	cudaGraphExec_t first = instantiated(c.graph), second;
	struct arguments more(MIX);
	cudaGraphNode_t node;

	change(c, 4);
	second = instantiated(c.graph);
	change(c, 5);
	CHECK(cudaGraphAddKernelNode(&node, c.graph, &c.node[MIX], 1, &more.p));
	launch(first);
	launch(second);
	launch(first);
	CHECK(cudaGraphDestroy(c.graph));
	CHECK(cudaGraphExecDestroy(first));
	launch(second);
	CHECK(cudaGraphExecDestroy(second));
}

static void late()
{
	struct chain c = made();
	cudaGraphExec_t exec = instantiated(c.graph);

	usleep(6000);
	change(c, 4);
	launch(exec);
	CHECK(cudaGraphDestroy(c.graph));
	launch(exec);
	CHECK(cudaGraphExecDestroy(exec));
}

enum { CALLS = 15 };

/* A call that touches the graph or names a node of it, or what reads another graph. */
static void one_call(const struct chain &c, cudaGraphExec_t exec, unsigned which)
{
	cudaGraphExecUpdateResultInfo info;
	struct cudaKernelNodeParams p;
	struct arguments args(ADD, 4);
	cudaGraphNodeType type;
	cudaKernelNodeAttrValue value = {};
	cudaGraphNode_t node, from[NODES], to[NODES];
	struct chain other;
	cudaGraph_t copy;
	size_t n = 0;

	switch (which) {
	case 0:
		say("nodes", cudaGraphGetNodes(c.graph, NULL, &n));
		break;
	case 1:
		n = NODES;
		say("edges", cudaGraphGetEdges(c.graph, from, to, NULL, &n));
		break;
	case 2:
		say("type", cudaGraphNodeGetType(c.node[0], &type));
		break;
	case 3:
		say("params", cudaGraphKernelNodeGetParams(c.node[0], &p));
		break;
	case 4:
		say("attribute",
		    cudaGraphKernelNodeSetAttribute(c.node[0], cudaLaunchAttributePriority, &value));
		break;
	case 5:
		say("clone", cudaGraphClone(&copy, c.graph));
		CHECK(cudaGraphDestroy(copy));
		break;
	case 6:
		say("set", cudaGraphExecKernelNodeSetParams(exec, c.node[0], &args.p));
		break;
	case 7:
		say("off", cudaGraphNodeSetEnabled(exec, c.node[MIX], 0));
		break;
	case 8:
		other = made(5);
		say("update", cudaGraphExecUpdate(exec, other.graph, &info));
		CHECK(cudaGraphDestroy(other.graph));
		break;
	case 9:
		change(c, 5);
		say("update", cudaGraphExecUpdate(exec, c.graph, &info));
		break;
	case 10:
		CHECK(cudaGraphCreate(&copy, 0));
		say("child", cudaGraphAddChildGraphNode(&node, copy, NULL, 0, c.graph));
		CHECK(cudaGraphDestroy(copy));
		break;
	case 11:
		say("into", cudaStreamBeginCaptureToGraph(stream, c.graph, &c.node[MIX], NULL, 1,
							  cudaStreamCaptureModeThreadLocal));
		CHECK(cudaLaunchKernel(args.p.func, args.p.gridDim, args.p.blockDim,
				       args.p.kernelParams, 0, stream));
		CHECK(cudaStreamEndCapture(stream, &copy));
		break;
	case 12:
		say("cut", cudaGraphDestroyNode(c.node[MIX]));
		break;
	case 13:
		say("more", cudaGraphAddEmptyNode(&node, c.graph, &c.node[ADD], 1));
		break;
	case 14:
		change(c, 4);
		break;
	}
}

static void calls()
{
	for (unsigned i = 0; i < CALLS; i++) {
		struct chain c = made();
		cudaGraphExec_t exec = instantiated(c.graph);

		one_call(c, exec, i);
		launch(exec);
		CHECK(cudaGraphDestroy(c.graph));
		launch(exec);
		CHECK(cudaGraphExecDestroy(exec));
	}
}

static void threads()
{
	struct chain c = made();
	cudaGraphExec_t exec = instantiated(c.graph);
	bool over = false;
	std::thread other([&] {
		for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); i++) {
			cudaGraphExec_t again;

			change(c, 1 + i % 5);
			again = instantiated(c.graph);
			if (i & 1)
				usleep(i % 7 * 500);
			change(c, 1 + i % 3);
			CHECK(cudaGraphExecDestroy(again));
		}
	});

	for (unsigned i = 0; i < 4; i++)
		launch(exec);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	other.join();
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(c.graph));
}

static void order()
{
	for (unsigned round = 0; round < 8; round++) {
		struct chain c = made();
		cudaGraphExec_t first = instantiated(c.graph), second;

		if (round & 1) /* of the graph that it lent */
			CHECK(cudaGraphExecDestroy(first));
		second = instantiated(c.graph);
		if (round & 2)
			CHECK(cudaGraphDestroy(c.graph));
		if (round & 4)
			launch(second);
		CHECK(cudaGraphExecDestroy(second));
		if (!(round & 1)) {
			launch(first);
			CHECK(cudaGraphExecDestroy(first));
		}
		if (!(round & 2))
			CHECK(cudaGraphDestroy(c.graph));
	}
}

static void capture()
{
	struct chain c = made();
	cudaGraphExec_t exec;
	cudaStream_t other;
	cudaGraph_t g;

	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
	exec = instantiated(c.graph);
	change(c, 4);
	CHECK(cudaStreamEndCapture(other, &g));
	CHECK(cudaGraphDestroy(g));
	launch(exec);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(c.graph));
	CHECK(cudaStreamDestroy(other));
}

static void reset()
{
	for (unsigned round = 0; round < 6; round++) {
		struct chain c = made();
		cudaGraphExec_t exec = instantiated(c.graph);

		if (round & 1)
			CHECK(cudaGraphDestroy(c.graph));
		if (round & 2)
			usleep(3000);
		CHECK(cudaGraphLaunch(exec, stream));
		say_memory();
		CHECK(cudaDeviceReset());
		open_world();
	}
	kept();
}

/* pause_us: before it forks; somebody may hold a lock then. */
static void fork_once(unsigned pause_us)
{
	struct chain lent = made(), gone = made();
	cudaGraphExec_t exec, other = instantiated(lent.graph);
	int status;
	pid_t pid;

	usleep(pause_us);
	exec = instantiated(gone.graph);
	CHECK(cudaGraphDestroy(gone.graph));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* CUDA answers nothing there, and says so. */
		alarm(20);
		cudaGraphDestroy(gone.graph);
		cudaGraphDestroy(lent.graph);
		cudaGraphExecDestroy(exec);
		cudaGraphExecDestroy(other);
		_exit(0);
	}
	printf(" fork %d", waitpid(pid, &status, 0) == pid ? status : -1);
	launch(exec);
	launch(other);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphExecDestroy(other));
	CHECK(cudaGraphDestroy(lent.graph));
}

static void forked()
{
	fork_once(0);
	fork_once(6000);
}

static void twice()
{
	for (unsigned round = 0; round < 2; round++) {
		struct chain c = made();
		cudaGraphExec_t exec = instantiated(c.graph);

		say("first", cudaGraphDestroy(c.graph));
		say("second", cudaGraphDestroy(c.graph));
		if (round)
			launch(exec);
		say("third", cudaGraphDestroy(c.graph));
		CHECK(cudaGraphExecDestroy(exec));
		usleep(20000); /* what is made beside it may not be over yet */
		say("fourth", cudaGraphDestroy(c.graph));
	}
}

static void gone()
{
	for (unsigned round = 0; round < 4; round++) {
		struct chain c = made();
		cudaGraphExec_t exec = instantiated(c.graph), second = NULL;
		struct arguments args(ADD, 4);

		if (round & 2)
			second = instantiated(c.graph);
		CHECK(cudaGraphDestroy(c.graph));
		if (round & 1)
			launch(exec);
		say("set", cudaGraphExecKernelNodeSetParams(exec, c.node[ADD], &args.p));
		say("off", cudaGraphNodeSetEnabled(exec, c.node[MIX], 0));
		launch(exec);
		CHECK(cudaGraphExecDestroy(exec));
		if (second)
			CHECK(cudaGraphExecDestroy(second));
	}
}

static void inside_of(bool destroy)
{
	struct chain c = made();
	cudaGraphExec_t exec;
	cudaGraph_t parent, inside;
	cudaGraphNode_t node;

	CHECK(cudaGraphCreate(&parent, 0));
	CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, c.graph));
	CHECK(cudaGraphChildGraphNodeGetGraph(node, &inside));
	CHECK(cudaGraphDestroy(c.graph));
	exec = instantiated(inside);
	if (destroy)
		say("inside", cudaGraphDestroy(inside));
	CHECK(cudaGraphDestroy(parent));
	launch(exec);
	CHECK(cudaGraphExecDestroy(exec));
}

static void child()
{
	inside_of(false);
}

static void inside()
{
	inside_of(true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} modes[] = {{"kept", kept},       {"open", open},   {"edited", edited}, {"late", late},
		     {"calls", calls},     {"threads", threads}, {"order", order},
		     {"capture", capture}, {"reset", reset}, {"fork", forked},   {"twice", twice},
		     {"gone", gone},       {"child", child},     {"inside", inside}};

	for (const auto &m : modes)
		if (argc > 1 && !strcmp(argv[1], m.name)) {
			if (argc > 2)
				launches = (unsigned)atoi(argv[2]);
			open_world();
			m.run();
			printf("\n");
			usleep(20000);
			return 0;
		}
	fprintf(stderr, "usage: graph_lent MODE [LAUNCHES]\n");
	return 2;
}
