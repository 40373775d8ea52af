/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs without races: kernels, copies, fills, host functions, child graphs, aliasing and
 * edges by a seed, then launches on several streams and edits of every kind, and of the graph that
 * the executable one was made of. Prints, for each case,
 * a checksum of the memory after each launch, and every answer. Two runs must print the same.
 *
 *   graph_random FIRST COUNT [PAUSE_US]   cases; after each launch it sleeps so long
 *   graph_random crowd FIRST COUNT        cases on four threads at once, each with memory of its
 * own graph_random threads COUNT            two threads launch one executable graph in turn
 *   graph_random order                    graphs and executable graphs destroyed in any order
 *   graph_random reset                    the device is reset with executable graphs in use
 *   graph_random dead                     what is overwritten unread, until an edit
 *   graph_random attributes               a chain with a priority, or an attribute at a launch or
 *                                         at a node
 *   graph_random alone                    graphs that no clone can be had of, that have nothing to
 *                                         fuse, and one whose program runs out of memory
 *
 * With GRAPH_RANDOM_VERBOSE in the environment, cases say on stderr what they do, and wait for it.
 * With GRAPH_RANDOM_PLAIN kernels are mostly of those that can be computed in one way only.
 * With GRAPH_RANDOM_FILLS_STAY no node that fills memory is switched off: on an H200 with driver
 * 580.159 what such a graph leaves differs from run to run then, or it faults (case 89).
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <cuda_runtime.h>
#include "graph_random_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "graph_random: %s: %s\n", #call,                           \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum {
	BUFFERS = 7, /* of floats; behind them the weights, then whole numbers */
	WHOLES = 3,
	FIRST_WHOLE = BUFFERS + 1,
	ALL = FIRST_WHOLE + WHOLES,
	ROWS = 4,
	COLS = 64,
	ELEMENTS = ROWS * COLS,
	BLOCK = 64,
	STREAMS = 3
};

enum kind {
	ADD,
	NORM,
	SILU,
	MUL,
	MIX,
	SCALE,
	RELU,
	NEG,
	IADD,
	IMUL,
	IRELU,
	CAST, /* whole numbers to floats */
	LAST_KERNEL = CAST,
	COPY,
	FILL,
	HOST,
	EMPTY,
	CHILD
};

static float eps = 1e-5f;
static int elements = ELEMENTS, cols = COLS;
static thread_local uint64_t state;

static unsigned rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 20) % n);
}

/* What a node does. Buffers by number; weights are only read. */
struct what {
	enum kind kind = EMPTY;
	unsigned out = 0, a = 0, b = 0;
	float value = 0;
	bool enabled = true;
};

static bool writes(const struct what &w)
{
	return w.kind <= FILL;
}

static bool has_two(enum kind k)
{
	return k == ADD || k == MUL || k == MIX || k == NORM || k == IADD || k == IMUL;
}

static bool reads(const struct what &w, unsigned buffer)
{
	bool two = has_two(w.kind);

	return (w.kind <= COPY && w.a == buffer) || (two && w.b == buffer);
}

/* Host functions count, and nothing else does. */
static bool conflict(const struct what &x, const struct what &y)
{
	return (writes(x) && (reads(y, x.out) || (writes(y) && y.out == x.out))) ||
	       (writes(y) && reads(x, y.out)) || (x.kind == HOST && y.kind == HOST) ||
	       x.kind == CHILD || y.kind == CHILD; /* touches what it likes */
}

struct node {
	struct what what;
	std::vector<struct what> child; /* a chain */
	std::vector<unsigned> after;
	cudaGraphNode_t handle;
};

struct world {
	float *buffer[ALL];
	cudaStream_t stream[STREAMS];
	int counted;
	struct tick {
		int *counted, by;
	} tick[BUFFERS];
};

static thread_local struct world world;
static thread_local FILE *out = stdout;

static void CUDART_CB count(void *data)
{
	struct world::tick *t = (struct world::tick *)data;

	*t->counted = *t->counted * 31 + t->by;
}

/* Arguments that live as long as the call. */
struct arguments {
	void *out, *a, *b, *list[5];
	float scale;
	cudaKernelNodeParams p;

