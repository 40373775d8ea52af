/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loadable image holds: a fatbin (the data a wrapper points to), a cubin, or PTX. Bytes are
 * read where they lie; nothing is trusted, an image may be cut short or damaged.
 */
#ifndef AF_FUSED_FATBIN_H
#define AF_FUSED_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OTHER: code that is neither (intermediate code for a linker); fatbin_each leaves it out. */
enum fatbin_kind { FATBIN_OTHER, FATBIN_PTX, FATBIN_ELF };
enum fatbin_compression { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

/* One piece of code of an image, as stored. */
struct fatbin_code {
	enum fatbin_kind kind;
	unsigned arch;    /* compute capability * 10; 0 where the image does not say */
	char variant;     /* 'a': for exactly that arch; 'f': for its family; else 0 */
	const void *data; /* in the image, maybe compressed */
	size_t bytes;     /* stored */
	size_t full;      /* once decompressed; equal to bytes if not compressed */
	enum fatbin_compression compression;
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

/*
 * For readers that do not want a whole fatbin in memory: it is a header of FATBIN_HEADER bytes,
 * then entries, each a header that begins with FATBIN_ENTRY bytes, then its code.
 */
enum { FATBIN_HEADER = 16, FATBIN_ENTRY = 64 };
/* Bytes of the header and of the entries behind it. False if p (FATBIN_HEADER bytes) is none. */
bool fatbin_header(const void *p, uint64_t *bytes, uint64_t *entries);
/*
 * Reads the FATBIN_ENTRY bytes at p; room: bytes from there to the end of the entries. *at: where
 * the code begins, *next: the next entry, both from p on. code->data is left NULL. False if it is
 * damaged.
 */
bool fatbin_entry(const void *p, uint64_t room, struct fatbin_code *code, uint64_t *at,
		  uint64_t *next);

#endif
