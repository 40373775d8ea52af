/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/hash.h"
#include "config/log.h"
#include "shim/cache_dir.h"

enum {
	LINE_MAX_ = 4096,
	SITES_MAX = GROUP_MAX_MEMBERS * 34, /* as text, with the end */
	FILE_MAX = 64 << 20,                /* a larger file is not ours */
	COMPACT_BYTES = 4 << 20,            /* rewrite with the newest records only, */
	KEEP_BYTES = COMPACT_BYTES / 2      /* as many as there is room for */
};

struct entry {
	struct cache_record r;
	bool kept;         /* by compact() */
	UT_hash_handle hh; /* in the order of the file */
};

static struct {
	pthread_mutex_t lock; /* guards what follows */
	int dirfd;            /* -1: no cache */
	char dir[4096], file[64];
	struct entry *entry; /* newest record of every key, as last read */
	off_t size;          /* of the file when it was read */
	off_t too_large;     /* for another try to compact it, as the last one failed */
	ino_t inode;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .dirfd = -1};

static const char *const kind_word[] = {
	[CACHE_PROBED] = "probed", [CACHE_VERDICT] = "verdict", [CACHE_REJECT] = "reject"};

/* "af2 KEY SITE:IMAGE,SITE:IMAGE,.. KIND WHY ROWS DUE PASSED AT CANDIDATE DETAIL #CHECKSUM": one
 * line, the checksum is over all before '#'. */
static int format(const struct cache_record *r, char *line)
{
	int n = sprintf(line, "af2 %016" PRIx64 "%016" PRIx64, r->key.hash[0], r->key.hash[1]);

	for (unsigned i = 0; i < GROUP_MAX_MEMBERS && (!i || r->site[i]); i++)
		n += sprintf(line + n, r->image[i] ? "%c%" PRIx64 ":%" PRIx64 : "%c%" PRIx64,
			     i ? ',' : ' ', r->site[i], r->image[i]);
	n += snprintf(line + n, (size_t)(LINE_MAX_ - 24 - n),
		      " %s %s %" PRId64 " %" PRId64 " %u %u %s %s ", kind_word[r->kind],
		      reason_word(r->why), r->rows, r->due, r->passed, r->at,
		      r->candidate[0] ? r->candidate : "-", r->detail[0] ? r->detail : "-");

	if (n < 0 || n >= LINE_MAX_ - 24 || memchr(line, '\n', (size_t)n))
		return -1;
	return n + sprintf(line + n, "#%016" PRIx64 "\n", (uint64_t)XXH3_64bits(line, (size_t)n));
}

_Static_assert((int)SITES_MAX == 544 && (int)CACHE_CANDIDATE_MAX == 2560, "as sscanf is told");

/* One line without its newline. 0 or -1. */
static int parse(char *line, size_t len, struct cache_record *r)
{
	char kind[16], why[32], sites[SITES_MAX];
	uint64_t sum;
	unsigned n = 0;
	int used = 0;

	if (len < 24 || len >= LINE_MAX_ || line[len - 17] != '#')
		return -1;
	line[len] = '\0';
	if (sscanf(line + len - 16, "%16" SCNx64, &sum) != 1 ||
	    sum != (uint64_t)XXH3_64bits(line, len - 17))
		return -1;
	line[len - 18] = '\0'; /* the blank before '#' */
	memset(r, 0, sizeof(*r));
	if (sscanf(line,
		   "af2 %16" SCNx64 "%16" SCNx64 " %543s %15s %31s %" SCNd64 " %" SCNd64
		   " %u %u %2559s %n",
		   &r->key.hash[0], &r->key.hash[1], sites, kind, why, &r->rows, &r->due,
		   &r->passed, &r->at, r->candidate, &used) != 10 ||
	    !used)
		return -1;
	for (char *p = sites, *end; n < GROUP_MAX_MEMBERS; p = end + 1) {
		r->site[n] = strtoull(p, &end, 16);
		if (*end == ':')
			r->image[n] = strtoull(end + 1, &end, 16);
		n++;
		if (*end != ',')
			break;
	}
	snprintf(r->detail, sizeof(r->detail), "%s", line + used);
	if (!strcmp(r->candidate, "-"))
		r->candidate[0] = '\0';
	r->why = reason_parse(why);
	for (r->kind = 0; r->kind < sizeof(kind_word) / sizeof(*kind_word); r->kind++)
		if (!strcmp(kind, kind_word[r->kind]))
			return r->why < REASON_COUNT ? 0 : -1;
	return -1;
}

