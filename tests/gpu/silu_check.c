/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the probe find the right candidate for each silu -> mul of the zoo, in each flavour, in
 * place and out of place, for one element to many? And nothing where its inputs are too weak or no
 * candidate is the kernel.
 *
 *   silu_check [DIR [GLOB]]    DIR holds zoo-*.fatbin (default: where the program is)
 *
 * Runs on the software GPU and on a real one; prints TAP.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <sys/stat.h>

#include "fused/candidate.h"
#include "tests/gpu/probe_ask.h"

enum flavour { IEEE, FAST, NOFMA, FLAVOURS };
static const char *const flavour_name[] = {"ieee", "fast", "nofma"};
/* Which operands are one: none; silu writes onto its input; the product likewise; and onto silu. */
enum places { APART, SILU_ON_GATE, OUT_ON_UP, OUT_ON_SILU, ALL_BUT_UP, PLACES };

/* What a kernel is told of how much there is: an argument; nothing; and its grid has two rows; and
 * the gate is the left half of each row of 1024. */
enum form { FORM_SIZED, FORM_UNSIZED, FORM_PLANE, FORM_HALVES };

static const struct animal {
	const char *silu, *mul, *candidate, *soft;
	enum dtype type;
} zoo[] = {
#define ZOO_ROW(silu, mul, type, candidate, soft) {#silu, #mul, candidate, soft, DT_##type},
#include "tests/gpu/zoo_silu.def"
};

static const struct odd {
	struct animal a;
	enum form form;
	const char *name, *begins;
} odds[] = {
#define ZOO_ODD(silu, form, name, begins) {{#silu, "mul_f32", "", "", DT_f32}, form, name, begins},
#include "tests/gpu/zoo_silu.def"
};

static struct check {
	const struct animal *a;
	enum flavour flavour;
	enum places places;
	int64_t n;
	enum form form;
	unsigned shift; /* elements by which the gate is off a multiple of 256 bytes */
	const char *inputs, *candidates;
	const char *name, *begins; /* how the answer begins; NULL: the zoo's candidate */
} checks[160];
static struct ask asks[160];
static unsigned nchecks, tests, failed;
static const char *dir;

static bool on_softgpu(void)
{
	const char *backend = getenv("AF_BACKEND");

	return backend && !strcmp(backend, "soft");
}

static uint64_t address(const struct check *c, unsigned operand)
{
	static const uint8_t place[PLACES][4] = {/* gate, up, silu, out */
						 {0, 1, 2, 3},
						 {0, 1, 0, 3},
						 {0, 1, 2, 1},
						 {0, 1, 2, 2},
						 {0, 1, 0, 0}};
	unsigned at = place[c->places][operand];

	return UINT64_C(0x7f3400000000) + at * UINT64_C(0x40000000) +
	       (at == 0 ? c->shift * dtype_bytes(c->a->type) : 0);
}

static void operand(FILE *f, const struct check *c, const char *role, int access, uint64_t addr)
{
	enum { COLS = 512 };
	unsigned bytes = dtype_bytes(c->a->type);

	fprintf(f, "{\"role\": \"%s\", \"dtype\": \"%s\", \"access\": %d, \"addr\": \"%" PRIx64,
		role, dtype_name(c->a->type), access, addr);
	if (c->form == FORM_HALVES && addr == address(c, SILU_MUL_GATE))
		fprintf(f, "\", \"size\": [%" PRId64 ", %d], \"stride\": [%u, %u]}", c->n / COLS,
			COLS, 2 * COLS * bytes, bytes);
	else
		fprintf(f, "\", \"size\": [%" PRId64 "], \"stride\": [%u]}", c->n, bytes);
}

