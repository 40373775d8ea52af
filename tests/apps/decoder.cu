/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small Llama-like decoder, as people write them by hand: one kernel per step, a key/value cache,
 * greedy tokens from generated weights. Prints the tokens. With --graph each token after the prompt
 * is one launch of a graph, in one of the ways that inference engines have: captured once, captured
 * anew for each token (update), or some nodes' parameters set for each (params).
 */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "decoder_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "decoder: %s: %s\n", #call, cudaGetErrorString(error_));   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define CHECK_LAUNCH() CHECK(cudaGetLastError())

enum { BLOCK = 256 };

static const float EPS = 1e-5f;

struct options {
	int tokens = 32, layers = 2, dim = 288, heads = 6, ffn = 768, vocab = 1024, prompt = 4;
	bool stream = false, time = false;
	const char *graph = NULL; /* once, update, params */
};

struct layer {
	real *att_norm, *wq, *wk, *wv, *wo;
	real *ffn_norm, *gate, *up, *down;
	real *keys, *values; /* [position][dim] */
};

struct model {
	struct options o;
	int limit; /* positions that the cache holds */
	cudaStream_t stream;
	real *embedding, *final_norm, *logits_weight;
	std::vector<struct layer> layers;
	/* Activations: rows x dim, rows x ffn, ... */
	real *x, *other, *normed, *q, *attended, *delta, *hidden, *hidden_up, *logits;
	float *scores;
	int *tokens; /* [limit + 1] */
	int *step; /* tokens made since the graph was captured; NULL: kernels are told positions */
	std::vector<bool>
		moves; /* of each launch of a pass: do its arguments follow the position? */
};

/* Uniform in [-1, 1), xorshift64*. */
static float next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (float)(int32_t)(*state * 2685821657736338717u >> 32) / 2147483648.0f;
}

static real *device_array(size_t n)
{
	real *p;

	CHECK(cudaMalloc(&p, n * sizeof(real)));
	return p;
}

static real host_real(float v)
{
#ifdef DECODER_BF16
	return __float2bfloat16(v);
#else
	return v;
#endif
}

static real *weights(size_t n, float scale, float mean, uint64_t *state)
{
	std::vector<real> host(n);
	real *p = device_array(n);

	for (size_t i = 0; i < n; i++)
		host[i] = host_real(mean + scale * next_random(state));
	CHECK(cudaMemcpy(p, host.data(), n * sizeof(real), cudaMemcpyHostToDevice));
	return p;
}

static void model_make(struct model *m)
{
	const struct options *o = &m->o;
	size_t d = o->dim, f = o->ffn, rows = o->prompt;
	float by_dim = 1.7f / sqrtf((float)d), by_ffn = 1.7f / sqrtf((float)f);
	uint64_t state = 0x9e3779b97f4a7c15u;

	m->limit = o->prompt + o->tokens;
	m->embedding = weights(o->vocab * d, 1.0f, 0.0f, &state);
	for (int i = 0; i < o->layers; i++) {
		struct layer l;

		l.att_norm = weights(d, 0.2f, 1.0f, &state);
		l.wq = weights(d * d, by_dim, 0.0f, &state);
		l.wk = weights(d * d, by_dim, 0.0f, &state);
		l.wv = weights(d * d, by_dim, 0.0f, &state);
		l.wo = weights(d * d, by_dim, 0.0f, &state);
		l.ffn_norm = weights(d, 0.2f, 1.0f, &state);
		l.gate = weights(f * d, by_dim, 0.0f, &state);
		l.up = weights(f * d, by_dim, 0.0f, &state);
		l.down = weights(d * f, by_ffn, 0.0f, &state);
		l.keys = device_array(m->limit * d);
		l.values = device_array(m->limit * d);
		m->layers.push_back(l);
	}
	m->final_norm = weights(d, 0.2f, 1.0f, &state);
	m->logits_weight = weights(o->vocab * d, by_dim, 0.0f, &state);
	m->x = device_array(rows * d);
	m->other = device_array(rows * d);
	m->normed = device_array(rows * d);
	m->q = device_array(rows * d);
	m->attended = device_array(rows * d);
	m->delta = device_array(rows * d);
	m->hidden = device_array(rows * f);
	m->hidden_up = device_array(rows * f);
	m->logits = device_array(o->vocab);
	CHECK(cudaMalloc(&m->scores, rows * o->heads * m->limit * sizeof(float)));
	CHECK(cudaMalloc(&m->tokens, (m->limit + 1) * sizeof(int)));
	m->stream = 0;
	m->step = NULL;
	if (o->stream || o->graph)
		CHECK(cudaStreamCreate(&m->stream));
}