static void remember(const struct cache_record *r)
{
	struct entry *e;

	HASH_FIND(hh, cache.entry, &r->key, sizeof(r->key), e);
	if (e)
		HASH_DEL(cache.entry, e); /* to the end */
	else if (!(e = calloc(1, sizeof(*e))))
		return;
	e->r = *r;
	HASH_ADD(hh, cache.entry, r.key, sizeof(e->r.key), e);
}

static void forget_all(void)
{
	struct entry *e, *next;

	HASH_ITER(hh, cache.entry, e, next)
	{
		HASH_DEL(cache.entry, e);
		free(e);
	}
	cache.size = 0;
}

/* Opens the cache file; -1 if there is none (errno ENOENT) or it is not to be trusted (warned). */
static int open_file(int flags, struct stat *st)
{
	int fd = openat(cache.dirfd, cache.file, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0) {
		if (errno != ENOENT)
			log_warn_once("cannot open %s/%s: %s; nothing is kept between runs",
				      cache.dir, cache.file, strerror(errno));
		return -1;
	}
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && cache_dir_own(st) && st->st_size <= FILE_MAX)
		return fd;
	log_warn_once("%s/%s is not a file of this user's own; it is ignored", cache.dir,
		      cache.file);
	close(fd);
	errno = EPERM;
	return -1;
}

static void read_text(char *text, size_t len)
{
	unsigned bad = 0;

	for (char *line = text, *end = text + len; line < end;) {
		char *nl = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((nl ? nl : end) - line);
		struct cache_record r;

		/* A last line without its end is a write under way or cut short: not an error. */
		if (n && nl) {
			if (parse(line, n, &r))
				bad++;
			else
				remember(&r);
		}
		line += n + 1;
	}
	if (bad)
		log_warn_once("%s/%s: %u damaged line%s ignored", cache.dir, cache.file, bad,
			      bad == 1 ? "" : "s");
}

/* Brings the entries up to date with the file. Lock held. */
static void refresh(void)
{
	struct stat st;
	char *text;
	ssize_t n, got = 0;
	int fd = open_file(O_RDONLY, &st);

	if (fd < 0) {
		forget_all();
		return;
	}
	if (st.st_ino == cache.inode && st.st_size == cache.size) {
		close(fd);
		return;
	}
	text = malloc((size_t)st.st_size + 1);
	while (text && got < st.st_size &&
	       (n = read(fd, text + got, (size_t)(st.st_size - got))) > 0)
		got += n;
	close(fd);
	if (!text)
		return;
	forget_all();
	read_text(text, (size_t)got);
	free(text);
	cache.size = st.st_size;
	cache.inode = st.st_ino;
}

int cache_open(const char *option, uint64_t build)
{
	int ret = -1;

	pthread_mutex_lock(&cache.lock);
	if (cache.dirfd >= 0)
		close(cache.dirfd);
	cache.dirfd = -1;
	cache.too_large = 0;
	forget_all();
	snprintf(cache.file, sizeof(cache.file), "verdicts-%016" PRIx64, build);
	if ((!option || strcmp(option, "none")) &&
	    !cache_dir_resolve(option, cache.dir, sizeof(cache.dir))) {
		cache.dirfd = cache_dir_open(cache.dir);
		ret = cache.dirfd < 0 ? -1 : 0;
	}
	pthread_mutex_unlock(&cache.lock);
	return ret;
}

const char *cache_dir(void)
{
	return cache.dirfd < 0 ? NULL : cache.dir;
}

int cache_dirfd(void)
{
	return cache.dirfd;
}

void cache_each(void (*fn)(void *arg, const struct cache_record *r), void *arg)
{
	struct entry *e, *next;

	pthread_mutex_lock(&cache.lock);
	if (cache.dirfd >= 0) {
		refresh();
		HASH_ITER(hh, cache.entry, e, next)
		fn(arg, &e->r);
	}
	pthread_mutex_unlock(&cache.lock);
}

bool cache_find(struct key key, struct cache_record *r)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&cache.lock);
	if (cache.dirfd >= 0) {
		refresh();
		HASH_FIND(hh, cache.entry, &key, sizeof(key), e);
		if (e)
			*r = e->r;
	}
	pthread_mutex_unlock(&cache.lock);
	return e != NULL;
}

