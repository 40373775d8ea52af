// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "shim/cache_choice.h"

static const char name[] = "t256-desc-firstdesc/div-rsqrt-xs.w";

static void test_text_and_back(void **arg)
{
	static const struct {
		struct choice by;
		const char *behind;
	} row[] = {
		{{CHOICE_WRITTEN, 0}, ""},
		{{CHOICE_GENERATED, 4096}, ":generated@4096"},
		{{CHOICE_ONLY_GENERATED, 1}, ":only-generated@1"},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char text[CHOICE_TEXT_MAX], want[CHOICE_TEXT_MAX];
		struct candidate c, again;
		struct choice by;

		assert_int_equal(candidate_parse(name, &c), 0);
		choice_text(&c, &row[i].by, text);
		snprintf(want, sizeof(want), "%s%s", name, row[i].behind);
		assert_string_equal(text, want);
		assert_int_equal(choice_parse(text, &again, &by), 0);
		assert_true(again.code == c.code && again.eps == c.eps);
		assert_true(by.kernel == row[i].by.kernel && by.rows == row[i].by.rows);
	}
}

static void test_what_is_no_text(void **arg)
{
	static const char *const behind[] = {":",
					     ":generated",
					     ":generated@",
					     ":generated@0",
					     ":generated@-4",
					     ":generated@4x",
					     ":other@4",
					     ":@4",
					     "x:generated@4"};

	for (unsigned i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
		char text[CHOICE_TEXT_MAX + 8];
		struct candidate c;
		struct choice by;

		snprintf(text, sizeof(text), "%s%s", name, behind[i]);
		assert_int_equal(choice_parse(text, &c, &by), -1);
	}
}

static void test_rows(void **arg)
{
	const struct choice by = {CHOICE_GENERATED, 100}, only = {CHOICE_ONLY_GENERATED, 100},
			    written = {CHOICE_WRITTEN, 0};

	assert_true(choice_generated(&by, 100));
	assert_true(choice_generated(&by, 13));
	assert_true(choice_generated(&by, 800));
	assert_false(choice_generated(&by, 1));
	assert_false(choice_generated(&by, 1000));
	assert_true(choice_generated(&only, 1));
	assert_true(choice_generated(&only, 1 << 20));
	assert_false(choice_generated(&written, 0));
	assert_false(choice_generated(&written, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_and_back),
		cmocka_unit_test(test_what_is_no_text),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
