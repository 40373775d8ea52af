// SPDX-License-Identifier: Apache-2.0
#include "tools/args.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/options.h"

/*
 * A pipe, such as <(command) is, can be read once, but each process of the program reads the
 * configuration. So what is in it becomes a file in memory, which is there for as long as this
 * process is, or the program that it becomes.
 */
static int keep_pipe(const char *file, char *path, size_t size)
{
	int from = open(file, O_RDONLY | O_CLOEXEC), to = memfd_create("autofuse.ini", 0);
	char part[4096];
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, part, sizeof(part))) > 0)
		if (write(to, part, (size_t)n) != n)
			break;
	if (n)
		log_warn("%s: %m", file);
	if (from >= 0)
		close(from);
	if (n && to >= 0)
		close(to);
	snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), to);
	return n ? -1 : 0;
}

/* Adds FILE, by its absolute path (the program may change its directory), to AUTOFUSE_CONFIG. */
static enum args_got add_file(const char *file)
{
	const char *old = getenv("AUTOFUSE_CONFIG");
	char path[PATH_MAX], *list;
	enum args_got got = ARGS_BAD;
	struct stat st;
	size_t size;

	if (!stat(file, &st) && S_ISFIFO(st.st_mode)) {
		if (keep_pipe(file, path, sizeof(path)))
			return ARGS_BAD;
	} else if (!realpath(file, path)) {
		log_warn("%s: %m", file);
		return ARGS_BAD;
	}
	if (strchr(path, ':')) {
		log_warn("%s: AUTOFUSE_CONFIG cannot hold a path with a colon", path);
		return ARGS_BAD;
	}
	size = strlen(path) + (old ? strlen(old) : 0) + 2;
	list = malloc(size);
	if (!list)
		return ARGS_BAD;
	snprintf(list, size, "%s%s%s", old && *old ? old : "", old && *old ? ":" : "", path);
	if (!setenv("AUTOFUSE_CONFIG", list, 1))
		got = ARGS_TAKEN;
	free(list);
	return got;
}

static enum args_got set_option(const char *name, const char *value)
{
	struct config c = {0};
	enum args_got got = ARGS_TAKEN;
	int id = option_find(name);
	char err[512];

	if (id >= 0 && !value && option_is_switch(id))
		value = "yes";
	if (id >= 0 && !value) {
		log_warn("--%s needs a value: --%s=...", name, name);
		return ARGS_BAD;
	}
	if (config_set(&c, name, value ? value : "", "command line", err, sizeof(err))) {
		log_warn("%s", err);
		got = ARGS_BAD;
	} else if (setenv(option_row[id].env, value, 1)) {
		got = ARGS_BAD;
	}
	config_free(&c);
	return got;
}

/* Splits --NAME=VALUE; *value is NULL without "=". False if arg is no such thing. */
static bool split(const char *arg, char *name, size_t size, const char **value)
{
	const char *eq;

	if (strncmp(arg, "--", 2) || !arg[2] || !strcmp(arg, "--json") ||
	    !strcmp(arg, "--larger") || !strcmp(arg, "--named") || !strcmp(arg, "--help"))
		return false;
	eq = strchr(arg, '=');
	*value = eq ? eq + 1 : NULL;
	snprintf(name, size, "%.*s", (int)(eq ? eq - arg - 2 : (long)size), arg + 2);
	return true;
}

enum args_got args_take(int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *value;
	enum args_got got;
	char name[64];

	if (!strcmp(arg, "-f")) {
		if (*i + 1 == argc) {
			log_warn("-f needs a file");
			return ARGS_BAD;
		}
		got = add_file(argv[*i + 1]);
		*i += 2;
		return got;
	}
	if (!split(arg, name, sizeof(name), &value))
		return ARGS_OTHER;
	*i += 1;
	return !strcmp(name, "config") && value ? add_file(value) : set_option(name, value);
}

void args_apply(struct config *c, int argc, char **argv)
{
	const char *value;
	char name[64], err[512];

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (split(argv[i], name, sizeof(name), &value) && option_find(name) >= 0)
			config_set(c, name, value ? value : "yes", "command line", err,
				   sizeof(err));
}
