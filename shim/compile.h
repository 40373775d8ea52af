/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From CUDA C text to an image that the driver loads, off the launch path: first from the images on
 * disk, else by NVRTC in a child process (`autofuse compile`), so that neither its memory nor its
 * faults are the program's.
 *
 * Children answer one request after the other (serve.h), several children at a time where there are
 * processors for it. Request, one `word value` a line, the text last:
 *   cc 90                driver 13000         build HEX        search HEX
 *   cache DIR or none    limit BYTES          name LABEL
 *   option PATH          loaded PATH ...      dir PATH ...
 *   text BYTES
 * Answer: "image VERSION BYTES kept|made" with the image's bytes in the file that came with the
 * request (a memfd of the parent's), or "reason SENTENCE", or "none SENTENCE" if there is no
 * compiler. The child also writes the image to the cache, so that a program shorter than the
 * compiler still profits next time.
 */
#ifndef AF_SHIM_COMPILE_H
#define AF_SHIM_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compile_how {
	COMPILE_KEPT, /* it was in the cache */
	COMPILE_MADE,
	COMPILE_NONE, /* no image; why says it */
};

struct compile_answer {
	enum compile_how how;
	void *image; /* the receiver's, to be freed; as cuModuleLoadData takes it */
	size_t bytes;
	uint64_t hash;   /* of the image: what a verdict of its kernels goes by */
	unsigned nvrtc;  /* version, 13000 for 13.0 */
	const char *why; /* a sentence; valid during the call */
};

struct compile_want {
	const char *name;       /* for people: the program's, as reports have it */
	char *text;             /* malloc'ed; taken over if compile_start answers 0 */
	unsigned cc;            /* compute capability * 10 of the device */
	const unsigned *weight; /* of the job (worker.h) */
	/* Called once, on a thread `autofuse-build`, with no lock held. */
	void (*done)(void *arg, const struct compile_answer *a);
	void *arg;
};

/* Queues it and returns at once; never calls the driver on this thread beyond its version. -1 if
 * nothing could be queued: done is then never called. */
int compile_start(const struct compile_want *w);

/* Where the compiler is looked for: the lines option, loaded and dir of the request. Freed by the
 * caller; NULL if out of memory. Not on a thread of the program's. */
char *compile_places(void);

/* The child: requests of serve.h from fd `in`, answers on fd `out`. Returns the exit status. */
int compile_child_serve(int in, int out);

#endif
