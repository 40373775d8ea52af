/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device memory of an arena: one range of addresses, of which more or less is backed. It grows
 * and shrinks where it is, by mapping, as freeing waits for the device and for whatever a kernel in
 * flight may wait for.
 */
#ifndef AF_SHIM_ARENA_MEMORY_H
#define AF_SHIM_ARENA_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/driver.h"

struct arena_memory {
	CUdeviceptr base;
	uint64_t bytes;    /* that are there, from base on; atomic */
	uint64_t reserved; /* addresses; 0: it is an allocation, and stays as it is */
	uint64_t first;    /* bytes of what comes and goes with the arena; the rest grew */
};

/*
 * Of a device (its ordinal), whose context is current: `least` bytes, and up to `most` later; where
 * memory cannot be mapped, `want` bytes and no more later (least <= want <= most). False: there is
 * no memory.
 */
bool arena_memory_make(struct arena_memory *m, int device, uint64_t least, uint64_t want,
		       uint64_t most);
/* At least so many bytes, and the device keeps as many as it takes. False: there are `first`. What
 * follows, too, is for times when nothing uses the memory. */
bool arena_memory_grow(struct arena_memory *m, int device, uint64_t bytes);
void arena_memory_shrink(struct arena_memory *m); /* to `first` */
bool arena_memory_free(struct arena_memory *m);   /* False: nothing was freed */

#endif
