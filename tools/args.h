/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that all subcommands share: --option=value and -f FILE. */
#ifndef AF_TOOLS_ARGS_H
#define AF_TOOLS_ARGS_H

#include "config/config.h"

enum args_got {
	ARGS_TAKEN, /* *i was moved past it */
	ARGS_OTHER, /* not ours: a flag of the subcommand, or an operand */
	ARGS_BAD,   /* wrong; said so on stderr */
};

/*
 * Takes argv[*i] if it is --name=value, --name (yes), -f FILE or --config=FILE, and puts it into
 * the environment, where this command's own configuration and every child find it (a later option
 * wins).
 */
enum args_got args_take(int argc, char **argv, int *i);

/* After config_load: the same options again, so that c knows that they came from the command line.
 */
void args_apply(struct config *c, int argc, char **argv);

#endif
