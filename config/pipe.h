/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that may be pipes. The program did not ask for what we write or read: a reader that is gone
 * must not end it by SIGPIPE, and one that does not read, or a writer that does not write, must not
 * keep it waiting.
 */
#ifndef AF_CONFIG_PIPE_H
#define AF_CONFIG_PIPE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* write(2), but where nobody reads the pipe any more there is EPIPE and no signal. */
ssize_t pipe_write(int fd, const void *data, size_t bytes);
/* All of it. Of a descriptor that does not block, a reader is waited for as long as it goes on
 * reading: it may pause for a second. 0, or -1 with errno. */
int pipe_write_all(int fd, const void *data, size_t bytes);
/* All that there is to read, at most `size` bytes; likewise. Their number, or -1 with errno. */
ssize_t pipe_read_all(int fd, void *to, size_t size);
/* Opens a file to write a text to from its start, made if need be, or NULL with errno: ENXIO where
 * it is a pipe that nobody reads. */
FILE *pipe_open(const char *path);

#endif
