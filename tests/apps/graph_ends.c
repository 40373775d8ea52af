/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may end while executable graphs are there, and what they hold. Prints answers and checksums
 * of all memory; but for what a mode says, two runs must print the same.
 *
 *   graph_ends MODE IMAGE [PAUSE_MS]      software GPU only; IMAGE: of graph_random_kernels.cuh
 *
 *   plain     launched so many times, PAUSE_MS
 *   pairs     launched twice so many times, PAUSE_MS, after two of which nothing is said
 *   objects   its graph holds a user object, and it is updated to another graph that does, too
 *   memory    there is not enough the first time a call wants some, for each such call; with the
 *             library it is not seen
 *   unload    the executable graph is destroyed, then the module of its kernels unloaded, that long
 *             after the first launch; another one has kernels at the same handles
 *   unload-live  it is destroyed after that
 *   context   its context is destroyed, and events are made in another one before it is
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/softgpu/softgpu.h"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		CUresult result_ = (call);                                                         \
		if (result_) {                                                                     \
			fprintf(stderr, "graph_ends: %s: %d\n", #call, (int)result_);              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { BUFFERS = 6, ROWS = 4, COLS = 64, ELEMENTS = ROWS * COLS, NODES = 4 };

static const char *image;
static unsigned pause_ms;
static CUcontext ctx;
static CUmodule module;
static CUfunction function[NODES];
static CUdeviceptr buffer[BUFFERS];
static CUstream stream;

static void load(void)
{
	static const char *const name[NODES] = {"_Z9graph_addPfPKfS1_i", "_Z10graph_normPfPKfS1_if",
						"_Z10graph_siluPfPKfi", "_Z9graph_mulPfPKfS1_i"};

	CHECK(cuModuleLoad(&module, image));
	for (unsigned i = 0; i < NODES; i++)
		CHECK(cuModuleGetFunction(&function[i], module, name[i]));
}

static void fill(void)
{
	static float host[ELEMENTS];
	uint32_t x = 1;

	for (unsigned i = 0; i < BUFFERS; i++) {
		for (unsigned k = 0; k < ELEMENTS; k++) {
			x = x * 1664525 + 1013904223;
			host[k] = (float)((int)(x >> 16) % 2001 - 1000) / 1000;
		}
		CHECK(cuMemcpyHtoD(buffer[i], host, sizeof(host)));
	}
}

static void open_world(void)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		CHECK(cuMemAlloc(&buffer[i], ELEMENTS * sizeof(float)));
	fill();
	load();
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void say(const char *what, CUresult r)
{
	printf(" %s:%d", what, (int)r);
}

static void say_memory(void)
{
	static uint32_t host[ELEMENTS];
	uint64_t h = 0;

	for (unsigned i = 0; i < BUFFERS; i++) {
		CHECK(cuMemcpyDtoH(host, buffer[i], sizeof(host)));
		for (unsigned k = 0; k < ELEMENTS; k++)
			h = (h ^ host[k]) * UINT64_C(0x100000001b3);
	}
	printf(" %016llx", (unsigned long long)h);
}

/* Two groups: an addition and a norm, an activation and a product. */
static CUgraph made(void)
{
	int n = ELEMENTS, cols = COLS;
	float eps = 1e-5f;
	CUdeviceptr *b = buffer;
	void *add[] = {&b[0], &b[0], &b[1], &n}, *norm[] = {&b[2], &b[0], &b[5], &cols, &eps},
	     *silu[] = {&b[3], &b[2], &n}, *mul[] = {&b[1], &b[3], &b[0], &n},
	     **args[NODES] = {add, norm, silu, mul};
	CUgraphNode node[NODES];
	CUgraph g;

	CHECK(cuGraphCreate(&g, 0));
	for (unsigned i = 0; i < NODES; i++) {
		CUDA_KERNEL_NODE_PARAMS p = {.func = function[i],
					     .gridDimX = ROWS,
					     .gridDimY = 1,
					     .gridDimZ = 1,
					     .blockDimX = COLS,
					     .blockDimY = 1,
					     .blockDimZ = 1,
					     .kernelParams = args[i]};

		CHECK(cuGraphAddKernelNode(&node[i], g, i ? &node[i - 1] : NULL, i > 0, &p));
	}
	return g;
}

