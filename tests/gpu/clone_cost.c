// SPDX-License-Identifier: Apache-2.0
/*
 * What reading and cloning a graph costs by its size and by that of its kernels' parameters, call
 * by call: of what the library adds to a program's instantiate call, which part grows faster than
 * the nodes, which with the parameters, and which is there the first time only? Nanoseconds per
 * node. Each row is a process of its own, as a program that makes one graph is: the first round is
 * said by itself (memory that nobody touched before is the dearest), then the median of the others.
 * `mix`: sizes as they are in a decode step of PyTorch's. `captured`: launches to a stream, not
 * nodes added one by one. `order`: does the list of a clone's nodes go as that of its graph, so
 * that nobody need search for twins?
 *
 * usage: clone_cost [BYTES|mix [NODES [captured]]]
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/driver.h"

enum { ROUNDS = 7, MOST = 16384 };

#define GRAPH_CALLS(X)                                                                             \
	X(cuGraphCreate)                                                                           \
	X(cuGraphClone)                                                                            \
	X(cuGraphGetNodes)                                                                         \
	X(cuGraphNodeFindInClone)                                                                  \
	X(cuGraphNodeGetType)                                                                      \
	X(cuGraphAddKernelNode_v2)                                                                 \
	X(cuGraphKernelNodeGetParams_v2)                                                           \
	X(cuGraphKernelNodeGetAttribute)

static struct {
#define X(name) __typeof__(name) *name;
	GRAPH_CALLS(X)
#undef X
} graph;

/* Bytes of parameters, and how many of MIX nodes have so many. */
enum { MIX = 222, LEAST = 8, MOST_BYTES = 4096, PTX = 256 };
static const struct {
	unsigned bytes, nodes;
} mix[] = {{16, 8},   {24, 26},  {32, 40}, {40, 20},   {48, 10},   {224, 4},
	   {544, 16}, {656, 43}, {760, 4}, {1048, 14}, {1720, 29}, {3440, 8}};

enum what { INSTANTIATE, CLONE, LIST, FIND, TYPE, PARAMS, ATTRIBUTE, DESTROY, WHATS };
static const char *const name[WHATS] = {"instantiate", "clone",  "list",  "find in clone",
					"type",        "params", "attr.", "destroy clone"};