	explicit arguments(const struct what &w)
	{
		static void *const kernel[] = {
			(void *)graph_add,  (void *)graph_norm,  (void *)graph_silu,
			(void *)graph_mul,  (void *)graph_mix,   (void *)graph_scale,
			(void *)graph_relu, (void *)graph_neg,   (void *)graph_iadd,
			(void *)graph_imul, (void *)graph_irelu, (void *)graph_cast};
		unsigned n = 0;

		out = world.buffer[w.out];
		a = world.buffer[w.a];
		b = world.buffer[w.b];
		list[n++] = &out;
		list[n++] = &a;
		scale = (float)((int)(w.value * 100) % 3) - 0.75f; /* few: each is another kernel */
		if (has_two(w.kind))
			list[n++] = &b;
		if (w.kind == SCALE)
			list[n++] = &scale;
		list[n++] = w.kind == NORM ? (void *)&cols : (void *)&elements;
		if (w.kind == NORM)
			list[n++] = &eps;
		memset(&p, 0, sizeof(p));
		p.func = kernel[w.kind];
		p.gridDim = dim3(ROWS);
		p.blockDim = dim3(BLOCK);
		p.kernelParams = list;
	}
};

static cudaMemsetParams fill_params(const struct what &w)
{
	cudaMemsetParams p;

	memset(&p, 0, sizeof(p));
	p.dst = world.buffer[w.out];
	p.elementSize = 4;
	memcpy(&p.value, &w.value, 4);
	p.width = ELEMENTS;
	p.height = 1;
	return p;
}

/* Would its threads or its two ends race with each other? */
static bool tangled(const struct what &w)
{
	return (w.kind == COPY && w.a == w.out) || (w.kind == MIX && w.b == w.out);
}

/* Floats: only these have kinds that can be. */
static void untangle(struct what &w)
{
	if (tangled(w))
		w.a = w.b = (w.out + 1) % BUFFERS;
}

static bool is_whole(enum kind k)
{
	return k == IADD || k == IMUL || k == IRELU;
}

static const bool plain = getenv("GRAPH_RANDOM_PLAIN");

static void random_buffers(struct what &w)
{
	w.out = is_whole(w.kind) ? FIRST_WHOLE + rnd(WHOLES) : rnd(BUFFERS);
	w.a = is_whole(w.kind) || w.kind == CAST ? FIRST_WHOLE + rnd(WHOLES) : rnd(BUFFERS);
	if (w.kind != NORM)
		w.b = is_whole(w.kind) ? FIRST_WHOLE + rnd(WHOLES) : rnd(BUFFERS);
	if (w.kind == FILL && rnd(plain ? 1 : 3) == 0)
		w.out = FIRST_WHOLE + rnd(WHOLES);
}

static const enum kind few[] = {SCALE, RELU, NEG}, wholes[] = {IADD, IMUL, IRELU};

static enum kind random_kind()
{
	const unsigned k = rnd(48);

	if (plain)
		return k < 28   ? wholes[rnd(3)]
		       : k < 32 ? CAST
		       : k < 35 ? NEG
		       : k < 37 ? MIX
		       : k < 39 ? COPY
		       : k < 47 ? FILL
				: EMPTY;
	return k < 9    ? ADD
	       : k < 18 ? NORM
	       : k < 23 ? SILU
	       : k < 28 ? MUL
	       : k < 32 ? MIX
	       : k < 34 ? COPY
	       : k < 37 ? FILL
	       : k < 38 ? HOST
	       : k < 41 ? EMPTY
	       : k < 44 ? few[rnd(3)]
	       : k < 47 ? wholes[rnd(3)]
			: CAST;
}

static struct what random_what(const struct what *last)
{
	struct what w;

	w.kind = random_kind();
	w.value = (float)rnd(100) / 100;
	/* Often the second half of a pair, or more of a chain. */
	if (last && rnd(3)) {
		if (last->kind == ADD)
			w.kind = NORM;
		else if (last->kind == SILU)
			w.kind = MUL;
		else if (last->kind == IRELU && rnd(3) == 0)
			w.kind = CAST;
		else if (is_whole(last->kind))
			w.kind = wholes[rnd(3)];
		random_buffers(w);
		if (writes(*last) && (last->out < BUFFERS) == (w.a < BUFFERS))
			w.a = last->out;
	} else {
		random_buffers(w);
	}
	if (w.kind == NORM)
		w.b = BUFFERS;
	untangle(w);
	return w;
}

static cudaError_t add_node(cudaGraph_t g, cudaGraphNode_t *to, const struct what &w,
			    const std::vector<cudaGraphNode_t> &after)
{
	cudaMemsetParams fill = fill_params(w);
	cudaHostNodeParams host = {count, &world.tick[w.out]};

	switch (w.kind) {
	case COPY:
		return cudaGraphAddMemcpyNode1D(to, g, after.data(), after.size(),
						world.buffer[w.out], world.buffer[w.a],
						ELEMENTS * sizeof(float), cudaMemcpyDeviceToDevice);
	case FILL:
		return cudaGraphAddMemsetNode(to, g, after.data(), after.size(), &fill);
	case HOST:
		return cudaGraphAddHostNode(to, g, after.data(), after.size(), &host);
	case EMPTY:
		return cudaGraphAddEmptyNode(to, g, after.data(), after.size());
	default: {
		struct arguments args(w);

		return cudaGraphAddKernelNode(to, g, after.data(), after.size(), &args.p);
	}
	}
}

