/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the built autofuse command from a test. */
#ifndef AF_TESTS_UNIT_COMMAND_H
#define AF_TESTS_UNIT_COMMAND_H

#include <sys/wait.h>

#include "unit.h"

/* The build directory: two levels above the test's own. */
static const char *command_build(void)
{
	static char dir[2048];

	if (!*dir) {
		ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

		assert_true(n > 0);
		dir[n] = 0;
		for (int i = 0; i < 3; i++)
			*strrchr(dir, '/') = 0;
	}
	return dir;
}

__attribute__((unused)) static const char *command_scratch(const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	const char *dir = getenv("AF_TMP") ? getenv("AF_TMP") : "/tmp";

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/autofuse-test-%d-%s", dir, (int)getpid(),
		 name);
	return path[turn];
}

__attribute__((unused)) static const char *command_data(const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	const char *dir = getenv("AF_TESTS") ? getenv("AF_TESTS") : "tests";

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/data/%s", dir, name);
	return path[turn];
}

/* `autofuse ARGS` by the shell, stdout and stderr together: the exit status; -signal if it crashed.
 */
static int command_status;
__attribute__((unused)) static char *command(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static char *command(const char *fmt, ...)
{
	static char text[1 << 20];
	char args[16384], line[20992];
	size_t n;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s/autofuse %s 2>&1", command_build(), args);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	command_status = pclose(f);
	command_status =
		WIFEXITED(command_status) ? WEXITSTATUS(command_status) : -WTERMSIG(command_status);
	return text;
}

#endif
