/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/serve_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NICE = 2 };

int serve_begin(int out)
{
	int kept = dup(out);

	signal(SIGPIPE, SIG_IGN);
	if (nice(NICE) < 0)
		errno = 0; /* the program's own threads go first, where that can be said */
	if (kept >= 0)
		dup2(2, out);
	return kept >= 0 ? kept : out;
}

/* The program may have forked: then its end of the socket stays open although it is gone. */
static bool asked(int from)
{
	struct pollfd p = {from, POLLIN, 0};
	int n;

	do
		n = poll(&p, 1, SERVE_IDLE_S * 1000);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

static bool get_head(struct serve_in *in, int from, struct serve_head *head)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(SERVE_FDS * sizeof(int))];
	struct iovec part = {head, sizeof(*head)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	ssize_t n;

	do
		n = recvmsg(from, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		in->nfd = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(in->fd, CMSG_DATA(c), in->nfd * sizeof(int));
	}
	return n == sizeof(*head) && head->magic == SERVE_MAGIC && head->nfd == in->nfd &&
	       head->bytes <= SERVE_TEXT_MAX;
}

bool serve_next(struct serve_in *in, int from)
{
	struct serve_head head;
	size_t have = 0;
	ssize_t n;

	for (unsigned i = 0; i < in->nfd; i++)
		close(in->fd[i]);
	in->nfd = 0;
	free(in->text);
	in->text = NULL;
	if (!asked(from) || !get_head(in, from, &head))
		return false;
	in->text = malloc(head.bytes + 1);
	while (in->text && have < head.bytes) {
		n = read(from, in->text + have, head.bytes - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	if (!in->text)
		return false;
	in->text[have] = '\0';
	in->bytes = have;
	in->asked++;
	return true;
}

bool serve_write(int to, const char *text, size_t bytes)
{
	size_t put = 0;

	while (put < bytes) {
		ssize_t n = write(to, text + put, bytes - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		put += (size_t)n;
	}
	return true;
}

void serve_more(int to, bool ends)
{
	const char *line = ends ? "last\n" : "more\n";

	serve_write(to, line, strlen(line));
}