/* silu: out, in0[, n]; mul: out, in0, in1, n. */
static void member(FILE *f, const struct check *c, bool mul)
{
	enum form form = mul ? FORM_SIZED : c->form;
	int64_t blocks = (c->n + 255) / 256;
	uint64_t p[3] = {address(c, mul ? SILU_MUL_OUT : SILU_MUL_SILU),
			 address(c, mul ? SILU_MUL_SILU : SILU_MUL_GATE), address(c, SILU_MUL_UP)};
	int32_t n = (int32_t)c->n;
	unsigned at = mul ? 24 : 16, bytes = at + (form == FORM_UNSIZED ? 0 : 4);
	unsigned char params[28];
	char file[4200];
	struct stat st;

	memcpy(params, p, at);
	memcpy(params + at, &n, 4);
	snprintf(file, sizeof(file), "%s/zoo-%s.fatbin", dir, flavour_name[c->flavour]);
	if (stat(file, &st))
		st.st_size = 0;
	fprintf(f,
		"{\"name\": \"zoo_%s_%s\", \"hash\": \"%032d\", \"image\": {\"file\": \"%s\", "
		"\"offset\": 0, \"bytes\": %lld}, \"grid\": [%lld, %d, 1], \"block\": [256, 1, 1], "
		"\"shmem\": 0, \"params\": \"",
		flavour_name[c->flavour], mul ? c->a->mul : c->a->silu, 0, file,
		(long long)st.st_size, (long long)(form == FORM_PLANE ? (blocks + 1) / 2 : blocks),
		form == FORM_PLANE ? 2 : 1);
	for (unsigned i = 0; i < bytes; i++)
		fprintf(f, "%02x", params[i]);
	fprintf(f, "\", \"param\": [[0, 8], [8, 8]%s", mul ? ", [16, 8]" : "");
	if (form != FORM_UNSIZED)
		fprintf(f, ", [%u, 4]", at);
	fprintf(f,
		"], \"op\": {\"code\": \"%s\", \"rows\": 1, \"cols\": %" PRId64 ", \"operand\": [",
		mul ? "mul" : "silu", c->n);
	operand(f, c, "out", 2, p[0]);
	fputs(", ", f);
	operand(f, c, "in0", 1, p[1]);
	if (mul) {
		fputs(", ", f);
		operand(f, c, "in1", 1, p[2]);
	}
	fprintf(f, "], \"slot\": [[0, 8, \"out\"], [8, 8, \"in0\"]%s",
		mul ? ", [16, 8, \"in1\"]" : "");
	if (form != FORM_UNSIZED)
		fprintf(f, ", [%u, 4, \"n\"]", at);
	fputs("]}}", f);
}

static void add(const struct check *c)
{
	size_t len;
	FILE *f = open_memstream(&asks[nchecks].request, &len);

	checks[nchecks++] = *c;
	fprintf(f,
		"{\"pattern\": \"silu_mul\", \"device\": 0, \"key\": \"%032d\", \"cache\": "
		"\"none\", \"seconds\": 120, \"inputs\": \"%s\", \"candidates\": \"%s\", "
		"\"numerics\": \"exact\", \"member\": [",
		0, c->inputs ? c->inputs : "", c->candidates ? c->candidates : "");
	member(f, c, false);
	fputs(", ", f);
	member(f, c, true);
	fputs("]}\n", f);
	fclose(f);
}

/* What nvcc's flags make of the plain flavour's candidate. The software GPU flushes nothing. */
static struct candidate expected(const struct check *c)
{
	bool soft = on_softgpu();
	struct candidate want = {0};
	struct silu_fields f;

	if (candidate_parse(soft ? c->a->soft : c->a->candidate, &want) ||
	    candidate_unpack_silu(want.code, &f) || c->flavour != FAST)
		return want;
	if (strncmp(c->a->silu, "native", 6)) {
		f.exp = SILU_exp_FAST;
		f.div = f.div == SILU_div_DIV   ? SILU_div_DIVFAST
			: f.div == SILU_div_RCP ? SILU_div_RCPFAST
						: f.div;
		f.ftz = !soft;
	}
	f.mulftz = !soft;
	want.code = candidate_pack_silu(&f);
	return want;
}

/* Alike for all gates that there are, where these were all tried; else the same arithmetic. */
static bool found(const struct check *c, const struct candidate *want, const struct candidate *got)
{
	struct group g = {.pattern = &pattern_silu_mul};
	struct silu_fields x, y;

	g.bound[SILU_MUL_GATE].dtype = (uint8_t)c->a->type;
	if (candidate_same_silu(&g, want, got))
		return true;
	if (c->a->type == DT_f32 || candidate_unpack_silu(want->code, &x) ||
	    candidate_unpack_silu(got->code, &y) || !candidate_same_product(&g, want, got))
		return false;
	/* Flushing and fast flavours may leave 16 bits alone; an exp of 16 bits is one that is
	 * rounded. */
	return (x.rounde || x.exp == SILU_exp_NATIVE) == (y.rounde || y.exp == SILU_exp_NATIVE) &&
	       x.roundd == y.roundd && x.roundq == y.roundq;
}

