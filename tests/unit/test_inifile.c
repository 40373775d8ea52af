// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "config/inifile.h"

/* What the sink was told, one word group after another. */
static char told[4096];

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
	size_t len = strlen(told);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(told + len, sizeof(told) - len, fmt, ap);
	va_end(ap);
}

static bool section(void *arg, const char *kind, const char *name, int line)
{
	tell("%d[%s|%s] ", line, kind, name);
	return strcmp(kind, "refuse");
}

static bool key(void *arg, const char *k, const char *value, int line)
{
	tell("%d:%s=%s| ", line, k, value);
	return true;
}

static void bad(void *arg, int line, const char *expected)
{
	tell("%d!%s ", line, expected);
}

static const char *read_text(const char *text, size_t size)
{
	const struct inifile_sink sink = {NULL, section, key, bad};

	*told = 0;
	inifile_read(text, size, &sink);
	return told;
}

static void test_table(void **arg)
{
	static const struct {
		const char *text, *told;
	} row[] = {
		{"", ""},
		{"[a]\nx = 1\n", "1[a|] 2:x=1| "},
		{"[kernel  my label ]\nx=1", "1[kernel|my label] 2:x=1| "},
		{"\xef\xbb\xbf[a]\r\nx = 1 ; why\r\n", "1[a|] 2:x=1| "},
		{"# c\n; c\n\n[a] ; c\n  x = 1\n\ty = 2\n", "4[a|] 5:x=1| 6:y=2| "},
		{"[a]\nargs = in0:f32 - n=4\n", "1[a|] 2:args=in0:f32 - n=4| "},
		{"[a]\nx =\n", "1[a|] 2:x=| "},
		{"x = 1\n[a]\n", "1!a [section] above the first key 2[a|] "},
		{"[a]\nnonsense\ny = 1\n", "1[a|] 2!key = value 3:y=1| "},
		{"[a]\nnonsense", "1[a|] 2!key = value "},
		{"[a\nx = 1\n[b]\ny = 2\n", "1![section] 3[b|] 4:y=2| "},
		{"[a] junk\nx = 1\n", "1![section] "},
		{"[refuse]\nx = 1\nnonsense\n[b]\ny = 1\n",
		 "1[refuse|] 3!key = value 4[b|] 5:y=1| "},
		{"[a]\n[b]\nx = 1\n", "1[a|] 2[b|] 3:x=1| "},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(read_text(row[i].text, strlen(row[i].text)), row[i].told);
}

/* inih alone would cut these without a word. */
static void test_long_lines(void **arg)
{
	char text[1000], expect[400];
	int n = snprintf(text, sizeof(text), "[a]\nx = %0194d\ny = %0195d\nz = 1\n; %0400d\n", 7, 7,
			 7);

	snprintf(expect, sizeof(expect),
		 "1[a|] 2:x=%0194d| 3!a text line of at most 198 characters 4:z=1| ", 7);
	assert_string_equal(read_text(text, (size_t)n), expect);
	n = snprintf(text, sizeof(text), "[a]\n[kernel %043d]\nx = 1\n[kernel %042d]\n", 7, 7);
	snprintf(expect, sizeof(expect),
		 "1[a|] 2!a section name of at most 49 characters 4[kernel|%042d] ", 7);
	assert_string_equal(read_text(text, (size_t)n), expect);
}

static void test_zero_bytes(void **arg)
{
	static const char text[] = "[a]\nx = 1\0y\nz = 2\n";

	assert_string_equal(read_text(text, sizeof(text) - 1),
			    "1[a|] 2!a text line of at most 198 characters 3:z=2| ");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_table),
	cmocka_unit_test(test_long_lines),
	cmocka_unit_test(test_zero_bytes),
};
UNIT_MAIN(tests)
