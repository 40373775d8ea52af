// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/key.h"
#include "matcher/legal.h"
#include "ops.h"

/* add(float *x, const float *y, int n) and norm(float *o, const float *x, const float *w, int cols,
 * float eps) */
static struct param add_param[] = {{0, 8}, {8, 8}, {16, 4}},
		    norm_param[] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 4}};
static struct kernel add_kernel = {.name = (char *)"_Z3addPfPKfi",
				   .image = {1, 2},
				   .nparam = 3,
				   .param_bytes = 20,
				   .param = add_param},
		     norm_kernel = {.name = (char *)"_Z4normPfPKfS1_if",
				    .image = {3, 4},
				    .nparam = 5,
				    .param_bytes = 32,
				    .param = norm_param};

struct pair {
	struct member add, norm;
	uint8_t add_bytes[20], norm_bytes[32];
	struct group g;
};

static void put(uint8_t *p, uint64_t v, unsigned bytes)
{
	memcpy(p, &v, bytes);
}

static void make(struct pair *p, uint64_t x, uint64_t y, uint64_t o, uint64_t w, int64_t rows,
		 int64_t cols)
{
	memset(p, 0, sizeof(*p));
	p->add.op = ops_add(DT_f32, x, x, y, rows * cols);
	p->norm.op = ops_norm(DT_f32, o, x, w, rows, cols);
	p->add.op.nslot = 3;
	memcpy(p->add.op.slot, (struct slot[]){{0, 8, ROLE_out}, {8, 8, ROLE_in1}, {16, 4, ROLE_n}},
	       3 * sizeof(struct slot));
	p->norm.op.nslot = 5;
	memcpy(p->norm.op.slot,
	       (struct slot[]){{0, 8, ROLE_out},
			       {8, 8, ROLE_in0},
			       {16, 8, ROLE_weight},
			       {24, 4, ROLE_cols},
			       {28, 4, ROLE_eps}},
	       5 * sizeof(struct slot));
	put(p->add_bytes, x, 8);
	put(p->add_bytes + 8, y, 8);
	put(p->add_bytes + 16, (uint64_t)(rows * cols), 4);
	put(p->norm_bytes, o, 8);
	put(p->norm_bytes + 8, x, 8);
	put(p->norm_bytes + 16, w, 8);
	put(p->norm_bytes + 24, (uint64_t)cols, 4);
	put(p->norm_bytes + 28, 0x3727c5ac, 4);
	p->add.launch = (struct launch){.kernel = &add_kernel,
					.block = {64, 1, 1},
					.params = p->add_bytes,
					.grid = {(uint32_t)((rows * cols + 63) / 64), 1, 1}};
	p->norm.launch = (struct launch){.kernel = &norm_kernel,
					 .block = {128, 1, 1},
					 .params = p->norm_bytes,
					 .grid = {(uint32_t)rows, 1, 1}};
	p->g = (struct group){.pattern = &pattern_add_rmsnorm, .member = {&p->add, &p->norm}};
	assert_int_equal(legal_group(&p->g), REASON_NONE);
}

static const char *text_of(const struct pair *p)
{
	static char text[2][4096];
	static int turn;
	int len;

	turn = !turn;
	len = key_text(&p->g, "sm_90 driver 13000", text[turn], sizeof(text[turn]));
	assert_int_equal(len, strlen(text[turn]));
	return text[turn];
}

static void test_text(void **arg)
{
	struct pair p;

	make(&p, 0x10000, 0x20010, 0x30000, 0x40000, 3, 100);
	assert_string_equal(
		text_of(&p),
		"add_rmsnorm cols 100\n"
		"add _Z3addPfPKfi 00000000000000010000000000000002 block 64,1,1 shmem 0 grid "
		"n/block*1 params "
		"********,********,**** out:f32 in0:f32 in1:f32\n"
		"rmsnorm _Z4normPfPKfS1_if 00000000000000030000000000000004 block 128,1,1 shmem 0 "
		"grid rows params "
		"********,********,********,****,acc52737 eps 1e-05 out:f32 in0:f32 weight:f32\n"
		"0: use 1 alias 0 align 0 pitch dense+0\n"
		"1: use 1 alias 1 align 16 pitch dense+0\n"
		"2: use 2 alias 0 align 0 pitch dense+0\n"
		"3: use 1 alias 3 align 0 broadcast\n"
		"4: use 2 alias 4 align 0 pitch dense+0\n"
		"sm_90 driver 13000\n");
}

/* What may and what may not change under one key. */
static void test_same_and_different(void **arg)
{
	struct pair a, b;
	char small[64];

	make(&a, 0x10000, 0x20000, 0x30000, 0x40000, 3, 100);
	make(&b, 0x11000, 0x26000, 0x39000, 0x4e000, 7, 100); /* other addresses, more rows */
	assert_string_equal(text_of(&a), text_of(&b));
	make(&b, 0x10000, 0x20000, 0x30000, 0x40000, 3, 101);
	assert_string_not_equal(text_of(&a), text_of(&b));
	make(&b, 0x10000, 0x20004, 0x30000, 0x40000, 3, 100); /* alignment */
	assert_string_not_equal(text_of(&a), text_of(&b));
	make(&b, 0x10000, 0x20000, 0x10000, 0x40000, 3, 100); /* out on the sum */
	assert_string_not_equal(text_of(&a), text_of(&b));
	make(&b, 0x10000, 0x10000, 0x30000, 0x40000, 3, 100); /* x += x */
	assert_string_not_equal(text_of(&a), text_of(&b));
	make(&b, 0x10000, 0x20000, 0x30000, 0x40000, 3, 100);
	b.norm_bytes[28] ^= 1; /* eps */
	assert_string_not_equal(text_of(&a), text_of(&b));
	b.norm_bytes[28] ^= 1;
	assert_string_equal(text_of(&a), text_of(&b));
	b.norm.launch.block[0] = 256;
	assert_string_not_equal(text_of(&a), text_of(&b));
	b.norm.launch.block[0] = 128;
	b.norm.launch.shmem = 4;
	assert_string_not_equal(text_of(&a), text_of(&b));
	b.norm.launch.shmem = 0;
	b.norm.launch.grid[0] = 5; /* no longer follows the rows */
	assert_string_not_equal(text_of(&a), text_of(&b));
	b.norm.launch.grid[0] = 3;
	norm_kernel.image[1]++;
	assert_string_equal(text_of(&a), text_of(&b));
	norm_kernel.image[1]--;
	assert_int_equal(key_text(&a.g, "m", small, sizeof(small)), -1);
}

