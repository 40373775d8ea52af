// SPDX-License-Identifier: Apache-2.0
/* What can be guessed of an unknown kernel's sizes, how guesses are written, and what runs changed.
 */
#include "unit.h"

#include "shim/probe_child_infer.h"
#include "sigs.h"

enum { P = -1 }; /* a pointer */

/* A kernel with these arguments: P, or the value of one of 4 bytes. */
static void facts(struct infer_facts *f, const int64_t *arg, unsigned n, const uint32_t grid[3],
		  const uint32_t block[3])
{
	uint32_t at = 0;

	memset(f, 0, sizeof(*f));
	f->narg = n;
	memcpy(f->grid, grid, sizeof(f->grid));
	memcpy(f->block, block, sizeof(f->block));
	for (unsigned i = 0; i < n; i++) {
		uint32_t bytes = arg[i] == P ? 8 : 4;

		at = (at + bytes - 1) & ~(bytes - 1);
		f->arg[i] = (struct infer_arg){at, bytes, arg[i] == P, arg[i] == P ? 0 : arg[i]};
		at += bytes;
	}
}

/* "0=rows 2=cols; keys" of a way to say the sizes. */
static const char *spell_space(const struct infer_space *s)
{
	static char text[256];
	int n = 0;

	text[0] = 0;
	for (unsigned u = 0; u < s->nuse; u++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u=%s ", s->use[u].arg,
			      s->use[u].word);
	for (const char *p = s->keys; *p; p++)
		if (*p != ' ')
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%c",
				      *p == '\n' ? ' ' : *p);
	if (n)
		text[n - 1] = 0;
	return text;
}

static int find_space(const struct infer_space *s, unsigned n, const char *text)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(spell_space(&s[i]), text))
			return (int)i;
	return -1;
}

