/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences of elementwise kernels and kernels over rows: types, sizes, alignments, operands
 * that are broadcast, results in place, memory that overlaps other memory, and things in between, by
 * a seed. Prints a checksum of all memory for each case. Two runs must print the same.
 *
 *   chain_random FIRST COUNT [OPTIONS]
 *     --pool N      sequences there are (48); a case is one of them at addresses, row counts and with
 *                   data of its own. Each sequence that fuses is code that is to be compiled
 *     --repeat N    times that each case runs, with other data each time (4)
 *     --pause US    sleeps so long after each time
 *     --seconds S   no more cases after so long
 *     --graphs      every case is a graph of two rounds (else every fourth)
 *     --across      much of what is stored lies across what was read
 *
 * With CHAIN_RANDOM_VERBOSE in the environment, cases say on stderr what they do.
 */
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>
#include <cuda_runtime.h>
#include "chain_random_kernels.cuh"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			fprintf(stderr, "chain_random: %s: %s\n", #call,                           \
				cudaGetErrorString(error_));                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { TYPES = 3, ARENA = 1 << 17 /* elements */, SLIDE = 4096 };
enum kind {
	/* One operand; a number; a second operand; a broadcast one; along rows. */
	RELU, NEG, SQUARE, SIGMOID, SILU, TANH, GELU_TANH, GELU_ERF, CAST,
	SCALE, SHIFT,
	ADD, SUB, MUL,
	BIAS, COLUMN, ROW,
	MEAN, RMSNORM, LAYERNORM, SOFTMAX,
	STIR, COPY, EVENT, /* what chains end at */
	KINDS
};
static const char *const kind_name[KINDS] = {
	"relu",  "neg",	  "square", "sigmoid", "silu", "tanh", "gelu_tanh", "gelu_erf",
	"cast",  "scale", "shift",  "add",     "sub",  "mul",  "bias",	    "column",
	"row",	 "mean",  "rmsnorm", "layernorm", "softmax", "stir", "copy", "event"};
static const char *const type_name[TYPES] = {"f32", "f16", "bf16"};
static const size_t type_bytes[TYPES] = {4, 2, 2};

static int across = 8; /* one in so many results lies across other memory */
static bool verbose = getenv("CHAIN_RANDOM_VERBOSE");
#define SAY(...) (verbose ? (void)fprintf(stderr, __VA_ARGS__) : (void)0)

struct chance {
	uint64_t state;

	explicit chance(uint64_t seed) : state((seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1)
	{
		for (int i = 0; i < 8; i++)
			of(2);
	}
	int of(int n)
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return (int)((state >> 20) % (unsigned)n);
	}
};

/* Memory of one type: all of rows x cols, one row, or one number for each row. */
enum shape { ALL, COLS, ROWS };
struct region {
	int type;
	enum shape shape;
	int align;	     /* elements behind an aligned address */
	int over, shift; /* lies over that region, so many elements behind its beginning; or -1 */
};

struct step {
	enum kind kind;
	int type, from;	       /* of out; of in, for casts */
	int out, a, b, c, d, e; /* regions, or -1 */
	float number;
};

struct sequence {
	int cols, block;
	std::vector<struct region> region;
	std::vector<struct step> step;
};

/* Which regions may share bytes. */
static int root(const struct sequence &s, int r)
{
	while (s.region[r].over >= 0)
		r = s.region[r].over;
	return r;
}

static int fresh(struct chance &c, struct sequence &s, int type, enum shape shape)
{
	static const int align[] = {0, 0, 0, 0, 1, 2, 4, 8};

	s.region.push_back({type, shape, align[c.of(8)], -1, 0});
	return (int)s.region.size() - 1;
}

/* A region of that type to read: mostly what was written last. */
static int input(struct chance &c, struct sequence &s, int type)
{
	for (size_t i = s.step.size(); i-- > 0 && c.of(4);)
		if (s.step[i].kind < STIR && s.step[i].kind != MEAN && s.step[i].type == type &&
		    c.of(3))
			return s.step[i].out;
	for (int tries = 0; tries < 4 && !s.region.empty(); tries++) {
		int r = c.of((int)s.region.size());

		if (s.region[r].type == type && s.region[r].shape == ALL)
			return r;
	}
	return fresh(c, s, type, ALL);
}

/* Where the result goes. In the place of an input, or nowhere near one: kernels that race with
 * themselves tell nothing. */
