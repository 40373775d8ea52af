// SPDX-License-Identifier: Apache-2.0
/*
 * cuBLAS's products that take their tiles from counters, as a layer of a large model has them:
 * o, then gate and up with counters, then down.
 */
#include "atens.h"
#include "matcher/legal.h"

enum {
	BYTES = 1720,
	TILES = 4,
	WORK = 688,
	WORK_AGAIN = 752,
	COUNTERS = 1584,
	WORK_PLAIN = 1608,
	BIAS = 1632
};
enum { O, GATE, UP, DOWN, PRODUCTS, WORKSPACE = 32 << 20 };

static struct kernel kernel; /* one is enough: they differ in names, and these do not */
static struct launch product[PRODUCTS];
static uint8_t bytes[PRODUCTS][BYTES];
static struct op silu;
static struct range workspace; /* the allocation */
static struct trace *t;

static int setup(void **arg)
{
	const char *path = command_data("hf_llama8b_bf16_layer.jsonl.gz");
	struct trace_event e;
	unsigned n = 0;

	t = trace_open(path);
	if (!t)
		return -1;
	while (trace_next(t, &e)) {
		if (e.kind == TRACE_ALLOC && e.range.hi - e.range.lo == WORKSPACE &&
		    e.range.lo == UINT64_C(0x7f4288000000))
			workspace = e.range;
		if (e.kind != TRACE_LAUNCH)
			continue;
		if (strstr(e.launch.kernel->name, "silu"))
			decode_launch(&e.launch, &silu);
		if (strncmp(e.launch.kernel->name, "nvjet", 5) || n == PRODUCTS)
			continue;
		kernel = *e.launch.kernel;
		memcpy(bytes[n], e.launch.params, BYTES);
		product[n] = e.launch;
		product[n].kernel = &kernel;
		product[n].params = bytes[n];
		n++;
	}
	return n == PRODUCTS && workspace.hi && silu.code == OP_silu ? 0 : -1;
}

static int teardown(void **arg)
{
	trace_close(t);
	return 0;
}

static struct op decoded(unsigned which)
{
	struct op op;

	assert_int_equal(decode_launch(&product[which], &op), REASON_NONE);
	return op;
}

static void test_extents(void **arg)
{
	static const char counted[] =
		"touch out=bf16[2048x14336] in0=bf16[14336x4096] in1=bf16[2048x4096] "
		"scratch=u8[33554432] scratch=u8[33554432]";
	struct op op = decoded(O);

	assert_string_equal(atens_spell(&op), "touch out=bf16[2048x4096] in0=bf16[4096x4096] "
					      "in1=bf16[2048x4096]");
	op = decoded(DOWN);
	assert_string_equal(atens_spell(&op), "touch out=bf16[2048x4096] in0=bf16[4096x14336] "
					      "in1=bf16[2048x14336]");
	op = decoded(UP);
	assert_string_equal(atens_spell(&op), counted);
	op = decoded(GATE);
	assert_string_equal(atens_spell(&op), counted);
	/* Read and written, so that nothing there counts as overwritten: all that was allocated. */
	for (unsigned i = 3; i < 5; i++) {
		struct range r = operand_range(&op.operand[i]);

		assert_int_equal(op.operand[i].access, i == 3 ? ACCESS_READ : ACCESS_WRITE);
		assert_true(r.lo == workspace.lo && r.hi == workspace.hi);
	}
}

/* The allocator hands the gate's buffer, which silu reads, to the up product. */
static void test_silu_stays(void **arg)
{
	struct op op = decoded(UP);
	enum reason why;

	assert_false(legal_cross(&silu, &op, &why));
	assert_int_equal(why, REASON_INPUT_OVERWRITTEN);
}

/* What reads or writes where counters may be does not cross, neither at the start nor at the end.
 */
static void test_counters_are_in_the_way(void **arg)
{
	struct op op = decoded(UP), held = {.code = OP_copy, .noperand = 1};
	enum reason why;

	for (unsigned i = 0; i < 4; i++) {
		const uint64_t at = i & 1 ? workspace.hi - 4 : workspace.lo;

		operand_dense(&held.operand[0], ROLE_in0, i & 2 ? ACCESS_WRITE : ACCESS_READ,
			      DT_f32, at, 0, 1);
		assert_false(legal_cross(&held, &op, &why));
		held.operand[0].addr = i & 1 ? workspace.hi : workspace.lo - 4;
		assert_true(legal_cross(&held, &op, &why));
	}
}

static uint8_t before[BYTES];
static char name[128];
static struct kernel other;

static void put(unsigned at, uint64_t value, unsigned n)
{
	memcpy(bytes[GATE] + at, &value, n);
}

/* The gate product, as it was or as a kind of which it is not. */
static void again(const char *kind)
{
	struct op op;

	memcpy(bytes[GATE], before, BYTES);
	other = kernel;
	snprintf(name, sizeof(name), "nvjet_sm90_tst_256x128_64x4_1x2_h_bz%s_TNT", kind);
	other.name = name;
	decode_kernel(&other);
	assert_non_null(other.decoder);
	product[GATE].kernel = &other;
	assert_int_equal(decode_launch(&product[GATE], &op), *kind ? REASON_SHAPE : REASON_NONE);
}

static void refused_for_its_counters(void)
{
	struct op op;

	assert_int_equal(decode_launch(&product[GATE], &op), REASON_SHAPE);
	assert_int_equal(op.code, OP_opaque);
	put(COUNTERS, 0, 8);
	assert_int_equal(decode_launch(&product[GATE], &op), REASON_NONE);
}

/* Counters that cannot be any, and what was never seen beside them. */
static void test_refused(void **arg)
{
	const int64_t m = 14336, n = 2048;

	memcpy(before, bytes[GATE], BYTES);
	again("");
	put(COUNTERS, workspace.lo + 4, 8);
	refused_for_its_counters();
	again("");
	put(TILES, WORKSPACE / 64 + 1, 4);
	refused_for_its_counters();
	again("");
	put(TILES, UINT32_MAX, 4);
	refused_for_its_counters();
	again("_bias");
	put(BIAS, workspace.hi, 8);
	refused_for_its_counters();
	again("_splitK");
	put(WORK, workspace.lo + 4096, 8);
	put(WORK_AGAIN, workspace.lo + 4096, 8);
	put(WORK_PLAIN, workspace.lo + 4096, 8);
	put(WORK + 8, 0x463b2, 4);
	put(WORK + 12, (uint64_t)(4 * m / 16), 4);
	put(WORK + 16, (uint64_t)(4 * m * n / 16), 4);
	put(WORK + 32, (uint64_t)(m - 1), 4);
	put(WORK + 36, (uint64_t)(n - 1), 4);
	put(WORK + 40, 1, 4);
	refused_for_its_counters();
	again("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_silu_stays),
		cmocka_unit_test(test_counters_are_in_the_way),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
