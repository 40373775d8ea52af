/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled images on disk, one file each in the cache directory (cache_open), named by a key that
 * holds everything the image follows from. A file appears whole or not at all, says its own size
 * and checksum, and is believed only if they hold; several processes may read and write at once.
 * What was not used for longest goes when the files take more than a bound.
 */
#ifndef AF_SHIM_CACHE_IMAGE_H
#define AF_SHIM_CACHE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_key {
	uint64_t hash[2];
};

/* What an image follows from. */
struct image_from {
	const char *text; /* the whole text, flavours and prelude included */
	size_t len;
	unsigned cc;     /* compute capability * 10 */
	unsigned nvrtc;  /* version, 13000 for 13.0 */
	unsigned driver; /* likewise */
	uint64_t build;  /* fused_build_id */
};
struct image_key cache_image_key(const struct image_from *f);

/* For people. */
struct image_label {
	char name[64]; /* of the kernels, as the reports have it */
	uint32_t cc, nvrtc;
};

/* The image, freed by the caller, or NULL: none, or a damaged one (removed, warned once). */
void *cache_image_get(struct image_key key, size_t *bytes);
/* Keeps an image. limit: bytes of all images together. 0, or -1 (warned once where it is a fault).
 */
int cache_image_put(struct image_key key, const struct image_label *label, const void *image,
		    size_t bytes, uint64_t limit);

/* One process at a time makes an image; the others wait, at most so long, and then look again. A
 * descriptor for cache_image_unlock, or -1. */
int cache_image_lock(struct image_key key, int seconds);
void cache_image_unlock(struct image_key key, int fd);

/* Calls fn for every image, newest use first. Their number. */
struct image_entry {
	char file[64];
	struct image_label label;
	uint64_t bytes; /* of the file */
	int64_t used;   /* seconds since 1970 */
	bool damaged;   /* header only: the checksum is not looked at */
};
unsigned cache_image_each(void (*fn)(void *arg, const struct image_entry *e), void *arg);
/* Is it the name of a file of ours: an image, a lock, one being written? */
bool cache_image_file(const char *name);

#endif
