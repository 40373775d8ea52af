// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "config/options.h"

static void test_parse(void **arg)
{
	static const struct {
		const char *name, *value, *printed; /* printed: NULL if it is refused */
		const char *expected;
	} row[] = {
		{"enable", "yes", "yes", NULL},
		{"enable", "0", "no", NULL},
		{"enable", "OFF", "no", NULL},
		{"enable", "true", "yes", NULL},
		{"enable", "maybe", NULL, "expected yes or no, not \"maybe\""},
		{"verify", "always", "always", NULL},
		{"verify", "often", NULL, "verify: expected off, sample, always, not \"often\""},
		{"numerics", "CLOSE", "close", NULL},
		{"log", "debug", "debug", NULL},
		{"hold_us", "250", "250", NULL},
		{"hold_us", "-1", NULL, "whole number"},
		{"hold_us", "1k", NULL, "whole number"},
		{"hold_us", "", NULL, "whole number"},
		{"hold_us", "99999999999999999999", NULL, "whole number"},
		{"hold_us", "1000000000", "1000000000", NULL},
		{"hold_us", "1000000001", NULL, "whole number up to 1000000000"},
		{"check_memory", "256M", "256M", NULL},
		{"check_memory", "2048", "2K", NULL},
		{"check_memory", "3g", "3G", NULL},
		{"check_memory", "1000", "1000", NULL},
		{"check_memory", "9223372036854775807G", NULL, "bytes"},
		{"check_memory", "12MB", NULL, "bytes"},
		{"check_memory", "64 ", NULL, "bytes"},
		{"check_memory", "64M ", NULL, "bytes"},
		{"candidates", "a*b", "a*b", NULL},
		{"report", "", "", NULL},
	};
	struct options o = {0};
	char err[256], buf[64];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int id = option_find(row[i].name), rc;

		assert_true(id >= 0);
		rc = option_parse(&o, id, row[i].value, err, sizeof(err));
		assert_int_equal(rc, row[i].printed ? 0 : -1);
		if (row[i].printed)
			assert_string_equal(option_format(&o, id, buf, sizeof(buf)),
					    row[i].printed);
		else
			assert_contains(err, row[i].expected);
	}
	option_free_all(&o);
}

static void test_refused_value_changes_nothing(void **arg)
{
	struct options o = {.hold_us = 7};
	char err[64];

	assert_int_equal(option_parse(&o, OPTION_hold_us, "x", err, sizeof(err)), -1);
	assert_int_equal(o.hold_us, 7);
}

static void test_names(void **arg)
{
	assert_int_equal(option_find("hold_us"), OPTION_hold_us);
	assert_int_equal(option_find("hold-us"), OPTION_hold_us);
	assert_int_equal(option_find("hold"), -1);
	assert_int_equal(option_find("hold_us_"), -1);
	assert_true(option_is_switch(OPTION_enable));
	assert_false(option_is_switch(OPTION_hold_us));
	assert_true(option_is_text(OPTION_report));
}

static void test_home(void **arg)
{
	struct options o = {0};
	char err[64];

	setenv("HOME", "/home/me", 1);
	assert_int_equal(option_parse(&o, OPTION_cache, "~/c", err, sizeof(err)), 0);
	assert_string_equal(o.cache, "/home/me/c");
	assert_int_equal(option_parse(&o, OPTION_patterns, "~/c", err, sizeof(err)), 0);
	assert_string_equal(o.patterns, "~/c");
	option_free_all(&o);
}

static void test_defaults_parse(void **arg)
{
	struct options o = {0};
	char err[256];

	for (int i = 0; i < OPTION_COUNT; i++)
		assert_int_equal(option_parse(&o, i, option_row[i].def, err, sizeof(err)), 0);
	assert_int_equal(o.verify, VERIFY_SAMPLE);
	assert_int_equal(o.numerics, NUMERICS_EXACT);
	assert_int_equal(o.check_memory, 256 << 20);
	option_free_all(&o);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_parse),          cmocka_unit_test(test_refused_value_changes_nothing),
	cmocka_unit_test(test_names),          cmocka_unit_test(test_home),
	cmocka_unit_test(test_defaults_parse),
};
UNIT_MAIN(tests)
