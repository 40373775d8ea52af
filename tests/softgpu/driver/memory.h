/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of allocations. Device memory is ordinary memory of the process, so that kernels are
 * plain code and the address sanitizer sees every allocation's ends.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_MEMORY_H
#define AF_TESTS_SOFTGPU_DRIVER_MEMORY_H

#include "tests/softgpu/driver/context.h"

enum memory_kind {
	MEMORY_DEVICE, /* cuMemAlloc */
	MEMORY_MANAGED,
	MEMORY_HOST,       /* cuMemHostAlloc */
	MEMORY_REGISTERED, /* the program's own, cuMemHostRegister */
	MEMORY_POOLED,     /* cuMemAllocAsync */
	MEMORY_GRAPH,      /* an allocation node's */
	MEMORY_MAPPED,     /* cuMemMap; the table's entry is one mapping */
	MEMORY_VARIABLE,   /* a module's global */
};

struct allocation {
	uintptr_t base;
	size_t bytes;
	enum memory_kind kind;
	int device;
	struct context *ctx; /* NULL for pooled and mapped memory, as the driver reports it */
	unsigned flags;      /* of host memory */
	struct mempool *pool;
	struct physical *physical;
	uint64_t id;
};

/* The allocation that holds the address; NULL if none does. */
struct allocation *memory_find(uintptr_t address);
/* The allocation that starts there. */
struct allocation *memory_at(uintptr_t base);
/* Enters one. */
struct allocation *memory_enter(uintptr_t base, size_t bytes, enum memory_kind kind, int device,
				struct context *ctx);
/* Takes it out of the table; does not free. */
void memory_leave(struct allocation *a);
void memory_forget_context(struct context *ctx);

/* Bytes for `device`, filled with garbage, or NULL beyond its memory. */
void *memory_take(int device, size_t bytes);
void memory_return(int device, void *p, size_t bytes);

/* Is [p, p + bytes) inside allocations (several, where they were mapped side by side)? */
bool memory_covers(uintptr_t p, size_t bytes);
/* Host memory that the driver knows nothing of: an asynchronous copy reads or fills it at once. */
bool memory_pageable(const void *p);

#endif
