/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the probe find the picks of chains' members, each kernel's own spelling, order and flavour?
 * And does it keep quiet where it must: kernels that are not what they are said to be, that have
 * hidden state, inputs that are too weak.
 *
 *   pick_check [DIR [GLOB]]    DIR holds picks-*.fatbin (default: where the program is)
 *
 * Runs on the software GPU and on a real one; prints TAP. Images are kept in AUTOFUSE_CACHE.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "matcher/op.h"
#include "tests/gpu/probe_ask.h"

enum flavour { IEEE, FAST, NOFMA };
static const char *const flavour_name[] = {"ieee", "fast", "nofma"};

/*
 * A launch. args: the kernel's arguments in order. ROLE=x[:type] is an operand in buffer x, n, rows
 * and cols are sizes, eps, scalar0 and scalar1 floats. block: threads; a block has `rows` rows, or
 * (0) a thread an element.
 */
struct call {
	const char *kernel, *op, *type, *args;
	unsigned block, rows;
	const char *pick; /* that is said to be known */
};

struct question {
	const char *name;
	enum flavour flavour;
	int64_t rows, cols;
	struct call call[4];
	/* How the answer begins, on the software GPU; on a real one --use_fast_math is another
	 * arithmetic, and an answer of the same kind will do. */
	const char *begins;
	const char *inputs, *candidates;
	const char *real; /* how it begins on a real one, if otherwise */
};

static const char *dir;
static unsigned tests, failed;

static const double scalars[] = {1.25, 0.375};
static const double EPS = 1e-5;

static int64_t elements(const struct question *q, const char *op, const char *role)
{
	bool narrow = !strcmp(op, "sum") || !strcmp(op, "mean") || !strcmp(op, "amax");

	if (!strcmp(role, "weight") || !strcmp(role, "bias"))
		return -q->cols;
	if (!strcmp(role, "mean") || !strcmp(role, "rstd") || (narrow && !strcmp(role, "out")))
		return -q->rows;
	return q->rows * q->cols;
}

static bool along_rows(const char *op)
{
	static const char *const ops[] = {"rmsnorm", "layernorm", "softmax", "sum",
					  "mean",    "amax",      "bias_add"};

	for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(op, ops[i]))
			return true;
	return false;
}

struct packed {
	unsigned char bytes[128];
	unsigned n;
	char layout[256], slots[512], operands[2048], scalar[96];
};

static void put(struct packed *p, const char *role, const void *v, unsigned bytes)
{
	p->n = (p->n + bytes - 1) / bytes * bytes;
	memcpy(p->bytes + p->n, v, bytes);
	sprintf(p->layout + strlen(p->layout), "%s[%u, %u]", p->layout[0] ? ", " : "", p->n, bytes);
	sprintf(p->slots + strlen(p->slots), "%s[%u, %u, \"%s\"]", p->slots[0] ? ", " : "", p->n,
		bytes, role);
	p->n += bytes;
}

static void put_operand(struct packed *p, const struct question *q, const struct call *c,
			const char *role, const char *where)
{
	uint64_t addr = UINT64_C(0x7f1200000000) + (uint64_t)(where[0] - 'a') * 0x40000000;
	const char *type = strchr(where, ':') ? strchr(where, ':') + 1 : c->type;
	bool out = !strcmp(role, "out") || !strcmp(role, "mean") || !strcmp(role, "rstd");
	unsigned bytes = dtype_bytes(dtype_parse(type));
	int64_t n = elements(q, c->op, role);

	put(p, role, &addr, 8);
	sprintf(p->operands + strlen(p->operands),
		"%s{\"role\": \"%s\", \"dtype\": \"%s\", \"access\": %d, \"addr\": \"%" PRIx64
		"\", ",
		p->operands[0] ? ", " : "", role, type, out ? ACCESS_WRITE : ACCESS_READ, addr);
	if (n > 0 && along_rows(c->op))
		sprintf(p->operands + strlen(p->operands),
			"\"size\": [%" PRId64 ", %" PRId64 "], \"stride\": [%" PRId64 ", %u]}",
			q->rows, q->cols, q->cols * bytes, bytes);
	else
		sprintf(p->operands + strlen(p->operands),
			"\"size\": [%" PRId64 "], \"stride\": [%u]}", n < 0 ? -n : n, bytes);
}

