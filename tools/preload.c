// SPDX-License-Identifier: Apache-2.0
#include "tools/preload.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/log.h"
#include "tools/program.h"

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

int preload_set(void)
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
