/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/child.h"
#include "shim/spawn.h"

enum { PART = 4, MOST = 6, END_MS = 5000, WORD_MAX = 8 };

static const char *const word[SERVE_KINDS] = {"probe", "compile"};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t less;
	unsigned all, busy[SERVE_KINDS];
} work = {.lock = PTHREAD_MUTEX_INITIALIZER, .less = PTHREAD_COND_INITIALIZER};

unsigned serve_children(void)
{
	cpu_set_t mine;
	unsigned n =
		sched_getaffinity(0, sizeof(mine), &mine) ? 0 : (unsigned)CPU_COUNT(&mine) / PART;

	return n < 1 ? 1 : n > MOST ? MOST : n;
}

/* Children are niced, and still take memory, caches and the device's time from the program. */
static void take_turn(enum serve_kind k)
{
	const unsigned n = serve_children(), most = n < SERVE_KINDS ? SERVE_KINDS : n;

	pthread_mutex_lock(&work.lock);
	/* There is always room for one of the other kind. */
	while (work.all >= most || work.busy[k] >= most - (SERVE_KINDS - 1))
		pthread_cond_wait(&work.less, &work.lock);
	work.all++;
	work.busy[k]++;
	pthread_mutex_unlock(&work.lock);
}

static void leave_turn(enum serve_kind k)
{
	pthread_mutex_lock(&work.lock);
	work.all--;
	work.busy[k]--;
	pthread_cond_broadcast(&work.less);
	pthread_mutex_unlock(&work.lock);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !S_ISSOCK(st.st_mode) ? 0 : st.st_ino;
}

/* Is the descriptor still the socket, and not something that the program opened in its place? */
static bool intact(const struct serve *s)
{
	return s->inode && inode_of(s->fd) == s->inode;
}

static int start(struct serve *s, const struct serve_request *r)
{
	char path[4096], **env = child_environment();
	char *argv[] = {path, (char *)word[r->kind], (char *)"serve", NULL};
	int pair[2];

	memset(s, 0, sizeof(*s));
	if (env && !child_command(path, sizeof(path)) &&
	    !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		pair[0] = spawn_above(pair[0]);
		pair[1] = spawn_above(pair[1]);
		s->pid = pair[0] < 0 || pair[1] < 0
				 ? -1
				 : spawn_start(path, argv, env, pair[1], log_level < LOG_INFO);
		close(pair[1]);
		s->fd = pair[0];
		s->inode = inode_of(s->fd);
		s->device = r->device;
		if (s->pid < 0)
			close(s->fd);
		else
			fcntl(s->fd, F_SETFL, O_NONBLOCK);
	}
	free(env);
	if (s->pid > 0)
		return 0;
	s->pid = 0;
	return -1;
}

/* The end of the socket tells the child. Its wait status. */
static int end(struct serve *s, unsigned ms)
{
	int status;

	if (intact(s))
		close(s->fd);
	status = spawn_reap(s->pid, ms);
	memset(s, 0, sizeof(*s));
	return status;
}

void serve_end(struct serve *s)
{
	if (s->pid)
		end(s, END_MS);
}

static long left_ms(const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (until->tv_sec - now.tv_sec) * 1000 + (until->tv_nsec - now.tv_nsec) / 1000000;
}

/* 1: it can be read or written, 0: time is up, -1: an error. */
static int ready(const struct serve *s, short what, const struct timespec *until)
{
	for (;;) {
		struct pollfd p = {s->fd, what, 0};
		long ms = left_ms(until);
		int n = ms > 0 ? poll(&p, 1, (int)ms) : 0;

		if (n > 0 && !intact(s))
			return -1;
		if (n >= 0 || errno != EINTR)
			return n;
	}
}

/* As ready; MSG_NOSIGNAL: a child that is gone must not leave a SIGPIPE. */
static int put(struct serve *s, const struct serve_request *r, const struct timespec *until)
{
	struct serve_head head = {SERVE_MAGIC, (uint32_t)r->bytes, r->nfd, 0};
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(SERVE_FDS * sizeof(int))] = {0};
	struct iovec part[2] = {{&head, sizeof(head)}, {(char *)r->text, r->bytes}};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
	int ok;

	if (r->nfd) {
		struct cmsghdr *c;

		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE(r->nfd * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(r->nfd * sizeof(int));
		memcpy(CMSG_DATA(c), r->fd, r->nfd * sizeof(int));
	}
	while (part[0].iov_len + part[1].iov_len) {
		ssize_t n;

		if ((ok = ready(s, POLLOUT, until)) <= 0)
			return ok;
		n = sendmsg(s->fd, &m, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return -1;
		m.msg_control = NULL; /* they went with the first byte */
		m.msg_controllen = 0;
		for (unsigned i = 0; i < 2; i++) {
			size_t some = (size_t)n < part[i].iov_len ? (size_t)n : part[i].iov_len;

			part[i].iov_base = (char *)part[i].iov_base + some;
			part[i].iov_len -= some;
			n -= (ssize_t)some;
		}
	}
	return 1;
}

/* A line without its end; as ready. */
static int get(struct serve *s, const struct timespec *until, char *out, size_t size)
{
	size_t have = 0;
	char c;

	out[0] = '\0';
	if (!intact(s))
		return -1;
	for (;;) {
		ssize_t n = read(s->fd, &c, 1);
		int ok;

		if (n < 0 && errno == EAGAIN) {
			if ((ok = ready(s, POLLIN, until)) <= 0)
				return ok;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || c == '\n') {
			out[have] = '\0';
			return n <= 0 ? -1 : 1;
		}
		if (have + 1 < size)
			out[have++] = c;
	}
}

/* As serve_ask, by the child there is. again: it is worth asking another one. */
static int once(struct serve *s, const struct serve_request *r, char *out, size_t size, bool *again)
{
	const bool fresh = !s->answered;
	struct timespec until;
	char next[WORD_MAX];
	int ok;

	*again = false;
	out[0] = '\0';
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += r->seconds;
	ok = put(s, r, &until);
	/* It may have said why it ends before it read all that it was asked. */
	if (ok)
		ok = get(s, &until, out, size);
	if (ok <= 0) {
		int status = end(s, ok < 0 ? END_MS : 0);

		*again = ok < 0 && !fresh;
		out[0] = '\0';
		return ok < 0 ? status : SERVE_LATE;
	}
	s->answered++;
	s->over = get(s, &until, next, sizeof(next)) <= 0 || strcmp(next, "more") != 0;
	*again = s->over && !fresh && !strncmp(out, "reason no-verdict ", 18);
	return 0;
}

int serve_ask(struct serve *s, const struct serve_request *r, char *out, size_t size)
{
	bool again = false;
	int status;

	if (r->nfd > SERVE_FDS || r->bytes > SERVE_TEXT_MAX)
		return SERVE_FAILED;
	take_turn(r->kind);
	do {
		/* Taking a context down takes its time: nobody's answer waits for it. */
		if (s->over || s->device != r->device)
			serve_end(s);
		status = !s->pid && start(s, r) ? SERVE_FAILED : once(s, r, out, size, &again);
	} while (again);
	leave_turn(r->kind);
	return status;
}
