/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cache lives, and whether it is the user's own. */
#include "shim/cache_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/log.h"

int cache_dir_resolve(const char *option, char *path, unsigned size)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (option && option[0])
		n = snprintf(path, size, "%s", option);
	else if (xdg && xdg[0] == '/')
		n = snprintf(path, size, "%s/autofuse", xdg);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.cache/autofuse", home);
	else
		return -1;
	return n > 0 && (unsigned)n < size ? 0 : -1;
}

bool cache_dir_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes every missing directory of path, private to the user. */
static int make_path(const char *path)
{
	char part[4096];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return -1;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return -1;
	}
	return 0;
}

int cache_dir_open(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && !make_path(path))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		log_warn("cannot use the cache directory %s: %s; nothing is kept between runs",
			 path, strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) || !cache_dir_own(&st)) {
		log_warn("the cache directory %s belongs to, or can be written by, somebody else; "
			 "nothing is kept between runs",
			 path);
		close(fd);
		return -1;
	}
	return fd;
}
