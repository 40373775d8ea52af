// SPDX-License-Identifier: Apache-2.0
/* The autofuse command. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/log.h"
#include "config/version.h"
#include "shim/compile.h"
#include "shim/probe.h"
#include "tools/commands.h"

static const struct {
	const char *name, *args, *help;
	int (*run)(int argc, char **argv);
} command[] = {
#define COMMAND(name, args, help) {#name, args, help, command_##name},
#include "tools/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof(command) / sizeof(command[0]) };

static void usage(FILE *f)
{
	fprintf(f, "usage: autofuse COMMAND ...\n");
	for (int i = 0; i < COMMANDS; i++)
		if (*command[i].help)
			fprintf(f, "  %s%s\n      %s\n", command[i].name, command[i].args,
				command[i].help);
	fprintf(f, "Options are those that `autofuse config` prints; each is also a key of a file "
		   "and an\n"
		   "environment variable. What is known of kernels is in [kernel] sections of such "
		   "files.\n");
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static void usage_of(int i, FILE *f)
{
	fprintf(f, "usage: autofuse %s%s\n    %s\n", command[i].name, command[i].args,
		command[i].help);
}

int command_help(int argc, char **argv)
{
	usage(stdout);
	return 0;
}

int command_version(int argc, char **argv)
{
	printf("autofuse %s\n", AUTOFUSE_VERSION);
	return 0;
}

int command_compile(int argc, char **argv)
{
	return compile_child_serve(0, 1);
}

int command_probe(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "serve") ? probe_child_serve(0, 1)
						     : probe_child_main(0, 1);
}

/* What a command printed that never arrived: with a status of 0 the script that called it would go
 * on. */
static int flush(int status)
{
	bool bad = fflush(stdout) != 0;

	if (!bad && !ferror(stdout))
		return status;
	if (bad)
		log_warn("stdout: %m");
	else
		log_warn("not all of the output could be written to stdout");
	return status ? status : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (is_help(name))
		name = "help";
	if (!strcmp(name, "--version"))
		name = "version";
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(name, command[i].name))
			continue;
		if (*command[i].help && argc > 2 && is_help(argv[2])) {
			usage_of(i, stdout);
			return flush(0);
		}
		return flush(command[i].run(argc - 1, argv + 1));
	}
	if (*name)
		log_warn("no command \"%s\"", name);
	usage(stderr);
	return EXIT_USAGE;
}