static void pack(struct packed *p, const struct question *q, const struct call *c)
{
	const int32_t n = (int32_t)(q->rows * q->cols), rows = (int32_t)q->rows,
		      cols = (int32_t)q->cols;
	char copy[128], *at = copy, *word;

	memset(p, 0, sizeof(*p));
	strcpy(copy, c->args);
	while ((word = strsep(&at, " "))) {
		char *is = strchr(word, '=');
		unsigned number = word[6] == '1';
		float f = !strcmp(word, "eps") ? (float)EPS : (float)scalars[number];
		double d = f;
		uint64_t bits;

		if (is) {
			*is = '\0';
			put_operand(p, q, c, word, is + 1);
		} else if (!strncmp(word, "scalar", 6) || !strcmp(word, "eps")) {
			put(p, word, &f, 4);
			memcpy(&bits, &d, 8);
			if (*word == 's')
				sprintf(p->scalar + strlen(p->scalar), "%s\"%016" PRIx64 "\"",
					p->scalar[0] ? ", " : "", bits);
		} else {
			put(p, word,
			    !strcmp(word, "n")      ? &n
			    : !strcmp(word, "rows") ? &rows
						    : &cols,
			    4);
		}
	}
}

static void member(FILE *f, const struct question *q, const struct call *c)
{
	const int64_t n = q->rows * q->cols;
	const bool rows = along_rows(c->op);
	char file[4200];
	struct packed p;
	struct stat st;

	pack(&p, q, c);
	snprintf(file, sizeof(file), "%s/picks-%s.fatbin", dir, flavour_name[q->flavour]);
	if (stat(file, &st))
		st.st_size = 0;
	fprintf(f,
		"{\"name\": \"picks_%s_%s\", \"hash\": \"%032d\", \"image\": {\"file\": \"%s\", "
		"\"offset\": 0, \"bytes\": %lld}, ",
		flavour_name[q->flavour], c->kernel, 0, file, (long long)st.st_size);
	fprintf(f, "\"grid\": [%lld, 1, 1], \"block\": [%u, 1, 1], \"shmem\": 0, \"params\": \"",
		(long long)(c->rows ? (q->rows + c->rows - 1) / c->rows
				    : (n + c->block - 1) / c->block),
		c->block);
	for (unsigned i = 0; i < p.n; i++)
		fprintf(f, "%02x", p.bytes[i]);
	fprintf(f,
		"\", \"param\": [%s], \"op\": {\"code\": \"%s\", \"rows\": %lld, \"cols\": %lld, ",
		p.layout, c->op, rows ? (long long)q->rows : 1LL,
		rows ? (long long)q->cols : (long long)n);
	if (strstr(c->args, "eps"))
		fprintf(f, "\"eps\": %.17g, ", (double)(float)EPS);
	if (p.scalar[0])
		fprintf(f, "\"scalar\": [%s], ", p.scalar);
	fprintf(f, "\"operand\": [%s], \"slot\": [%s]}", p.operands, p.slots);
	if (c->pick)
		fprintf(f, ", \"pick\": \"%s\"", c->pick);
	fputs("}", f);
}

static char *request(const struct question *q, unsigned number)
{
	const char *cache = getenv("AUTOFUSE_CACHE");
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f,
		"{\"pattern\": \"chain\", \"chain\": 1, \"device\": 0, \"key\": \"%016x%016x\", "
		"\"cache\": \"%s\", \"seconds\": 120, \"inputs\": \"%s\", \"candidates\": \"%s\", "
		"\"numerics\": \"exact\", \"images\": 268435456, \"places\": \"\", \"member\": [",
		(unsigned)getpid(), number + 1, cache ? cache : "none", q->inputs ? q->inputs : "",
		q->candidates ? q->candidates : "");
	for (unsigned i = 0; i < 4 && q->call[i].kernel; i++) {
		fputs(i ? ", " : "", f);
		member(f, q, &q->call[i]);
	}
	fputs("]}\n", f);
	fclose(f);
	return text;
}

#define ONE(kernel, op, type)                                                                      \
	{                                                                                          \
		{                                                                                  \
			kernel, op, type, "out=b in0=a n", 256, 0, NULL                            \
		}                                                                                  \
	}
#define TWO(kernel, op, type)                                                                      \
	{                                                                                          \
		{                                                                                  \
			kernel, op, type, "out=c in0=a in1=b n", 256, 0, NULL                      \
		}                                                                                  \
	}
#define NORM(kernel, type, block)                                                                  \
	{                                                                                          \
		{                                                                                  \
			kernel, "layernorm", type, "out=d in0=a weight=b bias=c cols eps", block,  \
				1, NULL                                                            \
		}                                                                                  \
	}

