// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "shim/verdict.h"
#include "tests/unit/own_cache.h"

/* A pick with everything that has a name. */
static uint64_t long_pick(unsigned i)
{
	struct row_pick p = {.order = row_order_usual(256)};

	p.order.vec = ORDER_vec_4;
	p.order.acc = ORDER_acc_8;
	p.order.tail = ORDER_tail_AFTER;
	p.order.comb = ORDER_comb_NEIGHBOURS;
	p.order.fma = ORDER_fma_NO;
	p.order.width = 32;
	p.spelling.ftz = i % 2;
	p.spelling.contract = PICK_contract_NO;
	p.spelling.mean = PICK_mean_FMAFAST;
	p.spelling.root = PICK_root_XDIVFAST;
	p.spelling.product = PICK_product_X_SW;
	return row_pick_pack(&p);
}

static struct verdict chain(unsigned n)
{
	struct verdict v = {.chain = true, .nmember = n};

	for (unsigned i = 0; i < n; i++)
		v.pick[i] = long_pick(i);
	return v;
}

static void test_picks_as_text(void **arg)
{
	char text[CACHE_CANDIDATE_MAX], again[CACHE_CANDIDATE_MAX];
	struct verdict v = chain(GROUP_MAX_MEMBERS), read = {.chain = true, .nmember = v.nmember};

	verdict_said(&v, text);
	assert_int_equal(verdict_parse(&read, text), 0);
	assert_memory_equal(read.pick, v.pick, sizeof(v.pick));
	assert_false(read.as_planned);
	verdict_said(&read, again);
	assert_string_equal(again, text);

	memcpy(read.planned, v.pick, sizeof(v.pick));
	assert_int_equal(verdict_parse(&read, text), 0);
	assert_true(read.as_planned);
}

static void test_what_is_no_text_of_picks(void **arg)
{
	static const char *const wrong[] = {"",       "plain",          "plain+plain+plain",
					    "plain+", "plain+nonsense", "+plain"};
	struct verdict v = {.chain = true, .nmember = 2, .pick = {7, 8}};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(verdict_parse(&v, wrong[i]), -1);
		assert_int_equal(v.pick[0], 7); /* nothing half done */
	}
	assert_int_equal(verdict_parse(&v, "plain+plain"), 0);
}

/* The longest record there can be. */
static void test_a_long_chain_in_the_cache(void **arg)
{
	struct verdict v = chain(GROUP_MAX_MEMBERS);
	struct cache_record r = {.key = {{1, 2}}, .kind = CACHE_VERDICT, .rows = INT64_MAX}, back;

	for (unsigned i = 0; i < GROUP_MAX_MEMBERS; i++)
		r.site[i] = r.image[i] = UINT64_MAX - i;
	verdict_said(&v, r.candidate);
	memset(r.detail, 'x', sizeof(r.detail) - 1);
	assert_int_equal(cache_put(&r), 0);
	assert_true(cache_find(r.key, &back));
	assert_memory_equal(back.site, r.site, sizeof(r.site));
	assert_memory_equal(back.image, r.image, sizeof(r.image));
	assert_string_equal(back.candidate, r.candidate);
	assert_true(cache_of_chain(&back));
	assert_int_equal(back.rows, r.rows);

	r = (struct cache_record){
		.key = {{3, 4}}, .kind = CACHE_VERDICT, .site = {5, 6}, .image = {7}};
	strcpy(r.candidate, "t256.s.desc");
	assert_int_equal(cache_put(&r), 0);
	assert_true(cache_find(r.key, &back));
	assert_int_equal(back.site[1], 6);
	assert_int_equal(back.site[2], 0);
	assert_int_equal(back.image[0], 7);
	assert_int_equal(back.image[1], 0);
	assert_false(cache_of_chain(&back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_picks_as_text),
		cmocka_unit_test(test_what_is_no_text_of_picks),
		cmocka_unit_test(test_a_long_chain_in_the_cache),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, own_cache_make, own_cache_remove);
}
