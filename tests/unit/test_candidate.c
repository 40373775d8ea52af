/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <math.h>

#include "fused/candidate.h"

static struct pattern pattern = {.nnode = 2};
static struct member member[2];
static struct candidate orders[CANDIDATE_MAX_ORDERS], spellings[CANDIDATE_MAX_SPELLINGS];

static struct group group(enum dtype t, int64_t cols, unsigned threads)
{
	struct group g = {.pattern = &pattern,
			  .member = {&member[0], &member[1]},
			  .rows = 1,
			  .cols = cols,
			  .eps = 1e-5,
			  .has_eps = true,
			  .nbound = ADD_RMSNORM_NBOUND};

	member[1].launch.block[0] = threads;
	member[1].launch.block[1] = member[1].launch.block[2] = 1;
	for (unsigned i = 0; i < g.nbound; i++)
		g.bound[i].dtype = (uint8_t)t;
	return g;
}

static struct candidate parse(const char *name)
{
	struct candidate c;

	if (candidate_parse(name, &c))
		fail_msg("%s does not parse", name);
	return c;
}

static void names_parse_back(void **state)
{
	struct group g = group(DT_bf16, 5000, 1024);
	unsigned no = candidate_orders(&g, orders, CANDIDATE_MAX_ORDERS), ns, longest = 0;

	g.has_eps = false; /* more spellings: eps is part of the name */
	ns = candidate_spellings(&g, spellings, CANDIDATE_MAX_SPELLINGS);
	assert_in_range(no, 500, CANDIDATE_MAX_ORDERS - 1);
	assert_in_range(ns, 2000, CANDIDATE_MAX_SPELLINGS - 1);
	for (unsigned i = 0; i < no + ns; i++) {
		struct candidate c = candidate_join(&orders[i < no ? i : no - 1],
						    &spellings[i < no ? ns - 1 : i - no]);
		struct candidate back;
		char name[CANDIDATE_NAME_MAX + 8];

		candidate_name(&c, name);
		assert_null(strpbrk(name, " \t\n*?["));
		longest = strlen(name) > longest ? (unsigned)strlen(name) : longest;
		back = parse(name);
		assert_int_equal(back.code, c.code);
		assert_true(back.eps == c.eps);
	}
	assert_in_range(longest, 40, CANDIDATE_NAME_MAX - 4);
}

static void names_read_well(void **state)
{
	struct fields f;
	struct candidate c = parse("t1024-v4-p4-asc-serial/div-epsd-rcpsqrt-xs.w-r1-ftz-eps1e-06");
	char name[CANDIDATE_NAME_MAX];

	assert_int_equal(candidate_unpack(c.code, &f), 0);
	assert_int_equal(f.threads, 1024);
	assert_int_equal(f.vec, FIELD_vec_4);
	assert_int_equal(f.part, FIELD_part_4);
	assert_int_equal(f.warp, FIELD_warp_ASC);
	assert_int_equal(f.block, FIELD_block_SERIAL);
	assert_int_equal(f.epsd, FIELD_epsd_DOUBLE);
	assert_int_equal(f.round, FIELD_round_FIRST);
	assert_int_equal(f.ftz, FIELD_ftz_YES);
	assert_true(c.eps == 1e-6f);
	candidate_name(&c, name);
	assert_string_equal(name, "t1024-v4-p4-asc-serial/div-epsd-rcpsqrt-xs.w-r1-ftz-eps1e-06");
}

static void silus_parse_back(void **state)
{
	static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
	static const char *const usual[] = {"silu/exp-div", "silu/exp-rcp",
					    "silu/fastexp-divfast-ftz-mulftz"};
	struct group g = {.pattern = &pattern_silu_mul,
			  .member = {&member[0], &member[1]},
			  .rows = 100,
			  .cols = 1};

	for (unsigned t = 0; t < 3; t++) {
		unsigned n, met = 0;

		g.bound[SILU_MUL_GATE].dtype = (uint8_t)types[t];
		assert_int_equal(candidate_orders(&g, orders, CANDIDATE_MAX_ORDERS), 1);
		n = candidate_spellings(&g, spellings, CANDIDATE_MAX_SPELLINGS);
		assert_in_range(n, 40, 1000);
		for (unsigned i = 0; i < n; i++) {
			struct candidate c = candidate_join(&orders[0], &spellings[i]), back;
			char name[CANDIDATE_NAME_MAX];

			candidate_name(&c, name);
			assert_null(strpbrk(name, " \t\n*?["));
			back = parse(name);
			assert_int_equal(back.code, c.code);
			for (unsigned k = 0; k < 3; k++)
				met += !strcmp(name, usual[k]);
			/* No two are alike. */
			for (unsigned k = 0; k < i; k++)
				assert_false(candidate_same(&g, &spellings[k], &c));
		}
		assert_int_equal(met, types[t] == DT_f16 ? 2 : 3);
	}
}

