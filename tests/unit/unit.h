/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes, before anything of its own. */
#ifndef AF_TESTS_UNIT_UNIT_H
#define AF_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define UNIT_MAIN(tests)                                                                           \
	int main(void)                                                                             \
	{                                                                                          \
		cmocka_set_message_output(CM_OUTPUT_TAP);                                          \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}

/* Collects what is written to stderr between the two calls; the text is good until the next one. */
static FILE *unit_stderr_file;
static int unit_stderr_fd;

__attribute__((unused)) static void unit_stderr_begin(void)
{
	unit_stderr_file = tmpfile();
	assert_non_null(unit_stderr_file);
	fflush(stderr);
	unit_stderr_fd = dup(STDERR_FILENO);
	dup2(fileno(unit_stderr_file), STDERR_FILENO);
}

__attribute__((unused)) static const char *unit_stderr_end(void)
{
	static char text[16384];
	size_t n;

	fflush(stderr);
	dup2(unit_stderr_fd, STDERR_FILENO);
	close(unit_stderr_fd);
	rewind(unit_stderr_file);
	n = fread(text, 1, sizeof(text) - 1, unit_stderr_file);
	text[n] = 0;
	fclose(unit_stderr_file);
	return text;
}

#define assert_contains(text, part)                                                                \
	do {                                                                                       \
		const char *text_ = (text);                                                        \
		if (!strstr(text_, part))                                                          \
			fail_msg("\"%s\" does not contain \"%s\"", text_, part);                   \
	} while (0)

#endif