/* The graph, and the handles of its nodes. */
static cudaGraph_t make_graph(std::vector<struct node> &nodes)
{
	cudaGraph_t g, child;

	CHECK(cudaGraphCreate(&g, 0));
	for (struct node &n : nodes) {
		std::vector<cudaGraphNode_t> after;

		for (unsigned a : n.after)
			after.push_back(nodes[a].handle);
		if (n.what.kind != CHILD) {
			CHECK(add_node(g, &n.handle, n.what, after));
			continue;
		}
		std::vector<cudaGraphNode_t> last;
		CHECK(cudaGraphCreate(&child, 0));
		for (const struct what &w : n.child) {
			cudaGraphNode_t one;

			CHECK(add_node(child, &one, w, last));
			last = {one};
		}
		CHECK(cudaGraphAddChildGraphNode(&n.handle, g, after.data(), after.size(), child));
		CHECK(cudaGraphDestroy(child));
	}
	return g;
}

static std::vector<struct node> random_nodes()
{
	std::vector<struct node> nodes(3 + rnd(12));
	bool chain = rnd(3) == 0;

	for (size_t i = 0; i < nodes.size(); i++) {
		struct node &n = nodes[i];

		n.what = random_what(i ? &nodes[i - 1].what : NULL);
		if (rnd(24) == 0) {
			n.what.kind = CHILD;
			for (unsigned k = 0, most = 2 + rnd(3); k < most; k++)
				n.child.push_back(random_what(k ? &n.child.back() : NULL));
		}
		for (size_t k = 0; k < i; k++)
			if (chain ? k + 1 == i : conflict(nodes[k].what, n.what) || rnd(14) == 0)
				n.after.push_back((unsigned)k);
	}
	return nodes;
}

/* Does some path lead from a to b? */
static bool before(const std::vector<struct node> &nodes, size_t a, size_t b)
{
	for (unsigned k : nodes[b].after)
		if (k == a || before(nodes, a, k))
			return true;
	return false;
}

/* Would node i, doing w, race with another? */
static bool races(const std::vector<struct node> &nodes, size_t i, const struct what &w)
{
	for (size_t k = 0; k < nodes.size(); k++)
		if (k != i && conflict(nodes[k].what, w) &&
		    !before(nodes, k < i ? k : i, k < i ? i : k))
			return true;
	return false;
}

static const bool verbose = getenv("GRAPH_RANDOM_VERBOSE");
#define SAY(...) (verbose ? (void)fprintf(stderr, __VA_ARGS__) : (void)0)

static void say_node(size_t i, const struct node &n)
{
	static const char *const name[] = {"add",  "norm", "silu", "mul",   "mix",   "scale",
					   "relu", "neg",  "iadd", "imul",  "irelu", "cast",
					   "copy", "fill", "host", "empty", "child"};

	SAY("  %zu %s out %u a %u b %u value %g after", i, name[n.what.kind], n.what.out, n.what.a,
	    n.what.b, (double)n.what.value);
	for (unsigned a : n.after)
		SAY(" %u", a);
	for (const struct what &w : n.child)
		SAY(" [%s out %u a %u b %u]", name[w.kind], w.out, w.a, w.b);
	SAY("\n");
}

static uint64_t checksum()
{
	std::vector<uint32_t> host(ELEMENTS);
	uint64_t h;

	CHECK(cudaDeviceSynchronize());
	h = (uint64_t)world.counted;
	for (unsigned i = 0; i < ALL; i++) {
		if (i == BUFFERS)
			continue;
		CHECK(cudaMemcpy(host.data(), world.buffer[i], ELEMENTS * sizeof(float),
				 cudaMemcpyDeviceToHost));
		for (uint32_t v : host) {
			if (i < BUFFERS && (v & 0x7fffffff) > 0x7f800000) /* any NaN is one */
				v = 0x7fc00000;
			h = (h ^ v) * UINT64_C(0x100000001b3);
		}
	}
	return h;
}

static void reset()
{
	std::vector<float> host(ELEMENTS);

	world.counted = 0;
	for (unsigned i = 0; i < ALL; i++) {
		for (float &v : host) {
			const int n = (int)rnd(2001) - 1000;

			v = (float)n / 1000;
			if (i >= FIRST_WHOLE)
				memcpy(&v, &n, sizeof(v));
		}
		CHECK(cudaMemcpy(world.buffer[i], host.data(), ELEMENTS * sizeof(float),
				 cudaMemcpyHostToDevice));
	}
}

