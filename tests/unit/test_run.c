// SPDX-License-Identifier: Apache-2.0
/* `autofuse run` and the small commands: the environment it hands on, and what it refuses. */
#include "command.h"

#include <sys/stat.h>

static void write_program(const char *path, const void *bytes, size_t size, mode_t mode)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fwrite(bytes, 1, size, f);
	fclose(f);
	chmod(path, mode);
}

static void write_script(const char *path, const char *text, mode_t mode)
{
	write_program(path, text, strlen(text), mode);
}

/* A copy of the command beside a stand-in for the library, so that nothing is really preloaded. */
static char dir[4096];

static int setup(void **arg)
{
	char line[16384 + 64];

	snprintf(dir, sizeof(dir), "%s", command_scratch("run"));
	snprintf(line, sizeof(line), "rm -rf %s && mkdir -p %s/bin && cp %s/autofuse %s/bin/", dir,
		 dir, command_build(), dir);
	return system(line);
}

static int teardown(void **arg)
{
	char line[5000];

	snprintf(line, sizeof(line), "rm -rf %s", dir);
	return system(line);
}

static int status;
static const char *shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *shell(const char *fmt, ...)
{
	static char text[65536];
	char line[20000];
	size_t n;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	f = popen(line, "r");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	status = pclose(f);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	return text;
}

/* With the stand-in library in place. `true` sees LD_PRELOAD; the loader warns, which is dropped.
 */
static const char *run(const char *args)
{
	char lib[4200];

	snprintf(lib, sizeof(lib), "%s/bin/libautofuse.so", dir);
	write_script(lib, "", 0644);
	return shell("cd %s && %s/bin/autofuse run %s 2>/dev/null", dir, dir, args);
}

static void test_environment(void **arg)
{
	char expect[5000], ini[4200];
	const char *text;

	snprintf(ini, sizeof(ini), "%s/my.ini", dir);
	write_script(ini, "[autofuse]\nlog = info\n", 0644);
	snprintf(expect, sizeof(expect), "LD_PRELOAD=%s/bin/libautofuse.so\n", dir);
	assert_contains(run("env"), expect);
	assert_int_equal(status, 0);
	setenv("LD_PRELOAD", "libnothing.so", 1);
	snprintf(expect, sizeof(expect), "LD_PRELOAD=%s/bin/libautofuse.so:libnothing.so\n", dir);
	assert_contains(run("-- env"), expect);
	unsetenv("LD_PRELOAD");
	setenv("AUTOFUSE_VERIFY", "off", 1);
	text = run("--verify=always --hold-us=7 --no_such=1 env");
	assert_int_equal(status, 125);
	text = run("--verify=always --hold-us=7 --probe=no --cache= -f my.ini -- env A=1");
	assert_contains(text, "AUTOFUSE_VERIFY=always\n");
	assert_contains(text, "AUTOFUSE_HOLD_US=7\n");
	assert_contains(text, "AUTOFUSE_PROBE=no\n");
	assert_contains(text, "AUTOFUSE_CACHE=\n");
	assert_contains(text, "\nA=1\n");
	snprintf(expect, sizeof(expect), "AUTOFUSE_CONFIG=%s\n", ini);
	assert_contains(text, expect);
	unsetenv("AUTOFUSE_VERIFY");
}

static void test_exit_status(void **arg)
{
	run("sh -c 'exit 7'");
	assert_int_equal(status, 7);
	run("sh -c 'kill -9 $$'");
	assert_int_equal(status, 128 + 9); /* popen's shell says so */
}

