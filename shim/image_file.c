/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/image_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PAGE = 4096, CHUNK = 1 << 16 };

static uint64_t print(const void *first, const void *last, uint64_t page)
{
	return XXH3_64bits_withSeed(last, page, XXH3_64bits(first, page)) | 1;
}

static uint64_t page_of(uint64_t bytes)
{
	return bytes < PAGE ? bytes : PAGE;
}

uint64_t image_file_print(const void *data, uint64_t bytes)
{
	uint64_t page = page_of(bytes);

	return print(data, (const char *)data + bytes - page, page);
}

static int look(struct image *img, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size < img->offset + img->bytes)
		return -1;
	img->seen.dev = st.st_dev;
	img->seen.inode = st.st_ino;
	img->seen.size = (uint64_t)st.st_size;
	img->seen.changed_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

int image_file_open(const struct image *img)
{
	struct image now = *img;
	int fd = open(img->file, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && (look(&now, fd) || memcmp(&now.seen, &img->seen, sizeof(now.seen)))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool image_file_keep(struct image *img, const char *path)
{
	char *full = realpath(path[0] ? path : "/proc/self/exe", NULL);
	int fd = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
	bool ok = fd >= 0 && !look(img, fd);

	if (fd >= 0)
		close(fd);
	if (ok)
		img->file = full;
	else
		free(full);
	return ok;
}

/* Reads all of [offset, offset + bytes). */
static bool read_at(int fd, char *to, uint64_t bytes, uint64_t offset)
{
	while (bytes) {
		ssize_t n = pread(fd, to, bytes, (off_t)offset);

		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return true;
}

static bool print_agrees(const struct image *img, int fd, char *room)
{
	uint64_t page = page_of(img->bytes);

	return !img->seen.print ||
	       (read_at(fd, room, page, img->offset) &&
		read_at(fd, room + PAGE, page, img->offset + img->bytes - page) &&
		print(room, room + PAGE, page) == img->seen.print);
}

int image_file_hash(const struct image *img, uint64_t hash[2])
{
	int fd = image_file_open(img), rc = -1;
	XXH3_state_t *state = XXH3_createState();
	char *chunk = malloc(CHUNK);
	XXH128_hash_t h;

	if (fd < 0 || !state || !chunk || XXH3_128bits_reset(state))
		goto out;
	if (!print_agrees(img, fd, chunk))
		goto out;
	for (uint64_t done = 0, n; done < img->bytes; done += n) {
		n = img->bytes - done < CHUNK ? img->bytes - done : CHUNK;
		if (!read_at(fd, chunk, n, img->offset + done))
			goto out;
		XXH3_128bits_update(state, chunk, n);
	}
	h = XXH3_128bits_digest(state);
	hash[0] = h.high64;
	hash[1] = h.low64;
	rc = 0;
out:
	if (fd >= 0)
		close(fd);
	XXH3_freeState(state);
	free(chunk);
	return rc;
}
