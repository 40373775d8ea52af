// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "sigs.h"

static const char add_ini[] =
	"[kernel add]\nmatch = _Z3addPfS_i\nop = add\nargs = inout in1 n\ndtype = f32\n";

static void test_bad_sections(void **arg)
{
	static const struct {
		const char *text, *said;
	} row[] = {
		{"match = a\nargs = out in0 in1 n\ndtype = f32", "op is missing"},
		{"op = add\nargs = out in0 in1 n\ndtype = f32", "match is missing"},
		{"match = a\nop = plus",
		 "op: \"plus\" is no operation; there are opaque, add, rmsnorm, mul"},
		{"match = a\nop = add\nargs = out in0 n\ndtype = f32", "args: add needs in1"},
		{"match = a\nop = add\nargs = out in0 in1 weight n\ndtype = f32",
		 "args: add has no weight"},
		{"match = a\nop = add\nargs = out in0 in1 n", "dtype is missing"},
		{"match = a\nop = add\nargs = out in0 in1\ndtype = f32", "n is missing"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight\ndtype = f32", "cols is missing"},
		{"match = a\nop = add\nargs = out in0 in1 count\ndtype = f32",
		 "\"count\" is no argument role; there are -, @NAME, inout, out, in0, in1, in2, "
		 "cond, index, weight"},
		{"match = a\nop = add\nargs = out in0 in0 n\ndtype = f32", "in0 appears twice"},
		{"match = a\nop = add\nargs = inout in0 n\ndtype = f32", "in0 appears twice"},
		{"match = a\nop = add\nargs = out in0 in1:f33 n\ndtype = f32",
		 "\"f33\" is no element type; there are f32"},
		{"match = a\nop = add\nargs = out in0 in1 n:f32\ndtype = f32",
		 "\"n\" takes no :TYPE, only operands do"},
		{"match = a\nop = add\nargs = out in0=4 in1 n\ndtype = f32",
		 "\"in0\" takes no =NUMBER"},
		{"match = a\nop = add\nargs = out in0 in1 n=x\ndtype = f32",
		 "expected a number behind =, not \"x\""},
		{"match = a\nop = add\nargs = out in0 in1 n\ndtype = float",
		 "\"float\" is no element type"},
		{"match = a\nop = add\nargs = out in0 in1\nn = grid.w\ndtype = f32",
		 "expected numbers, n, rows, cols, @NAME, grid.x|y|z"},
		{"match = a\nop = add\nargs = out in0 in1\nn = 4 +\ndtype = f32",
		 "joined by * and /"},
		{"match = a\nop = add\nargs = out in0 in1\nn = cols * 4\ndtype = f32",
		 "n uses cols, which is no argument"},
		{"match = a\nop = add\nargs = out in0 in1 n\nn = 4\ndtype = f32",
		 "n is both an argument and a key"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight cols eps\neps = 1e-5\ndtype = f32",
		 "eps is both an argument and a key"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight cols\neps = small\ndtype = f32",
		 "eps: expected a number"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight cols\neps = inf\ndtype = f32",
		 "eps: expected a number"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight cols\neps = 1e39\ndtype = f32",
		 "eps: expected a number"},
		{"match = a\nop = add\nargs = out in0 in1 n=99999999999999999999\ndtype = f32",
		 "expected a number behind =, not \"99999999999999999999\""},
		{"match = a\nop = add\nargs = out in0 in1 n -=1e400\ndtype = f32",
		 "expected a number behind ="},
		{"match = a\nop = add\nargs = out in0 in1\nn = 4/0\ndtype = f32",
		 "\"4/0\" divides by 0"},
		{"match = a\nop = add\nargs = out in0 in1\nn = 0\ndtype = f32",
		 "\"0\" is no size of anything"},
		{"match = a\nop = add\nargs = out in0 in1 n\ndtype = f32\ntype = x",
		 "expected match, op, args, dtype, n, rows, cols, eps or weight"},
		{"match = a\nop = rmsnorm\nargs = out in0 weight cols\ndtype = f32\nweight = 2w",
		 "weight: expected w or 1+w, not \"2w\""},
		{"match = a\nop = rmsnorm\nargs = out in0 cols\ndtype = f32\nweight = 1+w",
		 "weight = 1+w, but weight is no argument"},
		{"match = a\nop = rope\nargs = q k n\ndtype = f32",
		 "args: rope needs a size: q[SIZE]"},
		{"match = a\nop = rope\nargs = in0[n] n\ndtype = f32", "args: nothing is written"},
		{"match = a\nop = silu_mul\nargs = out in0 n\ndtype = f32",
		 "silu_mul needs in1, or in0[SIZE] that holds both"},
		{"match = a\nop = rope\nargs = q[@kv]\ndtype = f32",
		 "q uses @kv, which is no argument"},
		{"match = a\nop = add\nargs = out in0 in1 @b\nn = @b * @t\ndtype = f32",
		 "n uses @t, which is no argument"},
		{"match = a\nop = add\nargs = out in0 in1 @b @b\nn = @b\ndtype = f32",
		 "@b appears twice"},
		{"match = a\nop = add\nargs = out in0 in1 @a_name_too_long_for_it n\ndtype = f32",
		 "expected at most 8 names of letters and digits, each shorter than 16"},
		{"match = a\nop = add\nargs = out in0 in1 @\ndtype = f32",
		 "expected at most 8 names"},
		{"match = a\nop = add\nargs = out in0[n*] in1 n\ndtype = f32",
		 "expected numbers, n, rows"},
		{"match = a\nop = add\nargs = out in0[n in1 n\ndtype = f32", "expected in0[SIZE]"},
		{"match = a\nop = add\nargs = out in0 in1 n[4]\ndtype = f32",
		 "\"n\" takes no [SIZE], only operands do"},
		{"match = a\nop = add\nargs = out in0 in1 -:f32 n\ndtype = f32",
		 "\"-\" takes no :TYPE, only operands do"},
		{"match = a\nop = softmax\nargs = out in0 cols mean\ndtype = f32",
		 "args: softmax has no mean"},
		{"match = a\nop = bias_add\nargs = inout rows cols\ndtype = f32",
		 "args: bias_add needs bias"},
		{"match = a\nop = mul\nargs = out in0 in1[rows:0|@t] rows cols\ndtype = f32",
		 "in1 uses @t, which is no argument"},
		{"match = a\nop = mul\nargs = out in0 in1[rows:@t|cols] rows cols\ndtype = f32",
		 "in1 uses @t, which is no argument"},
		{"match = a\nop = mul\nargs = out in0 in1[rows:|cols] rows cols\ndtype = f32",
		 "expected numbers, n, rows"},
		{"match = a\nop = mul\nargs = out in0 in1[1|1|1|rows|cols] rows cols\ndtype = f32",
		 "expected at most 4 dimensions"},
		{"match = a\nop = mul\nargs = out in0 in1[rows|cols]x rows cols\ndtype = f32",
		 "expected in1[SIZE]"},
		{"match = a\nop = neg\nargs = out[rows:8|cols] in0 rows cols\ndtype = f32",
		 "args: out is written: it takes no strides"},
		{"match = a\nop = neg\nargs = inout[rows:8|cols] rows cols\ndtype = f32",
		 "args: out is written: it takes no strides"},
		{"match = a\nop = softmax\nargs = out in0[rows|cols] rows cols\ndtype = f32",
		 "args: in0: softmax takes no dimensions"},
	};

	unsigned shipped;

	compile("", 0);
	shipped = sig_count(); /* those that come with the library */
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "[kernel k]\n%s\n", row[i].text);
		unit_stderr_begin();
		compile(text, 1);
		assert_contains(unit_stderr_end(), row[i].said);
		assert_int_equal(sig_count(), shipped);
	}
	/* One bad section leaves the others alone, and the message has file, line and label. */
	unit_stderr_begin();
	compile("[kernel k]\nmatch = a\nop = plus\n[kernel add]\nmatch = b\nop = add\nargs = out "
		"in0 in1 n\ndtype = f32\n",
		1);
	assert_contains(unit_stderr_end(), "t.ini:3: [kernel k]: op: \"plus\"");
	assert_int_equal(sig_count(), shipped + 1);
}

