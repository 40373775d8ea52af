// SPDX-License-Identifier: Apache-2.0
#include "config/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 1000 };

ssize_t pipe_write(int fd, const void *data, size_t bytes)
{
	static const struct timespec now;
	sigset_t broken, old, pending;
	ssize_t n;
	int err;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigemptyset(&pending);
	sigpending(&pending);
	if (sigprocmask(SIG_BLOCK, &broken, &old)) /* of this thread, on Linux */
		return -1;
	n = write(fd, data, bytes);
	err = errno;
	/* What was pending before is the program's own. */
	if (n < 0 && err == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR)
			;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return n;
}

/* After a call that gave -1: is it worth another one? */
static bool again(int fd, short events)
{
	struct pollfd p = {fd, events, 0};
	int n;

	if (errno == EINTR)
		return true;
	if (errno != EAGAIN)
		return false;
	while ((n = poll(&p, 1, PAUSE_MS)) < 0 && errno == EINTR)
		;
	if (!n)
		errno = EAGAIN;
	return n > 0;
}

int pipe_write_all(int fd, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes) {
		ssize_t n = pipe_write(fd, from, bytes);

		if (n < 0 && !again(fd, POLLOUT))
			return -1;
		if (n > 0) {
			from += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

ssize_t pipe_read_all(int fd, void *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read(fd, (char *)to + have, size - have);

		if (n < 0 && !again(fd, POLLIN))
			return -1;
		if (!n)
			break;
		if (n > 0)
			have += (size_t)n;
	}
	return (ssize_t)have;
}

static ssize_t stream_write(void *cookie, const char *data, size_t bytes)
{
	return pipe_write_all((int)(intptr_t)cookie, data, bytes) ? 0 : (ssize_t)bytes;
}

static int stream_close(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

FILE *pipe_open(const char *path)
{
	const cookie_io_functions_t io = {.write = stream_write, .close = stream_close};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666), err;
	FILE *f = fd < 0 ? NULL : fopencookie((void *)(intptr_t)fd, "w", io);

	if (fd >= 0 && !f) {
		err = errno;
		close(fd);
		errno = err;
	}
	return f;
}
