/* SPDX-License-Identifier: Apache-2.0 */
/* Can a program be run, and preloaded into? */
#ifndef AF_TOOLS_PROGRAM_H
#define AF_TOOLS_PROGRAM_H

#include <stdbool.h>

/*
 * Finds `name` as execvp would and looks at the file: 0, with its path; or the exit status to end
 * with (EXIT_NOT_FOUND, EXIT_NOT_RUN), with one sentence in why. Scripts are judged by their
 * interpreter.
 */
int program_check(const char *name, char *path, unsigned size, char *why, unsigned whysize);

/* Directory of the running command, without a final slash; "" if it cannot be told. */
void program_own_directory(char *dir, unsigned size);

#endif
