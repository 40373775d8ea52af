/* SPDX-License-Identifier: Apache-2.0 */
/* All images in the cache: to list them, and to keep them within bounds. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim/cache.h"
#include "shim/cache_image_file.h"

enum { STALE_SECONDS = 3600, KEY_DIGITS = 32 };

struct list {
	struct image_entry *e;
	size_t n, room;
};

static int newest_first(const void *a, const void *b)
{
	const struct image_entry *x = a, *y = b;

	return x->used != y->used ? (x->used < y->used ? 1 : -1) : strcmp(x->file, y->file);
}

static void look(struct image_entry *e)
{
	int fd = openat(cache_dirfd(), e->file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct image_header h;

	e->damaged =
		fd < 0 || read(fd, &h, sizeof(h)) != sizeof(h) || !image_header_fine(&h, e->bytes);
	if (!e->damaged)
		e->label = h.label;
	if (fd >= 0)
		close(fd);
}

/* header: read their labels, too. */
static struct list collect(bool header)
{
	int fd = cache_dirfd() < 0 ? -1
				   : openat(cache_dirfd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	time_t now = time(NULL);
	struct list l = {0};
	struct dirent *e;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		const char *key = e->d_name + strlen(IMAGE_PREFIX);
		struct image_entry *grown;
		struct stat st;

		if (strncmp(e->d_name, IMAGE_PREFIX, strlen(IMAGE_PREFIX)) ||
		    strspn(key, "0123456789abcdef") != KEY_DIGITS ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (key[KEY_DIGITS] == IMAGE_TMP[0] && st.st_mtime + STALE_SECONDS < now)
			unlinkat(dirfd(d), e->d_name, 0);
		if (key[KEY_DIGITS])
			continue;
		if (l.n == l.room) {
			grown = realloc(l.e, (2 * l.room + 16) * sizeof(*l.e));
			if (!grown)
				break;
			l.e = grown;
			l.room = 2 * l.room + 16;
		}
		memset(&l.e[l.n], 0, sizeof(*l.e));
		snprintf(l.e[l.n].file, sizeof(l.e->file), "%.63s", e->d_name);
		l.e[l.n].bytes = (uint64_t)st.st_size;
		l.e[l.n].used = (int64_t)st.st_mtime;
		if (header)
			look(&l.e[l.n]);
		l.n++;
	}
	if (d)
		closedir(d);
	if (l.n)
		qsort(l.e, l.n, sizeof(*l.e), newest_first);
	return l;
}

unsigned cache_image_each(void (*fn)(void *arg, const struct image_entry *e), void *arg)
{
	struct list l = collect(true);

	for (size_t i = 0; i < l.n; i++)
		fn(arg, &l.e[i]);
	free(l.e);
	return (unsigned)l.n;
}

void image_trim(uint64_t limit, const char *but)
{
	struct list l = collect(false);
	uint64_t sum = 0;

	for (size_t i = 0; i < l.n; i++)
		if (!strcmp(l.e[i].file, but))
			sum += l.e[i].bytes;
	for (size_t i = 0; i < l.n; i++) {
		if (!strcmp(l.e[i].file, but))
			continue;
		if (sum + l.e[i].bytes > limit)
			unlinkat(cache_dirfd(), l.e[i].file, 0);
		else
			sum += l.e[i].bytes;
	}
	free(l.e);
}
