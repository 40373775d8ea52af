// SPDX-License-Identifier: Apache-2.0
/* A level's nodes as the planner wants them. */
#include <stdlib.h>
#include <string.h>

#include "matcher/decode.h"
#include "matcher/key.h"
#include "shim/graph_node.h"
#include "shim/graph_work.h"

/* A kernel node as a launch. False: there is no memory for it. */
static bool read_kernel(struct graph_work *w, unsigned i)
{
	struct graph_node *n = &w->node[i];
	CUgraphNode node = w->form[FORM_FUSED].twin[i];
	const struct kernel_rec *rec;
	CUDA_KERNEL_NODE_PARAMS p;
	const struct ours *o;
	uint8_t *params;

	n->kind = GRAPH_KERNEL;
	op_opaque(&n->op);
	n->launch.index = i;
	if (w->asked[i].device_updatable)
		w->alone = REASON_DEVICE_GRAPH;
	if (real.cuGraphKernelNodeGetParams_v2(node, &p) || !(rec = graph_kernel(&p)))
		return true;
	o = ours_get(p.ctx);
	n->launch.kernel = &rec->k;
	memcpy(n->launch.grid, (unsigned[]){p.gridDimX, p.gridDimY, p.gridDimZ},
	       sizeof(n->launch.grid));
	memcpy(n->launch.block, (unsigned[]){p.blockDimX, p.blockDimY, p.blockDimZ},
	       sizeof(n->launch.block));
	n->launch.shmem = p.sharedMemBytes;
	if (!o || !rec->k.decoder)
		return true;
	n->launch.context = o->generation;
	n->launch.device = o->device;
	params = malloc(rec->k.param_bytes + 1);
	if (!params)
		return false;
	n->launch.params = params;
	if (!graph_pack(&p, rec, params))
		return true;
	if (!p.kernelParams)
		n->launch.attrs |= LAUNCH_EXTRA;
	n->launch.attrs |= w->asked[i].attrs;
	n->launch.priority = w->asked[i].priority;
	if (decode_launch(&n->launch, &n->op))
		return true;
	n->launch.site = key_site(&n->launch, &n->op);
	n->op.vetted |= verdict_vetted(n->launch.site, rec->image);
	return true;
}

static void read_memory(struct graph_work *w, unsigned i)
{
	CUgraphNodeType type = w->shape->type[i];
	struct graph_box to, from;
	union graph_content c;

	if (!graph_get(w->form[FORM_FUSED].twin[i], type, &c) && graph_boxes(type, &c, &to, &from))
		graph_memory(&w->node[i], &to, &from);
}

int graph_decode(struct graph_work *w, const struct graph_level *l)
{
	for (unsigned i = l->first; i < l->first + l->n; i++) {
		struct graph_node *n = &w->node[i];

		if (side_useless(w->side)) /* its kernels may be gone */
			return -1;
		n->kind = w->disabled[i] || w->shape->type[i] == CU_GRAPH_NODE_TYPE_EMPTY
				  ? GRAPH_EMPTY
				  : GRAPH_OTHER;
		if ((w->shape->type[i] == CU_GRAPH_NODE_TYPE_MEMCPY ||
		     w->shape->type[i] == CU_GRAPH_NODE_TYPE_MEMSET) &&
		    !w->disabled[i])
			read_memory(w, i);
		if (w->shape->type[i] == CU_GRAPH_NODE_TYPE_KERNEL && !w->disabled[i] &&
		    !read_kernel(w, i))
			return -1;
	}
	for (size_t i = 0; i < l->nedge; i++)
		if (l->typed[i]) {
			w->node[l->first + l->edge[i].to].launch.attrs |= LAUNCH_PROGRAMMATIC;
			w->node[l->first + l->edge[i].from].typed = true;
			w->node[l->first + l->edge[i].to].typed = true;
		}
	return 0;
}
