/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command is asked to write: whether they can be is found out before hours of work. */
#ifndef AF_TOOLS_OUTPUTS_H
#define AF_TOOLS_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	const char *option, *name; /* name: NULL if it was not asked for; %p is the process id */
};

/* Are they different files, none of them the one that is read (NULL: nothing is), and can each be
 * written? Nothing is opened or made. 0, or an exit status: said on stderr. */
int outputs_check(const struct output *o, unsigned n, const char *read);
/* Closes a file that was written. 0, or -1: something did not arrive (said on stderr). */
int outputs_close(FILE *f, const char *name);

#endif
