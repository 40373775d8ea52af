/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our kernels, as data: the images embedded in the library, the candidates that may equal a
 * program's kernels, and the launch that runs one candidate on one group. Nothing here calls the
 * driver; the shim and the probe load the image and launch what these functions describe.
 */
#ifndef AF_FUSED_FUSED_H
#define AF_FUSED_FUSED_H

#include "matcher/group.h"

/* The fatbin with all our kernels: cubins plus PTX, as cuModuleLoadData takes it. */
const void *fused_image(size_t *bytes);
/* The oldest GPU that the images are for: compute capability times 10. */
enum { FUSED_LEAST_CC = 80 };
/* A hash of the image and of the candidate tables: verdicts of another build do not count. */
uint64_t fused_build_id(void);

/*
 * A candidate: one order of additions, spelling and math flavour. It is a plain number whose
 * fields are fused/candidate.h's business; `name` spells it for people, caches and globs, and
 * candidate_parse reads it back.
 */
struct candidate {
	uint64_t code;
	float eps; /* used where the signature does not say (group has no eps) */
};
enum { CANDIDATE_NAME_MAX = 96 };
void candidate_name(const struct candidate *c, char *name /* CANDIDATE_NAME_MAX */);
int candidate_parse(const char *name, struct candidate *c); /* 0 or -1 */

/* Are two candidates the same arithmetic for this group? (canonical trees of additions compared) */
bool candidate_same(const struct group *g, const struct candidate *a, const struct candidate *b);

/* Everything cuLaunchKernel needs, by value. */
struct fused_launch {
	const char *kernel; /* name in fused_image(): fused_kernels[index] */
	unsigned index;
	unsigned grid[3], block[3], shmem;
	unsigned param_bytes;
	_Alignas(16) unsigned char params[256]; /* one by-value struct parameter at offset 0 */
};

/*
 * The launch that leaves group g's outputs by candidate c. device limits: sm count and the opt-in
 * shared memory per block, bytes: whoever loads the image has set MAX_DYNAMIC_SHARED_SIZE_BYTES of
 * every function to that. -1 if no kernel of ours can (the reason is REASON_SHAPE).
 * Writes only bound slots with BOUND_WRITE.
 */
struct fused_device {
	int sm_count;
	unsigned max_shmem;
};
int fused_launch(const struct group *g, const struct candidate *c, const struct fused_device *d,
		 struct fused_launch *out);
/* Is there a kernel of ours for groups of this pattern, types and weight form at all? Where not,
 * neither candidates nor probes are asked for, and the reason is REASON_NO_KERNEL. */
bool fused_can(const struct group *g);

/*
 * Launches for checks. compare: two boxes of rows x cols elements of type t (each with its pitch,
 * bytes) against each other. counter: two u64 of device memory, {elements that differ, greatest
 * distance between two of them}: the first is added to, the second raised. Distance is in units of
 * the type's last place; NaN against a number is the greatest. Elements differ if their bytes do;
 * only on the software GPU are two NaNs always equal (DESIGN 10).
 * publish: writes {counter[0], counter[1], ticket} to three u64 of host-mapped memory, ticket last.
 * sweep: puts a stretch of all floats and factors for them where the arguments (fused/check.h) say.
 */
void fused_compare(uint64_t x, int64_t xpitch, uint64_t y, int64_t ypitch, int64_t rows,
		   int64_t cols, enum dtype t, uint64_t counter, struct fused_launch *out);
void fused_publish(uint64_t counter, uint64_t host_slot, uint64_t ticket, struct fused_launch *out);
struct sweep_args;
void fused_sweep(const struct sweep_args *a, struct fused_launch *out);

/* Names of all kernels in the image, NULL-terminated, so that a loader can load each early. */
extern const char *const fused_kernels[];
extern const unsigned fused_nkernels;
enum { FUSED_KERNELS_MAX = 128 }; /* there are not more */

#endif