static void test_spaces(void **state)
{
	static const struct {
		bool rows;
		int64_t arg[6];
		unsigned n;
		uint32_t grid[3], block[3];
		int64_t elements;
		const char *first; /* is tried first; NULL: there is none */
		const char *also;  /* is tried, too */
		const char *never;
	} row[] = {
		/* A size in one argument; what else it could be comes later. */
		{false,
		 {P, P, 1000},
		 3,
		 {4, 1, 1},
		 {256, 1, 1},
		 1000,
		 "2=n",
		 "n=grid.x*250",
		 "2=rows"},
		/* In two: which counts rows, the grid says. */
		{false,
		 {P, 96, 8, P},
		 4,
		 {3, 2, 1},
		 {32, 4, 1},
		 768,
		 "1=cols 2=rows",
		 "n=grid.x*block.x*grid.y*block.y",
		 "1=n"},
		{false,
		 {P, 96, 8, P},
		 4,
		 {8, 1, 1},
		 {32, 1, 1},
		 768,
		 "1=cols 2=rows",
		 "1=cols rows=grid.x",
		 NULL},
		{false, {P, 8, 96, P}, 4, {3, 1, 1}, {256, 1, 1}, 768, "1=rows 2=cols", NULL, NULL},
		/* In three, whatever order they are in. */
		{false,
		 {P, 2, 3, 64},
		 4,
		 {2, 1, 1},
		 {256, 1, 1},
		 384,
		 "1=@a 2=@b 3=cols rows=@a*@b",
		 NULL,
		 "1=rows 2=cols"},
		/* One of them in the grid. */
		{false,
		 {P, 100},
		 2,
		 {1, 5, 1},
		 {128, 1, 1},
		 500,
		 "1=cols rows=grid.y",
		 NULL,
		 "1=n"},
		/* In fours; by the grid alone. */
		{false, {P, 25}, 2, {1, 1, 1}, {32, 1, 1}, 100, "1=@n n=@n*4", NULL, NULL},
		{false,
		 {P},
		 1,
		 {3, 1, 1},
		 {64, 1, 1},
		 768,
		 "n=grid.x*block.x*4",
		 "n=grid.x*256",
		 NULL},
		{false, {P, 7}, 2, {3, 1, 1}, {64, 1, 1}, 769, NULL, NULL, NULL},
		/* Negative numbers and none are no sizes. */
		{false, {P, -5, 0}, 3, {1, 1, 1}, {5, 1, 1}, 25, "n=grid.x*25", NULL, NULL},
		/* Rows: of blocks, of warps, of an argument, of all elements. */
		{true, {P, 64}, 2, {6, 1, 1}, {128, 1, 1}, 384, "1=cols", "cols=64", "1=rows"},
		{true,
		 {P, 6, 64},
		 3,
		 {6, 1, 1},
		 {32, 1, 1},
		 384,
		 "1=cols 2=rows",
		 "2=cols 1=rows",
		 "2=cols 1=n"},
		{true,
		 {P, 384, 64},
		 3,
		 {2, 1, 1},
		 {96, 1, 1},
		 384,
		 "1=cols rows=grid.y",
		 "2=cols 1=n",
		 "2=cols 1=rows"},
		{true,
		 {P, 64},
		 2,
		 {3, 1, 1},
		 {64, 1, 1},
		 384,
		 "1=cols rows=grid.x*block.x/32",
		 "1=cols rows=grid.x*2",
		 NULL},
		{true,
		 {P, 16},
		 2,
		 {1, 6, 1},
		 {32, 1, 1},
		 384,
		 "1=cols rows=grid.x*24",
		 "1=@c cols=@c*4 rows=grid.y",
		 NULL},
		{true, {P}, 1, {3, 1, 1}, {128, 1, 1}, 384, "cols=block.x", "cols=128", NULL},
		{true,
		 {P, 64},
		 2,
		 {3, 1, 1},
		 {32, 2, 1},
		 384,
		 "1=cols rows=grid.x*block.y",
		 NULL,
		 NULL},
		{true,
		 {P, 2, 3, 64},
		 4,
		 {1, 1, 1},
		 {32, 1, 1},
		 384,
		 "1=cols 2=@a 3=@b rows=@a*@b",
		 "3=cols 1=@a 2=@b rows=@a*@b",
		 NULL},
		/* A single row may be all that there ever is; dimensions of 1 may count. */
		{true, {P, 64}, 2, {1, 1, 1}, {128, 1, 1}, 64, "1=cols", "1=cols rows=1", "rows=1"},
		{false,
		 {P},
		 1,
		 {3, 1, 1},
		 {64, 1, 1},
		 192,
		 "n=grid.x*block.x",
		 "n=grid.x*block.x*grid.y*block.y*grid.z*block.z",
		 NULL},
	};
	static struct infer_space s[INFER_SPACES];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct infer_facts f;
		unsigned n;

		facts(&f, row[i].arg, row[i].n, row[i].grid, row[i].block);
		n = (row[i].rows ? infer_spaces_rows : infer_spaces_elements)(&f, row[i].elements,
									      s);
		if (!row[i].first) {
			assert_int_equal(n, 0);
			continue;
		}
		assert_true(n > 0 && n <= INFER_SPACES);
		assert_string_equal(spell_space(&s[0]), row[i].first);
		if (row[i].also)
			assert_true(find_space(s, n, row[i].also) > 0);
		if (row[i].never)
			assert_int_equal(find_space(s, n, row[i].never), -1);
		for (unsigned k = 0; k < n; k++)
			assert_int_equal(s[k].rows * s[k].cols, row[i].elements);
	}
}

/* What varies with the grid or the block is known, so that it can be varied. */
static void test_dimensions(void **state)
{
	static struct infer_space s[INFER_SPACES];
	struct infer_facts f;
	unsigned n;
	int at;

	facts(&f, (int64_t[]){P}, 1, (uint32_t[]){3, 1, 2}, (uint32_t[]){64, 2, 1});
	n = infer_spaces_elements(&f, 3 * 2 * 64 * 2, s);
	at = find_space(s, n, "n=grid.x*block.x*block.y*grid.z");
	assert_true(at >= 0);
	assert_int_equal(s[at].grid, 5);
	assert_int_equal(s[at].block, 3);
	facts(&f, (int64_t[]){P, 64}, 2, (uint32_t[]){3, 1, 1}, (uint32_t[]){64, 1, 1});
	n = infer_spaces_rows(&f, 384, s);
	at = find_space(s, n, "1=cols rows=grid.x*block.x/32");
	assert_true(at >= 0);
	assert_int_equal(s[at].rows, 6);
	assert_int_equal(s[at].cols, 64);
	assert_int_equal(s[at].grid, 1);
	assert_int_equal(s[at].block, 1);
	facts(&f, (int64_t[]){P, 384}, 2, (uint32_t[]){3, 1, 1}, (uint32_t[]){128, 1, 1});
	n = infer_spaces_elements(&f, 384, s);
	assert_string_equal(spell_space(&s[0]), "1=n");
	assert_int_equal(s[0].grid | s[0].block, 0); /* more blocks change nothing */
}

