/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program that records itself, for `autofuse trace`. */
#ifndef AF_TOOLS_TRACE_APP_H
#define AF_TOOLS_TRACE_APP_H

#include <stdbool.h>
#include <sys/types.h>

struct trace_app {
	char dir[4096];     /* holds the recordings, one for each process that used CUDA */
	char (*file)[4352]; /* largest first */
	unsigned nfile;
	bool interrupted; /* Ctrl-C or a kill ended it */
	int status;       /* exit status to end with, as the shell has it */
};

/*
 * Runs argv with the library recording. Ctrl-C goes to the program as ever; a second one kills it.
 * What it recorded is there either way, with images the code of unknown kernels, too (the option of
 * that name), until trace_app_free. 0; -1 if it could not be run (said so; status is set).
 */
int trace_app_run(struct trace_app *a, char **argv, bool stdout_to_stderr, bool images);
/* The process that a recording is of. */
long trace_app_pid(const char *file);
/* Moves a recording to where it is wanted, compressed if the name ends in .gz. 0 or -1 (said so).
 */
int trace_app_keep(const char *file, const char *to);
/* Removes the recordings. */
void trace_app_free(struct trace_app *a);

#endif
