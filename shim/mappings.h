/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory of cuMemCreate and its kin, by handle: mapped at two addresses it is aliased,
 * exported or imported it is shared. The flags go to the allocation table's entries.
 */
#ifndef AF_SHIM_MAPPINGS_H
#define AF_SHIM_MAPPINGS_H

#include "shim/memory.h"

/* The handle was mapped; enters the range into the allocation table. */
void mappings_add(CUmemGenericAllocationHandle handle, struct range r);
/* Every mapping that begins in the range is gone. */
void mappings_remove(struct range r);
/* All mappings of the handle, present and to come, have these memory flags. */
void mappings_flag(CUmemGenericAllocationHandle handle, unsigned flags);
/* One reference more (+1) or less (-1); a handle without references and mappings is forgotten. */
void mappings_reference(CUmemGenericAllocationHandle handle, int change);

#endif