static void test_names(void **arg)
{
	compile("[kernel a]\nmatch = _Z3addPfS_i *my_add*\nmatch = third\nop = add\nargs = out in0 "
		"in1 n\ndtype = f32\n"
		"[kernel off]\nmatch = _Z9my_add_noPf\nop = opaque\n",
		0);
	assert_true(sig_matches("_Z3addPfS_i"));
	assert_true(sig_matches("_Z6my_addPf"));
	assert_true(sig_matches("third"));
	assert_false(sig_matches("_Z3addPfS_ii"));
	assert_false(sig_matches("_Z9my_add_noPf")); /* the later section is asked first */
	assert_null(kernel("_Z9my_add_noPf", "8884")->decoder);
	assert_non_null(kernel("third", "8884")->decoder);
	/* Another number of arguments, or other sizes. */
	assert_null(kernel("third", "88844")->decoder);
	assert_null(kernel("third", "8844")->decoder);
	assert_non_null(kernel("third", "8888")->decoder);
	assert_null(kernel("third", "8881")->decoder);
	assert_null(kernel("third", "")->decoder);
}

/* A section of the same label in a later text takes the place of the earlier one. */
static void test_labels(void **arg)
{
	struct config c;

	config_load(&c, false);
	config_add_text(&c, "one", add_ini);
	config_add_text(&c, "two",
			"[kernel add]\nmatch = other\nop = add\nargs = inout in1 n\ndtype = f32\n");
	assert_int_equal(sig_compile(&c), 0);
	config_free(&c);
	assert_false(sig_matches("_Z3addPfS_i"));
	assert_true(sig_matches("other"));
}