/* One executable graph and what the program knows of it. */
struct subject {
	std::vector<struct node> nodes;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	std::string answers;
	bool graph_gone;
	std::vector<struct node> rework; /* the graph's nodes as they are now */
	uint64_t aside;                  /* chance of its own, so that the rest stays what it was */
};

static void answer(struct subject &s, cudaError_t r)
{
	s.answers += ' ' + std::to_string((int)r);
	(void)cudaGetLastError();
}

static void set_params(struct subject &s)
{
	size_t i = rnd((unsigned)s.nodes.size());
	struct node &n = s.nodes[i];
	struct what w = n.what;
	cudaError_t r = cudaErrorNotSupported;

	random_buffers(w);
	w.value = (float)rnd(100) / 50;
	if (w.kind == CHILD || w.kind == EMPTY || races(s.nodes, i, w) || tangled(w))
		return;
	if (w.kind <= LAST_KERNEL) {
		struct arguments args(w);

		if (rnd(12) == 0)
			args.p.blockDim = dim3(0); /* refused */
		r = cudaGraphExecKernelNodeSetParams(s.exec, n.handle, &args.p);
	} else if (w.kind == COPY) {
		r = cudaGraphExecMemcpyNodeSetParams1D(s.exec, n.handle, world.buffer[w.out],
						       world.buffer[w.a], ELEMENTS * sizeof(float),
						       cudaMemcpyDeviceToDevice);
	} else if (w.kind == FILL) {
		cudaMemsetParams p = fill_params(w);

		r = cudaGraphExecMemsetNodeSetParams(s.exec, n.handle, &p);
	} else if (w.kind == HOST) {
		cudaHostNodeParams p = {count, &world.tick[w.out]};

		r = cudaGraphExecHostNodeSetParams(s.exec, n.handle, &p);
	}
	answer(s, r);
	SAY("set_params: %d\n", (int)r);
	if (r == cudaSuccess)
		n.what = w;
	say_node(i, n);
}

static void toggle(struct subject &s)
{
	static const bool stay = getenv("GRAPH_RANDOM_FILLS_STAY");
	size_t i = rnd((unsigned)s.nodes.size());
	struct node &n = s.nodes[i];
	cudaError_t r;

	if (stay && n.what.kind == FILL)
		return;
	r = cudaGraphNodeSetEnabled(s.exec, n.handle, !n.what.enabled);

	answer(s, r);
	SAY("toggle %zu: %d\n", i, (int)r);
	if (r == cudaSuccess)
		n.what.enabled = !n.what.enabled;
}

/* Another graph of the same form, or (sometimes) of another. */
static void update(struct subject &s)
{
	std::vector<struct node> nodes = s.nodes;
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t g;
	cudaError_t r;

	if (rnd(5) == 0) {
		nodes = random_nodes();
	} else {
		for (size_t i = 0, n = rnd(3); i < n; i++) {
			size_t at = rnd((unsigned)nodes.size());
			struct what w = nodes[at].what;

			random_buffers(w);
			if (w.kind != CHILD && !tangled(w) && !races(nodes, at, w))
				nodes[at].what = w;
		}
	}
	g = make_graph(nodes);
	memset(&info, 0, sizeof(info));
	r = cudaGraphExecUpdate(s.exec, g, &info);
	answer(s, r);
	s.answers += '/' + std::to_string((int)info.result);
	SAY("update: %d, result %d\n", (int)r, (int)info.result);
	for (size_t i = 0; i < nodes.size(); i++)
		say_node(i, nodes[i]);
	CHECK(cudaGraphDestroy(g));
	if (r != cudaSuccess)
		return;
	/* Handles stay the first graph's; what they stand for is the new one's. */
	for (size_t i = 0; i < nodes.size(); i++) {
		bool enabled = s.nodes[i].what.enabled;

		s.nodes[i].what = nodes[i].what;
		s.nodes[i].what.enabled = enabled;
	}
}

static void rework_node(struct subject &s)
{
	size_t i = rnd((unsigned)s.rework.size());
	struct node &n = s.rework[i];
	struct what w = n.what;
	cudaError_t r = cudaErrorNotSupported;

	random_buffers(w);
	w.value = (float)rnd(100) / 50;
	if (w.kind == CHILD || w.kind == EMPTY || races(s.rework, i, w) || tangled(w))
		return;
	if (w.kind <= LAST_KERNEL) {
		struct arguments args(w);

		r = cudaGraphKernelNodeSetParams(n.handle, &args.p);
	} else if (w.kind == COPY) {
		r = cudaGraphMemcpyNodeSetParams1D(n.handle, world.buffer[w.out], world.buffer[w.a],
						   ELEMENTS * sizeof(float),
						   cudaMemcpyDeviceToDevice);
	} else if (w.kind == FILL) {
		cudaMemsetParams p = fill_params(w);

		r = cudaGraphMemsetNodeSetParams(n.handle, &p);
	} else if (w.kind == HOST) {
		cudaHostNodeParams p = {count, &world.tick[w.out]};

		r = cudaGraphHostNodeSetParams(n.handle, &p);
	}
	answer(s, r);
	if (r == cudaSuccess)
		n.what = w;
}

