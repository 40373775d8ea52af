/* SPDX-License-Identifier: Apache-2.0 */
/* Handle (CUfunction, or CUkernel cast to it) -> kernel record. */
#ifndef AF_SHIM_KERNELS_H
#define AF_SHIM_KERNELS_H

#include "matcher/launch.h"
#include "shim/counts.h"
#include "shim/driver.h"
#include "shim/images.h"

struct kernel_rec {
	struct kernel k;     /* name, image hash, parameters, decoder */
	struct image *image; /* NULL if it was loaded before we saw loads */
	/* Launches: those of the thread that made the first (its counts_mine), and all others'. */
	const void *owner;
	unsigned long long owners, others;
	unsigned idle;      /* launches looked at since one began a group with a future; racy */
	unsigned fruitless; /* considered for chains since it was in one with a future; racy */
	unsigned captured;  /* launches looked at while a capture was under way */
	const void *handle;
	bool told;       /* where its image is was recorded; atomic */
	bool attributed; /* shim/attributed.h's, as is: */
	unsigned asked;
};

/*
 * The record of a handle, made on first sight (name and parameter layout from the driver: cuFunc*
 * first, cuKernel* where that answers "invalid handle"). NULL when even the name is not to be had
 * (the launch is then opaque). A record lives until the process ends: after an unload its handle
 * may come back with another record. A per-thread cache with a global generation makes the usual
 * look-up lock-free (a few ns).
 */
struct kernel_rec *kernels_get(CUfunction f);
/* The same of one that is known to be a CUkernel: cuKernel* is asked first, so that debuggers which
 * list failed calls have nothing to list. */
struct kernel_rec *kernels_get_kernel(CUkernel k);
/* That of a handle that this thread looked up of late, or NULL: asks nobody, makes nothing. */
struct kernel_rec *kernels_peek(CUfunction f);

/* Counts one. */
static inline void kernels_launched(struct kernel_rec *rec, const void *me)
{
	const void *owner = __atomic_load_n(&rec->owner, __ATOMIC_RELAXED);

	if (!owner && __atomic_compare_exchange_n(&rec->owner, &owner, me, false, __ATOMIC_RELAXED,
						  __ATOMIC_RELAXED))
		owner = me;
	if (owner == me)
		counts_add(&rec->owners, 1);
	else
		__atomic_fetch_add(&rec->others, 1, __ATOMIC_RELAXED);
}
static inline uint64_t kernels_launches(const struct kernel_rec *rec)
{
	return __atomic_load_n(&rec->owners, __ATOMIC_RELAXED) +
	       __atomic_load_n(&rec->others, __ATOMIC_RELAXED);
}

/* A group that a launch of k begins is fused, or may be once there is evidence. */
static inline void kernels_promise(const struct kernel *k)
{
	__atomic_store_n(&((struct kernel_rec *)(uintptr_t)k)->idle, 0, __ATOMIC_RELAXED);
}

/* The module or library that it is of, and the library that this one is a part of (else the same);
 * NULL: the driver did not say. */
struct kernel_owner {
	const void *owner, *library;
};
struct kernel_owner kernels_owner(const struct kernel_rec *rec);

/* Forgets the handles of a module or library that is about to go (NULL: all of them). */
void kernels_forget(const void *module_or_library);

/* Calls fn for every record ever made (for reports). */
void kernels_each(void (*fn)(void *arg, const struct kernel_rec *r), void *arg);

#endif
