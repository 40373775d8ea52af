// SPDX-License-Identifier: Apache-2.0
/* What launches of each opcode read and write, as their signatures say. */
#include "unit.h"

#include "sigs.h"

static void test_opcodes(void **arg)
{
	static const struct {
		const char *section, *sizes;
		uint64_t arg[10];
		uint32_t grid[3], block[3];
		const char *op;
	} row[] = {
		{"op = mul\nargs = out in0 in1 n",
		 "8884",
		 {0x1000, 0x2000, 0x3000, 24},
		 {1, 1, 1},
		 {32, 1, 1},
		 "mul 1x24: out w f32 24 @1000, in0 r f32 24 @2000, in1 r f32 24 @3000"},
		{"op = silu\nargs = inout rows cols",
		 "844",
		 {0x1000, 3, 8},
		 {1, 3, 1},
		 {8, 1, 1},
		 "silu 1x24: out w f32 24 @1000, in0 r f32 24 @1000"},
		{"op = gelu_tanh\nargs = out in0\nn = grid.x*block.x*8",
		 "88",
		 {0x1000, 0x2000},
		 {4, 1, 1},
		 {64, 1, 1},
		 "gelu_tanh 1x2048: out w f32 2048 @1000, in0 r f32 2048 @2000"},
		{"op = gelu_erf\nargs = in0 out n",
		 "884",
		 {0x1000, 0x2000, 5},
		 {1, 1, 1},
		 {64, 1, 1},
		 "gelu_erf 1x5: out w f32 5 @2000, in0 r f32 5 @1000"},
		{"op = relu\nargs = inout n",
		 "84",
		 {0x1000, 5},
		 {1, 1, 1},
		 {64, 1, 1},
		 "relu 1x5: out w f32 5 @1000, in0 r f32 5 @1000"},
		{"op = copy\nargs = out:f16 in0 n",
		 "884",
		 {0x1000, 0x2000, 5},
		 {1, 1, 1},
		 {64, 1, 1},
		 "copy 1x5: out w f16 5 @1000, in0 r f32 5 @2000"},
		{"op = scale\nargs = inout - n",
		 "844",
		 {0x1000, 0x3f000000, 5},
		 {1, 1, 1},
		 {64, 1, 1},
		 "scale 1x5: out w f32 5 @1000, in0 r f32 5 @1000"},
		{"op = bias_add\nargs = inout bias rows cols",
		 "8844",
		 {0x1000, 0x2000, 3, 8},
		 {1, 1, 1},
		 {64, 1, 1},
		 "bias_add 3x8: out w f32 3x8 @1000, in0 r f32 3x8 @1000, bias r f32 8 @2000"},
		{"op = softmax\nargs = out in0 rows cols",
		 "8844",
		 {0x1000, 0x2000, 3, 8},
		 {3, 1, 1},
		 {64, 1, 1},
		 "softmax 3x8: out w f32 3x8 @1000, in0 r f32 3x8 @2000"},
		{"op = rmsnorm\nargs = out in0 cols",
		 "884",
		 {0x1000, 0x2000, 8},
		 {2, 1, 1},
		 {32, 1, 1},
		 "rmsnorm 2x8: out w f32 2x8 @1000, in0 r f32 2x8 @2000"},
		{"op = rmsnorm\nargs = inout copy weight eps rows cols",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 0, 2, 8},
		 {2, 1, 1},
		 {32, 1, 1},
		 "rmsnorm 2x8: out w f32 2x8 @1000, in0 r f32 2x8 @1000, weight r f32 8 @3000, "
		 "copy w f32 2x8 @2000"},
		/* A NULL that the operation can do without, and one that it cannot. */
		{"op = rmsnorm\nargs = out in0 weight cols",
		 "8884",
		 {0x1000, 0x2000, 0, 8},
		 {2, 1, 1},
		 {32, 1, 1},
		 "rmsnorm 2x8: out w f32 2x8 @1000, in0 r f32 2x8 @2000"},
		{"op = rmsnorm\nargs = out in0 weight cols",
		 "8884",
		 {0x1000, 0, 0x3000, 8},
		 {2, 1, 1},
		 {32, 1, 1},
		 "shape"},
		/* mean and rstd are f32, one per row, unless the signature says otherwise. */
		{"op = layernorm\nargs = out mean rstd in0 weight bias rows cols\ndtype = bf16",
		 "88888844",
		 {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 3, 8},
		 {1, 1, 1},
		 {96, 1, 1},
		 "layernorm 3x8: out w bf16 3x8 @1000, in0 r bf16 3x8 @4000, weight r bf16 8 "
		 "@5000, "
		 "bias r bf16 8 @6000, mean w f32 3 @2000, rstd w f32 3 @3000"},
		{"op = layernorm\nargs = out mean:bf16 rstd in0 weight bias rows cols\ndtype = "
		 "bf16",
		 "88888844",
		 {0x1000, 0x2000, 0, 0x4000, 0x5000, 0, 3, 8},
		 {1, 1, 1},
		 {96, 1, 1},
		 "layernorm 3x8: out w bf16 3x8 @1000, in0 r bf16 3x8 @4000, weight r bf16 8 "
		 "@5000, "
		 "mean w bf16 3 @2000"},
		/* q and k turn in place, each with its width; tables are read. */
		{"op = rope\nargs = - q[2*grid.x*block.x] k[@kv] @kv -",
		 "48844",
		 {7, 0x1000, 0x2000, 16, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "rope 1x64: q r f32 64 @1000, q w f32 64 @1000, k r f32 16 @2000, k w f32 16 "
		 "@2000"},
		{"op = rope\nargs = in0[@bh*@td] cos[@td/2]:f16 sin[@td/2]:f16 out[@bh*@td] @bh "
		 "@td "
		 "-=0",
		 "8888444",
		 {0x1000, 0x2000, 0x3000, 0x4000, 2, 16, 0},
		 {1, 1, 1},
		 {32, 1, 1},
		 "rope 1x32: out w f32 32 @4000, in0 r f32 32 @1000, cos r f16 8 @2000, sin r f16 "
		 "8 "
		 "@3000"},
		{"op = rope\nargs = inout[rows*cols] rows cols",
		 "844",
		 {0x1000, 3, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "rope 1x24: out w f32 24 @1000, in0 r f32 24 @1000"},
		{"op = rope\nargs = q[rows*cols] rows cols",
		 "844",
		 {0x1000, 3, 0},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = rope\nargs = q[@n/2] @n", "84", {0x1000, 7}, {1, 1, 1}, {32, 1, 1}, "shape"},
		{"op = rope\nargs = q[@n] @n",
		 "84",
		 {0x1000, (uint32_t)-8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = rope\nargs = q[@n] @n",
		 "88",
		 {0x1000, 1 << 30},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"}, /* more than these threads can write */
		{"op = rope\nargs = q[@n] k[@n] @n",
		 "884",
		 {0, 0, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"}, /* neither */
		/* Both factors in one operand; both apart. */
		{"op = silu_mul\nargs = out in0[2*n] @cols\nn = grid.x*@cols",
		 "884",
		 {0x1000, 0x2000, 8},
		 {3, 1, 1},
		 {32, 1, 1},
		 "silu_mul 1x24: out w f32 24 @1000, in0 r f32 48 @2000"},
		{"op = silu_mul\nargs = inout in1 n",
		 "884",
		 {0x1000, 0x2000, 24},
		 {1, 1, 1},
		 {32, 1, 1},
		 "silu_mul 1x24: out w f32 24 @1000, in0 r f32 24 @1000, in1 r f32 24 @2000"},
		/* A kernel without a bound: what the grid covers is what it touches. */
		{"op = add\nargs = inout in1 rows cols\n"
		 "n = grid.x*block.x*grid.y*block.y*grid.z*block.z",
		 "8844",
		 {0x1000, 0x2000, 3, 64},
		 {2, 3, 1},
		 {32, 1, 1},
		 "add 1x192: out w f32 192 @1000, in0 r f32 192 @1000, in1 r f32 192 @2000"},
		{"op = add\nargs = inout in1 rows cols\n"
		 "n = grid.x*block.x*grid.y*block.y*grid.z*block.z",
		 "8844",
		 {0x1000, 0x2000, 3, 60},
		 {2, 3, 1},
		 {32, 1, 1},
		 "shape"},
		/* Numbers of the program's own. */
		{"op = add\nargs = out in0 in1 @b @t cols\nrows = @b*@t",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 2, 3, 4},
		 {1, 1, 1},
		 {32, 1, 1},
		 "add 1x24: out w f32 24 @1000, in0 r f32 24 @2000, in1 r f32 24 @3000"},
		{"op = add\nargs = out in0 in1 @b=2 @t cols\nrows = @b*@t",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 4, 3, 4},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		/* Two negative numbers make no size; a real number has 4 or 8 bytes. */
		{"op = rope\nargs = q[@a*@b] @a @b",
		 "844",
		 {0x1000, (uint32_t)-4, (uint32_t)-2},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		/* Boxes: one number for each row, one row for all, a part of each row. */
		{"op = mul\nargs = out in0 in1[rows|cols:0]:bf16 rows cols",
		 "88844",
		 {0x1000, 0x2000, 0x3000, 3, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "mul 1x24: out w f32 3x8 @1000, in0 r f32 3x8 @2000, in1 r bf16 3:2x8:0 @3000"},
		{"op = mul\nargs = inout in1[rows:0|cols] rows cols",
		 "8844",
		 {0x1000, 0x2000, 3, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "mul 1x24: out w f32 3x8 @1000, in0 r f32 3x8 @1000, in1 r f32 3:0x8:4 @2000"},
		{"op = add\nargs = out in0 in1[rows|@heads:0|@t] rows @heads @t\ncols = "
		 "@heads*@t",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 2, 3, 4},
		 {1, 1, 1},
		 {32, 1, 1},
		 "add 1x24: out w f32 2x3x4 @1000, in0 r f32 2x3x4 @2000, in1 r f32 2:16x3:0x4:4 "
		 "@3000"},
		{"op = neg\nargs = out in0[rows:2*cols|cols] rows cols",
		 "8844",
		 {0x1000, 0x2000, 3, 4},
		 {1, 1, 1},
		 {32, 1, 1},
		 "neg 1x12: out w f32 3x4 @1000, in0 r f32 3:32x4:4 @2000"},
		{"op = cat\nargs = out[@r|2*@h] in0[@r|@h] in1[@r:2*@h|@h] @r @h",
		 "88844",
		 {0x1000, 0x2000, 0x3000, 3, 4},
		 {1, 1, 1},
		 {32, 1, 1},
		 "cat 1x24: out w f32 3x8 @1000, in0 r f32 3x4 @2000, in1 r f32 3:32x4:4 @3000"},
		/* Not the sizes of the others; no size at all. */
		{"op = mul\nargs = out in0 in1[rows|4:0] rows cols",
		 "88844",
		 {0x1000, 0x2000, 0x3000, 3, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = fma\nargs = out in0 in1[rows|cols:0] in2[cols|rows:0] rows cols",
		 "888844",
		 {0x1000, 0x2000, 0x3000, 0x4000, 3, 8},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = mul\nargs = out in0 in1[rows:@p|cols] rows cols @p",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 3, 8, 0},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = mul\nargs = out in0 in1[rows:@p|cols] rows cols @p",
		 "888448",
		 {0x1000, 0x2000, 0x3000, 3, 8, INT64_MAX / 2},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
		{"op = scale\nargs = inout n -=0.5",
		 "848",
		 {0x1000, 5, 0x3fe0000000000000},
		 {1, 1, 1},
		 {32, 1, 1},
		 "scale 1x5: out w f32 5 @1000, in0 r f32 5 @1000"},
		{"op = scale\nargs = inout n -=0.5",
		 "842",
		 {0x1000, 5, 0},
		 {1, 1, 1},
		 {32, 1, 1},
		 "shape"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[512];
		bool own = strstr(row[i].section, "dtype") != NULL;

		snprintf(text, sizeof(text), "[kernel k]\nmatch = k\n%s\n%s", row[i].section,
			 own ? "" : "dtype = f32\n");
		compile(text, 0);
		assert_string_equal(
			launched("k", row[i].sizes, row[i].arg, row[i].grid, row[i].block),
			row[i].op);
	}
}

/* Sections with the same match are alternatives, the last of them first; a launch takes the one
 * whose demands it meets. */
static void test_alternatives(void **arg)
{
	static const char in_place[] =
		"[kernel out]\nmatch = k j\nop = silu\nargs = in0 out n\ndtype = f32\n"
		"[kernel other]\nmatch = k\nop = relu\nargs = in0 out n\ndtype = f32\n"
		"[kernel in_place]\nmatch = k j\nop = silu\nargs = -=0 inout n\ndtype = f32\n";
	static const char plus_one[] =
		"[kernel w]\nmatch = k\nop = rmsnorm\nargs = out in0 weight cols -=0\ndtype = f32\n"
		"[kernel w1]\nmatch = k\nop = rmsnorm\nargs = out in0 weight cols -=1\ndtype = "
		"f32\n"
		"weight = 1+w\n";
	const uint32_t one[3] = {1, 1, 1}, block[3] = {32, 1, 1};
	uint64_t value[] = {0x1000, 0x2000, 5}, norm[] = {0x1000, 0x2000, 0x3000, 8, 1};
	struct kernel *k;
	struct bytes b = {{0}};
	struct launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = b.b};
	struct op op;

	compile(in_place, 0);
	assert_string_equal(launched("k", "884", value, one, block),
			    "silu 1x5: out w f32 5 @2000, in0 r f32 5 @1000");
	value[0] = 0;
	assert_string_equal(launched("k", "884", value, one, block),
			    "silu 1x5: out w f32 5 @2000, in0 r f32 5 @2000");
	value[1] = 0;
	assert_string_equal(launched("k", "884", value, one, block), "shape");

	compile(plus_one, 0);
	l.kernel = k = kernel("k", "88841");
	for (unsigned i = 0; i < 5; i++)
		put(&b, k, i, norm[i]);
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_true(op.plus_one);
	put(&b, k, 4, 0);
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_false(op.plus_one);
	put(&b, k, 4, 2);
	assert_int_equal(decode_launch(&l, &op), REASON_SHAPE);
	assert_false(op.plus_one);

	/* What takes the names back ends the alternatives. */
	compile("[kernel a]\nmatch = k\nop = relu\nargs = inout n\ndtype = f32\n"
		"[kernel b]\nmatch = k\nop = opaque\n"
		"[kernel c]\nmatch = k\nop = silu\nargs = inout n=7\ndtype = f32\n",
		0);
	value[0] = 0x1000;
	value[1] = 7;
	assert_string_equal(launched("k", "84", value, one, block),
			    "silu 1x7: out w f32 7 @1000, in0 r f32 7 @1000");
	value[1] = 8;
	assert_string_equal(launched("k", "84", value, one, block), "shape");
	/* One with other parameters is no alternative for this kernel. */
	compile("[kernel a]\nmatch = k\nop = relu\nargs = inout - n\ndtype = f32\n"
		"[kernel c]\nmatch = k\nop = silu\nargs = inout n=7\ndtype = f32\n",
		0);
	assert_string_equal(launched("k", "84", value, one, block), "shape");
	value[1] = 0;
	value[2] = 3;
	assert_string_equal(launched("k", "844", value, one, block),
			    "relu 1x3: out w f32 3 @1000, in0 r f32 3 @1000");
}

/* What expressions use is a constant of the verdict; roles are slots. */
static void test_slots(void **arg)
{
	struct kernel *k;
	struct bytes b = {{0}};
	struct launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = b.b};
	struct op op;

	compile("[kernel k]\nmatch = k\nop = rope\nargs = q[@w*rows] @w rows cos[rows]\ndtype = "
		"f32\n",
		0);
	l.kernel = k = kernel("k", "8448");
	put(&b, k, 0, 0x1000);
	put(&b, k, 1, 8);
	put(&b, k, 2, 3);
	put(&b, k, 3, 0x2000);
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_int_equal(op.nslot, 3);
	assert_int_equal(op.slot[0].role, ROLE_q);
	assert_int_equal(op.slot[1].role, ROLE_rows);
	assert_int_equal(op.slot[1].offset, 12);
	assert_int_equal(op.slot[2].role, ROLE_cos);
	put(&b, k, 3, 0); /* absent: a constant too */
	assert_int_equal(decode_launch(&l, &op), REASON_NONE);
	assert_int_equal(op.nslot, 2);
	assert_int_equal(op.slot[1].role, ROLE_rows);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_opcodes),
	cmocka_unit_test(test_alternatives),
	cmocka_unit_test(test_slots),
};
UNIT_MAIN(tests)
