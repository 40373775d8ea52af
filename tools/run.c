// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/args.h"
#include "tools/commands.h"
#include "tools/program.h"
#include "tools/run.h"

/* Beside the command, as in the build directory, or where an installation puts it. */
static bool find_library(char *path, unsigned size)
{
	static const char *const place[] = {"libautofuse.so", "../lib/libautofuse.so",
					    "../lib/autofuse/libautofuse.so",
					    "../lib64/libautofuse.so"};
	char dir[PATH_MAX - 64], tried[PATH_MAX];

	program_own_directory(dir, sizeof(dir));
	for (unsigned i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		snprintf(tried, sizeof(tried), "%s/%s", dir, place[i]);
		if (realpath(tried, path) && !access(path, R_OK))
			return true;
	}
	snprintf(path, size, "%s", dir);
	return false;
}

int run_preload(void)
{
	char lib[PATH_MAX], *list;
	const char *old = getenv("LD_PRELOAD");
	size_t size;

	if (!find_library(lib, sizeof(lib))) {
		log_warn("libautofuse.so is neither in %s nor in ../lib beside it", lib);
		return -1;
	}
	if (strpbrk(lib, " :")) {
		log_warn("LD_PRELOAD cannot hold the path %s: it has a blank or a colon in it",
			 lib);
		return -1;
	}
	size = strlen(lib) + (old ? strlen(old) : 0) + 2;
	list = malloc(size);
	if (!list)
		return -1;
	snprintf(list, size, "%s%s%s", lib, old && *old ? ":" : "", old ? old : "");
	if (setenv("LD_PRELOAD", list, 1)) {
		free(list);
		return -1;
	}
	free(list);
	return 0;
}

int command_run(int argc, char **argv)
{
	char path[PATH_MAX], why[2 * PATH_MAX];
	void *driver;
	int i = 1, rc;

	while (i < argc && strcmp(argv[i], "--")) {
		enum args_got got = args_take(argc, argv, &i);

		if (got == ARGS_BAD)
			return EXIT_FAILED;
		if (got == ARGS_OTHER)
			break;
	}
	i += i < argc && !strcmp(argv[i], "--");
	if (i == argc || argv[i][0] == '-') {
		log_warn("usage: autofuse run [--option=value ...] [-f FILE.ini] [--] app [args]");
		return EXIT_FAILED;
	}
	rc = program_check(argv[i], path, sizeof(path), why, sizeof(why));
	if (rc) {
		log_warn("%s", why);
		return rc;
	}
	if (run_preload())
		return EXIT_FAILED;
	driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!driver) /* the program may know another place, or do without a GPU */
		log_warn("no CUDA driver is installed here (libcuda.so.1 is not found), so there "
			 "is nothing to fuse");
	execvp(path, argv + i);
	log_warn("%s cannot be run: %m", path);
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