/* One more node, behind all there are. */
static void rework_more(struct subject &s)
{
	std::vector<cudaGraphNode_t> all;
	struct node n;

	n.what.kind = rnd(2) ? COPY : FILL;
	random_buffers(n.what);
	untangle(n.what);
	for (unsigned i = 0; i < s.rework.size(); i++) {
		all.push_back(s.rework[i].handle);
		n.after.push_back(i);
	}
	answer(s, add_node(s.graph, &n.handle, n.what, all));
	s.rework.push_back(n);
}

/* An executable graph of what has become of it. */
static void rework_again(struct subject &s)
{
	cudaGraphExec_t exec;
	cudaError_t r = cudaGraphInstantiate(&exec, s.graph, 0);

	answer(s, r);
	if (r != cudaSuccess)
		return;
	CHECK(cudaDeviceSynchronize());
	answer(s, cudaGraphLaunch(exec, world.stream[rnd(STREAMS)]));
	if (rnd(2)) {
		answer(s, cudaGraphDestroy(s.graph));
		s.graph_gone = true;
	}
	CHECK(cudaDeviceSynchronize());
	answer(s, cudaGraphExecDestroy(exec));
}

/* Something with the program's own graph, which is nothing to the executable one. */
static void rework(struct subject &s)
{
	cudaGraph_t copy;
	size_t n = 0;

	if (s.graph_gone)
		return;
	std::swap(state, s.aside);
	switch (rnd(6)) {
	case 0:
	case 1:
		rework_node(s);
		break;
	case 2:
		rework_more(s);
		break;
	case 3:
		rework_again(s);
		break;
	case 4:
		answer(s, cudaGraphGetNodes(s.graph, NULL, &n));
		s.answers += '=' + std::to_string(n);
		break;
	case 5:
		answer(s, cudaGraphClone(&copy, s.graph));
		answer(s, cudaGraphDestroy(copy));
		break;
	}
	std::swap(state, s.aside);
}

static void edit(struct subject &s)
{
	switch (rnd(8)) {
	case 0:
	case 1:
	case 2:
		set_params(s);
		break;
	case 3:
		toggle(s);
		break;
	case 4:
	case 5:
		update(s);
		break;
	case 6:
		if (!s.graph_gone)
			answer(s, cudaGraphDestroy(s.graph));
		s.graph_gone = true;
		break;
	case 7:
		answer(s, cudaGraphUpload(s.exec, world.stream[rnd(STREAMS)]));
		break;
	}
}

static void one_case(unsigned seed, unsigned pause_us)
{
	struct subject s;

	state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (int i = 0; i < 8; i++)
		rnd(2);
	reset();
	s.nodes = random_nodes();
	s.graph = make_graph(s.nodes);
	s.graph_gone = false;
	answer(s, cudaGraphInstantiate(&s.exec, s.graph, 0));
	if (rnd(3) == 0) {
		answer(s, cudaGraphDestroy(s.graph));
		s.graph_gone = true;
	}
	s.rework = s.nodes;
	s.aside = state ^ UINT64_C(0x5851f42d4c957f2d);
	for (unsigned n = seed % 4; n > 1; n--)
		rework(s);
	fprintf(out, "%u:", seed);
	SAY("case %u\n", seed);
	for (size_t i = 0; i < s.nodes.size(); i++)
		say_node(i, s.nodes[i]);
	for (unsigned launch = 0; launch < 6; launch++) {
		/* Some launches follow each other, on whatever streams. */
		for (unsigned i = 0, n = 1 + rnd(3); i < n; i++) {
			cudaError_t r = cudaGraphLaunch(s.exec, world.stream[rnd(STREAMS)]);

			answer(s, r);
			if (verbose) {
				SAY("launch: %d\n", (int)r);
				CHECK(cudaDeviceSynchronize());
			}
		}
		if (rnd(2)) {
			fprintf(out, " %016llx", (unsigned long long)checksum());
			if (pause_us)
				usleep(pause_us);
		}
		if (seed % 3 == 0)
			rework(s);
		if (launch >= 1 && rnd(2))
			for (unsigned i = 0, n = 1 + rnd(2); i < n; i++)
				edit(s);
	}
	answer(s, cudaGraphExecDestroy(s.exec));
	if (!s.graph_gone)
		answer(s, cudaGraphDestroy(s.graph));
	fprintf(out, " %016llx;%s\n", (unsigned long long)checksum(), s.answers.c_str());
}

