/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream or a graph node does: kernels, copies, fills, host functions. One object may be
 * run many times (a graph's) and by several threads, so run() changes nothing of it.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_WORK_H
#define AF_TESTS_SOFTGPU_DRIVER_WORK_H

#include <vector>
#include "tests/softgpu/driver/api.h"
#include "tests/softgpu/engine.h"

struct work {
	virtual ~work() = default;
	virtual CUgraphNodeType type() const = 0;
	virtual CUresult run() const = 0; /* without the lock */
};

struct kernel_work : work {
	const struct softgpu_kernel *kernel;
	CUfunction function; /* one of these two, as the launch gave it */
	CUkernel handle;
	CUcontext ctx;
	struct softgpu_dim grid, block;
	unsigned shared_bytes;
	bool from_extra; /* parameters came as one buffer: extra[] says so again */
	void *extra[5];
	size_t extra_bytes;
	std::vector<unsigned char> params; /* laid out as kernel->param says */
	std::vector<void *> pointers;      /* one for each, into params */
	std::vector<CUlaunchAttribute> attributes;

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_KERNEL;
	}
	CUresult run() const override;
};

/* width x height x depth bytes between two pitched boxes; ordinary copies have height = depth = 1.
 */
struct copy_work : work {
	char *to;
	const char *from;
	size_t width, height, depth;
	size_t to_pitch, to_slice, from_pitch, from_slice;
	std::vector<char>
		snapshot;     /* holds the source if not empty (pageable memory is read at once) */
	CUDA_MEMCPY3D params; /* as graph nodes report it */

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_MEMCPY;
	}
	CUresult run() const override;
};

struct fill_work : work {
	CUDA_MEMSET_NODE_PARAMS params; /* width in elements; pitch between rows in bytes */

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_MEMSET;
	}
	CUresult run() const override;
};

struct host_work : work {
	CUhostFn fn;
	void *data;

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_HOST;
	}
	CUresult run() const override;
};

/* A child graph node; its work is its graph's. */
struct child_work : work {
	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_GRAPH;
	}
	CUresult run() const override
	{
		return CUDA_SUCCESS;
	}
};

/* Records an event, or waits for one. What that means is settled at the graph's launch. */
struct event_work : work {
	CUevent event;
	bool wait;

	CUgraphNodeType type() const override
	{
		return wait ? CU_GRAPH_NODE_TYPE_WAIT_EVENT : CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	}
	CUresult run() const override
	{
		return CUDA_SUCCESS;
	}
};

/* Memory nodes: what they stand for holds as long as their graph. */
struct alloc_work : work {
	CUDA_MEM_ALLOC_NODE_PARAMS params = {};

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
	}
	CUresult run() const override
	{
		return CUDA_SUCCESS;
	}
};

struct free_work : work {
	CUdeviceptr at;

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_MEM_FREE;
	}
	CUresult run() const override
	{
		return CUDA_SUCCESS;
	}
};

struct empty_work : work {
	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_EMPTY;
	}
	CUresult run() const override
	{
		return CUDA_SUCCESS;
	}
};

#endif
