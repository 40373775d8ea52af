// SPDX-License-Identifier: Apache-2.0
/* The files that a process has mapped. What it compiled or loaded into plain memory is not in
 * them. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "config/log.h"
#include "tools/scan.h"

struct seen {
	unsigned major, minor;
	uint64_t inode;
};

/* The file as the process sees it (it may live in another mount namespace), if it still is the one
 * that was mapped. */
static bool same_file(int pid, const char *name, const struct seen *e, char *path, size_t size)
{
	struct stat st;

	snprintf(path, size, "/proc/%d/root%s", pid, name);
	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_ino == e->inode)
		return true;
	snprintf(path, size, "%s", name);
	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_ino == e->inode;
}

int scan_pid(struct scan *s, int pid)
{
	char maps[64], line[PATH_MAX + 256], name[PATH_MAX], path[PATH_MAX + 64];
	struct seen *seen = NULL, e;
	size_t n = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	f = fopen(maps, "re");
	if (!f) {
		log_warn("process %d: %m", pid);
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		bool known = false;
		void *grown;

		if (sscanf(line, "%*x-%*x %*s %*x %x:%x %" SCNu64 " /%4094[^\n]", &e.major,
			   &e.minor, &e.inode, name + 1) != 4 ||
		    !e.inode)
			continue;
		name[0] = '/';
		for (size_t i = 0; i < n && !known; i++)
			known = !memcmp(&seen[i], &e, sizeof(e));
		if (known || !(grown = realloc(seen, (n + 1) * sizeof(*seen))))
			continue;
		seen = grown;
		seen[n++] = e;
		if (same_file(pid, name, &e, path, sizeof(path)))
			scan_file(s, path, name);
		else if (!strstr(name, "/dev/") && strncmp(name, "/memfd:", 7) &&
			 strncmp(name, "/SYSV", 5))
			log_warn("%s is mapped but no longer there", name);
	}
	fclose(f);
	free(seen);
	return 0;
}
