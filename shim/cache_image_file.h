/* SPDX-License-Identifier: Apache-2.0 */
/* The files of cache_image: their form and names. */
#ifndef AF_SHIM_CACHE_IMAGE_FILE_H
#define AF_SHIM_CACHE_IMAGE_FILE_H

#include "shim/cache_image.h"

#define IMAGE_PREFIX "image-"
#define IMAGE_TMP "." /* image-KEY.PID: being written */
#define IMAGE_LOCK "-lock"
#define IMAGE_MAGIC "afimage1"
enum { IMAGE_NAME = 96, IMAGE_MAX = 64 << 20, IMAGE_SLACK = 16 };

struct image_header {
	char magic[8];
	struct image_key key;
	struct image_label label;
	uint64_t bytes; /* that follow */
	uint64_t sum[2];
	uint64_t own; /* checksum of what is above */
};

void image_file_name(char *name /* IMAGE_NAME */, struct image_key key, const char *suffix);
/* Fills in the checksums. */
void image_seal(struct image_header *h, const void *image);
bool image_header_fine(const struct image_header *h, uint64_t file_bytes);
/* Removes images, the longest unused first, until all together are within limit; never `but`. Also
 * what processes left half written. */
void image_trim(uint64_t limit, const char *but);

#endif
