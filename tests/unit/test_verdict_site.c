// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "shim/images.h"
#include "shim/verdict.h"

static unsigned asked;

int images_identify(struct image *img)
{
	asked++;
	if (img->lost)
		return -1;
	img->hash[0] = img->bytes; /* as the test wants it */
	return 0;
}

static void test_evidence_is_of_an_image(void **arg)
{
	struct image one = {.hash = {11, 1}}, other = {.hash = {12, 1}};

	assert_false(verdict_vetted(1, &one));
	assert_true(verdict_vet(1, 11));
	assert_false(verdict_vet(1, 11));
	assert_true(verdict_vetted(1, &one));
	assert_false(verdict_vetted(1, &other));
	assert_false(verdict_vetted(2, &one));
	assert_false(verdict_vetted(1, NULL));
	assert_false(verdict_vet(3, 0)); /* a record that names none */
	assert_int_equal(asked, 0);
}

static void test_images_are_hashed_where_that_helps(void **arg)
{
	struct image same = {.bytes = 11}, other = {.bytes = 12}, gone = {.lost = true};

	verdict_vet(1, 11);
	assert_false(verdict_vetted(2, &same));
	assert_int_equal(asked, 0);
	assert_true(verdict_vetted(1, &same));
	assert_false(verdict_vetted(1, &other));
	assert_false(verdict_vetted(1, &gone));
	assert_int_equal(asked, 3);
}

static void test_evidence_falls(void **arg)
{
	struct image one = {.hash = {11, 1}};
	const uint64_t before = verdict_unvetted();

	verdict_vet(1, 11);
	verdict_vet(1, 12);
	verdict_unvet(1, 11);
	assert_false(verdict_vetted(1, &one));
	assert_int_equal(verdict_unvetted(), before + 1);
	verdict_unvet(1, 11);
	verdict_unvet(1, 0);
	assert_int_equal(verdict_unvetted(), before + 1);
	one.hash[0] = 12;
	assert_true(verdict_vetted(1, &one));
}

static void test_the_disk_leaves_room(void **arg)
{
	uint64_t hash = 1;

	while (verdict_site_early(hash))
		hash++;
	assert_true(hash > 1000);
	assert_non_null(verdict_site_early(1));
	assert_null(verdict_site_find(hash));
	assert_non_null(verdict_site(hash));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evidence_is_of_an_image),
		cmocka_unit_test(test_images_are_hashed_where_that_helps),
		cmocka_unit_test(test_evidence_falls),
		cmocka_unit_test(test_the_disk_leaves_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
