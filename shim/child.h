/* SPDX-License-Identifier: Apache-2.0 */
/* What child processes of ours have in common: the command to run, and its environment. */
#ifndef AF_SHIM_CHILD_H
#define AF_SHIM_CHILD_H

#include <stddef.h>

/* The autofuse command: the option, or beside this library, or in ../bin. 0 or -1. */
int child_command(char *path, size_t size);
/* The program's environment without what would make the child something else than a plain program
 * of its own. The caller frees the array; NULL: out of memory. */
char **child_environment(void);

#endif