static void silus_that_are_the_same(void **state)
{
	static const struct {
		enum dtype type;
		const char *x, *y;
		bool same, product;
	} row[] = {
		{DT_f32, "silu/exp-div", "silu/exp-rcp", false, true},
		{DT_f32, "silu/exp-div", "silu/exp-div-mulftz", false, false},
		{DT_f16, "silu/exp-div", "silu/exp-div-mulftz", true, true},
		{DT_f32, "silu/fastexp-divfast-ftz", "silu/fastexp-rcpfast-ftz", true, true},
		{DT_f32, "silu/fastexp-divfast", "silu/fastexp-rcpfast", false, true},
		{DT_bf16, "silu/hexp-hdiv-rd", "silu/hexp-hdiv-re-rd", true, true},
		{DT_bf16, "silu/hexp-hdiv-rd", "silu/hexp-hdiv", false, true},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct group g = {.pattern = &pattern_silu_mul, .rows = 1, .cols = 1};
		struct candidate x = parse(row[i].x), y = parse(row[i].y);

		g.bound[SILU_MUL_GATE].dtype = (uint8_t)row[i].type;
		assert_int_equal(candidate_same(&g, &x, &y), row[i].same);
		assert_int_equal(candidate_same_product(&g, &x, &y), row[i].product);
	}
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"t",
		"silu",
		"silu/",
		"silu/exp-sideways",
		"silu/exp-div-eps1e-05",
		"silu-exp-div",
		"t0/div-rsqrt-xs.w",
		"t1025/div-rsqrt-xs.w",
		"t99999999999/div-rsqrt-xs.w",
		"t256-",
		"t256-sideways/div-rsqrt-xs.w",
		"t256//div",
		"t256-p4/div-rsqrt-xs.w",       /* a part larger than its group */
		"t256-v4-p4-a2/div-rsqrt-xs.w", /* parts with accumulators */
		"t256-desc/div-rsqrt-xs.w-epsx",
		"t256-desc/div-rsqrt-xs.w-epsinf",
		"t256-desc/div-rsqrt-xs.w-eps",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"};
	struct candidate c;
	struct fields f;
	char name[CANDIDATE_NAME_MAX];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!candidate_parse(bad[i], &c))
			fail_msg("%s parses", bad[i]);
	assert_int_equal(candidate_unpack(UINT64_MAX, &f), -1);
	c.code = UINT64_MAX;
	candidate_name(&c, name);
	assert_string_equal(name, "?");
}

/* Sums in float, as order.inc defines them: what equal trees must agree on. */
#define NODE float
#define NODE_ZERO 0.0f
#define ADD(a, b) ((a) + (b))
#define SQUARE(i) (ctx[i] * ctx[i])
#define FUSE(a, i) fmaf(ctx[i], ctx[i], a)
#define ORDER_CTX const float *
#define ORDER_QUALIFIER
#define ORDER_FN float_sum
#include "fused/order.inc"

static uint64_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return *s >> 33;
}

/* Every order of a length and block: equal trees give equal sums on every row, unequal ones differ
 * on some row. */
static void trees_tell_orders_apart(void **state)
{
	static const struct {
		int64_t cols;
		unsigned threads;
	} shape[] = {{1, 32}, {2, 32}, {3, 32}, {5, 4}, {9, 1}, {37, 16}, {40, 32}, {100, 64}};
	enum { ROWS = 1500, ORDERS = 2048 };
	static uint64_t tree[ORDERS], print[ORDERS];
	static float x[512], scratch[2048];

	for (unsigned s = 0; s < sizeof(shape) / sizeof(*shape); s++) {
		int64_t cols = shape[s].cols;
		/* Too long to be thinned out while listing. */
		struct group g = group(DT_f32, 100000, shape[s].threads);
		unsigned n = candidate_orders(&g, orders, ORDERS);
		uint64_t seed = 7 + s;

		for (unsigned i = 0; i < n; i++) {
			struct fields f;

			assert_int_equal(candidate_unpack(orders[i].code, &f), 0);
			tree[i] = candidate_tree(&f, cols, false);
			print[i] = 0;
		}
		for (unsigned r = 0; r < ROWS; r++) {
			/* Three large ones: the others are about half a unit of their squares' sum.
			 */
			for (int64_t i = 0; i < cols; i++)
				x[i] = ldexpf(1.0f + (float)next(&seed) * 0x1p-31f, -12);
			for (unsigned k = 0; k < 3 && r % 2; k++)
				x[next(&seed) % (uint64_t)cols] =
					1.0f + (float)next(&seed) * 0x1p-33f;
			for (unsigned i = 0; i < n; i++) {
				struct fields f;
				float sum;
				uint32_t bits;

				candidate_unpack(orders[i].code, &f);
				sum = float_sum(&f, cols, x, scratch);
				memcpy(&bits, &sum, 4);
				print[i] = (print[i] ^ bits) * 0x9e3779b97f4a7c15u;
				print[i] ^= print[i] >> 29;
			}
		}
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < i; k++)
				if ((tree[i] == tree[k]) != (print[i] == print[k])) {
					char a[CANDIDATE_NAME_MAX], b[CANDIDATE_NAME_MAX];

					candidate_name(&orders[i], a);
					candidate_name(&orders[k], b);
					fail_msg("%lld columns: %s and %s: trees %s, sums %s",
						 (long long)cols, a, b,
						 tree[i] == tree[k] ? "alike" : "differ",
						 print[i] == print[k] ? "alike" : "differ");
				}
	}
}

