/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that the program around us cannot notice: no SIGCHLD, nothing for its wait(). */
#ifndef AF_SHIM_SPAWN_H
#define AF_SHIM_SPAWN_H

#include <stdbool.h>

/*
 * Starts path with argv[] and envp[]. io becomes its stdin and stdout; it has no other descriptor
 * of ours but stderr, which is the program's, or /dev/null where quiet. Its process id, or -1.
 */
int spawn_start(const char *path, char *const argv[], char *const envp[], int io, bool quiet);
/* The descriptor, or another one in its place that is not 0, 1 or 2: where the program has closed
 * these, ours must not become its standard output. -1 on failure: it is closed then. */
int spawn_above(int fd);
/* Its wait status. It is given that long to end by itself, then killed. */
int spawn_reap(int pid, unsigned ms);

#endif
