/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and launches as plain data: what the shim saw, or what a recorded trace says. */
#ifndef AF_MATCHER_LAUNCH_H
#define AF_MATCHER_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

struct decoder;

struct param {
	uint32_t offset, bytes; /* in the packed parameter buffer */
};

/*
 * One __global__ function of one loaded image. Owned by whoever made it (the shim's kernel table,
 * the trace reader); lives at least as long as any launch that points to it.
 */
struct kernel {
	char *name;        /* mangled */
	uint64_t image[2]; /* XXH3-128 of the image's bytes; 0,0 if unknown */
	uint32_t nparam;
	uint32_t param_bytes; /* end of the last parameter */
	struct param *param;
	const struct decoder *decoder; /* NULL: opaque */
	const void *decoder_data;      /* what decoder->knows returned */
	uint64_t ops;                  /* opcodes its launches may decode to, one bit each */
	bool family;                   /* known without a signature (decode_families) */
	void *user;                    /* the owner's own */
};

/* A launch's attributes, as far as they matter to us. */
enum launch_attr {
	LAUNCH_COOPERATIVE = 1 << 0,
	LAUNCH_CLUSTER = 1 << 1,
	/* Programmatic stream serialization; an event; any attribute that is not known not to show
	 * to others what came before. Passes nothing that is held. */
	LAUNCH_PROGRAMMATIC = 1 << 2,
	LAUNCH_OTHER_ATTR = 1 << 3, /* one that says how the kernel runs, and nothing else */
	LAUNCH_EXTRA = 1 << 4, /* parameters came as CU_LAUNCH_PARAM_BUFFER; not an attribute */
};
#define LAUNCH_PLAIN(attrs) (((attrs) & ~(uint32_t)LAUNCH_EXTRA) == 0)

struct launch {
	const struct kernel *kernel;
	uint32_t grid[3], block[3];
	uint32_t shmem;        /* dynamic shared memory, bytes */
	uint32_t attrs;        /* enum launch_attr */
	int priority;          /* launch priority attribute, 0 if none */
	uint64_t context;      /* opaque to the matcher; equal means the same */
	uint64_t stream;       /* likewise, unique within its context */
	int device;            /* ordinal, -1 if unknown */
	uint64_t index;        /* counts launches of the process or the trace from 0 */
	uint32_t look;         /* the owner's own: where launches like it are noted, or 0 */
	uint64_t site;         /* key_site of it, where the owner wants it only once; else 0 */
	const uint8_t *params; /* kernel->param_bytes bytes, laid out as the kernel sees them */
};

#endif
