/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loadable image holds: a fatbin (the data a wrapper points to), a cubin, or PTX. Bytes are
 * read where they lie; nothing is trusted, an image may be cut short or damaged.
 */
#ifndef AF_SHIM_FATBIN_H
#define AF_SHIM_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };

/* One piece of code of an image, as stored. */
struct fatbin_code {
	enum fatbin_kind kind;
	unsigned arch;    /* compute capability * 10; 0 where the image does not say */
	const void *data; /* in the image, maybe compressed */
	size_t bytes;     /* stored */
	size_t full;      /* once decompressed; equal to bytes if not compressed */
	enum { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD } compression;
};

/* Calls fn for each piece until it answers other than 0; returns that, 0 at the end, -1 if the
 * image is not one (or is cut short). */
int fatbin_each(const void *image, size_t bytes,
		int (*fn)(void *arg, const struct fatbin_code *code), void *arg);

/* The piece that a device of that compute capability (* 10) runs: the nearest cubin of its major
 * number, else the nearest PTX. False if there is none. */
bool fatbin_pick(const void *image, size_t bytes, unsigned cc, struct fatbin_code *out);

/* A copy of the piece, decompressed, with a zero byte after it; free it. NULL if it is damaged. */
void *fatbin_copy(const struct fatbin_code *code);

#endif