/* A guess becomes lines that compile, and decode to what was guessed. */
static void test_sections(void **state)
{
	const uint32_t one[3] = {1, 1, 1}, block[3] = {128, 1, 1}, four[3] = {4, 1, 1};
	struct infer_guess g = {.code = OP_rmsnorm, .type = DT_bf16, .eps_arg = 3};
	uint8_t params[64] = {0};
	struct infer_facts f;
	char text[INFER_TEXT], whole[INFER_TEXT + 64];
	float eps = 1e-5f, factor = 0.9f;
	int32_t mode = -7, cols = 64;

	/* norm(x, w, out, eps, mode, cols) */
	facts(&f, (int64_t[]){P, P, P, 0, 0, 64}, 6, four, block);
	f.out = 2;
	memcpy(params + f.arg[3].offset, &eps, 4);
	memcpy(params + f.arg[4].offset, &mode, 4);
	memcpy(params + f.arg[5].offset, &cols, 4);
	g.role[0] = ROLE_in0;
	g.role[1] = ROLE_weight;
	g.dtypes[1] = DT_f32;
	g.role[2] = ROLE_out;
	g.plus_one = true;
	g.space.nuse = 1;
	g.space.use[0].arg = 5;
	strcpy(g.space.use[0].word, "cols");
	assert_true(infer_section(&f, &g, params, text, sizeof(text)));
	assert_string_equal(text, "op    = rmsnorm\nargs  = in0 weight:f32 out eps -=-7 cols\n"
				  "dtype = bf16\nweight = 1+w\n");
	snprintf(whole, sizeof(whole), "[kernel k]\nmatch = k\n%s", text);
	compile(whole, 0);
	assert_string_equal(
		launched("k", "888444",
			 (uint64_t[]){0x1000, 0x2000, 0x3000, 0x3727c5ac, (uint32_t)-7, 64}, four,
			 block),
		"rmsnorm 4x64: out w bf16 4x64 @3000, in0 r bf16 4x64 @1000, weight r f32 "
		"64 @2000");
	assert_string_equal(launched("k", "888444",
				     (uint64_t[]){0x1000, 0x2000, 0x3000, 0x3727c5ac, 7, 64}, four,
				     block),
			    "shape"); /* another mode: another kernel, for all that is known */

	/* An eps of the code, a size that holds at one value only, a key for the rows. */
	g.eps_arg = -1;
	g.eps = 1e-6;
	g.eps_known = true;
	g.plus_one = false;
	g.dtypes[1] = DT_NONE;
	g.pinned[5] = true;
	strcpy(g.space.keys, "rows  = grid.y\n");
	assert_true(infer_section(&f, &g, params, text, sizeof(text)));
	assert_string_equal(
		text, "op    = rmsnorm\nargs  = in0 weight out -=9.99999975e-06 -=-7 cols=64\n"
		      "rows  = grid.y\ndtype = bf16\neps   = 1e-06\n");

	/* x *= factor, in place; the factor may be any, or that one. */
	facts(&f, (int64_t[]){P, 0, 100}, 3, one, block);
	memcpy(params + f.arg[1].offset, &factor, 4);
	g = (struct infer_guess){.code = OP_scale, .type = DT_f32, .eps_arg = -1, .inout = true};
	g.role[0] = ROLE_out;
	g.space.nuse = 1;
	g.space.use[0].arg = 2;
	strcpy(g.space.use[0].word, "n");
	assert_true(infer_section(&f, &g, params, text, sizeof(text)));
	assert_string_equal(text, "op    = scale\nargs  = inout -=0.899999976 n\ndtype = f32\n");
	snprintf(whole, sizeof(whole), "[kernel k]\nmatch = k\n%s", text);
	compile(whole, 0);
	assert_string_equal(launched("k", "844", (uint64_t[]){0x1000, 0x3f666666, 100}, one, block),
			    "scale 1x100: out w f32 100 @1000, in0 r f32 100 @1000");
	g.free[1] = true;
	assert_true(infer_section(&f, &g, params, text, sizeof(text)));
	assert_string_equal(text, "op    = scale\nargs  = inout - n\ndtype = f32\n");

	/* What does not fit is not cut. */
	assert_false(infer_section(&f, &g, params, text, 40));
}

