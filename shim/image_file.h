/* SPDX-License-Identifier: Apache-2.0 */
/* Images that lie in files: found again later, and only if the file still is the same. */
#ifndef AF_SHIM_IMAGE_FILE_H
#define AF_SHIM_IMAGE_FILE_H

#include <stdbool.h>

#include "shim/images.h"

/* Gives img the file's full path ("" is the program's own) and remembers the file's state. False if
 * it cannot be read or does not hold img's offset and bytes. */
bool image_file_keep(struct image *img, const char *path);
/* Opens the file if it still is the one that was kept; else -1. */
int image_file_open(const struct image *img);
/* Cheap proof that file and memory hold the same image, of its first and last page; never 0. */
uint64_t image_file_print(const void *data, uint64_t bytes);
/* XXH3-128 of the image's bytes; compared with seen.print if there is one. 0 or -1. */
int image_file_hash(const struct image *img, uint64_t hash[2]);

#endif
