// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "tools/args.h"
#include "tools/commands.h"
#include "tools/preload.h"
#include "tools/program.h"

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
	if (preload_set())
		return EXIT_FAILED;
	driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!driver) /* the program may know another place, or do without a GPU */
		log_warn("no CUDA driver is installed here (libcuda.so.1 is not found), so there "
			 "is nothing to fuse");
	execvp(path, argv + i);
	log_warn("%s cannot be run: %m", path);
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
