/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/cache_image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/log.h"
#include "shim/cache.h"
#include "shim/cache_dir.h"
#include "shim/cache_image_file.h"

struct image_key cache_image_key(const struct image_from *f)
{
	uint64_t more[] = {f->len, f->cc, f->nvrtc, f->driver, f->build};
	XXH128_hash_t text = XXH3_128bits(f->text, f->len);
	uint64_t all[7] = {text.high64, text.low64};
	XXH128_hash_t h;

	memcpy(all + 2, more, sizeof(more));
	h = XXH3_128bits(all, sizeof(all));
	return (struct image_key){{h.high64, h.low64}};
}

void image_file_name(char *name, struct image_key key, const char *suffix)
{
	snprintf(name, IMAGE_NAME, IMAGE_PREFIX "%016" PRIx64 "%016" PRIx64 "%s", key.hash[0],
		 key.hash[1], suffix);
}

bool cache_image_file(const char *name)
{
	return !strncmp(name, IMAGE_PREFIX, strlen(IMAGE_PREFIX)) || !strncmp(name, "nvrtc-", 6);
}

void image_seal(struct image_header *h, const void *image)
{
	XXH128_hash_t sum = XXH3_128bits(image, h->bytes);

	h->sum[0] = sum.high64;
	h->sum[1] = sum.low64;
	h->own = XXH3_64bits(h, offsetof(struct image_header, own));
}

bool image_header_fine(const struct image_header *h, uint64_t file_bytes)
{
	return !memcmp(h->magic, IMAGE_MAGIC, sizeof(h->magic)) &&
	       h->own == XXH3_64bits(h, offsetof(struct image_header, own)) &&
	       h->bytes == file_bytes - sizeof(*h) && !h->label.name[sizeof(h->label.name) - 1];
}

/* Reads all of it. */
static bool read_all(int fd, void *out, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = read(fd, (char *)out + got, bytes - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t bytes)
{
	size_t put = 0;

	while (put < bytes) {
		ssize_t n = write(fd, (const char *)from + put, bytes - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		put += (size_t)n;
	}
	return true;
}

void *cache_image_get(struct image_key key, size_t *bytes)
{
	char name[IMAGE_NAME];
	struct image_header h;
	void *image = NULL;
	bool fine = false;
	struct stat st;
	int fd;

	if (cache_dirfd() < 0)
		return NULL;
	image_file_name(name, key, "");
	fd = openat(cache_dirfd(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !cache_dir_own(&st)) {
		log_warn_once("%s/%s is not a file of this user's own; it is ignored", cache_dir(),
			      name);
		close(fd);
		return NULL;
	}
	if ((uint64_t)st.st_size > sizeof(h) && st.st_size <= IMAGE_MAX &&
	    read_all(fd, &h, sizeof(h)) && image_header_fine(&h, (uint64_t)st.st_size) &&
	    h.key.hash[0] == key.hash[0] && h.key.hash[1] == key.hash[1] &&
	    (image = malloc(h.bytes + IMAGE_SLACK))) {
		XXH128_hash_t sum = {0, 0};

		if (read_all(fd, image, h.bytes))
			sum = XXH3_128bits(image, h.bytes);
		fine = sum.high64 == h.sum[0] && sum.low64 == h.sum[1];
		memset((char *)image + h.bytes, 0, IMAGE_SLACK); /* PTX ends in a 0 */
	}
	if (fine) {
		futimens(fd, NULL); /* used now: what was not used for longest goes first */
		*bytes = h.bytes;
	} else {
		log_warn_once("%s/%s is damaged; it is made again", cache_dir(), name);
		unlinkat(cache_dirfd(), name, 0);
		free(image);
		image = NULL;
	}
	close(fd);
	return image;
}

int cache_image_put(struct image_key key, const struct image_label *label, const void *image,
		    size_t bytes, uint64_t limit)
{
	struct image_header h = {.magic = IMAGE_MAGIC, .key = key, .label = *label, .bytes = bytes};
	char name[IMAGE_NAME], tmp[IMAGE_NAME], suffix[32];
	int fd, err = 0;

	if (cache_dirfd() < 0 || !bytes || bytes + sizeof(h) > limit ||
	    bytes + sizeof(h) > IMAGE_MAX)
		return -1;
	image_seal(&h, image);
	image_file_name(name, key, "");
	snprintf(suffix, sizeof(suffix), IMAGE_TMP "%d", (int)getpid());
	image_file_name(tmp, key, suffix);
	unlinkat(cache_dirfd(), tmp, 0); /* left by a process of this number */
	fd = openat(cache_dirfd(), tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = errno;
	} else {
		/* The name appears only when all of it is on the disk, and what is read back is
		 * checked all the same. */
		if (!write_all(fd, &h, sizeof(h)) || !write_all(fd, image, bytes) || fsync(fd))
			err = errno ? errno : EIO;
		close(fd);
		if (!err && renameat(cache_dirfd(), tmp, cache_dirfd(), name))
			err = errno;
		if (err)
			unlinkat(cache_dirfd(), tmp, 0);
		else
			fsync(cache_dirfd());
	}
	if (err) {
		log_warn_once("cannot keep a compiled kernel in %s: %s", cache_dir(),
			      strerror(err));
		return -1;
	}
	image_trim(limit, name);
	return 0;
}

int cache_image_lock(struct image_key key, int seconds)
{
	const struct timespec tick = {.tv_nsec = 10000000};
	char name[IMAGE_NAME];
	int fd = -1;

	if (cache_dirfd() < 0)
		return -1;
	image_file_name(name, key, IMAGE_LOCK);
	for (int i = 0; i < seconds * 100; i++) {
		struct stat st, now;

		if (fd < 0)
			fd = openat(cache_dirfd(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				    0600);
		if (fd < 0)
			return -1;
		if (!flock(fd, LOCK_EX | LOCK_NB)) {
			/* Whoever held it has removed the file: that lock keeps nobody out. */
			if (!fstat(fd, &st) &&
			    !fstatat(cache_dirfd(), name, &now, AT_SYMLINK_NOFOLLOW) &&
			    st.st_ino == now.st_ino)
				return fd;
			close(fd);
			fd = -1;
			continue;
		}
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&tick, NULL);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

void cache_image_unlock(struct image_key key, int fd)
{
	char name[IMAGE_NAME];

	if (fd < 0)
		return;
	image_file_name(name, key, IMAGE_LOCK);
	unlinkat(cache_dirfd(), name, 0);
	close(fd);
}
