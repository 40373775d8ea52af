// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <sys/stat.h>

#include "config/embedded.h"
#include "config/options.h"

static const char *scratch(const char *name)
{
	static char path[2][4096];
	static int turn;
	const char *dir = getenv("AF_TMP") ? getenv("AF_TMP") : "/tmp";

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s.%d", dir, name, (int)getpid());
	return path[turn];
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_defaults(void **arg)
{
	struct config c;

	config_load(&c, false);
	assert_true(c.opt.enable);
	assert_int_equal(c.opt.sample_every, 1024);
	assert_string_equal(c.origin[OPTION_verify], "default");
	assert_int_equal(c.errors, 0);
	config_free(&c);
}

static void test_sections(void **arg)
{
	struct config c;
	const struct config_kernel *k;

	config_load(&c, false);
	assert_int_equal(
		config_add_text(
			&c, "t.ini",
			"[autofuse]\nverify = off\n[pattern add_rmsnorm]\nenable = no\n"
			"[kernel one]\nmatch = a b\nop = add\n[kernel two]\nop = rmsnorm\n"),
		0);
	assert_int_equal(c.opt.verify, VERIFY_OFF);
	assert_string_equal(c.origin[OPTION_verify], "t.ini:2");
	assert_false(config_pattern(&c, "add_rmsnorm"));
	assert_true(config_pattern(&c, "another"));
	for (k = c.kernel; strcmp(k->label, "one");)
		k = k->next;
	assert_int_equal(k->npair, 2);
	assert_string_equal(k->pair[0].key, "match");
	assert_string_equal(k->pair[0].value, "a b");
	assert_int_equal(k->pair[1].line, 7);
	assert_string_equal(k->file, "t.ini");
	assert_string_equal(k->next->label, "two");
	assert_null(k->next->next);
	config_free(&c);
}

static void test_bad_lines(void **arg)
{
	static const struct {
		const char *text, *said;
	} row[] = {
		{"[autofuse]\nverify = often\n", "t.ini:2: verify: expected off, sample, always"},
		{"[autofuse]\nspeed = 9\n",
		 "t.ini:2: no option \"speed\"; there are enable, numerics, verify"},
		{"[pattern x]\nenable = perhaps\n",
		 "t.ini:2: expected enable = yes or enable = no"},
		{"[pattern x]\nenabled = yes\n", "t.ini:2: expected enable = yes or enable = no"},
		{"[pattern x]\n[autofuse]\n",
		 "t.ini:1: expected enable = yes or enable = no in this section"},
		{"[pattern]\n", "t.ini:1: expected [autofuse], [pattern NAME] or [kernel LABEL]"},
		{"[kernels a]\n", "t.ini:1: expected [autofuse], [pattern NAME] or [kernel LABEL]"},
		{"[autofuse]\nverify\n", "t.ini:2: expected key = value"},
		{"[kernel a]\n[kernel b]\n[kernel a]\n",
		 "t.ini:3: [kernel a] stands in line 1 already"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct config c;

		config_load(&c, false);
		unit_stderr_begin();
		assert_int_equal(config_add_text(&c, "t.ini", row[i].text), 1);
		assert_contains(unit_stderr_end(), row[i].said);
		assert_int_equal(c.errors, 1);
		assert_int_equal(c.opt.verify, VERIFY_SAMPLE);
		config_free(&c);
	}
}

/* Defaults < user's file < AUTOFUSE_CONFIG < environment < command line. */
static void test_precedence(void **arg)
{
	const char *dir = scratch("xdg"), *listed = scratch("listed");
	char path[4200], err[256], list[4200];
	struct config c;

	snprintf(path, sizeof(path), "%s/autofuse", dir);
	mkdir(dir, 0700);
	mkdir(path, 0700);
	strcat(path, "/autofuse.ini");
	write_file(path,
		   "[autofuse]\nhold_us = 1\nidle_us = 1\nsample_every = 1\nlive_checks = 1\n");
	write_file(listed, "[autofuse]\nidle_us = 2\nsample_every = 2\nlive_checks = 2\n");
	snprintf(list, sizeof(list), "%s", listed);
	setenv("XDG_CONFIG_HOME", dir, 1);
	setenv("AUTOFUSE_CONFIG", list, 1);
	setenv("AUTOFUSE_SAMPLE_EVERY", "3", 1);
	setenv("AUTOFUSE_LIVE_CHECKS", "3", 1);
	config_load(&c, true);
	assert_int_equal(config_set(&c, "live-checks", "4", "command line", err, sizeof(err)), 0);
	assert_int_equal(c.opt.probe_seconds, 60);
	assert_int_equal(c.opt.hold_us, 1);
	assert_int_equal(c.opt.idle_us, 2);
	assert_int_equal(c.opt.sample_every, 3);
	assert_int_equal(c.opt.live_checks, 4);
	assert_contains(c.origin[OPTION_hold_us], "autofuse.ini:2");
	assert_string_equal(c.origin[OPTION_sample_every], "environment");
	assert_string_equal(c.origin[OPTION_live_checks], "command line");
	config_free(&c);

	unit_stderr_begin();
	setenv("AUTOFUSE_SAMPLE_EVERY", "x", 1);
	setenv("AUTOFUSE_CONFIG", "/nonexistent/a.ini", 1);
	config_load(&c, true);
	assert_int_equal(c.opt.sample_every, 1);
	assert_int_equal(c.errors, 2);
	config_free(&c);
	assert_contains(unit_stderr_end(),
			"AUTOFUSE_SAMPLE_EVERY: sample_every: expected a whole number");
	unit_stderr_begin();
	setenv("AUTOFUSE_LOG", "quiet", 1);
	config_load(&c, true);
	assert_int_equal(c.errors, 2);
	config_free(&c);
	assert_string_equal(unit_stderr_end(), "");
	log_level = LOG_WARN;
	unsetenv("AUTOFUSE_LOG");
	unsetenv("AUTOFUSE_SAMPLE_EVERY");
	unsetenv("AUTOFUSE_LIVE_CHECKS");
	unsetenv("AUTOFUSE_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	unlink(path);
	unlink(listed);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(dir);
}

static void test_pattern_switches(void **arg)
{
	static const struct {
		const char *patterns;
		bool a, b;
	} row[] = {
		{"", false, true},        {"+a", true, true},        {"-all", false, false},
		{"-all +b", false, true}, {"-all, +a", true, false}, {"b", false, true},
		{"+all", true, true},     {"-b", false, false},
	};
	struct config c;
	char err[64];

	config_load(&c, false);
	config_add_text(&c, "t", "[pattern a]\nenable = no\n");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		config_set(&c, "patterns", row[i].patterns, "test", err, sizeof(err));
		assert_int_equal(config_pattern(&c, "a"), row[i].a);
		assert_int_equal(config_pattern(&c, "b"), row[i].b);
	}
	config_free(&c);
}

/* What is printed can be read back and prints the same. */
static void test_print(void **arg)
{
	char *one = NULL, *two = NULL;
	size_t size;
	struct config c;
	FILE *f;

	config_load(&c, false);
	config_add_text(&c, "t",
			"[autofuse]\nlog = info\ncandidates = x*\n[pattern p]\nenable = no\n"
			"[kernel k]\nmatch = a\nargs = out in0:f32 n=4\n");
	f = open_memstream(&one, &size);
	config_print(&c, f);
	fclose(f);
	config_free(&c);
	assert_contains(one, "; origin: t:2\nlog = info\n");
	assert_contains(one, "args = out in0:f32 n=4\n");
	config_load(&c, false);
	assert_int_equal(config_add_text(&c, "t", one), 0);
	assert_int_equal(c.opt.log, LOG_INFO);
	assert_string_equal(c.opt.candidates, "x*");
	assert_string_equal(c.opt.cache, "");
	f = open_memstream(&two, &size);
	config_print(&c, f);
	fclose(f);
	config_free(&c);
	assert_contains(two, "args = out in0:f32 n=4\n");
	free(one);
	free(two);
	log_level = LOG_WARN;
}

/* However long, and whatever is in it: what was printed is read back, or said to be no value of a
 * line. */
static void test_print_odd_values(void **arg)
{
	static const struct {
		const char *value;
		bool kept;
	} row[] = {{"a;b", true},     {"a ;b", false},   {";", true}, {"two\nlines", false},
		   {" blank", false}, {"x = [y]", true}, {"#", true}, {"\"q\"", true}};
	char longest[187] = "", line[4096], err[256];

	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i <= sizeof(row) / sizeof(row[0]); i++) {
		const char *value = i ? row[i - 1].value : longest;
		const char *wanted = !i || row[i - 1].kept ? value : "";
		char *text = NULL;
		struct config c;
		size_t size;
		FILE *f;

		config_load(&c, false);
		memset(line, 'd', sizeof(line) - 1); /* where it came from may be a long name */
		line[sizeof(line) - 1] = 0;
		config_add_text(&c, line, "[kernel k]\nmatch = a\nop = opaque\n");
		assert_int_equal(config_set(&c, "candidates", value, line, err, sizeof(err)), 0);
		f = open_memstream(&text, &size);
		config_print(&c, f);
		fclose(f);
		config_free(&c);
		config_load(&c, false);
		assert_int_equal(config_add_text(&c, "t", text), 0);
		assert_string_equal(c.opt.candidates, wanted);
		config_free(&c);
		free(text);
	}
}

/* Every shipped file is well-formed and named as in the source. */
static void test_embedded(void **arg)
{
	struct config c;
	unsigned n = 0;

	config_load(&c, false);
	assert_int_equal(c.errors, 0);
	config_free(&c);
	for (const struct embedded *e = embedded; e->name; e++, n++)
		assert_contains(e->name, "config/");
	assert_true(n > 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_defaults),         cmocka_unit_test(test_sections),
	cmocka_unit_test(test_bad_lines),        cmocka_unit_test(test_precedence),
	cmocka_unit_test(test_pattern_switches), cmocka_unit_test(test_print),
	cmocka_unit_test(test_print_odd_values), cmocka_unit_test(test_embedded),
};
UNIT_MAIN(tests)