static void test_add(void **arg)
{
	struct kernel *k;
	struct bytes b = {{0}};
	struct launch l = {.grid = {2, 1, 1}, .block = {64, 1, 1}, .params = b.b};
	struct op op;

	compile(add_ini, 0);
	k = kernel("_Z3addPfS_i", "884");
	l.kernel = k;
	put(&b, k, 0, 0x10000);
	put(&b, k, 1, 0x20000);
	put(&b, k, 2, 100);
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_int_equal(op.code, OP_add);
	assert_false(op.vetted);
	assert_int_equal(op.rows, 1);
	assert_int_equal(op.cols, 100);
	assert_int_equal(op.noperand, 3);
	assert_int_equal(op_operand(&op, ROLE_out)->addr, 0x10000);
	assert_int_equal(op_operand(&op, ROLE_out)->access, ACCESS_WRITE);
	assert_int_equal(op_operand(&op, ROLE_in0)->addr, 0x10000);
	assert_int_equal(op_operand(&op, ROLE_in0)->access, ACCESS_READ);
	assert_int_equal(op_operand(&op, ROLE_in1)->addr, 0x20000);
	assert_int_equal(op.nslot, 3);
	assert_int_equal(op.slot[0].role, ROLE_out);
	assert_int_equal(op.slot[2].role, ROLE_n);
	assert_int_equal(op.slot[2].offset, 16);
	assert_int_equal(op.slot[2].bytes, 4);
}

static void test_implausible(void **arg)
{
	static const struct {
		uint64_t out, in1, n;
		uint32_t grid;
	} row[] = {
		{0, 0x20000, 100, 1},       /* NULL */
		{0x10002, 0x20000, 100, 1}, /* not aligned to the type */
		{0x10000, 0x20000, 0, 1},   /* nothing */
		{0x10000, 0x20000, (uint32_t)-5, 1},
		{0x10000, 0x20000, 0x7fffffff, 1}, /* far too much for one block */
		{0xffffffffffffff00, 0x20000, 100, 1},
		{0x10000, 0x20000, 100, 0},
	};
	struct kernel *k;
	struct bytes b = {{0}};
	struct launch l = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .params = b.b};
	struct op op;

	compile(add_ini, 0);
	k = kernel("_Z3addPfS_i", "884");
	l.kernel = k;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		put(&b, k, 0, row[i].out);
		put(&b, k, 1, row[i].in1);
		put(&b, k, 2, row[i].n);
		l.grid[0] = row[i].grid;
		assert_int_equal(decode_launch(&l, &op), REASON_SHAPE);
		assert_int_equal(op.code, OP_opaque);
		assert_int_equal(op.noperand, 0);
		assert_int_equal(op.nslot, 0);
	}
}