/* Must it not be forgotten? What stands against these did so late, and at the program's cost. */
static bool is_warning(const struct cache_record *r)
{
	return r->kind == CACHE_REJECT &&
	       (r->why == REASON_CRASHED || r->why == REASON_QUARANTINED);
}

/* Chooses the newest records that fit, warnings first. Returns how many bytes they take. */
static size_t choose(void)
{
	char line[LINE_MAX_];
	size_t bytes = 0;

	if (!cache.entry)
		return 0;
	for (int warnings = 1; warnings >= 0; warnings--)
		for (struct entry *e = ELMT_FROM_HH(cache.entry->hh.tbl, cache.entry->hh.tbl->tail);
		     e; e = e->hh.prev) {
			int n;

			if (is_warning(&e->r) != warnings)
				continue;
			n = format(&e->r, line);
			e->kept = n > 0 && bytes + (size_t)n <= KEEP_BYTES;
			if (e->kept)
				bytes += (size_t)n;
		}
	return bytes;
}

static bool write_kept(int fd, size_t bytes)
{
	char *text = malloc(bytes + LINE_MAX_), *end = text;
	struct entry *e, *next;
	bool ok;

	if (!text)
		return false;
	HASH_ITER(hh, cache.entry, e, next)
	if (e->kept)
		end += format(&e->r, end);
	ok = write(fd, text, (size_t)(end - text)) == end - text;
	free(text);
	return ok && !fdatasync(fd);
}

/* Writes the newest records to a new file in place of the old one. Called with the flock held.
 * False: it could not be done. */
static bool compact(void)
{
	char tmp[96];
	bool ok;
	int fd;

	refresh();
	snprintf(tmp, sizeof(tmp), "%s.%d", cache.file, (int)getpid());
	unlinkat(cache.dirfd, tmp, 0); /* of a process of that number which did not end it */
	fd = openat(cache.dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	ok = write_kept(fd, choose());
	close(fd);
	if (ok && !renameat(cache.dirfd, tmp, cache.dirfd, cache.file))
		return true;
	unlinkat(cache.dirfd, tmp, 0);
	return false;
}

/* The flock, within a second: its holder may have been stopped, and a launch may wait for us. */
static bool lock_soon(int fd)
{
	const struct timespec tick = {.tv_nsec = 5000000};

	for (int i = 0; i < 200; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		nanosleep(&tick, NULL);
	}
	errno = ETIMEDOUT;
	return false;
}

/* Opens for appending with the flock held on the file that bears the name now. */
static int open_locked(struct stat *st)
{
	for (int tries = 0; tries < 8; tries++) {
		struct stat now;
		int fd = open_file(O_RDWR | O_APPEND | O_CREAT, st);

		if (fd < 0)
			return -1;
		if (!lock_soon(fd)) {
			close(fd);
			return -1;
		}
		if (!fstat(fd, st) &&
		    !fstatat(cache.dirfd, cache.file, &now, AT_SYMLINK_NOFOLLOW) &&
		    now.st_ino == st->st_ino)
			return fd;
		close(fd); /* compacted meanwhile */
	}
	return -1;
}

int cache_put(const struct cache_record *r)
{
	char line[LINE_MAX_ + 1] = "\n", last = '\n';
	struct stat st;
	int n = format(r, line + 1), fd = -1, ret = -1;

	pthread_mutex_lock(&cache.lock);
	if (cache.dirfd >= 0 && n > 0)
		fd = open_locked(&st);
	if (fd >= 0) {
		/* A write cut short by a crash left no line end: start on a fresh line. */
		if (st.st_size && pread(fd, &last, 1, st.st_size - 1) != 1)
			last = '\n';
		ret = last == '\n' ? (write(fd, line + 1, (size_t)n) == n ? 0 : -1)
				   : (write(fd, line, (size_t)n + 1) == n + 1 ? 0 : -1);
		if (ret)
			log_warn_once("cannot write %s/%s: %s", cache.dir, cache.file,
				      strerror(errno));
		else if (st.st_size + n > COMPACT_BYTES && st.st_size >= cache.too_large)
			cache.too_large = compact() ? 0 : st.st_size + KEEP_BYTES;
		close(fd);
	}
	pthread_mutex_unlock(&cache.lock);
	return ret;
}
