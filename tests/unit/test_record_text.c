// SPDX-License-Identifier: Apache-2.0
/* Text of a recording that is made before it is written. */
#include "shim/record_text.h"

#include "unit.h"

static void test_words(void **arg)
{
	static const uint8_t bytes[] = {0x00, 0xff, 0x1a};
	struct record_text t = {0};

	record_text_add(&t, "{\"n\":%d,\"f\":", -7);
	record_text_string(&t, "a\"b\\c\nd");
	record_text_add(&t, ",\"x\":\"");
	record_text_hex(&t, bytes, sizeof(bytes));
	record_text_add(&t, "\"}\n");
	assert_false(t.failed);
	assert_int_equal(t.used, strlen("{\"n\":-7,\"f\":\"a\\\"b\\\\cd\",\"x\":\"00ff1a\"}\n"));
	assert_memory_equal(t.at, "{\"n\":-7,\"f\":\"a\\\"b\\\\cd\",\"x\":\"00ff1a\"}\n", t.used);
	free(t.at);
}

static void test_grows(void **arg)
{
	struct record_text t = {0};

	for (unsigned i = 0; i < 100000; i++)
		record_text_add(&t, "%05u\n", i);
	assert_false(t.failed);
	assert_int_equal(t.used, 600000);
	for (unsigned i = 0; i < 100000; i += 997) {
		char want[8];

		snprintf(want, sizeof(want), "%05u\n", i);
		assert_memory_equal(t.at + 6 * (size_t)i, want, 6);
	}
	free(t.at);
}

/* What would be too long is given up for good: nothing is added behind the gap. */
static void test_too_long(void **arg)
{
	struct record_text t = {0};
	static uint8_t bytes[1 << 20];
	size_t used;

	while (!t.failed)
		record_text_hex(&t, bytes, sizeof(bytes));
	used = t.used;
	assert_true(used <= RECORD_TEXT_MOST && used > RECORD_TEXT_MOST / 2);
	record_text_add(&t, "x");
	record_text_string(&t, "x");
	assert_int_equal(t.used, used);
	free(t.at);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_words),
	cmocka_unit_test(test_grows),
	cmocka_unit_test(test_too_long),
};
UNIT_MAIN(tests)