static int output(struct chance &c, struct sequence &s, const struct step &t)
{
	const int in[] = {t.a, t.b, t.c, t.d, t.e};
	int r = -1;

	if (t.a >= 0 && s.region[t.a].type == t.type && s.region[t.a].shape == ALL && c.of(3) == 0)
		r = t.a;
	else if (c.of(4) == 0)
		r = c.of((int)s.region.size());
	else if (c.of(across) == 0) {
		int over = root(s, c.of((int)s.region.size()));

		if (s.region[over].type == t.type && s.region[over].shape == ALL) {
			s.region.push_back({t.type, ALL, 0, over, 1 + c.of(40)});
			r = (int)s.region.size() - 1;
		}
	}
	if (r >= 0 && (s.region[r].type != t.type || s.region[r].shape != ALL))
		r = -1;
	for (int i : in)
		if (r >= 0 && i >= 0 && i != r && root(s, i) == root(s, r))
			r = -1;
	/* Row kernels go over their input more than once: only from the same place. */
	return r >= 0 ? r : fresh(c, s, t.type, ALL);
}

static struct step random_step(struct chance &c, struct sequence &s, int main_type)
{
	struct step t = {(enum kind)c.of(STIR), main_type, main_type, -1, -1, -1, -1, -1, -1, 0};

	if (!s.step.empty() && c.of(3)) /* mostly on in the type that there is */
		t.type = t.from = s.step.back().kind == MEAN ? main_type : s.step.back().type;
	/* Often the second half of a pair that there is a kernel for. */
	if (!s.step.empty() && c.of(2) && s.step.back().kind == ADD)
		t.kind = RMSNORM;
	if (!s.step.empty() && c.of(2) && s.step.back().kind == SILU)
		t.kind = MUL;
	t.number = (float)(c.of(41) - 20) / 16;
	if (c.of(14) == 0)
		t.kind = (enum kind)(STIR + c.of(KINDS - STIR));
	if (t.kind == EVENT)
		return t;
	if (t.kind == CAST) {
		t.from = t.type;
		t.type = (t.from + 1 + c.of(TYPES - 1)) % TYPES;
	}
	t.a = input(c, s, t.from);
	switch (t.kind) {
	case ADD:
	case SUB:
	case MUL:
		t.b = input(c, s, t.type);
		break;
	case LAYERNORM:
		t.c = fresh(c, s, t.type, COLS);
		if (c.of(2)) {
			t.d = fresh(c, s, 0, ROWS);
			t.e = fresh(c, s, 0, ROWS);
		}
		/* fall through */
	case BIAS:
	case COLUMN:
	case RMSNORM:
		t.b = fresh(c, s, t.type, COLS);
		break;
	case ROW:
		/* Often what a mean has left. */
		t.b = !s.step.empty() && s.step.back().kind == MEAN ? s.step.back().out
								     : fresh(c, s, 0, ROWS);
		break;
	case MEAN:
		t.out = fresh(c, s, 0, ROWS);
		return t;
	default:
		break;
	}
	if (t.kind == COPY || t.kind == STIR)
		t.out = fresh(c, s, t.type, ALL);
	else
		t.out = output(c, s, t);
	return t;
}

static struct sequence random_sequence(unsigned seed)
{
	static const int cols[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 100, 128, 256, 257, 1000, 1024, 2049};
	struct chance c(seed);
	struct sequence s;
	int main_type = c.of(TYPES), n = 3 + c.of(8);

	s.cols = cols[c.of((int)(sizeof(cols) / sizeof(cols[0])))];
	s.block = 64 << c.of(3);
	for (int i = 0; i < n; i++)
		s.step.push_back(random_step(c, s, main_type));
	return s;
}

/* A sequence at its place. */
struct run {
	const struct sequence *s;
	char *arena[TYPES];
	int rows;
	std::vector<size_t> at; /* of each region, in elements of its arena */
	cudaStream_t stream;
	cudaEvent_t event;

	int count(int region) const
	{
		enum shape shape = s->region[region].shape;

		return shape == ALL ? rows * s->cols : shape == COLS ? s->cols : rows;
	}
	template <typename T> T *address(int region) const
	{
		if (region < 0)
			return NULL;
		return (T *)arena[s->region[region].type] + at[region];
	}
};

static void place(struct chance &c, struct run &r)
{
	size_t end[TYPES] = {0, 0, 0};

	r.at.resize(r.s->region.size());
	for (size_t i = 0; i < r.at.size(); i++) {
		const struct region &g = r.s->region[i];
		size_t room = (size_t)r.count((int)i) + 64;

		if (g.over >= 0) {
			r.at[i] = r.at[g.over] + g.shift;
			continue;
		}
		r.at[i] = (end[g.type] + 63) / 64 * 64 + 64 * c.of(3) + g.align;
		end[g.type] = r.at[i] + room; /* and what lies over it */
	}
	for (size_t i = 0; i < r.at.size(); i++)
		if (r.at[i] + r.count((int)i) > ARENA) {
			fprintf(stderr, "chain_random: %d rows are too many\n", r.rows);
			exit(1);
		}
}

