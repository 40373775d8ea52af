// SPDX-License-Identifier: Apache-2.0
#include "tools/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/log.h"
#include "tools/commands.h"

/* The directory that a file is in, or would be. */
static void directory(const char *name, char *to, unsigned size)
{
	const char *slash = strrchr(name, '/');

	snprintf(to, size, "%.*s", slash ? (int)(slash - name) + 1 : 1, slash ? name : ".");
}

static const char *base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Devices and pipes can be written twice. */
static bool same_file(const char *a, const char *b)
{
	char dir[PATH_MAX];
	struct stat x, y;
	int have = !stat(a, &x);

	if (have + !stat(b, &y) == 1)
		return false;
	if (have)
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
	if (strcmp(base(a), base(b)))
		return false;
	directory(a, dir, sizeof(dir));
	have = !stat(dir, &x);
	directory(b, dir, sizeof(dir));
	return have && !stat(dir, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool can_write(const char *name)
{
	char dir[PATH_MAX];
	struct stat st;

	if (!strstr(name, "%p") && !stat(name, &st)) {
		if (!S_ISDIR(st.st_mode))
			return !access(name, W_OK);
		errno = EISDIR;
		return false;
	}
	directory(name, dir, sizeof(dir));
	return *base(name) ? !access(dir, W_OK | X_OK) : false;
}

int outputs_check(const struct output *o, unsigned n, const char *read)
{
	for (unsigned i = 0; i < n; i++) {
		if (!o[i].name)
			continue;
		if (read && same_file(o[i].name, read)) {
			log_warn("%s %s is the file that is read", o[i].option, o[i].name);
			return EXIT_USAGE;
		}
		for (unsigned k = 0; k < i; k++)
			if (o[k].name && same_file(o[i].name, o[k].name)) {
				log_warn("%s %s and %s %s are the same file", o[k].option,
					 o[k].name, o[i].option, o[i].name);
				return EXIT_USAGE;
			}
		errno = ENOENT;
		if (!can_write(o[i].name)) {
			log_warn("%s %s: %m", o[i].option, o[i].name);
			return EXIT_FAILED;
		}
	}
	return 0;
}

int outputs_close(FILE *f, const char *name)
{
	bool bad = fflush(f) || ferror(f);
	int err = errno;

	if (fclose(f)) {
		err = errno;
		bad = true;
	}
	errno = err;
	if (bad)
		log_warn("%s: %m", name);
	return bad ? -1 : 0;
}
