/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small Llama-like decoder, as people write them by hand: one kernel per step, a key/value cache,
 * greedy tokens from generated weights. Prints the tokens. With --graph each token after the prompt
 * is one launch of a graph, in one of the ways that inference engines have: captured once, captured
 * anew for each token (update), or some nodes' parameters set for each (params).
 */
#include <algorithm>
#include <chrono>
#include "decoder_steps.cuh"

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
	steps_make(m);
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

static void norm(struct model *m, real *out, const real *x, const real *weight, const real *bias,
		 int rows)
{
	if (is(m->o.norm, "chain")) {
		norm_chain(m, out, x, weight, rows);
	} else if (is(m->o.norm, "layer")) {
		layernorm(m, out, x, weight, bias, rows);
	} else if (is(m->o.norm, "layer_chain")) {
		layer_chain(m, out, x, weight, bias, rows);
	} else {
		rmsnorm_kernel<<<rows, BLOCK, 0, m->stream>>>(out, x, weight, m->o.dim, EPS);
		launched(m, false);
	}
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

static void scores(struct model *m, const struct layer *l, const real *q, int first, dim3 grid)
{
	int d = m->o.dim, head_dim = d / m->o.heads;

	if (m->step)
		scores_at_kernel<<<grid, 64, 0, m->stream>>>(m->scores, q, l->keys, d, head_dim,
							     first, m->limit, m->step);
	else
		scores_kernel<<<grid, 64, 0, m->stream>>>(m->scores, q, l->keys, d, head_dim,
							  first, m->limit);
	launched(m, true);
	if (m->step)
		softmax_at_kernel<<<grid, 64, 64 * sizeof(float), m->stream>>>(m->scores, first,
									       m->limit, m->step);
	else
		softmax_kernel<<<grid, 64, 64 * sizeof(float), m->stream>>>(m->scores, first,
									    m->limit);
	launched(m, true);
}

static void attend(struct model *m, const struct layer *l, const real *q, int first, dim3 grid)
{
	int d = m->o.dim, head_dim = d / m->o.heads;

	if (is(m->o.softmax, "fused"))
		scores(m, l, q, first, grid);
	else
		split_softmax(m, l, q, (int)grid.y);
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

	bool split = is(m->o.rope, "split");

	matmul(m, m->q, l->wq, m->normed, d, d, rows);
	matmul(m, split ? m->s.k : k, l->wk, m->normed, d, d, rows, !split);
	matmul(m, v, l->wv, m->normed, d, d, rows, true);
	if (m->o.lora) {
		matmul(m, m->s.r0, l->lora_a, m->normed, d, LORA_RANK, rows);
		matmul(m, m->s.r1, l->lora_b, m->s.r0, LORA_RANK, d, rows);
		LAUNCH_EACH(m, rows * d, scale_kernel, m->s.r2, m->s.r1, 2.0f, rows * d);
		LAUNCH_EACH(m, rows * d, accum_kernel, m->q, m->s.r2, rows * d);
	}
	if (split) {
		rotate_half(m, m->s.q_turned, m->q, rows);
		rotate_half(m, m->s.k_turned, m->s.k, rows);
		keep_keys(m, k, rows);
	} else {
		rope(m, m->q, first, rows, false);
		rope(m, k, first, rows, true);
	}
	attend(m, l, split ? m->s.q_turned : m->q, first, grid);
	matmul(m, m->delta, l->wo, m->attended, d, d, rows);
}

static void feed_forward(struct model *m, const struct layer *l, int rows)
{
	int d = m->o.dim, f = m->o.ffn, n = rows * f;
	const char *act = m->o.act;
	bool gated = !is(act, "bias_gelu") && !is(act, "gelu_chain");

	matmul(m, m->hidden, l->gate, m->normed, d, f, rows);
	if (gated)
		matmul(m, m->hidden_up, l->up, m->normed, d, f, rows);
	if (is(act, "bias_gelu"))
		LAUNCH_EACH(m, n, bias_kernel, m->hidden, l->up_bias, rows, f);
	if (is(act, "gelu_chain"))
		gelu_chain(m, m->hidden, n);
	else if (is(act, "gelu_tanh") || is(act, "bias_gelu"))
		LAUNCH_EACH(m, n, gelu_tanh_kernel, m->hidden, n);
	else if (is(act, "gelu_erf"))
		LAUNCH_EACH(m, n, gelu_erf_kernel, m->hidden, n);
	else
		LAUNCH_EACH(m, n, silu_kernel, m->hidden, n);
	if (gated)
		LAUNCH_EACH(m, n, mul_kernel, m->hidden, m->hidden_up, n);
	matmul(m, m->delta, l->down, m->hidden, f, d, rows);
}

static void embedded(struct model *m, int first, int rows)
{
	int d = m->o.dim;

	if (!is(m->o.dequant, "no")) {
		embed_8bits(m, first, rows);
		return;
	}
	if (m->step)
		embed_at_kernel<<<rows, BLOCK, 0, m->stream>>>(m->x, m->embedding,
							       m->tokens + first, d, m->step);
	else
		embed_kernel<<<rows, BLOCK, 0, m->stream>>>(m->x, m->embedding, m->tokens + first,
							    d);
	launched(m, true);
}

/* Runs tokens first .. first + rows - 1 through the model; the next one goes behind them. */
static void forward(struct model *m, int first, int rows)
{
	int d = m->o.dim, n = rows * d;

	m->moves.clear();
	if (!is(m->o.softmax, "fused"))
		make_masks(m, first, rows);
	if (is(m->o.rope, "split"))
		look_up_tables(m, first, rows);
	embedded(m, first, rows);
	for (size_t i = 0; i < m->layers.size(); i++) {
		const struct layer *l = &m->layers[i];
		real *swap = m->x;

		norm(m, m->normed, m->x, l->att_norm, l->att_bias, rows);
		attention(m, l, first, rows);
		if (m->o.cast)
			add_casting(m, m->x, m->x, m->delta, n);
		else
			LAUNCH_EACH(m, n, accum_kernel, m->x, m->delta, n);
		norm(m, m->normed, m->x, l->ffn_norm, l->ffn_bias, rows);
		feed_forward(m, l, rows);
		if (m->o.cast)
			add_casting(m, m->other, m->x, m->delta, n);
		else
			LAUNCH_EACH(m, n, add_kernel, m->other, m->x, m->delta, n);
		m->x = m->other;
		m->other = swap;
	}
	norm(m, m->normed, m->x, m->final_norm, m->s.final_bias, rows);
	matmul(m, m->logits, m->logits_weight, m->normed + (size_t)(rows - 1) * d, d, m->o.vocab,
	       1);
	if (m->o.softcap)
		cap_logits(m);
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

/* Of the logits that the last token was chosen by. */
static uint64_t digest(const struct model *m, uint64_t sum)
{
	std::vector<unsigned char> host(m->o.vocab * sizeof(real));

	CHECK(cudaMemcpy(host.data(), m->logits, host.size(), cudaMemcpyDeviceToHost));
	for (unsigned char byte : host)
		sum = (sum ^ byte) * UINT64_C(1099511628211);
	return sum;
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
	uint64_t sum = o->digest ? digest(m, UINT64_C(14695981039346656037)) : 0;
	std::vector<double> ms;
	for (int i = 1; i < o->tokens; i++) {
		auto start = std::chrono::steady_clock::now();

		printf("%d ", token);
		step(m, &engine, o->prompt + i - 1);
		token = token_at(m, o->prompt + i);
		if (o->digest)
			sum = digest(m, sum);
		ms.push_back(std::chrono::duration<double, std::milli>(
				     std::chrono::steady_clock::now() - start)
				     .count());
	}
	printf("%d\n", token);
	if (o->digest)
		printf("%016llx\n", (unsigned long long)sum);
	std::sort(ms.begin(), ms.end());
	if (o->time && !ms.empty())
		fprintf(stderr, "%.4f ms per token (median)\n", ms[ms.size() / 2]);
}

static void usage()
{
	fprintf(stderr,
		"usage: decoder [--tokens N] [--layers N] [--dim N] [--heads N] [--ffn N] "
		"[--vocab N]\n"
		"               [--prompt N] [--stream] [--time] [--graph once|update|params]\n"
		"               [--digest] (a checksum of all logits behind the tokens)\n"
		"  steps in another form, or in smaller steps:\n"
		"               [--norm rms|chain|layer|layer_chain] [--cast] [--lora] [--softcap]\n"
		"               [--act silu|gelu_tanh|gelu_erf|gelu_chain|bias_gelu]\n"
		"               [--softmax fused|mask|where] [--rope fused|split]\n"
		"               [--dequant no|int8|fp8]\n");
	exit(2);
}

/* Is it one of these words? */
static bool among(const char *word, const char *words)
{
	const char *p = strstr(words, word);
	size_t n = strlen(word);

	for (; p && n; p = strstr(p + 1, word))
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static struct options parse(int argc, char **argv)
{
	struct options o;
	const struct {
		const char *name;
		int *value;
	} numbers[] = {{"--tokens", &o.tokens}, {"--layers", &o.layers}, {"--dim", &o.dim},
		       {"--heads", &o.heads},   {"--ffn", &o.ffn},       {"--vocab", &o.vocab},
		       {"--prompt", &o.prompt}};
	const struct {
		const char *name;
		bool *value;
	} flags[] = {{"--stream", &o.stream},
		     {"--time", &o.time},
		     {"--digest", &o.digest},
		     {"--cast", &o.cast},
		     {"--lora", &o.lora},
		     {"--softcap", &o.softcap}};
	const struct {
		const char *name, **value, *words;
	} choices[] = {{"--graph", &o.graph, "once update params"},
		       {"--norm", &o.norm, "rms chain layer layer_chain"},
		       {"--act", &o.act, "silu gelu_tanh gelu_erf gelu_chain bias_gelu"},
		       {"--softmax", &o.softmax, "fused mask where"},
		       {"--rope", &o.rope, "fused split"},
		       {"--dequant", &o.dequant, "no int8 fp8"}};

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : "";
		bool known = false;

		for (auto &f : flags)
			if (is(word, f.name))
				known = *f.value = true;
		for (auto &n : numbers)
			if (is(word, n.name) && (*n.value = atoi(next)) > 0) {
				known = true;
				i++;
			}
		for (auto &c : choices)
			if (is(word, c.name) && among(next, c.words)) {
				*c.value = next;
				known = true;
				i++;
			}
		if (!known)
			usage();
	}
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
