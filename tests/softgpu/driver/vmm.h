/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: physical memory that is mapped where the program says. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_VMM_H
#define AF_TESTS_SOFTGPU_DRIVER_VMM_H

#include "tests/softgpu/driver/memory.h"

/* A memory file; mapping it twice gives two addresses of the same bytes. */
struct physical {
	static const enum object_kind KIND = OBJECT_PHYSICAL;
	int fd;
	size_t bytes;
	CUmemAllocationProp prop;
	unsigned references; /* handles held by the program, and mappings */
	uint64_t id;
};

#endif
