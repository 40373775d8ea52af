/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crash markers: one empty file per (key, process) while a fused kernel's first use is under way.
 * The name holds the boot, the process and its start time, so that a marker of a process that is
 * gone is told from one of a process that reuses its number, and from other machines' markers in
 * a shared home directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shim/cache.h"
#include "shim/cache_dir.h"

static ssize_t slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* This boot of this machine and pid namespace; 0 if unknown. */
static uint64_t boot(void)
{
	char text[160];
	struct stat ns;
	ssize_t n = slurp("/proc/sys/kernel/random/boot_id", text, 64);

	if (n <= 0 || stat("/proc/self/ns/pid", &ns))
		return 0;
	n += snprintf(text + n, sizeof(text) - (size_t)n, "%ju", (uintmax_t)ns.st_ino);
	return XXH3_64bits(text, (size_t)n);
}

/* Start time of a process in clock ticks since boot (proc(5), stat field 22); 0 if it is gone. */
static unsigned long long start_time(int pid)
{
	char path[64], text[1024], *p;
	unsigned long long t = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (slurp(path, text, sizeof(text)) <= 0 || !(p = strrchr(text, ')')))
		return 0;
	for (int field = 2; field < 22 && p; field++)
		p = strchr(p + 1, ' ');
	if (p)
		t = strtoull(p + 1, NULL, 10);
	return t;
}

static void mark_name(char *name, size_t size, struct key key)
{
	snprintf(name, size, "mark-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%d-%llu",
		 key.hash[0], key.hash[1], boot(), (int)getpid(), start_time((int)getpid()));
}

int cache_mark(struct key key)
{
	char name[160];
	int fd;

	if (cache_dirfd() < 0)
		return -1;
	mark_name(name, sizeof(name), key);
	fd = openat(cache_dirfd(), name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

void cache_unmark(struct key key)
{
	char name[160];

	if (cache_dirfd() < 0)
		return;
	mark_name(name, sizeof(name), key);
	unlinkat(cache_dirfd(), name, 0);
}

/* The directory for reading; NULL if there is no cache. */
static DIR *open_marks(void)
{
	int fd = cache_dirfd() < 0 ? -1
				   : openat(cache_dirfd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* Is it a marker of ours, of this boot? */
static bool mark_parse(DIR *d, const char *name, struct key *key, int *pid,
		       unsigned long long *start)
{
	uint64_t there;
	struct stat st;

	return sscanf(name, "mark-%16" SCNx64 "%16" SCNx64 "-%16" SCNx64 "-%d-%llu", &key->hash[0],
		      &key->hash[1], &there, pid, start) == 5 &&
	       there == boot() && !fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) &&
	       cache_dir_own(&st);
}

void cache_left_marks(void (*fn)(void *arg, struct key key), void *arg)
{
	DIR *d = open_marks();
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned long long start;
		struct key key;
		int pid;

		if (!mark_parse(d, e->d_name, &key, &pid, &start))
			continue;
		if (start_time(pid) == start)
			continue; /* still at it */
		unlinkat(dirfd(d), e->d_name, 0);
		fn(arg, key);
	}
	if (d)
		closedir(d);
}

void cache_forgive(int pid)
{
	DIR *d = open_marks();
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned long long start;
		struct key key;
		int whose;

		if (mark_parse(d, e->d_name, &key, &whose, &start) && whose == pid)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}
