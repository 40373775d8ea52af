// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <signal.h>

#include "config/log.h"

static void test_levels(void **arg)
{
	unit_stderr_begin();
	log_level = LOG_WARN;
	log_warn("one %d", 1);
	log_info("two");
	log_level = LOG_INFO;
	log_info("three");
	log_level = LOG_QUIET;
	log_warn("four");
	log_always("five");
	log_level = LOG_WARN;
	assert_string_equal(unit_stderr_end(),
			    "autofuse: one 1\nautofuse: three\nautofuse: five\n");
}

static void test_errno_and_length(void **arg)
{
	char text[3000];
	const char *said;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	unit_stderr_begin();
	errno = ENOENT;
	log_warn("%m");
	log_warn("%s", text);
	assert_int_equal(errno, ENOENT);
	said = unit_stderr_end();
	assert_contains(said, "autofuse: No such file or directory\n");
	assert_int_equal(said[strlen(said) - 1], '\n');
	assert_true(strlen(said) < 1200);
}

static void test_once(void **arg)
{
	unit_stderr_begin();
	for (int i = 0; i < 3; i++)
		log_warn_once("again");
	assert_string_equal(unit_stderr_end(), "autofuse: again\n");
}

/* A line to a pipe without a reader: no signal, whatever the program does about that signal. */
static void test_nobody_reads(void **arg)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	sigset_t set, old, pending;

	assert_int_equal(pipe(pipes), 0);
	close(pipes[0]);
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	log_always("would end the program");
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &old);
	assert_false(sigismember(&old, SIGPIPE));
	log_always("is blocked by the program");
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGPIPE));
	raise(SIGPIPE);
	log_always("is the program's own");
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGPIPE));
	signal(SIGPIPE, SIG_IGN); /* takes the pending one away */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_levels),
	cmocka_unit_test(test_errno_and_length),
	cmocka_unit_test(test_once),
	cmocka_unit_test(test_nobody_reads),
};
UNIT_MAIN(tests)