/* Numbers without a role, as they are demanded. */
static void test_numbers(void **state)
{
	static const struct {
		uint64_t bits;
		uint32_t bytes;
		const char *word;
	} row[] = {
		{0, 4, "-=0"},
		{7, 4, "-=7"},
		{0xffffffff, 4, "-=-1"},
		{0x3f800000, 4, "-=1.0"},
		{0x3a83126f, 4, "-=0.00100000005"},
		{0x7f800000, 4, "-=2139095040"}, /* Inf: its bits will do */
		{0, 8, "-=0"},
		{4096, 8, "-=4096"},
		{0x3fb999999999999a, 8, "-=0.10000000000000001"},
		{0xffffffffffffffff, 8, "-=-1"},
		{1, 1, "-=1"},
		{513, 2, "-=513"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct infer_facts f = {.narg = 2,
					.arg = {{0, 8, true, 0}, {8, row[i].bytes, false, 0}}};
		struct infer_guess g = {
			.code = OP_relu, .type = DT_f32, .eps_arg = -1, .inout = true};
		uint8_t params[16] = {0};
		char text[INFER_TEXT], whole[INFER_TEXT + 64], want[128],
			sizes[3] = {'8', (char)('0' + row[i].bytes), 0};

		memcpy(params + 8, &row[i].bits, row[i].bytes);
		g.role[0] = ROLE_out;
		strcpy(g.space.keys, "n     = 32\n");
		assert_true(infer_section(&f, &g, params, text, sizeof(text)));
		snprintf(want, sizeof(want),
			 "op    = relu\nargs  = inout %s\nn     = 32\ndtype = f32\n", row[i].word);
		assert_string_equal(text, want);
		snprintf(whole, sizeof(whole), "[kernel k]\nmatch = k\n%s", text);
		compile(whole, 0);
		assert_string_equal(launched("k", sizes, (uint64_t[]){0x1000, row[i].bits},
					     (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}),
				    "relu 1x32: out w f32 32 @1000, in0 r f32 32 @1000");
		assert_string_equal(launched("k", sizes, (uint64_t[]){0x1000, row[i].bits + 1},
					     (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}),
				    "shape");
	}
}

static void test_spans(void **state)
{
	char before[64], after[64];
	uint8_t seen[32] = {0};
	struct infer_span s = {0, 0, false};

	memset(before, 1, sizeof(before));
	memcpy(after, before, sizeof(after));
	infer_span_add(&s, seen, before, after, sizeof(before));
	infer_span_close(&s, seen, sizeof(before));
	assert_int_equal(s.from, s.to);
	/* One half of a pair is enough; what one run misses another one shows. */
	memset(after + 16, 2, 8);
	after[25] = 2;
	infer_span_add(&s, seen, before, after, sizeof(before));
	infer_span_close(&s, seen, sizeof(before));
	assert_int_equal(s.from, 16);
	assert_int_equal(s.to, 26);
	assert_false(s.gap);
	memcpy(after, before, sizeof(after));
	after[30] = 2;
	infer_span_add(&s, seen, before, after, sizeof(before));
	infer_span_close(&s, seen, sizeof(before));
	assert_int_equal(s.to, 32);
	assert_true(s.gap);
	after[26] = after[28] = 3;
	infer_span_add(&s, seen, before, after, sizeof(before));
	infer_span_close(&s, seen, sizeof(before));
	assert_false(s.gap);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_spaces),   cmocka_unit_test(test_dimensions),
	cmocka_unit_test(test_sections), cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_spans),
};
UNIT_MAIN(tests)