/* Everything in one sentence, and the exit status of env(1). */
static void test_refusals(void **arg)
{
	static const unsigned char static_elf[128] = {0x7f, 'E', 'L',       'F',       2,
						      1,    1,   [52] = 64, [54] = 56, [56] = 0};
	static const unsigned char narrow_elf[128] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
	char path[4200];

	run("true"); /* makes the library */
#define REFUSED(args, code, said)                                                                  \
	do {                                                                                       \
		assert_contains(shell("cd %s && bin/autofuse run %s 2>&1", dir, args), said);      \
		assert_int_equal(status, code);                                                    \
	} while (0)
	REFUSED("no-such-program-here", 127,
		"autofuse: there is no program no-such-program-here\n");
	REFUSED("./missing", 127, "there is no program ./missing");
	REFUSED("", 125, "usage: autofuse run");
	REFUSED("--verify=off", 125, "usage: autofuse run");
	REFUSED("--verify=often true", 125, "verify: expected off, sample, always, not \"often\"");
	REFUSED("-f missing.ini true", 125, "missing.ini: No such file");
	REFUSED("/", 126, "/ cannot be run: Permission denied");

	snprintf(path, sizeof(path), "%s/plain", dir);
	write_script(path, "#!/bin/sh\n", 0644);
	if (access(path, X_OK)) /* even root needs one x bit */
		REFUSED("./plain", 126, "./plain cannot be run: Permission denied");
	snprintf(path, sizeof(path), "%s/static", dir);
	write_program(path, static_elf, sizeof(static_elf), 0755);
	REFUSED("./static", 126, "./static is statically linked: nothing can be preloaded into it");
	snprintf(path, sizeof(path), "%s/narrow", dir);
	write_program(path, narrow_elf, sizeof(narrow_elf), 0755);
	REFUSED("./narrow", 126, "./narrow is no 64-bit program");
	snprintf(path, sizeof(path), "%s/script", dir);
	write_script(path, "#! /no/such/shell -x\n", 0755);
	REFUSED("./script", 126,
		"./script wants the interpreter /no/such/shell, which is not there");
	snprintf(path, sizeof(path), "%s/script2", dir);
	{
		char text[4300];

		snprintf(text, sizeof(text), "#!%s/static\n", dir);
		write_script(path, text, 0755);
	}
	REFUSED("./script2", 126, "static is statically linked");
	snprintf(path, sizeof(path), "%s/suid", dir);
	write_script(path, "#!/bin/sh\n", 0755);
	if (!geteuid() && !chown(path, 12345, 12345) && !chmod(path, 04755))
		REFUSED("./suid", 126,
			"./suid is setuid, setgid or has capabilities: the system ignores "
			"LD_PRELOAD");
	snprintf(path, sizeof(path), "%s/bin/libautofuse.so", dir);
	unlink(path);
	REFUSED("true", 125, "libautofuse.so is neither in");
}

static void test_no_driver(void **arg)
{
	char path[4200];

	/* A directory of its own in front of everything, with a file that is no driver. */
	run("true");
	snprintf(path, sizeof(path), "%s/libcuda.so.1", dir);
	write_script(path, "no driver", 0644);
	assert_contains(shell("cd %s && LD_LIBRARY_PATH=%s bin/autofuse run true 2>&1", dir, dir),
			"no CUDA driver is installed here (libcuda.so.1 is not found), so there is "
			"nothing to fuse\n");
	assert_int_equal(status, 0);
}

static void test_config(void **arg)
{
	char ini[4200];
	const char *text;

	snprintf(ini, sizeof(ini), "%s/c.ini", dir);
	write_script(ini,
		     "[autofuse]\nidle_us = 5\nverify = sometimes\n[kernel k]\nop = add\n[pattern "
		     "p]\nenable = 1\n",
		     0644);
	text = shell("AUTOFUSE_HOLD_US=9 %s/autofuse config -f %s --live-checks=3 2>/dev/null",
		     command_build(), ini);
	assert_int_equal(status, 1);
	assert_contains(text, "; origin: environment\nhold_us = 9\n");
	assert_contains(text, "; origin: command line\nlive_checks = 3\n");
	assert_contains(text, "; origin: default\nverify = sample\n");
	assert_contains(text, "c.ini:2\n");
	/* A pipe is read once; every process of the program finds what was in it. */
	text = shell("cat %s | %s/autofuse config -f /dev/stdin 2>/dev/null", ini, command_build());
	assert_contains(text, "; origin: /proc/");
	text = shell("cat %s | %s/autofuse run -f /dev/stdin -- sh -c '"
		     "cmp %s $AUTOFUSE_CONFIG && cmp %s $AUTOFUSE_CONFIG && echo both' 2>&1",
		     ini, command_build(), ini, ini);
	assert_contains(text, "both\n");
	text = shell("%s/autofuse config -f %s 2>&1 >/dev/null", command_build(), ini);
	assert_contains(text, "c.ini:3: verify: expected off, sample, always, not \"sometimes\"\n");
	assert_contains(text, "c.ini:4: [kernel k]: match is missing");
	assert_contains(text, "c.ini:7: no pattern \"p\"; there are: add_rmsnorm");
	shell("%s/autofuse config", command_build());
	assert_int_equal(status, 0);
}

static void test_others(void **arg)
{
	assert_contains(command("version"), "autofuse 0.");
	assert_int_equal(command_status, 0);
	assert_contains(command("help"), "  plan FILE [--json]");
	assert_int_equal(command_status, 0);
	assert_contains(command("--help"), "  run [--option=value");
	assert_contains(command(" "), "usage: autofuse COMMAND");
	assert_int_equal(command_status, 2);
	assert_contains(command("fuse"), "no command \"fuse\"");
	assert_int_equal(command_status, 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	T(test_environment), T(test_exit_status), T(test_refusals),
	T(test_no_driver),   T(test_config),      T(test_others),
};
UNIT_MAIN(tests)