template <typename T, typename F> static void launch_cast(const struct run &r, const struct step &t)
{
	const int n = r.rows * r.s->cols, grid = (n + 255) / 256;

	each_cast<T, F><<<grid, 256, 0, r.stream>>>(r.address<T>(t.out), r.address<F>(t.a), n);
}

template <typename T> static void launch_from(const struct run &r, const struct step &t)
{
	if (t.from == 0)
		launch_cast<T, float>(r, t);
	else if (t.from == 1)
		launch_cast<T, __half>(r, t);
	else
		launch_cast<T, bf16>(r, t);
}

template <typename T> static void launch(const struct run &r, const struct step &t)
{
	const int cols = r.s->cols, rows = r.rows, n = rows * cols, grid = (n + 255) / 256;
	const int block = r.s->block;
	const float eps = 1e-5f;
	T *out = r.address<T>(t.out);
	const T *a = r.address<T>(t.a), *b = r.address<T>(t.b), *c = r.address<T>(t.c);

#define EACH_CASE(code, kernel, ...)                                                               \
	case code:                                                                                 \
		kernel<T><<<grid, 256, 0, r.stream>>>(out, a, __VA_ARGS__);                        \
		break;
	switch (t.kind) {
		EACH_CASE(RELU, each_relu, n)
		EACH_CASE(NEG, each_neg, n)
		EACH_CASE(SQUARE, each_square, n)
		EACH_CASE(SIGMOID, each_sigmoid, n)
		EACH_CASE(SILU, each_silu, n)
		EACH_CASE(TANH, each_tanh, n)
		EACH_CASE(GELU_TANH, each_gelu_tanh, n)
		EACH_CASE(GELU_ERF, each_gelu_erf, n)
		EACH_CASE(SCALE, each_scale, t.number, n)
		EACH_CASE(SHIFT, each_shift, t.number, n)
		EACH_CASE(ADD, each_add, b, n)
		EACH_CASE(SUB, each_sub, b, n)
		EACH_CASE(MUL, each_mul, b, n)
		EACH_CASE(BIAS, each_bias, b, rows, cols)
		EACH_CASE(COLUMN, each_column, b, rows, cols)
		EACH_CASE(ROW, each_row, r.address<float>(t.b), rows, cols)
		EACH_CASE(STIR, stir, n)
#undef EACH_CASE
	case CAST:
		launch_from<T>(r, t);
		break;
	case MEAN:
		row_mean<T><<<rows, block, 0, r.stream>>>(r.address<float>(t.out), a, cols);
		break;
	case RMSNORM:
		row_rmsnorm<T><<<rows, block, 0, r.stream>>>(out, a, b, cols, eps);
		break;
	case LAYERNORM:
		row_layernorm<T><<<rows, block, 0, r.stream>>>(out, r.address<float>(t.d),
							       r.address<float>(t.e), a, b, c,
							       cols, eps);
		break;
	case SOFTMAX:
		row_softmax<T><<<rows, block, 0, r.stream>>>(out, a, cols);
		break;
	case COPY:
		CHECK(cudaMemcpyAsync(out, a, n * sizeof(T), cudaMemcpyDeviceToDevice, r.stream));
		break;
	case EVENT:
		CHECK(cudaEventRecord(r.event, r.stream));
		break;
	default:
		break;
	}
	CHECK(cudaGetLastError());
}

static void launch_all(const struct run &r)
{
	for (const struct step &t : r.s->step) {
		if (t.type == 0)
			launch<float>(r, t);
		else if (t.type == 1)
			launch<__half>(r, t);
		else
			launch<bf16>(r, t);
	}
}

static uint16_t to_bf16(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return (uint16_t)(bits >> 16);
}

/* Mostly small numbers; zeros, subnormals and large ones among them. */
static std::vector<char> noise(int type)
{
	std::vector<char> host((ARENA + SLIDE) * type_bytes[type]);
	struct chance c(1000003 + type);

	for (size_t i = 0; i < ARENA + SLIDE; i++) {
		float v = (float)(c.of(4001) - 2000) / 1024;
		int odd = c.of(2048);
		uint16_t b;
		__half h;

		if (odd < 8)
			v = odd % 2 ? 0.0f : -0.0f;
		else if (odd < 12)
			v *= 1e-6f;
		else if (odd < 14)
			v *= 2e4f;
		h = __float2half(v);
		b = to_bf16(v);
		if (type == 0)
			memcpy(&host[i * 4], &v, 4);
		else
			memcpy(&host[i * 2], type == 1 ? (void *)&h : (void *)&b, 2);
	}
	return host;
}

static std::vector<char> pattern[TYPES];

static void fill(const struct run &r, int slide)
{
	for (int t = 0; t < TYPES; t++)
		CHECK(cudaMemcpy(r.arena[t], &pattern[t][(size_t)slide * type_bytes[t]],
				 ARENA * type_bytes[t], cudaMemcpyHostToDevice));
}

