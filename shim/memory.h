/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation table: which device ranges exist, of what kind. Kept by the allocation hooks; the
 * driver is asked about kinds that a hook cannot tell, and about addresses that no hook saw.
 */
#ifndef AF_SHIM_MEMORY_H
#define AF_SHIM_MEMORY_H

#include "matcher/op.h"
#include "matcher/reason.h"
#include "shim/driver.h"

enum memory_flag {
	MEMORY_DEVICE = 1, /* ordinary device memory */
	MEMORY_HOST = 2,   /* pinned or registered host memory */
	MEMORY_MANAGED = 4,
	MEMORY_ALIASED = 8, /* its physical memory is or may be mapped at a second address */
	MEMORY_SHARED = 16, /* IPC, exported, multicast, imported, peer-enabled */
	MEMORY_KIND = MEMORY_DEVICE | MEMORY_HOST | MEMORY_MANAGED,
};

/*
 * An allocation appeared; older entries that it overlaps were freed behind our back and go. ctx:
 * the context whose end frees it, NULL for memory that outlives contexts (stream-ordered,
 * cuMemMap). Without a kind among the flags, kind and device are asked of the driver when first
 * needed.
 */
void memory_add(uint64_t base, uint64_t bytes, CUcontext ctx, int device, unsigned flags);
/* Removes the allocation that starts at base; returns its size, 0 if unknown. */
uint64_t memory_remove(uint64_t base);
/* Removes every allocation that starts in the range; fn (or NULL) is told each one's base. */
void memory_remove_range(struct range r, void (*fn)(uint64_t base));
/* The context is gone, and its memory with it. */
void memory_drop_context(CUcontext ctx);
/* Adds flags to every known allocation that the range touches. */
void memory_flag(struct range r, unsigned flags);
/* Peer access between two contexts was enabled: everything counts as shared from now on. */
void memory_peer_enabled(void);

/*
 * May a group whose launch runs on `device` use this range? REASON_NONE, or
 * REASON_NOT_DEVICE_MEMORY: not wholly inside ordinary device allocations of that device; or
 * aliased; or shared while `surviving` > 1 outputs are left in memory (another observer could see
 * their order). The usual look-up takes a read lock and no driver call.
 */
enum reason memory_check(struct range r, int device, int surviving);

/* The allocation that holds addr, as the hooks know it. False if unknown. */
bool memory_find(uint64_t addr, struct range *alloc, unsigned *flags);
/* The device that memory lives on, -1 if unknown. */
int memory_device(uint64_t addr);

/* How often memory was found to show, or maybe show, at a second address: two ranges may be the
 * same bytes then, though they do not overlap. */
uint64_t memory_aliased(void);

/* Counts allocations of the process (so that checks can wait until they settle). */
uint64_t memory_events(void);

#endif