static CUgraphExec instantiated(void)
{
	CUgraph g = made();
	CUgraphExec exec;

	CHECK(cuGraphInstantiate(&exec, g, 0));
	CHECK(cuGraphDestroy(g));
	return exec;
}

static void launch(CUgraphExec exec, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuStreamSynchronize(stream));
		usleep(1000);
	}
}

/* Calls of the thread that makes what stands beside graphs, of kinds that look into kernels. */
static struct {
	int on;
	unsigned n;
	const char *last;
} background;

static void enter(void *arg, const char *call, uint32_t number)
{
	char name[16] = "";

	if (!__atomic_load_n(&background.on, __ATOMIC_SEQ_CST) || prctl(PR_GET_NAME, name) ||
	    strcmp(name, "autofuse-graph") != 0)
		return;
	if (strncmp(call, "cuFunc", 6) && strncmp(call, "cuKernel", 8) &&
	    strncmp(call, "cuGraphKernelNode", 17) && strncmp(call, "cuGraphInstantiate", 18) &&
	    strncmp(call, "cuGraphAddKernel", 16))
		return;
	background.last = call;
	__atomic_add_fetch(&background.n, 1, __ATOMIC_SEQ_CST);
}

static void ran(void *arg, uint32_t number, const char *kernel, uint64_t start, uint64_t end,
		uint64_t node)
{
}

/* Kernels of three parameters, at handles that others had: the array ends where its page does. */
static void launch_others(void)
{
	static const char *const name[] = {"_Z10graph_reluPfPKfi", "_Z10graph_siluPfPKfi",
					   "_Z9graph_negPfPKfi"};
	const long page = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	void **list = (void **)(at + page) - 3;
	int n = ELEMENTS;

	mprotect(at + page, (size_t)page, PROT_NONE);
	list[0] = &buffer[3], list[1] = &buffer[2], list[2] = &n;
	for (unsigned i = 0; i < 3; i++) {
		CUfunction f;

		CHECK(cuModuleGetFunction(&f, module, name[i]));
		CHECK(cuLaunchKernel(f, ROWS, 1, 1, COLS, 1, 1, 0, stream, list, NULL));
	}
	CHECK(cuStreamSynchronize(stream));
	say_memory();
}

static void unload_then(int live)
{
	static const struct softgpu_observer observer = {.enter = enter, .ran = ran};
	CUgraphExec exec = instantiated();

	if (softgpu_observe(&observer))
		exit(1);
	launch(exec, 1);
	usleep(1000 * pause_ms);
	if (!live)
		CHECK(cuGraphExecDestroy(exec));
	CHECK(cuModuleUnload(module));
	__atomic_store_n(&background.on, 1, __ATOMIC_SEQ_CST);
	load();
	launch_others();
	usleep(1000 * (300 + 2 * pause_ms));
	__atomic_store_n(&background.on, 0, __ATOMIC_SEQ_CST);
	printf(" %u calls behind the unload", background.n);
	if (background.n)
		fprintf(stderr, "graph_ends: the last was %s\n", background.last);
	if (live)
		CHECK(cuGraphExecDestroy(exec));
}

static void unload(void)
{
	unload_then(0);
}

static void unload_live(void)
{
	unload_then(1);
}

static void plain(void)
{
	CUgraphExec exec = instantiated();

	launch(exec, pause_ms);
	say_memory();
	CHECK(cuGraphExecDestroy(exec));
}

/* Where the first of two is a check, its memory is taken when the other one comes. */
static void pairs(void)
{
	CUgraphExec exec = instantiated();

	usleep(300000);
	for (unsigned i = 0; i < 2 + pause_ms; i++) {
		fill();
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuStreamSynchronize(stream));
		if (i >= 2)
			say_memory();
		usleep(i < 2 ? 1000000 : 5000);
	}
	CHECK(cuGraphExecDestroy(exec));
}

static void set(void *flag)
{
	__atomic_store_n((int *)flag, 1, __ATOMIC_SEQ_CST);
}

static void await(void *flag)
{
	while (!__atomic_load_n((int *)flag, __ATOMIC_SEQ_CST))
		usleep(100);
}

