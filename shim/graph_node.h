/* SPDX-License-Identifier: Apache-2.0 */
/* One node: what its kernel is, and its parameters from one graph to another. */
#ifndef AF_SHIM_GRAPH_NODE_H
#define AF_SHIM_GRAPH_NODE_H

#include "matcher/graph_plan.h"
#include "shim/kernels.h"

/* The record of a node's kernel, or NULL. */
struct kernel_rec *graph_kernel(const CUDA_KERNEL_NODE_PARAMS *p);
/* Its parameters as the kernel sees them, rec->k.param_bytes of them. False if they cannot be had
 * whole. */
bool graph_pack(const CUDA_KERNEL_NODE_PARAMS *p, const struct kernel_rec *rec, uint8_t *out);

/* Do two kernel nodes do the same? False in doubt. */
bool graph_kernel_same(const CUDA_KERNEL_NODE_PARAMS *a, const CUDA_KERNEL_NODE_PARAMS *b);

/* Gives the exec's node (of the graph it was made of) what `from`, of that type, does. */
CUresult graph_copy_to_exec(CUgraphNode from, CUgraphNodeType type, CUcontext ctx, CUgraphExec exec,
			    CUgraphNode node);
/* The same for a graph's node. */
CUresult graph_copy_to_node(CUgraphNode from, CUgraphNodeType type, CUgraphNode node);
/* Do two nodes of a type do the same? False in doubt. */
bool graph_node_same(CUgraphNode a, CUgraphNode b, CUgraphNodeType type);
/* Can nodes of that type be copied at all? */
bool graph_copyable(CUgraphNodeType type);

/* Attributes that matter to us, as in struct launch. */
uint32_t graph_attributes(CUgraphNode node, int *priority);
bool graph_device_updatable(CUgraphNode node);

#endif
