// SPDX-License-Identifier: Apache-2.0
/*
 * Every reason in plain words, as people read it, and a test in which it arises: a row of
 * reasons.def for each row of matcher/reason.def.
 */
#include "unit.h"

#include <ctype.h>
#include <stdbool.h>

#include "matcher/op.h"
#include "matcher/reason.h"
#include "tools/plan.h"

static const struct arises {
	const char *word, *test, *text;
} arises[REASON_COUNT] = {
#define ARISES(name, word, test, text) [REASON_##name] = {word, test, text},
#include "tests/unit/reasons.def"
#undef ARISES
};

static const char *name[REASON_COUNT] = {
#define REASON(id, word, text) "REASON_" #id,
#include "matcher/reason.def"
#undef REASON
};

static const char *read_test(const char *path)
{
	static char text[1 << 18], file[4096];
	const char *dir = getenv("AF_TESTS") ? getenv("AF_TESTS") : "tests";
	size_t n;
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", dir, path);
	f = fopen(file, "r");
	if (!f)
		fail_msg("there is no test %s", file);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static bool says(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || !in_word(at[-1])) && !in_word(at[n]))
			return true;
	return false;
}

static void test_all_arise(void **arg)
{
	for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
		const char *word = reason_word((enum reason)i), *text;

		if (!arises[i].test)
			fail_msg("no row of reasons.def says in which test %s arises", word);
		text = read_test(arises[i].test);
		if (!says(text, word) && !says(text, name[i]))
			fail_msg("%s does not expect %s", arises[i].test, word);
	}
}

/* One group that was left alone for that reason. */
static const char *printed(enum reason why)
{
	static char text[1 << 14];
	struct group g = {.pattern = pattern_get(PATTERN_chain)};
	struct plan_result r = {0};
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	plan_add_group(&r, &g, why);
	plan_print_text(&r, f);
	fclose(f);
	plan_result_free(&r);
	return text;
}

static void test_texts(void **arg)
{
	for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
		char line[512];

		assert_non_null(arises[i].text);
		snprintf(line, sizeof(line), "not fused, %s: %s\n", arises[i].word, arises[i].text);
		assert_contains(printed((enum reason)i), line);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_all_arise),
	cmocka_unit_test(test_texts),
};

UNIT_MAIN(tests)