/* add, norm, silu, mul in one chain that changes its own input. */
static std::vector<struct node> chain()
{
	std::vector<struct node> nodes(5);

	nodes[0].what.kind = ADD;
	nodes[0].what.out = 0, nodes[0].what.a = 0, nodes[0].what.b = 1;
	nodes[1].what.kind = NORM;
	nodes[1].what.out = 2, nodes[1].what.a = 0, nodes[1].what.b = BUFFERS;
	nodes[2].what.kind = SILU;
	nodes[2].what.out = 3, nodes[2].what.a = 2;
	nodes[3].what.kind = MUL;
	nodes[3].what.out = 1, nodes[3].what.a = 3, nodes[3].what.b = 0;
	nodes[4].what.kind = MIX;
	nodes[4].what.out = 0, nodes[4].what.a = 1, nodes[4].what.b = 2;
	for (unsigned i = 1; i < nodes.size(); i++)
		nodes[i].after = {i - 1};
	return nodes;
}

static cudaGraph_t chain_graph()
{
	std::vector<struct node> nodes = chain();

	return make_graph(nodes);
}

static void threads(unsigned launches)
{
	cudaGraph_t g;
	cudaGraphExec_t exec;
	std::mutex mutex;
	std::thread other;

	state = 42;
	reset();
	g = chain_graph();
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphDestroy(g));
	struct world *mine = &world;
	auto work = [&, mine](int stream) {
		for (unsigned i = 0; i < launches; i++) {
			{
				std::lock_guard<std::mutex> hold(mutex);

				CHECK(cudaGraphLaunch(exec, mine->stream[stream]));
			}
			usleep(rnd(3) * 500);
		}
	};
	other = std::thread(work, 1);
	work(0);
	other.join();
	printf("threads %016llx\n", (unsigned long long)checksum());
	CHECK(cudaGraphExecDestroy(exec));
}

/* Executable graphs that are destroyed while they run, before, behind and without their graphs. */
static void order()
{
	state = 7;
	reset();
	for (unsigned round = 0; round < 24; round++) {
		cudaGraph_t g = chain_graph();
		cudaGraphExec_t first, second;

		CHECK(cudaGraphInstantiate(&first, g, 0));
		if (round & 1)
			usleep(4000);
		CHECK(cudaGraphLaunch(first, world.stream[0]));
		CHECK(cudaGraphInstantiate(&second, g, 0));
		if (round & 2)
			CHECK(cudaGraphDestroy(g));
		if (round & 4)
			usleep(4000);
		CHECK(cudaGraphLaunch(first, world.stream[round % STREAMS]));
		CHECK(cudaGraphExecDestroy(first));
		CHECK(cudaStreamSynchronize(world.stream[0]));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaGraphLaunch(second, world.stream[1]));
		if (round & 8)
			CHECK(cudaStreamSynchronize(world.stream[1]));
		CHECK(cudaGraphExecDestroy(second));
		if (!(round & 2))
			CHECK(cudaGraphDestroy(g));
		CHECK(cudaDeviceSynchronize());
	}
	printf("order %016llx\n", (unsigned long long)checksum());
}

/* A sum and its norm, something beside the point, and what overwrites the sum. */
static std::vector<struct node> dead_nodes(enum kind over)
{
	std::vector<struct node> nodes(4);

	nodes[0].what.kind = ADD;
	nodes[0].what.out = 0, nodes[0].what.a = 1, nodes[0].what.b = 2;
	nodes[1].what.kind = NORM;
	nodes[1].what.out = 3, nodes[1].what.a = 0, nodes[1].what.b = BUFFERS;
	nodes[2].what.kind = ADD;
	nodes[2].what.out = 4, nodes[2].what.a = 1, nodes[2].what.b = 5;
	nodes[3].what.kind = over;
	nodes[3].what.out = 0, nodes[3].what.a = 5, nodes[3].what.b = 6;
	nodes[3].what.value = 0.5f;
	for (unsigned i = 1; i < nodes.size(); i++)
		nodes[i].after = {i - 1};
	return nodes;
}

/* The node of that number does something else from now on. */
static void dead_edit(struct subject &s, unsigned way, unsigned at, const struct what &w)
{
	cudaGraphExecUpdateResultInfo info;
	struct arguments args(w.kind <= LAST_KERNEL ? w : s.nodes[0].what);
	cudaMemsetParams fill = fill_params(w);
	cudaGraph_t g;

	s.nodes[at].what = w;
	if (way == 0 && w.kind == COPY)
		CHECK(cudaGraphExecMemcpyNodeSetParams1D(
			s.exec, s.nodes[at].handle, world.buffer[w.out], world.buffer[w.a],
			ELEMENTS * sizeof(float), cudaMemcpyDeviceToDevice));
	else if (way == 0 && w.kind == FILL)
		CHECK(cudaGraphExecMemsetNodeSetParams(s.exec, s.nodes[at].handle, &fill));
	else if (way == 0)
		CHECK(cudaGraphExecKernelNodeSetParams(s.exec, s.nodes[at].handle, &args.p));
	if (way == 1)
		CHECK(cudaGraphNodeSetEnabled(s.exec, s.nodes[at].handle, 0));
	if (way != 2)
		return;
	g = make_graph(s.nodes);
	CHECK(cudaGraphExecUpdate(s.exec, g, &info));
	CHECK(cudaGraphDestroy(g));
}