/* A kernel was launched. moves: its arguments follow the position. */
static void launched(struct model *m, bool moves)
{
	CHECK_LAUNCH();
	m->moves.push_back(moves);
}

static int blocks(int n)
{
	return (n + BLOCK - 1) / BLOCK;
}

/* cached: out is the cache's place for the position. */
static void matmul(struct model *m, real *out, const real *w, const real *x, int in, int outs,
		   int rows, bool cached = false)
{
	dim3 grid((outs + 3) / 4, rows);

	if (m->step && cached)
		matmul_at_kernel<<<grid, 128, 0, m->stream>>>(out, w, x, in, outs, m->step);
	else
		matmul_kernel<<<grid, 128, 0, m->stream>>>(out, w, x, in, outs);
	launched(m, cached);
}

static void rmsnorm(struct model *m, real *out, const real *x, const real *weight, int rows)
{
	rmsnorm_kernel<<<rows, BLOCK, 0, m->stream>>>(out, x, weight, m->o.dim, EPS);
	launched(m, false);
}

static void rope(struct model *m, real *x, int first, int rows, bool cached)
{
	int d = m->o.dim, head_dim = d / m->o.heads;

	if (m->step)
		rope_at_kernel<<<rows, BLOCK, 0, m->stream>>>(x, d, head_dim, first, cached,
							      m->step);
	else
		rope_kernel<<<rows, BLOCK, 0, m->stream>>>(x, d, head_dim, first);
	launched(m, true);
}

static void attend(struct model *m, const struct layer *l, int first, dim3 grid)
{
	int d = m->o.dim, head_dim = d / m->o.heads;

	if (m->step)
		scores_at_kernel<<<grid, 64, 0, m->stream>>>(m->scores, m->q, l->keys, d, head_dim,
							     first, m->limit, m->step);
	else
		scores_kernel<<<grid, 64, 0, m->stream>>>(m->scores, m->q, l->keys, d, head_dim,
							  first, m->limit);
	launched(m, true);
	if (m->step)
		softmax_at_kernel<<<grid, 64, 64 * sizeof(float), m->stream>>>(m->scores, first,
									       m->limit, m->step);
	else
		softmax_kernel<<<grid, 64, 64 * sizeof(float), m->stream>>>(m->scores, first,
									    m->limit);
	launched(m, true);
	if (m->step)
		values_at_kernel<<<grid, 64, 0, m->stream>>>(m->attended, m->scores, l->values, d,
							     head_dim, first, m->limit, m->step);
	else
		values_kernel<<<grid, 64, 0, m->stream>>>(m->attended, m->scores, l->values, d,
							  head_dim, first, m->limit);
	launched(m, true);
}

static void attention(struct model *m, const struct layer *l, int first, int rows)
{
	int d = m->o.dim;
	real *k = l->keys + (size_t)first * d, *v = l->values + (size_t)first * d;
	dim3 grid(m->o.heads, rows);

	matmul(m, m->q, l->wq, m->normed, d, d, rows);
	matmul(m, k, l->wk, m->normed, d, d, rows, true);
	matmul(m, v, l->wv, m->normed, d, d, rows, true);
	rope(m, m->q, first, rows, false);
	rope(m, k, first, rows, true);
	attend(m, l, first, grid);
	matmul(m, m->delta, l->wo, m->attended, d, d, rows);
}

static void feed_forward(struct model *m, const struct layer *l, int rows)
{
	int d = m->o.dim, f = m->o.ffn;

	matmul(m, m->hidden, l->gate, m->normed, d, f, rows);
	matmul(m, m->hidden_up, l->up, m->normed, d, f, rows);
	silu_kernel<<<blocks(rows * f), BLOCK, 0, m->stream>>>(m->hidden, rows * f);
	launched(m, false);
	mul_kernel<<<blocks(rows * f), BLOCK, 0, m->stream>>>(m->hidden, m->hidden_up, rows * f);
	launched(m, false);
	matmul(m, m->delta, l->down, m->hidden, f, d, rows);
}

