/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and stream-ordered allocation. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_POOL_H
#define AF_TESTS_SOFTGPU_DRIVER_POOL_H

#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/queue.h"

/* Memory that was freed and waits to be handed out again. */
struct pool_block {
	uintptr_t base;
	size_t bytes;
	struct queue *stream; /* whose order it was freed in: that stream may have it at once,
				 others ... */
	struct point freed;   /* ... once this is reached */
};

struct mempool {
	static const enum object_kind KIND = OBJECT_POOL;
	struct device *device;
	std::vector<struct pool_block> free;
	size_t used, used_high, reserved, reserved_high;
	uint64_t release_threshold;
	CUmemPoolProps props;
};

struct mempool *pool_new(struct device *d);
/* cuMemFree of pooled memory; everything submitted is done. */
CUresult pool_free_now(struct allocation *a);

#endif
