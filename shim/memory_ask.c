/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/memory_ask.h"

void memory_ask(uint64_t addr, struct memory_answer *a)
{
	CUmemorytype type = 0;
	unsigned managed = 0;
	int device = -1;
	CUdeviceptr base = 0;
	size_t bytes = 0;
	CUcontext ctx = NULL;
	CUmemoryPool pool = NULL;
	CUpointer_attribute attr[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
		CU_POINTER_ATTRIBUTE_RANGE_SIZE,     CU_POINTER_ATTRIBUTE_CONTEXT,
		CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
	void *value[] = {&type, &managed, &device, &base, &bytes, &ctx, &pool};

	*a = (struct memory_answer){.device = -1};
	if (real.cuPointerGetAttributes(sizeof(attr) / sizeof(attr[0]), attr, value, addr) || !type)
		return;
	a->flags = managed                        ? MEMORY_MANAGED
		   : type == CU_MEMORYTYPE_DEVICE ? MEMORY_DEVICE
						  : MEMORY_HOST;
	a->device = device;
	a->range = (struct range){base, base + bytes};
	/*
	 * Measured on a 580 driver: cuMemAlloc memory and module variables belong to a context,
	 * stream-ordered memory to a pool. Memory of a graph's allocation nodes or of a mapping has
	 * neither, and may show at a second address.
	 */
	if (!ctx && !pool)
		a->flags |= MEMORY_ALIASED;
}