/* Runs tokens first .. first + rows - 1 through the model; the next one goes behind them. */
static void forward(struct model *m, int first, int rows)
{
	int d = m->o.dim, n = rows * d;

	m->moves.clear();
	if (m->step)
		embed_at_kernel<<<rows, BLOCK, 0, m->stream>>>(m->x, m->embedding,
							       m->tokens + first, d, m->step);
	else
		embed_kernel<<<rows, BLOCK, 0, m->stream>>>(m->x, m->embedding, m->tokens + first,
							    d);
	launched(m, true);
	for (size_t i = 0; i < m->layers.size(); i++) {
		const struct layer *l = &m->layers[i];
		real *swap = m->x;

		rmsnorm(m, m->normed, m->x, l->att_norm, rows);
		attention(m, l, first, rows);
		accum_kernel<<<blocks(n), BLOCK, 0, m->stream>>>(m->x, m->delta, n);
		launched(m, false);
		rmsnorm(m, m->normed, m->x, l->ffn_norm, rows);
		feed_forward(m, l, rows);
		add_kernel<<<blocks(n), BLOCK, 0, m->stream>>>(m->other, m->x, m->delta, n);
		launched(m, false);
		m->x = m->other;
		m->other = swap;
	}
	rmsnorm(m, m->normed, m->x, m->final_norm, rows);
	matmul(m, m->logits, m->logits_weight, m->normed + (size_t)(rows - 1) * d, d, m->o.vocab,
	       1);
	if (m->step)
		argmax_at_kernel<<<1, BLOCK, 0, m->stream>>>(m->tokens + first + rows, m->logits,
							     m->o.vocab, m->step);
	else
		argmax_kernel<<<1, BLOCK, 0, m->stream>>>(m->tokens + first + rows, m->logits,
							  m->o.vocab);
	launched(m, true);
	if (m->step) {
		advance_kernel<<<1, 1, 0, m->stream>>>(m->step);
		launched(m, false);
	}
}

/* The pass for one token at that position, as a graph. */
static cudaGraph_t captured(struct model *m, int first)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeGlobal));
	forward(m, first, 1);
	CHECK(cudaStreamEndCapture(m->stream, &graph));
	return graph;
}

/* The nodes of a graph that is one chain, from its first. */
static std::vector<cudaGraphNode_t> chain(cudaGraph_t graph)
{
	std::vector<cudaGraphNode_t> nodes;
	cudaGraphNode_t node;
	size_t n = 1;

	CHECK(cudaGraphGetRootNodes(graph, &node, &n));
	while (n) {
		nodes.push_back(node);
		n = 1;
		CHECK(cudaGraphNodeGetDependentNodes(nodes.back(), &node, NULL, &n));
	}
	return nodes;
}

/* How tokens are made by graphs. */
struct engine {
	cudaGraph_t graph = NULL; /* that exec was made of, in the mode params */
	cudaGraphExec_t exec = NULL;
	std::vector<cudaGraphNode_t> nodes;
};

static void follow(struct model *m, struct engine *e, int first)
{
	cudaGraph_t now = captured(m, first);
	std::vector<cudaGraphNode_t> nodes = chain(now);

	for (size_t i = 0; i < nodes.size(); i++) {
		cudaKernelNodeParams p;

		if (!m->moves[i])
			continue;
		CHECK(cudaGraphKernelNodeGetParams(nodes[i], &p));
		CHECK(cudaGraphExecKernelNodeSetParams(e->exec, e->nodes[i], &p));
	}
	CHECK(cudaGraphDestroy(now));
}

static void make_exec(struct model *m, struct engine *e, int first)
{
	if (!strcmp(m->o.graph, "once")) {
		CHECK(cudaMalloc(&m->step, sizeof(int)));
		CHECK(cudaMemset(m->step, 0, sizeof(int)));
	}
	e->graph = captured(m, first);
	CHECK(cudaGraphInstantiate(&e->exec, e->graph, 0));
	if (!strcmp(m->o.graph, "params")) {
		e->nodes = chain(e->graph);
		return;
	}
	CHECK(cudaGraphDestroy(e->graph));
}

