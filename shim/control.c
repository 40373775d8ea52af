/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/hot.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/worker.h"

enum { LOOK_NS = 50000000 };

HOT int control_off;

static unsigned signals; /* received so far */

static void on_signal(int number)
{
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* What the file says: its first word. No file, or another word: on. */
static bool file_says_on(const char *path)
{
	char word[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, word, sizeof(word) - 1);

	if (fd >= 0)
		close(fd);
	word[n > 0 ? n : 0] = '\0';
	word[strcspn(word, " \t\r\n")] = '\0';
	return strcasecmp(word, "off") && strcasecmp(word, "no") && strcmp(word, "0");
}

static void set(bool on)
{
	if (on == control_on())
		return;
	report_phase();
	__atomic_store_n(&control_off, !on, __ATOMIC_RELAXED);
	log_info("fusion is switched %s", on ? "on" : "off");
}

static void *watch(void *arg)
{
	const char *path = process.config.opt.control;
	bool file = !path[0] || file_says_on(path);
	unsigned seen = 0;

	prctl(PR_SET_NAME, "autofuse-ctl");
	guard_enter();
	for (;;) {
		const struct timespec t = {.tv_nsec = LOOK_NS};
		unsigned now = __atomic_load_n(&signals, __ATOMIC_RELAXED);
		bool says = !path[0] || file_says_on(path);

		if (says != file)
			set(file = says);
		if ((now - seen) % 2)
			set(!control_on());
		seen = now;
		nanosleep(&t, NULL);
	}
	return NULL;
}

/* A handler that returns from one of these hides that the program is lost, or loops. */
static bool is_fault(long number)
{
	static const int fault[] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE, SIGTRAP,
				    SIGABRT, SIGSYS, SIGKILL, SIGSTOP};

	for (unsigned i = 0; i < sizeof(fault) / sizeof(*fault); i++)
		if (number == fault[i])
			return true;
	return false;
}

/* The program's own handler, if it has one, stays. */
static bool take_signal(long number)
{
	struct sigaction old, new = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (!number)
		return false;
	if (is_fault(number)) {
		log_warn("toggle_signal: signal %ld stands for a fault, or cannot be received; "
			 "choose one such as 10 (SIGUSR1)",
			 number);
		return false;
	}
	if (number > SIGRTMAX || sigaction((int)number, NULL, &old)) {
		log_warn("toggle_signal: there is no signal %ld", number);
		return false;
	}
	if (old.sa_handler != SIG_DFL || sigaction((int)number, &new, NULL)) {
		log_warn("toggle_signal: the program uses signal %ld itself", number);
		return false;
	}
	return true;
}

void control_start(void)
{
	const char *path = process.config.opt.control;
	bool file = path && path[0], sig = take_signal(process.config.opt.toggle_signal);

	if (file)
		__atomic_store_n(&control_off, !file_says_on(path), __ATOMIC_RELAXED);
	if ((file || sig) && worker_thread(watch, NULL, "autofuse-ctl"))
		log_warn("cannot start a thread: fusion cannot be switched in this process");
}
