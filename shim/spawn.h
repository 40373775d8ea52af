/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that the program around us cannot notice: no SIGCHLD, nothing for its wait(). */
#ifndef AF_SHIM_SPAWN_H
#define AF_SHIM_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs path with argv[] and envp[]; writes input to its stdin; reads its stdout into out (cut to
 * size - 1, 0-terminated). keep: descriptors the child inherits under their own numbers (up to 8).
 * quiet: its stderr is /dev/null, else the program's. Kills it after `seconds`. Returns its wait
 * status, -1 if it could not be started, -2 if it was killed. Blocks; for background threads only.
 */
int spawn_run(const char *path, char *const argv[], char *const envp[], const char *input,
	      size_t len, const int *keep, unsigned nkeep, bool quiet, int seconds, char *out,
	      size_t size);

#endif
