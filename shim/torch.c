// SPDX-License-Identifier: Apache-2.0
#include "shim/torch.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "matcher/row_pick.h"
#include "shim/elf.h"

enum { MAJOR = 2, MINOR = 11 /* measured; of later ones nothing else is known */ };

static bool settled;

/* "2.11.0+cu130" and the like. */
static bool version_of(const char *text, int *major, int *minor)
{
	char *end;

	*major = (int)strtol(text, &end, 10);
	if (end == text || *end != '.')
		return false;
	text = end + 1;
	*minor = (int)strtol(text, &end, 10);
	return end != text;
}

static bool is_known(int major, int minor)
{
	return major > MAJOR || (major == MAJOR && minor >= MINOR);
}

void torch_start(const char *option)
{
	int major, minor;

	row_pick_torch = false;
	if (!option || !*option)
		return;
	settled = version_of(option, &major, &minor);
	if (settled)
		row_pick_torch = is_known(major, minor);
	else
		log_warn("torch = %s: expected a version, such as %d.%d", option, MAJOR, MINOR);
}

static bool is_torch(void *arg, const struct elf *o)
{
	const char *name = strrchr(o->path, '/');

	if (!name || strcmp(name, "/libtorch_cuda.so") != 0 || (size_t)(name - o->path) >= PATH_MAX)
		return false;
	memcpy(arg, o->path, (size_t)(name - o->path));
	((char *)arg)[name - o->path] = 0;
	return true;
}

/* The first line of a file that has a version, behind a quote if `quoted`. */
static bool read_version(const char *dir, const char *name, bool quoted, char *to, size_t room)
{
	char path[PATH_MAX + 32], line[256];
	bool found = false;
	int major, minor;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *at = quoted ? strpbrk(line, "'\"") : line;

		at = at && quoted ? at + 1 : at;
		found = at && (!quoted || !strncmp(line, "__version__", 11)) &&
			version_of(at, &major, &minor);
		if (found)
			snprintf(to, room, "%.*s", (int)strcspn(at, "'\"\n"), at);
	}
	if (f)
		fclose(f);
	return found;
}

static void look(const char *dir)
{
	char version[64];
	int major, minor;

	if (!read_version(dir, "../version.py", true, version, sizeof(version)) &&
	    !read_version(dir, "../build-version", false, version, sizeof(version))) {
		log_debug("%s: the version of PyTorch is not found: its sums are left alone", dir);
		return;
	}
	version_of(version, &major, &minor);
	row_pick_torch = is_known(major, minor);
	log_debug("PyTorch %s: how it adds up rows is %sknown", version,
		  row_pick_torch ? "" : "not ");
}

void torch_seen(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char dir[PATH_MAX];

	if (__atomic_load_n(&settled, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&lock);
	if (!settled && elf_each(is_torch, dir)) {
		look(dir);
		__atomic_store_n(&settled, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}
