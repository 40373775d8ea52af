/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the probe find exactly the right candidate for each kernel of the zoo, in each flavour? And
 * does it keep quiet where it must: too weak inputs, a wrong candidate put in its way.
 *
 *   probe_check [DIR [GLOB]]    DIR holds zoo-*.fatbin (default: where the program is)
 *
 * Runs on the software GPU and on a real one; prints TAP.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fused/candidate.h"
#include "tests/gpu/probe_ask.h"

enum flavour { IEEE, FAST, NOFMA, FLAVOURS };
static const char *const flavour_name[] = {"ieee", "fast", "nofma"};
enum takes { TAKES_EPS, TAKES_ROWS, TAKES_NO_EPS };

struct animal {
	const char *norm, *add, *candidate;
	enum dtype type;
	unsigned threads, rows; /* of a block */
	enum takes takes;
};
static const struct animal zoo[] = {
#define ZOO_ROW(norm, add, type, threads, rows, candidate)                                         \
	{#norm, #add, candidate, DT_##type, threads, rows, TAKES_EPS},
#define ZOO_ROW_ROWS(norm, add, type, threads, rows, candidate)                                    \
	{#norm, #add, candidate, DT_##type, threads, rows, TAKES_ROWS},
#define ZOO_ROW_NOEPS(norm, add, type, threads, rows, candidate)                                   \
	{#norm, #add, candidate, DT_##type, threads, rows, TAKES_NO_EPS},
#include "tests/gpu/zoo.def"
#undef ZOO_ROW
#undef ZOO_ROW_ROWS
#undef ZOO_ROW_NOEPS
};

struct question {
	const struct animal *a;
	enum flavour flavour;
	int64_t rows, cols;
	bool no_eps;    /* the signature does not know eps */
	bool in_place;  /* sum is a, as in `accum` */
	unsigned shift; /* elements by which a's address is off a multiple of 256 bytes */
	const char *inputs, *candidates, *numerics;
};

static const char *dir;
static unsigned tests, failed;
static const double EPS = 1e-5;

static bool result(bool ok, const char *name, const char *got)
{
	printf("%sok %u - %s%s%s\n", ok ? "" : "not ", ++tests, name, ok ? "" : ": ",
	       ok ? "" : got);
	fflush(stdout);
	failed += !ok;
	return ok;
}

static uint64_t address(const struct question *q, unsigned operand)
{
	uint64_t base = UINT64_C(0x7f1200000000) + operand * UINT64_C(0x40000000);

	return base + (operand == 0 ? q->shift * dtype_bytes(q->a->type) : 0);
}

/* Packs parameters as the kernel takes them; answers their bytes. */
static unsigned pack(const struct question *q, bool norm, unsigned char *p, char *layout,
		     char *slots)
{
	const struct animal *a = q->a;
	uint64_t pa = address(q, 0), pb = address(q, 1), psum = q->in_place ? pa : address(q, 2);
	uint64_t pointer[3] = {psum, pa, pb};
	const char *role[3] = {"out", "in0", norm ? "weight" : "in1"};
	int32_t number[2] = {(int32_t)(q->rows * q->cols), 0};
	unsigned n = 24, count = 1;
	const char *number_role[2] = {"n", ""};

	if (norm) {
		pointer[0] = address(q, 3);
		pointer[1] = psum;
		pointer[2] = address(q, 4);
		count = a->takes == TAKES_ROWS ? 2 : 1;
		number[0] = a->takes == TAKES_ROWS ? (int32_t)q->rows : (int32_t)q->cols;
		number[1] = (int32_t)q->cols;
		number_role[0] = a->takes == TAKES_ROWS ? "rows" : "cols";
		number_role[1] = "cols";
	}
	memcpy(p, pointer, 24);
	strcpy(layout, "[0, 8], [8, 8], [16, 8]");
	sprintf(slots, "[0, 8, \"%s\"], [8, 8, \"%s\"], [16, 8, \"%s\"]", role[0], role[1],
		role[2]);
	for (unsigned i = 0; i < count; i++, n += 4) {
		memcpy(p + n, &number[i], 4);
		sprintf(layout + strlen(layout), ", [%u, 4]", n);
		sprintf(slots + strlen(slots), ", [%u, 4, \"%s\"]", n, number_role[i]);
	}
	if (norm && a->takes != TAKES_NO_EPS) {
		float eps = (float)EPS;

		memcpy(p + n, &eps, 4);
		sprintf(layout + strlen(layout), ", [%u, 4]", n);
		sprintf(slots + strlen(slots), ", [%u, 4, \"eps\"]", n);
		n += 4;
	}
	return n;
}

static void operand(FILE *f, const struct question *q, const char *role, int access, uint64_t addr,
		    int64_t rows, int64_t cols)
{
	unsigned bytes = dtype_bytes(q->a->type);

	fprintf(f,
		"{\"role\": \"%s\", \"dtype\": \"%s\", \"access\": %d, \"addr\": \"%" PRIx64 "\", ",
		role, dtype_name(q->a->type), access, addr);
	if (rows)
		fprintf(f, "\"size\": [%" PRId64 ", %" PRId64 "], \"stride\": [%" PRId64 ", %u]}",
			rows, cols, cols * bytes, bytes);
	else
		fprintf(f, "\"size\": [%" PRId64 "], \"stride\": [%u]}", cols, bytes);
}

static void member(FILE *f, const struct question *q, bool norm)
{
	const struct animal *a = q->a;
	int64_t n = q->rows * q->cols;
	unsigned char p[64];
	char layout[128], slots[256], file[4200];
	unsigned bytes = pack(q, norm, p, layout, slots);
	uint64_t psum = q->in_place ? address(q, 0) : address(q, 2);
	struct stat st;

	snprintf(file, sizeof(file), "%s/zoo-%s.fatbin", dir, flavour_name[q->flavour]);
	if (stat(file, &st))
		st.st_size = 0;
	fprintf(f,
		"{\"name\": \"zoo_%s_%s\", \"hash\": \"%032d\", \"image\": {\"file\": \"%s\", "
		"\"offset\": 0, \"bytes\": %lld}, ",
		flavour_name[q->flavour], norm ? a->norm : a->add, 0, file, (long long)st.st_size);
	fprintf(f, "\"grid\": [%lld, 1, 1], \"block\": [%u, 1, 1], \"shmem\": 0, \"params\": \"",
		norm ? (long long)((q->rows + a->rows - 1) / a->rows)
		     : (long long)((n + 255) / 256),
		norm ? a->threads : 256);
	for (unsigned i = 0; i < bytes; i++)
		fprintf(f, "%02x", p[i]);
	fprintf(f,
		"\", \"param\": [%s], \"op\": {\"code\": \"%s\", \"rows\": %lld, \"cols\": %lld, ",
		layout, norm ? "rmsnorm" : "add", norm ? (long long)q->rows : 1LL,
		norm ? (long long)q->cols : (long long)n);
	/* A float argument is read as the float that it is; a constant as its decimal. */
	if (norm && !q->no_eps)
		fprintf(f, "\"eps\": %.17g, ", a->takes == TAKES_NO_EPS ? EPS : (double)(float)EPS);
	fputs("\"operand\": [", f);
	operand(f, q, "out", 2, norm ? address(q, 3) : psum, norm ? q->rows : 0,
		norm ? q->cols : n);
	fputs(", ", f);
	operand(f, q, "in0", 1, norm ? psum : address(q, 0), norm ? q->rows : 0,
		norm ? q->cols : n);
	fputs(", ", f);
	operand(f, q, norm ? "weight" : "in1", 1, norm ? address(q, 4) : address(q, 1), 0,
		norm ? q->cols : n);
	fprintf(f, "], \"slot\": [%s]}}", slots);
}

static char *request(const struct question *q)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fprintf(f,
		"{\"pattern\": \"add_rmsnorm\", \"device\": 0, \"key\": \"%032d\", \"cache\": "
		"\"none\", \"seconds\": 120, \"inputs\": \"%s\", \"candidates\": \"%s\", "
		"\"numerics\": \"%s\", \"member\": [",
		0, q->inputs ? q->inputs : "", q->candidates ? q->candidates : "",
		q->numerics ? q->numerics : "exact");
	member(f, q, false);
	fputs(", ", f);
	member(f, q, true);
	fputs("]}\n", f);
	fclose(f);
	return text;
}

/* A group with the shape of the question, for candidate_same. */
static const struct group *group_of(const struct question *q)
{
	static struct group g;
	static struct member m[2];

	memset(&g, 0, sizeof(g));
	g.pattern = pattern_get(PATTERN_add_rmsnorm);
	g.member[0] = &m[0];
	g.member[1] = &m[1];
	m[1].launch.block[0] = q->a->threads;
	m[1].launch.block[1] = m[1].launch.block[2] = 1;
	g.rows = q->rows;
	g.cols = q->cols;
	g.has_eps = true;
	g.eps = q->a->takes == TAKES_NO_EPS ? EPS : (double)(float)EPS;
	g.nbound = ADD_RMSNORM_NBOUND;
	for (unsigned i = 0; i < g.nbound; i++)
		g.bound[i].dtype = (uint8_t)q->a->type;
	return &g;
}

/*
 * What nvcc's flags make of the plain flavour's candidate. The GPU's compiler takes a fast division
 * apart and fuses its product with the addition of eps, unless that is in double; the software GPU
 * has a fast division of its own, and flushes nothing.
 */
static struct candidate expected(const struct question *q, bool softgpu)
{
	struct candidate c;
	struct fields f;

	if (candidate_parse(q->a->candidate, &c) || candidate_unpack(c.code, &f))
		return (struct candidate){0};
	if (q->flavour == NOFMA) {
		f.fma = FIELD_fma_NO;
		f.mean = f.mean == FIELD_mean_FMA ? FIELD_mean_MUL : f.mean;
	} else if (q->flavour == FAST) {
		if (f.mean == FIELD_mean_DIV)
			f.mean = softgpu || f.epsd ? FIELD_mean_DIVFAST : FIELD_mean_FMAFAST;
		f.root = f.root == FIELD_root_RCPSQRT ? FIELD_root_RSQRT
			 : f.root == FIELD_root_XDIV  ? FIELD_root_XDIVFAST
						      : f.root;
		f.addftz = !softgpu;
		/* Native bf16 arithmetic knows no flushing. */
		f.ftz = !softgpu && strncmp(q->a->norm, "native", 6);
	}
	c.code = candidate_pack(&f);
	return c;
}

static bool on_softgpu(void)
{
	const char *backend = getenv("AF_BACKEND");

	return backend && !strcmp(backend, "soft");
}

/* What is to be asked; `name` and how the answer begins, or NULL: the zoo's candidate. */
static struct check {
	struct question q;
	const char *name, *begins;
} checks[256];
static struct ask asks[256];
static unsigned nchecks;

static void check(const struct question *q)
{
	checks[nchecks].q = *q;
	asks[nchecks++].request = request(q);
}

static void check_answer(const struct question *q, const char *name, const char *begins)
{
	checks[nchecks].name = name;
	checks[nchecks].begins = begins;
	check(q);
}

static void judge(const struct check *c, struct ask *a)
{
	const struct question *q = &c->q;
	struct candidate want = expected(q, on_softgpu()), got;
	bool slow = ask_slower(a);
	char name[256], what[640], wanted[CANDIDATE_NAME_MAX];

	if (c->name) {
		result(!strncmp(a->answer, c->begins, strlen(c->begins)), c->name, a->answer);
	} else {
		candidate_name(&want, wanted);
		snprintf(name, sizeof(name), "%s %s %lldx%lld%s%s", flavour_name[q->flavour],
			 q->a->norm, (long long)q->rows, (long long)q->cols,
			 q->in_place ? " in place" : "", q->shift ? " unaligned" : "");
		snprintf(what, sizeof(what), "%s, expected %s", a->answer, wanted);
		result(!strncmp(a->answer, "candidate ", 10) &&
			       !candidate_parse(a->answer + 10, &got) &&
			       candidate_same(group_of(q), &want, &got),
		       name, what);
	}
	printf("# %.2f s: %s%s\n", a->seconds, a->answer, slow ? " (and slower)" : "");
}

static const struct animal *animal(const char *norm)
{
	for (unsigned i = 0; i < sizeof(zoo) / sizeof(*zoo); i++)
		if (!strcmp(zoo[i].norm, norm))
			return &zoo[i];
	return NULL;
}

/* Where the signature says nothing of eps, the probe finds that too. */
static void check_eps(void)
{
	struct question q = {.a = animal("epsd_f32"), .rows = 2, .cols = 1000, .no_eps = true};

	check_answer(&q, "eps is found out",
		     "candidate t256-desc-firstdesc/div-epsd-rsqrt-xs.w-eps1e-05");
}

/* A kernel that no candidate is, and one that is close to it. */
static void check_close(void)
{
	struct question q = {.a = animal("backwards_bf16"), .rows = 2, .cols = 1000};

	check_answer(&q, "an order of its own is not exact", "reason not-exact");
	q.numerics = "close";
	check_answer(&q, "numerics = close accepts one within a unit", "candidate ");
	q = (struct question){.a = animal("oneplus_f32"),
			      .rows = 2,
			      .cols = 1000,
			      .numerics = "close",
			      .candidates = "*-xs.w"};
	check_answer(&q, "numerics = close accepts nothing that is not close", "reason not-exact");
}

/* The separation rule: nothing wrong gets through, whatever is put in the search's way. */
static void check_separation(void)
{
	struct question q = {.a = animal("first_f32"), .rows = 2, .cols = 300};
	struct question bf16 = {.a = animal("first_bf16"), .rows = 2, .cols = 300};

	q.inputs = "exact";
	check_answer(&q, "inputs that tell no orders apart give no verdict",
		     "reason no-verdict not separated");
	q.inputs = "zeros";
	check_answer(&q, "inputs that tell nothing apart give no verdict",
		     "reason no-verdict not separated");
	bf16.inputs = "exact,zeros,special,underflow";
	check_answer(&bf16, "nor do they for bf16", "reason no-verdict not separated");
	q.candidates = "t256-asc-serial/*";
	q.inputs = NULL;
	check_answer(&q, "a wrong order alone is not exact", "reason not-exact");
	q.inputs = "exact,tiny,zeros";
	check_answer(
		&q, "a wrong order that the inputs cannot tell from the right one gives no verdict",
		"reason no-verdict not separated");
	q.inputs = NULL;
	q.candidates = "*/div-rcpsqrt-xs.w";
	check_answer(&q, "a wrong spelling alone is not exact", "reason not-exact");
}

int main(int argc, char **argv)
{
	/* A GPU of software takes its time for the long ones. */
	const int64_t longest = on_softgpu() ? 1536 : 8192;
	const int64_t shape[][2] = {{2, 768}, {1, 1000}, {3, 37}, {1, longest}};
	const char *glob = argc > 2 ? argv[2] : "*";
	char self[4096];

	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	for (unsigned f = 0; f < FLAVOURS; f++)
		for (unsigned i = 0; i < sizeof(zoo) / sizeof(*zoo); i++) {
			/* Every animal at some shapes; the vector ones at rows of whole vectors. */
			for (unsigned s = 0; s < 4; s++) {
				struct question q = {.a = &zoo[i],
						     .flavour = (enum flavour)f,
						     .rows = shape[s][0] * zoo[i].rows,
						     .cols = shape[s][1]};

				if (!zoo[i].candidate[0] || (s + i + f) % 4 > (f == IEEE ? 1 : 0) ||
				    fnmatch(glob, zoo[i].norm, 0))
					continue;
				if (strchr(zoo[i].norm, '4') && q.cols % 4)
					q.cols = q.cols / 4 * 4 + 4;
				else if (strstr(zoo[i].norm, "pair"))
					q.cols += q.cols % 2;
				q.in_place = (s + i) % 3 == 0;
				q.shift = s == 1 && !strchr(zoo[i].norm, '4') &&
					  !strstr(zoo[i].norm, "pair");
				check(&q);
			}
		}
	if (!strcmp(glob, "*")) {
		check_separation();
		check_close();
		check_eps();
	}
	ask_all(asks, nchecks);
	for (unsigned i = 0; i < nchecks; i++)
		judge(&checks[i], &asks[i]);
	printf("1..%u\n", tests);
	return failed != 0;
}
