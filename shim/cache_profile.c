/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/cache_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/log.h"
#include "shim/cache_dir.h"

enum {
	LINE_MAX_ = 160,
	ROWS_MAX = 4096, /* the oldest are forgotten */
	FILE_MAX = ROWS_MAX * LINE_MAX_,
};
static const char name[] = "profile";

static int format(const struct profile_row *r, char *line)
{
	int n = snprintf(line, LINE_MAX_ - 24,
			 "afp1 %016" PRIx64 "%016" PRIx64 " %" PRId64 " %u %u %u ", r->key.hash[0],
			 r->key.hash[1], r->rows, r->members_ns, r->fused_ns, r->samples);

	return n + sprintf(line + n, "#%016" PRIx64 "\n", (uint64_t)XXH3_64bits(line, (size_t)n));
}

static bool parse(const char *line, size_t len, struct profile_row *r)
{
	char copy[LINE_MAX_];
	uint64_t sum;

	if (len < 24 || len >= sizeof(copy) || line[len - 17] != '#')
		return false;
	memset(r, 0, sizeof(*r));
	memcpy(copy, line, len);
	copy[len] = 0;
	if (sscanf(copy + len - 16, "%16" SCNx64, &sum) != 1 ||
	    sum != (uint64_t)XXH3_64bits(line, len - 17))
		return false;
	return sscanf(copy, "afp1 %16" SCNx64 "%16" SCNx64 " %" SCNd64 " %u %u %u", &r->key.hash[0],
		      &r->key.hash[1], &r->rows, &r->members_ns, &r->fused_ns, &r->samples) == 6;
}

bool cache_profile_file(const char *file)
{
	size_t len = sizeof(name) - 1;

	return !strncmp(file, name, len) && (!file[len] || file[len] == '.');
}

/* The file's text, malloc'ed; NULL if there is none that is the user's own. */
static char *text(size_t *len)
{
	int fd = openat(cache_dirfd(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *t = NULL;
	ssize_t n;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && cache_dir_own(&st) && st.st_size <= FILE_MAX)
		t = malloc((size_t)st.st_size + 1);
	else
		log_warn_once("%s/%s is not a file of this user's own; it is ignored", cache_dir(),
			      name);
	while (t && *len < (size_t)st.st_size &&
	       (n = read(fd, t + *len, (size_t)st.st_size - *len)) > 0)
		*len += (size_t)n;
	close(fd);
	return t;
}

void cache_profile_each(void (*fn)(void *arg, const struct profile_row *r), void *arg)
{
	size_t len;
	char *t = cache_dirfd() < 0 ? NULL : text(&len), *line = t;

	while (t && line < t + len) {
		char *nl = memchr(line, '\n', (size_t)(t + len - line));
		struct profile_row r;

		if (!nl)
			break;
		if (parse(line, (size_t)(nl - line), &r))
			fn(arg, &r);
		line = nl + 1;
	}
	free(t);
}

struct rows {
	struct profile_row *row;
	unsigned n;
};

static void add(void *arg, const struct profile_row *r)
{
	struct rows *all = arg;

	for (unsigned i = 0; i < all->n; i++)
		if (!memcmp(&all->row[i].key, &r->key, sizeof(r->key)) &&
		    all->row[i].rows == r->rows) {
			memmove(&all->row[i], &all->row[i + 1],
				(all->n - i - 1) * sizeof(*all->row));
			all->n--;
			break;
		}
	if (all->n == ROWS_MAX) {
		memmove(all->row, all->row + 1, (ROWS_MAX - 1) * sizeof(*all->row));
		all->n--;
	}
	all->row[all->n++] = *r;
}

static int write_all(const struct rows *all)
{
	char tmp[64], line[LINE_MAX_];
	bool ok = true;
	int fd;

	snprintf(tmp, sizeof(tmp), "%s.%d", name, (int)getpid());
	fd = openat(cache_dirfd(), tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	for (unsigned i = 0; i < all->n && ok; i++) {
		int n = format(&all->row[i], line);

		ok = write(fd, line, (size_t)n) == n;
	}
	close(fd);
	if (ok && !renameat(cache_dirfd(), tmp, cache_dirfd(), name))
		return 0;
	unlinkat(cache_dirfd(), tmp, 0);
	return -1;
}

int cache_profile_put(const struct profile_row *row, unsigned n)
{
	struct rows all = {malloc(ROWS_MAX * sizeof(*row)), 0};
	int ret = -1, lock;

	if (cache_dirfd() < 0 || !all.row) {
		free(all.row);
		return -1;
	}
	lock = openat(cache_dirfd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0 && !flock(lock, LOCK_EX)) {
		cache_profile_each(add, &all);
		for (unsigned i = 0; i < n; i++)
			add(&all, &row[i]);
		ret = write_all(&all);
	}
	if (ret)
		log_warn("cannot write %s/%s: %s", cache_dir(), name, strerror(errno));
	if (lock >= 0)
		close(lock);
	free(all.row);
	return ret;
}