static const struct question questions[] = {
	{"add", IEEE, 7, 100, TWO("add_f32", "add", "f32"), .begins = "candidate plain"},
	{"add of bf16", IEEE, 7, 100, TWO("add_bf16", "add", "bf16"), .begins = "candidate plain"},
	{"mul", NOFMA, 7, 100, TWO("mul_f32", "mul", "f32"), .begins = "candidate plain"},
	{"div", IEEE, 7, 100, TWO("div_f32", "div", "f32"), .begins = "candidate plain"},
	{"div, fast", FAST, 7, 100, TWO("div_f32", "div", "f32"), .begins = "candidate divfast"},
	{"scale and shift, contracted",
	 IEEE,
	 7,
	 100,
	 {{"scale_f32", "scale", "f32", "out=b in0=a n scalar0 scalar1", 256, 0, NULL}},
	 .begins = "candidate plain"},
	{"scale and shift, not contracted",
	 NOFMA,
	 7,
	 100,
	 {{"scale_f32", "scale", "f32", "out=b in0=a n scalar0 scalar1", 256, 0, NULL}},
	 .begins = "candidate nofma"},
	{"bias add",
	 IEEE,
	 7,
	 100,
	 {{"bias_f32", "bias_add", "f32", "out=c in0=a bias=b rows cols", 256, 0, NULL}},
	 .begins = "candidate plain"},
	{"silu", IEEE, 7, 100, ONE("silu_f32", "silu", "f32"), .begins = "candidate plain"},
	{"silu by a reciprocal", IEEE, 7, 100, ONE("silu_rcp_f32", "silu", "f32"),
	 .begins = "candidate rcp"},
	{"silu, fast", FAST, 7, 100, ONE("silu_f32", "silu", "f32"),
	 .begins = "candidate divfast.fastexp"},
	{"silu of bf16", IEEE, 16, 256, ONE("silu_bf16", "silu", "bf16"),
	 .begins = "candidate plain"},
	{"gelu", IEEE, 7, 100, ONE("gelu_f32", "gelu_tanh", "f32"), .begins = "candidate plain"},
	{"gelu, from the left", IEEE, 7, 100, ONE("gelu_left_f32", "gelu_tanh", "f32"),
	 .begins = "candidate left"},
	{"gelu, not contracted", NOFMA, 7, 100, ONE("gelu_left_f32", "gelu_tanh", "f32"),
	 .begins = "candidate nofma.left"},
	{"gelu of bf16, fast", FAST, 16, 256, ONE("gelu_cdf_bf16", "gelu_tanh", "bf16"),
	 .begins = "candidate "},
	{"gelu by erf", IEEE, 7, 100, ONE("gelu_erf_f32", "gelu_erf", "f32"),
	 .begins = "candidate plain"},
	{"gelu by erf, halved last", IEEE, 7, 100, ONE("gelu_erf_last_f32", "gelu_erf", "f32"),
	 .begins = "candidate half", /* half of a product is one instruction: FMUL.D2 */
	 .real = "candidate plain"},
	{"relu", IEEE, 7, 100, ONE("relu_f32", "relu", "f32"), .begins = "candidate plain"},
	{"softmax",
	 IEEE,
	 5,
	 100,
	 {{"softmax_f32", "softmax", "f32", "out=b in0=a cols", 64, 1, NULL}},
	 .begins = "candidate t64.desc.firstdesc/plain"},
	{"softmax, fast, by a reciprocal, halving",
	 FAST,
	 5,
	 100,
	 {{"softmax_rcp_f32", "softmax", "f32", "out=b in0=a cols", 64, 1, NULL}},
	 .begins = "candidate t64.desc.halving/"},
	{"layernorm", IEEE, 3, 100, NORM("layernorm_f32", "f32", 64),
	 .begins = "candidate t64.desc.firstdesc/plain"},
	{"layernorm, not contracted", NOFMA, 3, 100, NORM("layernorm_f32", "f32", 64),
	 .begins = "candidate t64.nofma.desc.firstdesc/nofma"},
	{"layernorm of bf16", IEEE, 16, 48, NORM("layernorm_bf16", "bf16", 32),
	 .begins = "candidate t32.desc/plain"},
	{"layernorm by squares", IEEE, 3, 100, NORM("layernorm_squares_f32", "f32", 64),
	 .begins = "candidate t64.desc.firstdesc/squares"},
	{"layernorm by Welford", IEEE, 3, 100, NORM("layernorm_welford_f32", "f32", 32),
	 .begins = "candidate t32.desc/welford"},
	{"rmsnorm, halving",
	 IEEE,
	 3,
	 100,
	 {{"rmsnorm_f32", "rmsnorm", "f32", "out=c in0=a weight=b cols eps", 64, 1, NULL}},
	 .begins = "candidate t64.desc.halving/plain"},
	{"rmsnorm of bf16, rounded before the weight",
	 IEEE,
	 4,
	 300,
	 {{"rmsnorm_bf16", "rmsnorm", "bf16", "out=c in0=a weight=b cols eps", 64, 1, NULL}},
	 .begins = "candidate t64.desc.firstdesc/r1"},
	{"sums of rows, a warp each",
	 IEEE,
	 9,
	 100,
	 {{"sum_f32", "sum", "f32", "out=b in0=a rows cols", 128, 4, NULL}},
	 .begins = "candidate t32.desc/plain"},
	/* More than is tried at once. */
	{"silu, of many", IEEE, 40, 1000, ONE("silu_f32", "silu", "f32"),
	 .begins = "candidate plain"},
	{"softmax, of many rows",
	 IEEE,
	 100,
	 200,
	 {{"softmax_f32", "softmax", "f32", "out=b in0=a cols", 64, 1, NULL}},
	 .begins = "candidate t64.desc.firstdesc/plain"},
	{"bias, softmax, of many rows",
	 IEEE,
	 100,
	 200,
	 {{"bias_f32", "bias_add", "f32", "out=c in0=a bias=b rows cols", 256, 0, NULL},
	  {"softmax_f32", "softmax", "f32", "out=d in0=c cols", 64, 1, NULL}},
	 .begins = "candidate plain+t64.desc.firstdesc/plain"},
	/* Whole chains. */
	{"(a + b) * c and its silu, in place",
	 IEEE,
	 7,
	 100,
	 {{"add_f32", "add", "f32", "out=c in0=a in1=b n", 256, 0, NULL},
	  {"mul_f32", "mul", "f32", "out=c in0=c in1=d n", 256, 0, NULL},
	  {"silu_rcp_f32", "silu", "f32", "out=e in0=c n", 256, 0, NULL}},
	 .begins = "candidate plain+plain+rcp"},
	{"widened, halved and added to, narrowed",
	 IEEE,
	 7,
	 100,
	 {{"widen_bf16", "copy", "bf16", "out=b:f32 in0=a n", 256, 0, NULL},
	  {"add_f32", "add", "f32", "out=d in0=b in1=c n", 256, 0, NULL},
	  {"narrow_bf16", "copy", "bf16", "out=e in0=d:f32 n", 256, 0, NULL}},
	 .begins = "candidate plain+plain+plain"},
	{"bias, softmax",
	 IEEE,
	 5,
	 100,
	 {{"bias_f32", "bias_add", "f32", "out=c in0=a bias=b rows cols", 256, 0, NULL},
	  {"softmax_f32", "softmax", "f32", "out=d in0=c cols", 64, 1, NULL}},
	 .begins = "candidate plain+t64.desc.firstdesc/plain"},
	{"a pick that is known, beside one that is not",
	 IEEE,
	 7,
	 100,
	 {{"mul_f32", "mul", "f32", "out=c in0=a in1=b n", 256, 0, .pick = "plain"},
	  {"silu_rcp_f32", "silu", "f32", "out=e in0=c n", 256, 0, NULL}},
	 .begins = "candidate plain+rcp"},
	/* What must not come out. */
	{"a wrong pick that is said to be known",
	 IEEE,
	 7,
	 100,
	 {{"mul_f32", "mul", "f32", "out=c in0=a in1=b n", 256, 0, NULL},
	  {"silu_rcp_f32", "silu", "f32", "out=e in0=c n", 256, 0, .pick = "plain"}},
	 .begins = "reason not-exact differs where the program has its operands"},
	{"another function", IEEE, 7, 100, ONE("liar_f32", "silu", "f32"),
	 .begins = "reason not-exact"},
	{"a variable of the module", IEEE, 7, 100, ONE("state_f32", "silu", "f32"),
	 .begins = "reason not-pure"},
	{"output that is left as it was", IEEE, 7, 100, ONE("short_f32", "relu", "f32"),
	 .begins = "reason not-exact"},
	{"an addition that is said to be a product",
	 IEEE,
	 7,
	 100,
	 {{"add_f32", "add", "f32", "out=c in0=a in1=b n", 256, 0, NULL},
	  {"add_f32", "mul", "f32", "out=d in0=c in1=a n", 256, 0, NULL}},
	 .begins = "reason not-exact"},
	{"inputs that separate nothing", IEEE, 7, 100, ONE("silu_f32", "silu", "f32"),
	 .begins = "reason no-verdict not separated", .inputs = "zeros"},
	{"inputs that separate no orders",
	 IEEE,
	 5,
	 100,
	 {{"softmax_f32", "softmax", "f32", "out=b in0=a cols", 64, 1, NULL}},
	 .begins = "reason no-verdict not separated",
	 .inputs = "exact"},
	{"a wrong pick forced", IEEE, 7, 100, ONE("silu_f32", "silu", "f32"),
	 .begins = "reason not-exact", .candidates = "rcp"},
};
/* Asked on a real GPU only: it would take the software GPU too long. */
static const struct question large[] = {
	{"large silu", IEEE, 1024, 4096, ONE("silu_f32", "silu", "f32"),
	 .begins = "candidate plain"},
	{"large gelu of bf16", IEEE, 1024, 4096, ONE("gelu_cdf_bf16", "gelu_tanh", "bf16"),
	 .begins = "candidate "},
	{"large layernorm", IEEE, 256, 4096, NORM("layernorm_f32", "f32", 256),
	 .begins = "candidate t256.desc.firstdesc/plain"},
	{"large layernorm of bf16", IEEE, 256, 4096, NORM("layernorm_bf16", "bf16", 256),
	 .begins = "candidate t256.desc.firstdesc/plain"},
	{"large rmsnorm of bf16",
	 IEEE,
	 256,
	 4096,
	 {{"rmsnorm_bf16", "rmsnorm", "bf16", "out=c in0=a weight=b cols eps", 256, 1, NULL}},
	 .begins = "candidate t256.desc.firstdesc/r1"},
	{"large softmax",
	 IEEE,
	 256,
	 8192,
	 {{"softmax_f32", "softmax", "f32", "out=b in0=a cols", 256, 1, NULL}},
	 .begins = "candidate t256.desc.firstdesc/plain"},
	{"large (a + b) * c and its silu",
	 IEEE,
	 1024,
	 4096,
	 {{"add_f32", "add", "f32", "out=c in0=a in1=b n", 256, 0, NULL},
	  {"mul_f32", "mul", "f32", "out=c in0=c in1=d n", 256, 0, NULL},
	  {"silu_rcp_f32", "silu", "f32", "out=e in0=c n", 256, 0, NULL}},
	 .begins = "candidate plain+plain+rcp"},
};
enum { LARGE = sizeof(large) / sizeof(*large) };
enum { QUESTIONS = sizeof(questions) / sizeof(*questions) };

