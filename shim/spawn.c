/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 64 << 10, KEEP_MAX = 8, FD_LIMIT = 65536 };

struct start {
	const char *path;
	char *const *argv, *const *envp;
	int in, out, err;
	const int *keep;
	unsigned nkeep;
};

static int kept(const struct start *s, int fd)
{
	for (unsigned i = 0; i < s->nkeep; i++)
		if (s->keep[i] == fd)
			return 1;
	return 0;
}

/* Closes [lo, hi] without close_range(2) (Linux 5.9) where it is missing. */
static void close_between(int lo, int hi)
{
#ifdef SYS_close_range
	if (lo > hi || !syscall(SYS_close_range, (unsigned)lo, (unsigned)hi, 0))
		return;
#endif
	for (int fd = lo; fd <= hi && fd < FD_LIMIT; fd++)
		close(fd);
}

/*
 * The child shares our memory until execve and not our descriptors: only system calls here. The
 * program's descriptors must not live on in the child (sockets, locks, pipes).
 */
static int child(void *arg)
{
	const struct start *s = arg;
	sigset_t none;
	int lo = 3;

	dup2(s->in, 0);
	dup2(s->out, 1);
	if (s->err >= 0)
		dup2(s->err, 2);
	for (int fd = 3; fd < FD_LIMIT; fd++) {
		if (!kept(s, fd))
			continue;
		fcntl(fd, F_SETFD, 0);
		close_between(lo, fd - 1);
		lo = fd + 1;
	}
	close_between(lo, INT32_MAX);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->path, s->argv, s->envp);
	_exit(127);
}

static long left_ms(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
}

/* Feeds and drains the child until it closes its stdout or time is up. 0, or -1: time is up. */
static int talk(int to, int from, const char *input, size_t len, const struct timespec *end,
		char *out, size_t size)
{
	size_t sent = 0, got = 0;
	char sink[256];

	for (;;) {
		struct pollfd p[2] = {{from, POLLIN, 0}, {to, POLLOUT, 0}};
		long ms = left_ms(end);
		ssize_t n;

		if (to >= 0 && sent == len) {
			close(to);
			to = -1;
			continue;
		}
		if (ms <= 0 || (poll(p, to >= 0 ? 2 : 1, (int)ms) < 0 && errno != EINTR)) {
			if (to >= 0)
				close(to);
			return -1;
		}
		if (to >= 0 && p[1].revents) {
			n = write(to, input + sent, len - sent);
			sent = n > 0 ? sent + (size_t)n : n < 0 && errno == EAGAIN ? sent : len;
		}
		if (p[0].revents) {
			n = got + 1 < size ? read(from, out + got, size - 1 - got)
					   : read(from, sink, sizeof(sink));
			if (n <= 0 && !(n < 0 && (errno == EAGAIN || errno == EINTR)))
				break;
			if (n > 0 && got + 1 < size)
				got += (size_t)n;
		}
	}
	if (to >= 0)
		close(to);
	out[got] = '\0';
	return 0;
}

int spawn_run(const char *path, char *const argv[], char *const envp[], const char *input,
	      size_t len, const int *keep, unsigned nkeep, bool quiet, int seconds, char *out,
	      size_t size)
{
	struct start s = {
		.path = path, .argv = argv, .envp = envp, .err = -1, .keep = keep, .nkeep = nkeep};
	int in[2] = {-1, -1}, back[2] = {-1, -1}, status = -1, pid = -1, late = 0;
	struct timespec end;
	char *stack;

	out[0] = '\0';
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || nkeep > KEEP_MAX)
		return -1;
	if (!pipe2(in, O_CLOEXEC) && !pipe2(back, O_CLOEXEC)) {
		s.in = in[0];
		s.out = back[1];
		/* Whoever reads the program's stderr to its end must not wait for us. */
		s.err = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
		/* No termination signal: only wait with __WALL or __WCLONE sees this child. */
		pid = clone(child, stack + STACK, CLONE_VM | CLONE_VFORK, &s);
	}
	if (s.err >= 0)
		close(s.err);
	if (in[0] >= 0)
		close(in[0]);
	if (back[1] >= 0)
		close(back[1]);
	if (pid > 0) {
		sigset_t pipe_signal;

		/* All signals are blocked on our threads; a child that dies early must not leave a
		 * pending SIGPIPE behind either. */
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += seconds;
		fcntl(in[1], F_SETFL, O_NONBLOCK);
		fcntl(back[0], F_SETFL, O_NONBLOCK);
		late = talk(in[1], back[0], input, len, &end, out, size);
		if (late)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
		sigemptyset(&pipe_signal);
		sigaddset(&pipe_signal, SIGPIPE);
		sigtimedwait(&pipe_signal, NULL, &(struct timespec){0, 0});
	} else if (in[1] >= 0) {
		close(in[1]);
	}
	if (back[0] >= 0)
		close(back[0]);
	munmap(stack, STACK);
	return pid <= 0 ? -1 : late ? -2 : status;
}