static void judge(const struct check *c, struct ask *a)
{
	static const char *const where[PLACES] = {"", " silu on gate", " out on up", " out on silu",
						  " in place"};
	struct candidate want = expected(c), got;
	bool slow = ask_slower(a);
	char name[128], wanted[CANDIDATE_NAME_MAX];
	bool ok;

	if (c->name) {
		snprintf(name, sizeof(name), "%s", c->name);
		snprintf(wanted, sizeof(wanted), "%s", c->begins);
		ok = !strncmp(a->answer, c->begins, strlen(c->begins));
	} else {
		snprintf(name, sizeof(name), "%s %s %" PRId64 "%s%s", flavour_name[c->flavour],
			 c->a->silu, c->n, where[c->places], c->shift ? " unaligned" : "");
		candidate_name(&want, wanted);
		ok = !strncmp(a->answer, "candidate ", 10) &&
		     !candidate_parse(a->answer + 10, &got) && found(c, &want, &got);
	}
	printf("%sok %u - %s\n", ok ? "" : "not ", ++tests, name);
	printf("# %.2f s: %s%s%s%s\n", a->seconds, a->answer, slow ? " (and slower)" : "",
	       ok ? "" : ", expected ", ok ? "" : wanted);
	failed += !ok;
}

int main(int argc, char **argv)
{
	static const int64_t length[] = {5632, 1, 1000, 100003};
	enum { ANIMALS = sizeof(zoo) / sizeof(*zoo) };
	const char *glob = argc > 2 ? argv[2] : "*";
	char self[4096];

	snprintf(self, sizeof(self), "%s", argv[0]);
	dir = argc > 1 ? argv[1] : dirname(self);
	setenv("SOFTGPU_SWEEP", "3f9e0400:40", 1); /* where almost_f32 is not silu */
	for (unsigned f = 0; f < FLAVOURS; f++)
		for (unsigned i = 0; i < ANIMALS; i++)
			for (unsigned l = 0; l < 4; l++) {
				struct check c = {.a = &zoo[i],
						  .flavour = (enum flavour)f,
						  .n = length[l],
						  .places = (enum places)((i + l + f) % PLACES),
						  .shift = l == 2};

				/* All gates of 16 bits one by one are too many runs. */
				if (l == 1 && zoo[i].type != DT_f32)
					c.n = 300;
				if ((l + i + f) % 4 > (f == IEEE) || fnmatch(glob, zoo[i].silu, 0))
					continue;
				if (!zoo[i].candidate[0]) {
					bool almost = !strcmp(zoo[i].silu, "almost_f32");

					c.name = almost ? "another function for three floats is "
							  "not exact"
							: "a function of its own is not exact";
					c.begins = almost ? "reason not-exact silu/"
							  : "reason not-exact no candidate";
				}
				add(&c);
			}
	for (unsigned i = 0; i < sizeof(odds) / sizeof(*odds); i++) {
		struct check c = {.a = &odds[i].a,
				  .n = 5632,
				  .form = odds[i].form,
				  .name = odds[i].name,
				  .begins = odds[i].begins};

		if (!fnmatch(glob, odds[i].a.silu, 0))
			add(&c);
	}
	if (!strcmp(glob, "*")) {
		struct check c = {.a = &zoo[0],
				  .n = 1000,
				  .inputs = "zeros",
				  .name = "inputs that tell nothing apart give no verdict",
				  .begins = "reason no-verdict not separated"};

		add(&c);
		c.a = &zoo[5];
		c.name = "nor do they for bf16";
		add(&c);
		c.inputs = NULL;
		c.candidates = "silu/exp-rcp-rq";
		c.name = "a wrong spelling alone is not exact";
		c.begins = "reason not-exact";
		add(&c);
	}
	ask_all(asks, nchecks);
	for (unsigned i = 0; i < nchecks; i++)
		judge(&checks[i], &asks[i]);
	printf("1..%u\n", tests);
	return failed != 0;
}