static CUfunction function[MOST];
static CUgraphNode node[MOST], list[MOST], twin[MOST];
static double ns[WHATS][ROUNDS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(CUresult r)
{
	if (!r)
		return;
	fprintf(stderr, "clone_cost: error %d\n", (int)r);
	exit(1);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

#define TIMED(what, round, n, calls)                                                               \
	do {                                                                                       \
		double from_ = now();                                                              \
		calls;                                                                             \
		ns[what][round] = (now() - from_) / (double)(n);                                   \
	} while (0)

/* A kernel with so many bytes of parameters. */
static CUfunction kernel(unsigned bytes)
{
	char text[PTX];
	CUmodule module;
	CUfunction f;

	snprintf(text, sizeof(text),
		 ".version 7.0\n.target sm_80\n.address_size 64\n"
		 ".visible .entry nothing(.param .align 8 .b8 p[%u]) { ret; }\n",
		 bytes);
	GPU(cuModuleLoadData(&module, text));
	GPU(cuModuleGetFunction(&f, module, "nothing"));
	return f;
}

/* Which kernel each node has; bytes 0: the mix. */
static void choose(unsigned bytes, unsigned n)
{
	CUfunction each[MIX];
	unsigned many = 0;

	if (bytes) {
		function[0] = kernel(bytes);
		for (unsigned i = 1; i < n; i++)
			function[i] = function[0];
		return;
	}
	for (unsigned k = 0; k < sizeof(mix) / sizeof(mix[0]); k++) {
		CUfunction f = kernel(mix[k].bytes);

		for (unsigned i = 0; i < mix[k].nodes && many < MIX; i++)
			each[many++] = f;
	}
	/* No two of a kind beside each other: 37 and MIX have no divisor in common. */
	for (unsigned i = 0; i < n; i++)
		function[i] = each[i * 37 % many];
}

/* One after the other. */
static CUgraph chain(unsigned n)
{
	static uint8_t bytes[MOST_BYTES];
	void *params[] = {bytes};
	CUgraph g;

	must(graph.cuGraphCreate(&g, 0));
	for (unsigned i = 0; i < n; i++) {
		CUDA_KERNEL_NODE_PARAMS k = {.func = function[i],
					     .gridDimX = 1,
					     .gridDimY = 1,
					     .gridDimZ = 1,
					     .blockDimX = 32,
					     .blockDimY = 1,
					     .blockDimZ = 1,
					     .kernelParams = params};

		must(graph.cuGraphAddKernelNode_v2(&node[i], g, i ? &node[i - 1] : NULL, i > 0,
						   &k));
	}
	return g;
}

/* The same, as a stream is captured. */
static CUgraph capture(unsigned n)
{
	static uint8_t bytes[MOST_BYTES];
	void *params[] = {bytes};
	CUstream stream;
	CUgraph g;

	GPU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	GPU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	for (unsigned i = 0; i < n; i++)
		GPU(cuLaunchKernel(function[i], 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
	GPU(cuStreamEndCapture(stream, &g));
	return g;
}

static double sum(const double v[WHATS])
{
	double all = 0;

	for (unsigned w = CLONE; w < DESTROY; w++)
		all += v[w];
	return all;
}

static void say(const char *when, const double v[WHATS])
{
	printf("%9s", when);
	for (unsigned w = 0; w < WHATS; w++)
		printf(" %*.0f", (int)strlen(name[w]), v[w]);
	printf(" %14.0f", sum(v));
}

static void one(CUgraph g, unsigned n)
{
	double first[WHATS], median[WHATS];
	size_t many = n;
	CUgraph clone;
	int order = 1;

	for (unsigned r = 0; r < ROUNDS; r++) {
		CUlaunchAttributeValue value;
		CUDA_KERNEL_NODE_PARAMS k;
		CUgraphNodeType type;
		CUgraphExec exec;

		TIMED(INSTANTIATE, r, n, GPU(cuGraphInstantiateWithFlags(&exec, g, 0)));
		TIMED(CLONE, r, n, must(graph.cuGraphClone(&clone, g)));
		TIMED(LIST, r, n, must(graph.cuGraphGetNodes(g, node, &many)));
		must(graph.cuGraphGetNodes(clone, list, &many));
		TIMED(FIND, r, n,
		      for (unsigned i = 0; i < n; i++)
			      must(graph.cuGraphNodeFindInClone(&twin[i], node[i], clone)));
		TIMED(TYPE, r, n,
		      for (unsigned i = 0; i < n; i++)
			      must(graph.cuGraphNodeGetType(node[i], &type)));
		TIMED(PARAMS, r, n,
		      for (unsigned i = 0; i < n; i++)
			      must(graph.cuGraphKernelNodeGetParams_v2(node[i], &k)));
		TIMED(ATTRIBUTE, r, n,
		      for (unsigned i = 0; i < n; i++) must(graph.cuGraphKernelNodeGetAttribute(
			      node[i], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value)));
		for (unsigned i = 0; i < n; i++)
			order &= list[i] == twin[i];
		TIMED(DESTROY, r, n, GPU(cuGraphDestroy(clone)));
		GPU(cuGraphExecDestroy(exec));
	}
	for (unsigned w = 0; w < WHATS; w++) {
		first[w] = ns[w][0];
		qsort(ns[w] + 1, ROUNDS - 1, sizeof(ns[w][0]), ascending);
		median[w] = ns[w][ROUNDS / 2];
	}
	say("first", first);
	printf(" %s\n", order ? "same order" : "another order");
	printf("%21s", "");
	say("then", median);
	printf("\n");
}

/* What the first touch of a page of memory costs here. */
static double page(void)
{
	enum { PAGE = 4096, PAGES = 4096 };
	uint8_t *p = mmap(NULL, PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	double from;

	if (p == MAP_FAILED)
		return 0;
	madvise(p, PAGE * PAGES, MADV_NOHUGEPAGE);
	from = now();
	for (unsigned i = 0; i < PAGES; i++)
		((volatile uint8_t *)p)[i * PAGE] = 1;
	from = now() - from;
	munmap(p, PAGE * PAGES);
	return from / PAGES;
}

static int row(char **what, unsigned bytes, unsigned n)
{
	bool captured = what[2] && !strcmp(what[2], "captured");
	void *lib;

	gpu_open();
	if (!(lib = dlopen("libcuda.so.1", RTLD_NOW)))
		return 1;
#define X(call)                                                                                    \
	if (!(graph.call = (__typeof__(call) *)dlsym(lib, #call)))                                 \
		return 1;
	GRAPH_CALLS(X)
#undef X
	choose(bytes, n);
	printf("%4s %5u %-9s", what[0], n, captured ? "captured" : "added");
	one(captured ? capture(n) : chain(n), n);
	return 0;
}

static int table(void)
{
	static const char *const rows[][3] = {
		{"8", "250"},
		{"8", "1000"},
		{"8", "2000"},
		{"8", "4000"},
		{"64", "2000"},
		{"600", "2000"},
		{"4000", "2000"},
		{"mix", "250"},
		{"mix", "813"},
		{"mix", "1725"},
		{"mix", "4000"},
		{"mix", "813", "captured"},
		{"mix", "1725", "captured"},
	};
	int failed = 0, status;

	printf("ns a node; the first touch of a page of memory: %.0f ns\n%4s %5s %-9s %8s", page(),
	       "par.", "nodes", "made", "round");
	for (unsigned w = 0; w < WHATS; w++)
		printf(" %s", name[w]);
	printf(" clone to attr.\n");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (!child) {
			execl("/proc/self/exe", "clone_cost", rows[i][0], rows[i][1], rows[i][2],
			      (char *)NULL);
			_exit(1);
		}
		failed |= child < 0 || waitpid(child, &status, 0) != child || status;
	}
	return failed;
}

int main(int argc, char **argv)
{
	int bytes, n = argc > 2 ? atoi(argv[2]) : 1000;

	if (argc < 2)
		return table();
	bytes = strcmp(argv[1], "mix") ? atoi(argv[1]) : 0;
	if ((strcmp(argv[1], "mix") && bytes < LEAST) || bytes > MOST_BYTES || n < 1 || n > MOST) {
		fprintf(stderr, "usage: clone_cost [BYTES|mix [NODES [captured]]]\n");
		return 1;
	}
	return row(argv + 1, (unsigned)bytes, (unsigned)n);
}
