/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 64 << 10, FD_LIMIT = 65536, TICK_US = 2000 };

struct start {
	const char *path;
	char *const *argv, *const *envp;
	int io, err;
};

/* Closes all from lo on without close_range(2) (Linux 5.9) where it is missing. */
static void close_from(int lo)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)lo, (unsigned)INT32_MAX, 0))
		return;
#endif
	for (int fd = lo; fd < FD_LIMIT; fd++)
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

	dup2(s->io, 0);
	dup2(s->io, 1);
	if (s->err >= 0)
		dup2(s->err, 2);
	close_from(3);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->path, s->argv, s->envp);
	_exit(127);
}

int spawn_above(int fd)
{
	int up;

	if (fd < 0 || fd > 2)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return up;
}

int spawn_start(const char *path, char *const argv[], char *const envp[], int io, bool quiet)
{
	struct start s = {.path = path, .argv = argv, .envp = envp, .io = io, .err = -1};
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pid;

	if (stack == MAP_FAILED)
		return -1;
	/* Whoever reads the program's stderr to its end must not wait for us. */
	s.err = quiet ? spawn_above(open("/dev/null", O_WRONLY | O_CLOEXEC)) : -1;
	/* No termination signal: only wait with __WALL or __WCLONE sees this child. */
	pid = clone(child, stack + STACK, CLONE_VM | CLONE_VFORK, &s);
	if (s.err >= 0)
		close(s.err);
	munmap(stack, STACK);
	return pid > 0 ? pid : -1;
}

int spawn_reap(int pid, unsigned ms)
{
	int status = -1, got = 0;

	for (unsigned us = 0; us < ms * 1000 && !(got = waitpid(pid, &status, __WALL | WNOHANG));
	     us += TICK_US)
		usleep(TICK_US);
	if (!got) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
	}
	return status;
}
