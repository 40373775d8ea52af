// SPDX-License-Identifier: Apache-2.0
/*
 * What reading and cloning a graph costs by its size, call by call: of what the library adds to a
 * program's instantiate call, which part grows faster than the nodes. Nanoseconds per node, medians
 * of rounds; `order`: does the list of a clone's nodes go as that of its graph, so that nobody need
 * search for twins?
 *
 * usage: clone_cost [NODES...]
 */
#include <time.h>

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

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
			  ".visible .entry nothing(.param .u64 p) { ret; }\n";

enum what { INSTANTIATE, CLONE, LIST, FIND, TYPE, PARAMS, ATTRIBUTE, DESTROY, WHATS };
static const char *const name[WHATS] = {"instantiate", "clone",  "list",  "find in clone",
					"type",        "params", "attr.", "destroy clone"};

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

/* One after the other, as a captured stream is. */
static CUgraph chain(CUfunction f, unsigned n)
{
	uint64_t p = 0;
	void *params[] = {&p};
	CUDA_KERNEL_NODE_PARAMS k = {.func = f,
				     .gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 32,
				     .blockDimY = 1,
				     .blockDimZ = 1,
				     .kernelParams = params};
	CUgraph g;

	must(graph.cuGraphCreate(&g, 0));
	for (unsigned i = 0; i < n; i++)
		must(graph.cuGraphAddKernelNode_v2(&node[i], g, i ? &node[i - 1] : NULL, i > 0,
						   &k));
	return g;
}

static void one(CUfunction f, unsigned n)
{
	CUgraph g = chain(f, n), clone;
	size_t many = n;
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
	printf("%5u", n);
	for (unsigned w = 0; w < WHATS; w++) {
		qsort(ns[w], ROUNDS, sizeof(ns[w][0]), ascending);
		printf(" %*.0f", (int)strlen(name[w]), ns[w][ROUNDS / 2]);
	}
	printf(" %s\n", order ? "same order" : "another order");
	GPU(cuGraphDestroy(g));
}

int main(int argc, char **argv)
{
	static const unsigned usual[] = {250, 500, 1000, 2000, 4000};
	CUmodule module;
	CUfunction f;
	void *lib;

	gpu_open();
	if (!(lib = dlopen("libcuda.so.1", RTLD_NOW)))
		return 1;
#define X(call)                                                                                    \
	if (!(graph.call = (__typeof__(call) *)dlsym(lib, #call)))                                 \
		return 1;
	GRAPH_CALLS(X)
#undef X
	GPU(cuModuleLoadData(&module, ptx));
	GPU(cuModuleGetFunction(&f, module, "nothing"));
	printf("%s, ns a node\nnodes", gpu.name);
	for (unsigned w = 0; w < WHATS; w++)
		printf(" %s", name[w]);
	printf("\n");
	for (int i = 1; i < argc; i++)
		if (atoi(argv[i]) > 0 && atoi(argv[i]) <= MOST)
			one(f, (unsigned)atoi(argv[i]));
	for (unsigned i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		one(f, usual[i]);
	return 0;
}
