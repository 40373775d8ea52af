/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each gets its own name as argv[0] and returns the exit status. */
#ifndef AF_TOOLS_COMMANDS_H
#define AF_TOOLS_COMMANDS_H

#define COMMAND(name, args, help) int command_##name(int argc, char **argv);
#include "tools/commands.def"
#undef COMMAND

/* Exit statuses, as env(1) has them. */
enum {
	EXIT_BAD_INPUT = 1, /* plan: part of the file could not be read; the rest is printed */
	EXIT_USAGE = 2,
	EXIT_FAILED = 125,    /* autofuse itself failed */
	EXIT_NOT_RUN = 126,   /* the program was found but cannot be run */
	EXIT_NOT_FOUND = 127, /* there is no such program */
};

#endif
