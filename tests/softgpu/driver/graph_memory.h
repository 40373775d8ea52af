/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation and free nodes of graphs. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_GRAPH_MEMORY_H
#define AF_TESTS_SOFTGPU_DRIVER_GRAPH_MEMORY_H

#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/memory.h"

/* Takes memory that g owns, for a node of it. NULL, and *why. */
std::shared_ptr<const struct work> graph_memory_take(struct graph *g, const CUmemPoolProps *props,
						     size_t bytes, CUdeviceptr *out, CUresult *why);
/* Work that frees a graph's or a pool's memory. NULL, and *why. */
std::shared_ptr<const struct work> graph_memory_free(CUdeviceptr at, CUresult *why);

#endif