static CUgraph made_with_object(int *released)
{
	CUgraph g = made();
	CUuserObject o;

	CHECK(cuUserObjectCreate(&o, released, set, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	CHECK(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return g;
}

static void objects(void)
{
	static int released[2], gate;
	CUgraphExecUpdateResultInfo info;
	CUgraph g = made_with_object(&released[0]);
	CUgraphExec exec;

	CHECK(cuGraphInstantiate(&exec, g, 0));
	CHECK(cuGraphDestroy(g));
	launch(exec, 60);
	g = made_with_object(&released[1]);
	CHECK(cuGraphExecUpdate(exec, g, &info));
	CHECK(cuGraphDestroy(g));
	launch(exec, 1);
	usleep(50000);
	printf(" updated: %d %d", released[0], released[1]);
	CHECK(cuLaunchHostFunc(stream, await, &gate));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphExecDestroy(exec)); /* it goes when its launch is over */
	usleep(50000);
	printf(" destroyed: %d", __atomic_load_n(&released[1], __ATOMIC_SEQ_CST));
	set(&gate);
	CHECK(cuStreamSynchronize(stream));
	usleep(50000);
	printf(" over: %d", __atomic_load_n(&released[1], __ATOMIC_SEQ_CST));
	say_memory();
}

/* A group is fused beside each exec, which can be given back. */
static void refuse(const char *call, CUresult (*again)(CUgraphExec exec))
{
	CUgraphExec exec = instantiated();
	char rule[64];

	launch(exec, 30);
	snprintf(rule, sizeof(rule), "%s:1:2", call);
	softgpu_fail(rule);
	say(call, again(exec));
	softgpu_fail(NULL);
	CHECK(cuGraphExecDestroy(exec));
}

static CUresult instantiate(CUgraphExec exec)
{
	CUgraph g = made();
	CUresult r = cuGraphInstantiate(&exec, g, 0);

	CHECK(cuGraphDestroy(g));
	return r;
}

static CUresult instantiate_params(CUgraphExec exec)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
	CUgraph g = made();
	CUresult r = cuGraphInstantiateWithParams(&exec, g, &p);

	CHECK(cuGraphDestroy(g));
	return r;
}

static CUresult upload(CUgraphExec exec)
{
	return cuGraphUpload(exec, stream);
}

static CUresult load_module(CUgraphExec exec)
{
	CUmodule m;

	return cuModuleLoad(&m, image);
}

static CUresult load_library(CUgraphExec exec)
{
	CUlibrary l;

	return cuLibraryLoadFromFile(&l, image, NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult create(CUgraphExec exec)
{
	CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
	CUmemGenericAllocationHandle h;

	return cuMemCreate(&h, 2 << 20, &p, 0);
}

static void memory(void)
{
	refuse("cuGraphInstantiateWithFlags", instantiate);
	refuse("cuGraphInstantiateWithParams", instantiate_params);
	refuse("cuGraphUpload", upload);
	refuse("cuModuleLoad", load_module);
	refuse("cuLibraryLoadFromFile", load_library);
	refuse("cuMemCreate", create);
}

static void context(void)
{
	enum { EVENTS = 16 };
	CUevent event[EVENTS];
	CUgraphExec exec;
	CUcontext own;
	unsigned bad = 0;

	CHECK(cuCtxCreate(&own, NULL, 0, 0));
	open_world();
	exec = instantiated();
	launch(exec, 60);
	CHECK(cuCtxDestroy(own));
	CHECK(cuCtxCreate(&own, NULL, 0, 0));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (unsigned i = 0; i < EVENTS; i++)
		CHECK(cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING));
	say("destroyed", cuGraphExecDestroy(exec));
	for (unsigned i = 0; i < EVENTS; i++)
		bad += cuEventRecord(event[i], stream) != CUDA_SUCCESS;
	printf(" %u events are gone", bad);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"plain", plain},    {"pairs", pairs},   {"objects", objects},
		     {"memory", memory},  {"unload", unload}, {"unload-live", unload_live},
		     {"context", context}};

	for (unsigned i = 0; argc > 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			image = argv[2];
			pause_ms = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
			CHECK(cuInit(0));
			CHECK(cuDevicePrimaryCtxRetain(&ctx, 0));
			CHECK(cuCtxSetCurrent(ctx));
			open_world();
			modes[i].run();
			printf("\n");
			return 0;
		}
	fprintf(stderr, "usage: graph_ends MODE IMAGE [PAUSE_MS]\n");
	return 2;
}