static void test_hash(void **arg)
{
	struct key a = key_hash("abc", 3), b = key_hash("abd", 3);

	assert_int_equal(a.hash[0], key_hash("abcd", 3).hash[0]);
	assert_true(a.hash[0] != b.hash[0] && a.hash[1] != b.hash[1]);
	assert_true(a.hash[0] != a.hash[1]);
}

static void test_site(void **arg)
{
	struct pair a, b;
	uint64_t site;

	make(&a, 0x10000, 0x20000, 0x30000, 0x40000, 3, 100);
	make(&b, 0x11000, 0x26000, 0x39000, 0x4e000, 7, 64);
	site = key_site(&a.norm.launch, &a.norm.op);
	assert_int_equal(site,
			 key_site(&b.norm.launch, &b.norm.op)); /* grid and extents do not count */
	b.norm_bytes[28] ^= 1;
	assert_int_not_equal(site, key_site(&b.norm.launch, &b.norm.op));
	b.norm_bytes[28] ^= 1;
	b.norm.launch.block[0]++;
	assert_int_not_equal(site, key_site(&b.norm.launch, &b.norm.op));
	assert_int_not_equal(site, key_site(&a.add.launch, &a.add.op));
	norm_kernel.image[0]++; /* it may become known only later */
	assert_int_equal(site, key_site(&a.norm.launch, &a.norm.op));
	norm_kernel.image[0]--;
}

/* More parameter bytes than are hashed at once. */
static void test_site_of_large_parameters(void **arg)
{
	static uint8_t bytes[2000];
	struct param param = {0, sizeof(bytes)};
	struct kernel k = {
		.name = (char *)"big", .nparam = 1, .param_bytes = sizeof(bytes), .param = &param};
	struct launch l = {.kernel = &k, .params = bytes};
	struct op op = {.code = OP_add};
	uint64_t site = key_site(&l, &op);

	for (unsigned i = 0; i < sizeof(bytes); i += 97) {
		bytes[i] = 1;
		assert_int_not_equal(key_site(&l, &op), site);
		bytes[i] = 0;
	}
	assert_int_equal(key_site(&l, &op), site);
}

static void test_grid_rules(void **arg)
{
	static const struct {
		int64_t rows, cols; /* rows 0: elementwise over cols */
		uint32_t grid[3], block;
		const char *rule;
		int64_t then_rows, then_cols;
		uint32_t then; /* grid.x for those; 0: not known */
	} row[] = {
		{7, 64, {7, 1, 1}, 128, "rows", 9, 64, 9},
		{1, 64, {1, 1, 1}, 128, "rows", 9, 64, 9},
		{64, 64, {8, 1, 1}, 256, "rows/8", 65, 64, 9},
		{61, 64, {16, 1, 1}, 128, "rows/4", 64, 64, 16},
		{9, 64, {2, 1, 1}, 256, "rows/8", 64, 64, 8}, /* not 5, which also fits */
		{3, 64, {1, 1, 1}, 256, "rows/8", 64, 64, 8},
		{300, 64, {2, 1, 1}, 256, "rows/256", 64, 64, 1}, /* a thread a row */
		{300, 64, {2, 1, 1}, 96, "2,1,1", 64, 64, 0},
		{10, 64, {4, 1, 1}, 32, "rows/3", 9, 64, 3},
		{7, 64, {3, 2, 1}, 128, "3,2,1", 9, 64, 0},
		{7, 64, {132, 1, 1}, 128, "132,1,1", 9, 64, 0},
		{0, 1000, {4, 1, 1}, 256, "n/block*1", 1, 1025, 5},
		{0, 1024, {1, 1, 1}, 256, "n/block*4", 1, 4097, 5},
		{0, 1 << 20, {80, 1, 1}, 128, "80,1,1", 1, 64, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct op op = row[i].rows
				       ? ops_norm(DT_f32, 0x10000, 0x20000, 0x30000, row[i].rows,
						  row[i].cols)
				       : ops_add(DT_f32, 0x10000, 0x20000, 0x30000, row[i].cols);
		struct launch l = {.grid = {row[i].grid[0], row[i].grid[1], row[i].grid[2]},
				   .block = {row[i].block, 1, 1}};
		uint32_t grid[3];
		char rule[48];

		key_grid_rule(&l, &op, rule);
		assert_string_equal(rule, row[i].rule);
		op.rows = row[i].then_rows;
		op.cols = row[i].then_cols;
		assert_int_equal(key_grid_apply(rule, &op, l.block, grid), row[i].then != 0);
		if (row[i].then) {
			assert_int_equal(grid[0], row[i].then);
			assert_int_equal(grid[1] * grid[2], 1);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_same_and_different),
	cmocka_unit_test(test_hash),
	cmocka_unit_test(test_site),
	cmocka_unit_test(test_site_of_large_parameters),
	cmocka_unit_test(test_grid_rules),
};
UNIT_MAIN(tests)