/* Of one arena, any NaN being one. */
template <typename U> static uint64_t digest(const struct run &r, int type, U sign, U inf, uint64_t h)
{
	static std::vector<U> host(ARENA);

	CHECK(cudaMemcpy(host.data(), r.arena[type], ARENA * sizeof(U), cudaMemcpyDeviceToHost));
	for (U v : host) {
		if ((v & (U)~sign) > inf)
			v = (U)~sign;
		h = (h ^ v) * UINT64_C(0x100000001b3);
	}
	return h;
}

static uint64_t checksum(const struct run &r, uint64_t h)
{
	h = digest<uint32_t>(r, 0, 0x80000000u, 0x7f800000u, h);
	h = digest<uint16_t>(r, 1, 0x8000, 0x7c00, h);
	return digest<uint16_t>(r, 2, 0x8000, 0x7f80, h);
}

static void say(unsigned seed, const struct run &r, bool graph)
{
	SAY("case %u: %d x %d, block %d%s\n", seed, r.rows, r.s->cols, r.s->block,
	    graph ? ", graph" : "");
	for (const struct step &t : r.s->step) {
		SAY("  %s<%s>", kind_name[t.kind], type_name[t.type]);
		if (t.kind == CAST)
			SAY(" from %s", type_name[t.from]);
		for (int i : {t.out, t.a, t.b, t.c, t.d, t.e})
			if (i >= 0)
				SAY(" %d@%s+%zu", i, type_name[r.s->region[i].type], r.at[i]);
		SAY("\n");
	}
}

static cudaGraphExec_t captured(const struct run &r)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeGlobal));
	launch_all(r);
	launch_all(r);
	CHECK(cudaStreamEndCapture(r.stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

struct options {
	int pool = 48, repeat = 4, pause = 0, seconds = 1 << 30, graphs = 0;
};

static void one_case(const struct options &o, struct run &r, unsigned seed)
{
	const struct sequence s = random_sequence(seed % (unsigned)o.pool);
	const cudaStream_t created = r.stream;
	struct chance c(7919 + seed);
	bool graph = o.graphs || c.of(4) == 0;
	cudaGraphExec_t exec = NULL;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	r.s = &s;
	r.rows = s.cols < 512 ? 1 + c.of(9) : 1 + c.of(3);
	if (!graph && c.of(3) == 0)
		r.stream = 0;
	place(c, r);
	say(seed, r, graph);
	if (graph)
		exec = captured(r);
	for (int i = 0; i < o.repeat; i++) {
		fill(r, c.of(SLIDE));
		if (exec)
			CHECK(cudaGraphLaunch(exec, r.stream));
		else
			launch_all(r);
		CHECK(cudaStreamSynchronize(r.stream));
		h = checksum(r, h);
		if (o.pause)
			usleep((unsigned)o.pause);
	}
	if (exec)
		CHECK(cudaGraphExecDestroy(exec));
	printf("%u: %016llx\n", seed, (unsigned long long)h);
	r.stream = created;
}

static bool parse(int argc, char **argv, struct options *o)
{
	const struct {
		const char *name;
		int *value;
	} numbers[] = {{"--pool", &o->pool},
		       {"--repeat", &o->repeat},
		       {"--pause", &o->pause},
		       {"--seconds", &o->seconds}};

	for (int i = 3; i < argc; i++) {
		bool graphs = !strcmp(argv[i], "--graphs"), known = graphs;

		o->graphs |= graphs;
		if (!strcmp(argv[i], "--across")) {
			across = 2;
			known = true;
		}
		for (auto &n : numbers)
			if (!known && !strcmp(argv[i], n.name) && i + 1 < argc) {
				*n.value = atoi(argv[++i]);
				known = true;
			}
		if (!known)
			return false;
	}
	return argc >= 3 && o->pool > 0 && o->repeat > 0;
}

int main(int argc, char **argv)
{
	auto begin = std::chrono::steady_clock::now();
	struct options o;
	struct run r = {};

	if (!parse(argc, argv, &o)) {
		fprintf(stderr, "usage: chain_random FIRST COUNT [--pool N] [--repeat N] [--pause US] "
				"[--seconds S] [--graphs] [--across]\n");
		return 2;
	}
	for (int t = 0; t < TYPES; t++) {
		pattern[t] = noise(t);
		CHECK(cudaMalloc(&r.arena[t], ARENA * type_bytes[t]));
	}
	CHECK(cudaStreamCreate(&r.stream));
	CHECK(cudaEventCreate(&r.event));
	for (unsigned i = 0, first = (unsigned)atol(argv[1]), n = (unsigned)atol(argv[2]); i < n; i++) {
		if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(o.seconds))
			break;
		one_case(o, r, first + i);
	}
	return 0;
}