static void what_is_the_same(void **state)
{
	static const struct {
		enum dtype t;
		int64_t cols;
		double eps;
		const char *a, *b;
		bool same;
	} row[] = {
		/* Fewer elements than threads: no thread has two. */
		{DT_f32, 200, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-a4-desc-firstdesc/div-rsqrt-xs.w", true},
		{DT_f32, 200, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-asc-firstdesc/div-rsqrt-xs.w", false},
		/* Squares of 16-bit numbers are exact. */
		{DT_bf16, 4096, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-nofma-desc-firstdesc/div-rsqrt-xs.w", true},
		{DT_bf16, 4096, 0, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-nofma-desc-firstdesc/div-rsqrt-xs.w", false},
		{DT_f32, 4096, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-nofma-desc-firstdesc/div-rsqrt-xs.w", false},
		/* Dividing by a power of two. */
		{DT_f32, 4096, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/fma-rsqrt-xs.w", true},
		{DT_f32, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/fma-rsqrt-xs.w", false},
		{DT_f32, 4097, 0, "t256-desc-firstdesc/mul-rsqrt-xs.w",
		 "t256-desc-firstdesc/fma-rsqrt-xs.w", true},
		/* Halves have no flavours. */
		{DT_f16, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-rsqrt-xs.w-ftz", true},
		{DT_bf16, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-rsqrt-xs.w-ftz", false},
		/* An eps that is a float is the same in double. */
		{DT_f32, 4097, 0x1p-20, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-epsd-rsqrt-xs.w", true},
		{DT_f32, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-epsd-rsqrt-xs.w", false},
		{DT_f32, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-rsqrt-xw.s", false},
		{DT_f32, 4097, 1e-5, "t256-desc-firstdesc/div-rsqrt-xs.w",
		 "t256-desc-firstdesc/div-rcpsqrt-xs.w", false},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct group g = group(row[i].t, row[i].cols, 256);
		struct candidate a = parse(row[i].a), b = parse(row[i].b);

		g.eps = row[i].eps;
		if (candidate_same(&g, &a, &b) != row[i].same)
			fail_msg("%s and %s at %lld columns", row[i].a, row[i].b,
				 (long long)row[i].cols);
	}
}

static bool listed(const struct group *g, const char *name)
{
	struct candidate c = parse(name);
	unsigned no = candidate_orders(g, orders, CANDIDATE_MAX_ORDERS);
	unsigned ns = candidate_spellings(g, spellings, CANDIDATE_MAX_SPELLINGS);

	for (unsigned i = 0; i < no; i++)
		for (unsigned k = 0; k < ns; k++)
			if (candidate_join(&orders[i], &spellings[k]).code == c.code)
				return true;
	return false;
}

static void the_space_has_what_people_write(void **state)
{
	struct group g = group(DT_bf16, 5000, 256);

	/* Block, warp and thread for each row. */
	assert_true(listed(&g, "t256-desc-firstdesc/div-rsqrt-xs.w-r1"));
	assert_true(listed(&g, "t256-asc-serial/div-rcpsqrt-xs.w"));
	assert_true(listed(&g, "t32-desc/fma-rsqrt-x.sw"));
	assert_true(listed(&g, "t1-desc/div-xdiv-xs.w"));
	assert_true(listed(&g, "t256-v8-p2-desc-halving/div-rsqrt-xw.s"));
	assert_true(listed(&g, "t256-contig-desc-all/epsdiv-dsqrt-xs.w-w1-ftz-addftz"));
	assert_false(listed(&g, "t512-desc-firstdesc/div-rsqrt-xs.w"));
	/* Lines of a block. */
	member[1].launch.block[0] = 16;
	member[1].launch.block[1] = 8;
	assert_true(listed(&g, "t16-desc/div-rsqrt-xs.w"));
	assert_true(listed(&g, "t128-desc-firstdesc/div-rsqrt-xs.w"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_parse_back),
		cmocka_unit_test(names_read_well),
		cmocka_unit_test(silus_parse_back),
		cmocka_unit_test(silus_that_are_the_same),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(trees_tell_orders_apart),
		cmocka_unit_test(what_is_the_same),
		cmocka_unit_test(the_space_has_what_people_write),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