static void dead_launch(const struct subject &s, unsigned launches, unsigned pause_us)
{
	for (unsigned i = 0; i < launches; i++) {
		CHECK(cudaGraphLaunch(s.exec, world.stream[i % STREAMS]));
		printf(" %016llx", (unsigned long long)checksum());
		usleep(pause_us);
	}
}

/*
 * Ways to take the overwriter away: parameters, switching it off, a new graph; in the fourth case
 * the node in between becomes a reader, in the fifth nothing happens. Checksums before, right
 * after, and later.
 */
static void dead()
{
	static const enum kind over[] = {ADD, COPY, FILL};
	struct subject s;

	for (enum kind k : over)
		for (unsigned way = 0; way < 5; way++) {
			struct what w;

			state = 11;
			reset();
			s.nodes = dead_nodes(k);
			s.graph = make_graph(s.nodes);
			CHECK(cudaGraphInstantiate(&s.exec, s.graph, 0));
			printf("dead %d %u:", (int)k, way);
			dead_launch(s, 40, 1500);
			w = s.nodes[way == 3 ? 2 : 3].what;
			if (way == 3)
				w.b = 0; /* the sum */
			else if (way != 1)
				w.out = 6, w.b = 5;
			if (way < 4)
				dead_edit(s, way == 3 ? 0 : way, way == 3 ? 2 : 3, w);
			dead_launch(s, 3, 0);
			dead_launch(s, 30, 1500);
			printf("\n");
			CHECK(cudaGraphExecDestroy(s.exec));
			CHECK(cudaGraphDestroy(s.graph));
		}
}

static void launch_some(cudaGraph_t g, unsigned launches, bool pitch)
{
	cudaGraphExec_t exec;
	size_t bytes;
	void *more;

	CHECK(cudaGraphInstantiate(&exec, g, 0));
	for (unsigned i = 0; i < launches; i++) {
		CHECK(cudaGraphLaunch(exec, world.stream[0]));
		CHECK(cudaStreamSynchronize(world.stream[0]));
		usleep(1000);
		if (pitch && i == launches / 2) {
			CHECK(cudaMallocPitch(&more, &bytes, 64, 4));
			CHECK(cudaFree(more));
		}
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(g));
	printf("%016llx\n", (unsigned long long)checksum());
}

static void alone()
{
	cudaMemAllocNodeParams memory;
	cudaGraphNode_t node;
	std::vector<struct node> mixes(2);
	cudaGraph_t g;

	state = 99;
	reset();
	g = chain_graph();
	memset(&memory, 0, sizeof(memory));
	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	memory.bytesize = 4096;
	CHECK(cudaGraphAddMemAllocNode(&node, g, NULL, 0, &memory));
	CHECK(cudaGraphAddMemFreeNode(&node, g, &node, 1, memory.dptr));
	launch_some(g, 4, false);
	for (unsigned i = 0; i < 2; i++) {
		mixes[i].what.kind = MIX;
		mixes[i].what.out = i, mixes[i].what.a = 2, mixes[i].what.b = 3;
	}
	launch_some(make_graph(mixes), 4, false);
	launch_some(chain_graph(), 60, true);
}

/* The chain as launches, one of them with an attribute. */
static cudaGraph_t captured_with_attribute(unsigned which)
{
	std::vector<struct node> nodes = chain();
	cudaStream_t s = world.stream[0];
	cudaGraph_t g;

	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	for (unsigned i = 0; i < nodes.size(); i++) {
		struct arguments a(nodes[i].what);
		cudaLaunchConfig_t config = {};
		cudaLaunchAttribute attribute = {};

		config.gridDim = a.p.gridDim, config.blockDim = a.p.blockDim, config.stream = s;
		attribute.id = cudaLaunchAttributeCooperative;
		attribute.val.cooperative = 1;
		config.attrs = &attribute, config.numAttrs = i == which;
		CHECK(cudaLaunchKernelExC(&config, a.p.func, a.p.kernelParams));
	}
	CHECK(cudaStreamEndCapture(s, &g));
	return g;
}

