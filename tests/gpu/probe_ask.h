/* SPDX-License-Identifier: Apache-2.0 */
/* Asks many probes, several at a time, each in a process of its own, as it is in life. */
#ifndef AF_TESTS_GPU_PROBE_ASK_H
#define AF_TESTS_GPU_PROBE_ASK_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/probe.h"

struct ask {
	char *request;    /* malloc'd */
	char answer[512]; /* without its newline */
	double seconds;
	/* While it runs. */
	pid_t pid;
	int fd;
	size_t have;
};

static inline double ask_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void ask_start(struct ask *a)
{
	int to[2], from[2];
	size_t len = strlen(a->request);

	a->fd = -1;
	a->seconds = ask_now();
	if (pipe(to) || pipe(from))
		return;
	fflush(stdout);
	a->pid = fork();
	if (!a->pid) {
		close(to[1]);
		close(from[0]);
		_exit(probe_child_main(to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	/* A request fits into a pipe. */
	if (write(to[1], a->request, len) == (ssize_t)len)
		a->fd = from[0];
	close(to[1]);
}

/* Reads what there is; true once the answer is complete. */
static inline bool ask_read(struct ask *a)
{
	ssize_t n = read(a->fd, a->answer + a->have, sizeof(a->answer) - 1 - a->have);

	if (n > 0) {
		a->have += (size_t)n;
		return false;
	}
	a->answer[a->have] = '\0';
	a->answer[strcspn(a->answer, "\n")] = '\0';
	close(a->fd);
	waitpid(a->pid, NULL, 0);
	a->seconds = ask_now() - a->seconds;
	return true;
}

static inline void ask_all(struct ask *list, unsigned n)
{
	enum { MOST = 8 };
	struct pollfd p[MOST];
	struct ask *busy[MOST];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned most = cores < 1 ? 1 : cores > MOST ? MOST : (unsigned)cores, nbusy = 0, next = 0;

	while (next < n || nbusy) {
		while (next < n && nbusy < most) {
			ask_start(&list[next]);
			if (list[next].fd >= 0) {
				busy[nbusy] = &list[next];
				p[nbusy++] = (struct pollfd){.fd = list[next].fd, .events = POLLIN};
			}
			next++;
		}
		if (poll(p, nbusy, -1) < 0)
			continue;
		for (unsigned i = nbusy; i-- > 0;)
			if (p[i].revents && ask_read(busy[i])) {
				busy[i] = busy[--nbusy];
				p[i] = p[nbusy];
			}
	}
}

/* Was ours the slower form? Takes the word off the answer. Several processes at a time are no place
 * to measure in, so that it is asked again, alone. */
static inline bool ask_slower(struct ask *a)
{
	struct ask again = {.request = a->request};
	char *word = strstr(a->answer, " slower");

	if (!word)
		return false;
	*word = '\0';
	ask_all(&again, 1);
	return strstr(again.answer, " slower") != NULL;
}

#endif