static void update(struct model *m, struct engine *e, int first)
{
	cudaGraph_t now = captured(m, first);
	cudaGraphExecUpdateResultInfo info;

	if (cudaGraphExecUpdate(e->exec, now, &info) != cudaSuccess) {
		(void)cudaGetLastError();
		CHECK(cudaGraphExecDestroy(e->exec));
		CHECK(cudaGraphInstantiate(&e->exec, now, 0));
	}
	CHECK(cudaGraphDestroy(now));
}

static void step(struct model *m, struct engine *e, int first)
{
	if (!m->o.graph) {
		forward(m, first, 1);
		return;
	}
	if (!e->exec)
		make_exec(m, e, first);
	else if (!strcmp(m->o.graph, "update"))
		update(m, e, first);
	else if (!strcmp(m->o.graph, "params"))
		follow(m, e, first);
	CHECK(cudaGraphLaunch(e->exec, m->stream));
}

static int token_at(const struct model *m, int position)
{
	int token;

	CHECK(cudaMemcpyAsync(&token, m->tokens + position, sizeof(token), cudaMemcpyDeviceToHost,
			      m->stream));
	CHECK(cudaStreamSynchronize(m->stream));
	return token;
}

static void generate(struct model *m)
{
	const struct options *o = &m->o;
	std::vector<int> prompt(o->prompt);
	struct engine engine;

	for (int i = 0; i < o->prompt; i++)
		prompt[i] = (i * 37 + 1) % o->vocab;
	CHECK(cudaMemcpy(m->tokens, prompt.data(), prompt.size() * sizeof(int),
			 cudaMemcpyHostToDevice));
	forward(m, 0, o->prompt);
	int token = token_at(m, o->prompt);
	std::vector<double> ms;
	for (int i = 1; i < o->tokens; i++) {
		auto start = std::chrono::steady_clock::now();

		printf("%d ", token);
		step(m, &engine, o->prompt + i - 1);
		token = token_at(m, o->prompt + i);
		ms.push_back(std::chrono::duration<double, std::milli>(
				     std::chrono::steady_clock::now() - start)
				     .count());
	}
	printf("%d\n", token);
	std::sort(ms.begin(), ms.end());
	if (o->time && !ms.empty())
		fprintf(stderr, "%.4f ms per token (median)\n", ms[ms.size() / 2]);
}

static void usage()
{
	fprintf(stderr,
		"usage: decoder [--tokens N] [--layers N] [--dim N] [--heads N] [--ffn N] "
		"[--vocab N]\n"
		"               [--prompt N] [--stream] [--time] [--graph once|update|params]\n");
	exit(2);
}

static struct options parse(int argc, char **argv)
{
	struct options o;
	struct {
		const char *name;
		int *value;
	} numbers[] = {{"--tokens", &o.tokens}, {"--layers", &o.layers}, {"--dim", &o.dim},
		       {"--heads", &o.heads},   {"--ffn", &o.ffn},       {"--vocab", &o.vocab},
		       {"--prompt", &o.prompt}};

	for (int i = 1; i < argc; i++) {
		bool known = true;

		if (strcmp(argv[i], "--stream") == 0)
			o.stream = true;
		else if (strcmp(argv[i], "--time") == 0)
			o.time = true;
		else if (strcmp(argv[i], "--graph") == 0 && i + 1 < argc)
			o.graph = argv[++i];
		else
			known = false;
		for (auto &n : numbers)
			if (!known && i + 1 < argc && strcmp(argv[i], n.name) == 0) {
				*n.value = atoi(argv[++i]);
				known = true;
			}
		if (!known)
			usage();
	}
	for (auto &n : numbers)
		if (*n.value < 1)
			usage();
	if (o.graph && strcmp(o.graph, "once") && strcmp(o.graph, "update") &&
	    strcmp(o.graph, "params"))
		usage();
	if (o.dim % o.heads || o.dim / o.heads % 2) {
		fprintf(stderr, "decoder: --dim must be an even multiple of --heads\n");
		exit(2);
	}
	return o;
}

int main(int argc, char **argv)
{
	struct model m;

	m.o = parse(argc, argv);
	model_make(&m);
	generate(&m);
	return 0;
}
