// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "tools/times.h"

struct joined {
	char text[256];
};

static void join(void *arg, const struct sent *s, const struct time_span *at)
{
	struct joined *j = arg;
	size_t n = strlen(j->text);

	snprintf(j->text + n, sizeof(j->text) - n, "%u:%u ", (unsigned)s->launch[0], at->ns);
}

/* Sent lines id:launch(:second) and ran lines id:start:ns, in any order; who gets which time. */
static void test_join(void **arg)
{
	static const struct {
		unsigned sent[4][3], ran[5][3];
		const char *joined;
	} row[] = {
		{{{5, 1}, {9, 2}}, {{9, 100, 20}, {5, 50, 10}}, "1:10 2:20 "},
		/* no time for the one, no launch for the other */
		{{{5, 1}, {9, 2}}, {{9, 100, 20}, {7, 1, 99}}, "2:20 "},
		/* several under one number: in the order of their lines, of their starts */
		{{{5, 8}, {5, 3}}, {{5, 60, 11}, {5, 50, 10}, {5, 70, 12}}, "8:10 3:11 "},
		{{{5, 8}, {5, 3}, {6, 4}}, {{5, 50, 10}, {6, 80, 13}}, "8:10 4:13 "},
		{{{5, 8}}, {{0}}, ""},
		/* two kernels for one group, under two numbers or under one */
		{{{5, 1, 9}, {7, 2}, {12, 3}},
		 {{9, 100, 20}, {5, 50, 10}, {7, 60, 5}, {12, 200, 1}},
		 "1:30 2:5 3:1 "},
		{{{5, 1, 5}, {5, 2}}, {{5, 50, 10}, {5, 60, 20}, {5, 70, 3}}, "1:30 2:3 "},
		{{{5, 1, 9}, {7, 2}}, {{5, 50, 10}, {7, 60, 5}}, "2:5 "},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct times t = {0};
		struct joined j = {""};

		for (unsigned k = 0; k < 4 && row[i].sent[k][0]; k++)
			times_sent(&t, &(struct sent){.id = row[i].sent[k][0],
						      .n = 1,
						      .launch = {row[i].sent[k][1]},
						      .second = row[i].sent[k][2]});
		for (unsigned k = 0; k < 5 && row[i].ran[k][0]; k++)
			times_ran(&t, &(struct ran){row[i].ran[k][0],
						    {row[i].ran[k][1], row[i].ran[k][2]},
						    false});
		times_ran(&t, &(struct ran){row[i].sent[0][0], {1, 1000}, true});
		for (int again = 0; again < 2; again++) {
			j.text[0] = 0;
			times_join(&t, join, &j);
			assert_string_equal(j.text, row[i].joined);
		}
		assert_int_equal(t.graph_kernels, 1); /* those of graphs belong to no launch */
		times_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_join)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
