/* SPDX-License-Identifier: Apache-2.0 */
/* The child's half of serve.h. */
#ifndef AF_SHIM_SERVE_CHILD_H
#define AF_SHIM_SERVE_CHILD_H

#include "shim/serve.h"

enum { SERVE_REQUESTS = 256 }; /* of one child: what they leave behind must not add up */

struct serve_in {
	char *text; /* 0-terminated */
	size_t bytes;
	int fd[SERVE_FDS]; /* closed by the next serve_next */
	unsigned nfd, asked;
};

/* First of all. Answers go where it says: what libraries print is none. */
int serve_begin(int out);
/* Waits for the next request. False: there is none any more, or it is not understood. */
bool serve_next(struct serve_in *in, int from);
/* Behind each answer. ends: there will be no other. */
void serve_more(int to, bool ends);
/* Writes all of it. */
bool serve_write(int to, const char *text, size_t bytes);

#endif
