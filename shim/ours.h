/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own module in each context of the program: loaded when the context appears (if any signature
 * or decoder could ever use it), every function loaded at once, so that no launch waits for a load.
 */
#ifndef AF_SHIM_OURS_H
#define AF_SHIM_OURS_H

#include "fused/fused.h"
#include "shim/driver.h"

/* What a context can do. Never freed; one that is gone compares unequal to its handle's next. */
struct ours {
	CUcontext ctx;
	uint64_t generation; /* differs for every context, also at a reused handle */
	int device;          /* ordinal */
	int cc;              /* compute capability * 10, e.g. 90 */
	struct fused_device limits;
	bool ready; /* module loaded; false: nothing fuses in this context */
};

/* The record of a context (NULL: the current one), made on first sight; NULL if there is none.
 * Lock-free for the context seen last by this thread. */
const struct ours *ours_get(CUcontext ctx);
/* Loads our module into the context; ctx must be current. Tries once per context. */
void ours_load(CUcontext ctx);
/* The same for the current context, if it is new and anything could ever use our module. */
void ours_seen(void);
/* The function of that name in the context's module; NULL if not ready. */
CUfunction ours_function(const struct ours *o, const char *kernel);
/* The context is about to go (destroyed or reset). */
void ours_drop(CUcontext ctx);

#endif
