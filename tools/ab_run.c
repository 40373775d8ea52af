// SPDX-License-Identifier: Apache-2.0
/* One run of the program, timed, its output read through pipes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/log.h"
#include "tools/ab.h"

enum {
	CHUNK = 1 << 16,
	POLL_MS = 100,
	REST_MAX = 4096, /* chunks read after the program's end; a child of it may never stop */
};

volatile sig_atomic_t ab_interrupted;
static volatile sig_atomic_t running; /* process group, 0 between runs */

static void on_signal(int number)
{
	ab_interrupted = number;
	if (running)
		kill(-running, number);
}

void ab_catch_signals(void)
{
	struct sigaction a = {.sa_handler = on_signal};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Every run gets the same input: a file from its start, or nothing. */
static int input(void)
{
	struct stat st;
	int fd = -1;

	if (!fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode))
		fd = open("/proc/self/fd/0", O_RDONLY);
	return fd < 0 ? open("/dev/null", O_RDONLY) : fd;
}

static void child(const struct ab_request *q, enum ab_mode mode, const int out[2], const int err[2])
{
	char report[4200], times[4200];

	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	snprintf(report, sizeof(report), "%s/report-%%p", q->dir);
	setenv("AUTOFUSE", mode == AB_OFF ? "0" : "1", 1);
	setenv("AUTOFUSE_SUMMARY", "no", 1);
	setenv("AUTOFUSE_REPORT", report, 1);
	if (mode == AB_VERIFY)
		setenv("AUTOFUSE_VERIFY", "always", 1);
	if (mode == AB_TIMED_OFF || mode == AB_TIMED_ON) {
		snprintf(times, sizeof(times), "%s/times-%%p.jsonl", q->dir);
		setenv("AUTOFUSE_RECORD", times, 1);
		setenv("AUTOFUSE_TIMES", "1", 1);
	}
	if (mode == AB_TIMED_OFF)
		setenv("AUTOFUSE_PATTERNS", "-all", 1);
	dup2(input(), STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	execv(q->path, q->argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* What came on stdout: its hash and its beginning. False at its end. */
static bool read_out(int fd, struct ab_run *r, XXH3_state_t *hash)
{
	static char chunk[CHUNK];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	unsigned keep;

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	XXH3_64bits_update(hash, chunk, (size_t)n);
	keep = AB_KEPT - r->out_kept < (unsigned)n ? AB_KEPT - r->out_kept : (unsigned)n;
	memcpy(r->out + r->out_kept, chunk, keep);
	r->out_kept += keep;
	r->out_bytes += (uint64_t)n;
	return true;
}

/* The end of what came on stderr. */
static bool read_err(int fd, struct ab_run *r)
{
	char chunk[1024];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	size_t have = strlen(r->err), drop;

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	drop = have + (size_t)n >= sizeof(r->err) ? have + (size_t)n + 1 - sizeof(r->err) : 0;
	memmove(r->err, r->err + drop, have - drop);
	memcpy(r->err + have - drop, chunk, (size_t)n);
	r->err[have - drop + (size_t)n] = 0;
	for (char *p = r->err + have - drop; *p == 0 && p < r->err + have - drop + n; p++)
		*p = ' ';
	return true;
}

/* Reads until the program has ended. What its children leave open is not waited for. */
static void follow(const struct ab_request *q, pid_t pid, int out, int err, struct ab_run *r,
		   XXH3_state_t *hash, double start)
{
	int ended = (int)syscall(SYS_pidfd_open, pid, 0); /* -1 before Linux 5.3 */
	struct pollfd fd[3] = {{out, POLLIN, 0}, {err, POLLIN, 0}, {ended, POLLIN, 0}};
	unsigned rest = REST_MAX;
	bool over = false, left = true;

	while (!over || (left && rest--)) {
		int n = poll(fd, 3, over ? 0 : ended < 0 ? 1 : POLL_MS);

		if (!over && waitpid(pid, &r->status, WNOHANG) == pid) {
			r->seconds = now() - start;
			over = true;
			fd[2].fd = -1;
			n = poll(fd, 2, 0);
		}
		left = n > 0 && (fd[0].revents | fd[1].revents) & POLLIN;
		if (n > 0 && fd[0].revents && !read_out(out, r, hash))
			fd[0].fd = -1;
		if (n > 0 && fd[1].revents && !read_err(err, r))
			fd[1].fd = -1;
		if (!over && q->timeout && now() - start > q->timeout) {
			r->timed_out = true;
			kill(-pid, SIGKILL);
		}
	}
	if (ended >= 0)
		close(ended);
}

bool ab_run(const struct ab_request *q, enum ab_mode mode, struct ab_run *r)
{
	XXH3_state_t *hash = XXH3_createState();
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	double start;
	pid_t pid;

	memset(r, 0, sizeof(*r));
	if (!hash || XXH3_64bits_reset(hash) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		goto fail;
	start = now();
	pid = fork();
	if (pid < 0)
		goto fail;
	if (!pid)
		child(q, mode, out, err);
	setpgid(pid, pid); /* whoever comes first */
	running = pid;
	close(out[1]);
	close(err[1]);
	out[1] = err[1] = -1;
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	follow(q, pid, out[0], err[0], r, hash, start);
	running = 0;
	r->started = true;
	r->out_hash = XXH3_64bits_digest(hash);
	if (mode != AB_OFF)
		ab_read_reports(q->dir, &r->counts);
fail:
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		if (err[i] >= 0)
			close(err[i]);
	}
	XXH3_freeState(hash);
	return r->started;
}

bool ab_run_failed(const struct ab_run *r, const char *what, char *text, unsigned size)
{
	if (!r->started)
		snprintf(text, size, "the run %s could not be started", what);
	else if (r->timed_out)
		snprintf(text, size, "the run %s took longer than the --timeout and was ended",
			 what);
	else if (WIFSIGNALED(r->status))
		snprintf(text, size, "the run %s was ended by signal %d (%s)", what,
			 WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
	else if (WEXITSTATUS(r->status) == 126 || WEXITSTATUS(r->status) == 127)
		snprintf(text, size, "the run %s exited with %d", what, WEXITSTATUS(r->status));
	else
		return false;
	return true;
}
