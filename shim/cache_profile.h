/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile: what `autofuse trace` measured, beside the verdicts, one row a line with its own
 * checksum. Written whole and put in place by a rename, so that readers need no lock; lines that
 * are not whole are ignored.
 */
#ifndef AF_SHIM_CACHE_PROFILE_H
#define AF_SHIM_CACHE_PROFILE_H

#include "shim/cache.h"

/* Device times of a group at one shape: its verdict's key and the number of rows. Medians. */
struct profile_row {
	struct key key;
	int64_t rows;
	uint32_t members_ns, fused_ns; /* the program's own launches together; our kernel */
	uint32_t samples;              /* of the rarer of the two */
};

/* Calls fn for every row, in the open cache directory (cache_open). */
void cache_profile_each(void (*fn)(void *arg, const struct profile_row *r), void *arg);
/* Adds rows; newer ones take the place of older ones of their key and number of rows. 0 or -1. */
int cache_profile_put(const struct profile_row *row, unsigned n);
/* Is it the name of its file, or of one being written? */
bool cache_profile_file(const char *name);

#endif