/* rows and columns from arguments, expressions and geometry */
static void test_shapes(void **arg)
{
	static const struct {
		const char *args, *keys;
		const char *sizes;
		uint64_t extent[3]; /* of the arguments behind out in0 weight */
		uint32_t gx, gy, bx;
		int64_t rows, cols; /* rows 0: opaque */
	} row[] = {
		{"cols", "", "8884", {288}, 1, 1, 1024, 1, 288},
		{"cols", "", "8884", {288}, 5, 1, 1024, 5, 288},
		{"cols rows", "", "88844", {288, 7}, 5, 1, 1024, 7, 288},
		{"n cols", "", "88884", {2880, 288}, 1, 1, 32, 10, 288},
		{"n cols", "", "88884", {2881, 288}, 1, 1, 32, 0, 0},
		{"cols -", "", "88844", {288, 1}, 1, 1, 1024, 1, 288},
		{"n", "cols = block.x * 4", "8884", {4096}, 4, 1, 256, 4, 1024},
		{"-", "cols = 4096\nrows = grid.x * grid.y", "8884", {1}, 3, 2, 256, 6, 4096},
		{"cols", "rows = grid.x/2", "8884", {64}, 6, 1, 64, 3, 64},
		{"cols", "rows = grid.x/4", "8884", {64}, 6, 1, 64, 0, 0},
		{"cols", "rows = 9223372036854775806*cols", "8884", {64}, 6, 1, 64, 0, 0},
		{"cols=64", "", "8884", {64}, 1, 1, 64, 1, 64},
		{"cols=64", "", "8884", {65}, 1, 1, 64, 0, 0},
		{"cols -=1.5", "", "88844", {64, 0x3fc00000}, 1, 1, 64, 1, 64},
		{"cols -=1.5", "", "88844", {64, 0x3fc00001}, 1, 1, 64, 0, 0},
		{"cols -=-3", "", "88844", {64, 0xfffffffd}, 1, 1, 64, 1, 64},
		{"rows cols", "", "88844", {100000, 64}, 1, 1, 64, 0, 0}, /* more rows than threads
									     can do */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[512];
		struct kernel *k;
		struct bytes b = {{0}};
		struct launch l = {.grid = {row[i].gx, row[i].gy, 1},
				   .block = {row[i].bx, 1, 1},
				   .params = b.b};
		struct op op;

		snprintf(text, sizeof(text),
			 "[kernel k]\nmatch = k\nop = rmsnorm\nargs = out in0 weight %s\ndtype = "
			 "bf16\n%s\n",
			 row[i].args, row[i].keys);
		compile(text, 0);
		l.kernel = k = kernel("k", row[i].sizes);
		assert_non_null(k->decoder);
		put(&b, k, 0, 0x10000);
		put(&b, k, 1, 0x20000);
		put(&b, k, 2, 0x30000);
		for (unsigned e = 0; e + 3 < k->nparam; e++)
			put(&b, k, e + 3, row[i].extent[e]);
		if (decode_launch(&l, &op) != (row[i].rows ? REASON_NONE : REASON_SHAPE))
			fail_msg("row %zu: %s", i, reason_word(decode_launch(&l, &op)));
		assert_int_equal(op.rows, row[i].rows);
		assert_int_equal(op.cols, row[i].cols);
		if (!row[i].rows)
			continue;
		assert_int_equal(op_operand(&op, ROLE_in0)->size[0], row[i].rows);
		assert_int_equal(op_operand(&op, ROLE_weight)->size[0], row[i].cols);
		assert_int_equal(op_operand(&op, ROLE_out)->dtype, DT_bf16);
	}
}

static void test_eps_and_types(void **arg)
{
	struct kernel *k;
	struct bytes b = {{0}};
	struct launch l = {.grid = {1, 1, 1}, .block = {256, 1, 1}, .params = b.b};
	struct op op;
	float eps = 1e-6f;
	uint32_t bits;

	compile("[kernel k]\nmatch = k\nop = rmsnorm\nargs = out in0 weight:f32 cols eps\ndtype = "
		"f16\n",
		0);
	l.kernel = k = kernel("k", "88844");
	memcpy(&bits, &eps, 4);
	put(&b, k, 0, 0x10000);
	put(&b, k, 1, 0x20000);
	put(&b, k, 2, 0x30000);
	put(&b, k, 3, 64);
	put(&b, k, 4, bits);
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_true(op.has_eps);
	assert_true(op.eps == (double)eps);
	assert_int_equal(op_operand(&op, ROLE_weight)->dtype, DT_f32);
	assert_int_equal(op_operand(&op, ROLE_in0)->dtype, DT_f16);

	compile("[kernel k]\nmatch = k\nop = rmsnorm\nargs = out in0 weight cols\ndtype = f16\neps "
		"= 1e-5\n",
		0);
	l.kernel = kernel("k", "8884");
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_true(op.has_eps && op.eps == (double)1e-5f);

	compile("[kernel k]\nmatch = k\nop = rmsnorm\nargs = out in0 weight cols\ndtype = f16\n",
		0);
	l.kernel = kernel("k", "8884");
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_false(op.has_eps);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bad_sections),  cmocka_unit_test(test_names),
	cmocka_unit_test(test_labels),        cmocka_unit_test(test_add),
	cmocka_unit_test(test_implausible),   cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_eps_and_types),
};
UNIT_MAIN(tests)