/* The chain as launches: those from `from` on to a stream of high priority. */
static cudaGraph_t captured_with_priority(unsigned from)
{
	std::vector<struct node> nodes = chain();
	cudaStream_t s = world.stream[0], high;
	cudaEvent_t forked, joined;
	cudaGraph_t g;

	CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -1));
	CHECK(cudaEventCreate(&forked));
	CHECK(cudaEventCreate(&joined));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	for (unsigned i = 0; i < nodes.size(); i++) {
		struct arguments a(nodes[i].what);

		if (i == from) {
			CHECK(cudaEventRecord(forked, s));
			CHECK(cudaStreamWaitEvent(high, forked, 0));
		}
		CHECK(cudaLaunchKernel(a.p.func, a.p.gridDim, a.p.blockDim, a.p.kernelParams, 0,
				       i < from ? s : high));
	}
	CHECK(cudaEventRecord(joined, high));
	CHECK(cudaStreamWaitEvent(s, joined, 0));
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaStreamDestroy(high));
	CHECK(cudaEventDestroy(forked));
	CHECK(cudaEventDestroy(joined));
	return g;
}

/* And as nodes, the first of which is given one. */
static cudaGraph_t given_attribute()
{
	cudaKernelNodeAttrValue v = {};
	cudaGraph_t g = chain_graph();
	cudaGraphNode_t first;
	size_t n = 1;

	CHECK(cudaGraphGetRootNodes(g, &first, &n));
	v.cooperative = 1;
	CHECK(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributeCooperative, &v));
	return g;
}

static void attributes()
{
	state = 77;
	reset();
	launch_some(chain_graph(), 60, false);
	launch_some(captured_with_priority(0), 60, false);
	launch_some(captured_with_priority(3), 60, false);
	launch_some(captured_with_attribute(3), 60, false);
	launch_some(given_attribute(), 60, false);
}

static void open_world()
{
	for (float *&b : world.buffer)
		CHECK(cudaMalloc(&b, ELEMENTS * sizeof(float)));
	for (cudaStream_t &s : world.stream)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (int i = 0; i < BUFFERS; i++)
		world.tick[i] = {&world.counted, i + 1};
}

/* The results come one thread after the other. */
static void crowd(unsigned first, unsigned n)
{
	enum { CROWD = 4 };
	std::vector<std::thread> threads;
	char *text[CROWD];
	size_t bytes[CROWD];

	for (unsigned t = 0; t < CROWD; t++)
		threads.emplace_back([&, t] {
			out = open_memstream(&text[t], &bytes[t]);
			open_world();
			for (unsigned i = 0; i < n; i++)
				one_case(first + t * n + i, 1000 * t);
			fclose(out);
		});
	for (unsigned t = 0; t < CROWD; t++) {
		threads[t].join();
		fputs(text[t], stdout);
		free(text[t]);
	}
}

static void device_reset()
{
	for (unsigned round = 0; round < 6; round++) {
		cudaGraphExec_t exec;
		cudaGraph_t g;

		state = 5 + round;
		reset();
		g = chain_graph();
		CHECK(cudaGraphInstantiate(&exec, g, 0));
		for (unsigned i = 0; i < 12; i++) {
			CHECK(cudaGraphLaunch(exec, world.stream[i % STREAMS]));
			if (i == round)
				usleep(8000);
		}
		printf("reset %016llx\n", (unsigned long long)checksum());
		CHECK(cudaDeviceReset());
		open_world();
	}
}

int main(int argc, char **argv)
{
	if (argc < 2 || (argc < 3 && strcmp(argv[1], "order") && strcmp(argv[1], "alone") &&
			 strcmp(argv[1], "attributes") && strcmp(argv[1], "reset") &&
			 strcmp(argv[1], "dead"))) {
		fprintf(stderr, "usage: graph_random FIRST COUNT [PAUSE_US] | crowd FIRST COUNT | "
				"threads N | order | "
				"reset | dead | attributes | alone\n");
		return 2;
	}
	open_world();
	if (!strcmp(argv[1], "threads")) {
		threads((unsigned)atoi(argv[2]));
	} else if (!strcmp(argv[1], "crowd") && argc > 3) {
		crowd((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	} else if (!strcmp(argv[1], "order")) {
		order();
	} else if (!strcmp(argv[1], "attributes")) {
		attributes();
	} else if (!strcmp(argv[1], "reset")) {
		device_reset();
	} else if (!strcmp(argv[1], "dead")) {
		dead();
	} else if (!strcmp(argv[1], "alone")) {
		alone();
	} else {
		unsigned first = (unsigned)atoi(argv[1]), n = (unsigned)atoi(argv[2]);

		for (unsigned i = first; i < first + n; i++)
			one_case(i, argc > 3 ? (unsigned)atoi(argv[3]) : 0);
	}
	return 0;
}
