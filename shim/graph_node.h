/* SPDX-License-Identifier: Apache-2.0 */
/* One node: what its kernel is, and its parameters from one graph to another. */
#ifndef AF_SHIM_GRAPH_NODE_H
#define AF_SHIM_GRAPH_NODE_H

#include "matcher/graph_memory.h"
#include "shim/kernels.h"

/* The record of a node's kernel, or NULL. */
struct kernel_rec *graph_kernel(const CUDA_KERNEL_NODE_PARAMS *p);
/* Its parameters as the kernel sees them, rec->k.param_bytes of them. False if they cannot be had
 * whole. */
bool graph_pack(const CUDA_KERNEL_NODE_PARAMS *p, const struct kernel_rec *rec, uint8_t *out);

/* What a node does, of any type that can be copied. Pointers are the node's own: good until it is
 * changed or goes. */
union graph_content {
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMCPY3D copy;
	CUDA_MEMSET_NODE_PARAMS fill;
	CUDA_HOST_NODE_PARAMS host;
	CUevent event;
};

/* Can nodes of that type be copied at all? */
bool graph_copyable(CUgraphNodeType type);
CUresult graph_get(CUgraphNode node, CUgraphNodeType type, union graph_content *c);
CUresult graph_set(CUgraphNode node, CUgraphNodeType type, const union graph_content *c);
/* The same for an exec's node, named by that of the graph it was made of. */
CUresult graph_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, CUcontext ctx,
			const union graph_content *c);
/* Do the two do the same? False in doubt. */
bool graph_same(CUgraphNodeType type, const union graph_content *a, const union graph_content *b);

/* What a copy or fill writes and reads; false where that is not plain memory. */
bool graph_boxes(CUgraphNodeType type, const union graph_content *c, struct graph_box *to,
		 struct graph_box *from);

/* The cluster a kernel node is launched in, packed; 0: none. An attribute that decides what the
 * kernel does, and that no edit of an exec can change. */
uint64_t graph_cluster(CUgraphNode node);
/* Attributes that matter to us, as in struct launch. rec: the node's kernel, or NULL. */
uint32_t graph_attributes(CUgraphNode node, struct kernel_rec *rec, int *priority);
bool graph_device_updatable(CUgraphNode node, struct kernel_rec *rec);

#endif
