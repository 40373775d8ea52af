/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process that answers one request after the other: what it needs first (a CUDA context,
 * the compiler) is there for all of them. Whatever becomes of it costs no more than the request at
 * hand: the next one gets a new child, and what failed in a child that had answered others is asked
 * once more in a new one, so that nobody is judged by what others left behind.
 *
 * The child is `autofuse WORD serve` with a stream socket for stdin and stdout. A request is a
 * struct serve_head and its text; descriptors ride on the head. The answer is two lines: the
 * answer, and `more`, or `last` if the child ends now. It also ends where the socket does, or when
 * nobody asked it anything for SERVE_IDLE_S.
 */
#ifndef AF_SHIM_SERVE_H
#define AF_SHIM_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SERVE_FDS = 16,
	SERVE_MAGIC = 0x31734661,
	SERVE_TEXT_MAX = 64 << 20,
	SERVE_IDLE_S = 5,
};

struct serve_head {
	uint32_t magic, bytes, nfd, pad;
};

enum serve_kind {
	SERVE_PROBE,
	SERVE_COMPILE,
	SERVE_KINDS,
};

/* The child of one thread; zeroes: there is none. */
struct serve {
	int pid, fd;
	uint64_t inode; /* of the socket: programs close descriptors that they never opened */
	unsigned answered;
	int device; /* that it has a context on */
	bool over;  /* it has said that it ends */
};

struct serve_request {
	enum serve_kind kind;
	int device; /* another one than the child has: a new child */
	const char *text;
	size_t bytes;
	const int *fd;
	unsigned nfd; /* up to SERVE_FDS */
	int seconds;  /* then the child is killed */
};

enum { SERVE_FAILED = -1, SERVE_LATE = -2 };

/*
 * Asks and waits. out: the line without its end, cut to size - 1; "" if there is none. 0, or
 * SERVE_FAILED if no child could be started, SERVE_LATE if it was killed, else its wait status. At
 * most serve_children requests are under way in the process at a time, or one of each kind. For
 * background threads only.
 */
int serve_ask(struct serve *s, const struct serve_request *r, char *out, size_t size);
/* The child is not needed for now. */
void serve_end(struct serve *s);

/* How many children may be at work at a time: a part of the processors this process may use. */
unsigned serve_children(void);

#endif