static bool on_softgpu(void)
{
	const char *backend = getenv("AF_BACKEND");

	return backend && !strcmp(backend, "soft");
}

static bool right(const struct question *q, const char *answer)
{
	if (!on_softgpu() && q->flavour == FAST && !strncmp(q->begins, "candidate ", 10))
		return !strncmp(answer, "candidate ", 10);
	if (!on_softgpu() && q->real)
		return !strncmp(answer, q->real, strlen(q->real));
	return !strncmp(answer, q->begins, strlen(q->begins));
}

int main(int argc, char **argv)
{
	static struct ask asks[QUESTIONS + LARGE];
	const struct question *asked[QUESTIONS + LARGE];
	const char *glob = argc > 2 ? argv[2] : "*";
	char self[4096];
	unsigned n = 0;

	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	for (unsigned i = 0; i < QUESTIONS + (on_softgpu() ? 0 : LARGE); i++) {
		const struct question *q = i < QUESTIONS ? &questions[i] : &large[i - QUESTIONS];

		if (fnmatch(glob, q->name, 0))
			continue;
		asks[n].request = request(q, i);
		asked[n++] = q;
	}
	ask_all(asks, n);
	for (unsigned i = 0; i < n; i++) {
		bool slow = ask_slower(&asks[i]), ok = right(asked[i], asks[i].answer);

		printf("%sok %u - %s\n# %.2f s: %s%s\n", ok ? "" : "not ", ++tests, asked[i]->name,
		       asks[i].seconds, asks[i].answer, slow ? " (and slower)" : "");
		failed += !ok;
	}
	printf("1..%u\n", tests);
	return failed != 0;
}
