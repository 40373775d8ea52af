// SPDX-License-Identifier: Apache-2.0
/*
 * All is read and made into text before the recording's lock is taken: driver calls may call back
 * into it (CUPTI), and the lines of one graph stay together. What is asked of the driver orders
 * nothing and is allowed while somebody captures.
 */
#include "shim/record_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/options.h"
#include "shim/graph_node.h"
#include "shim/graph_read.h"
#include "shim/ours.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/record_text.h"
#include "shim/params.h"

enum {
	PARAM_MOST = 1 << 15, /* bytes; far above what a launch can have and a line can hold */
	NAME_MOST = 1 << 14,
};

static void put_params(struct record_text *t, const CUDA_KERNEL_NODE_PARAMS *p,
		       const struct kernel_rec *r)
{
	uint8_t *params = r && r->k.param_bytes <= PARAM_MOST ? malloc(r->k.param_bytes + 1) : NULL;
	size_t bytes = 0;
	const void *buf;

	if (params && graph_pack(p, r, params)) {
		record_text_add(t, ",\"p\":[");
		for (uint32_t i = 0; i < r->k.nparam; i++) {
			record_text_add(t, "%s[%u,%u,\"", i ? "," : "", r->k.param[i].offset,
					r->k.param[i].bytes);
			record_text_hex(t, params + r->k.param[i].offset, r->k.param[i].bytes);
			record_text_add(t, "\"]");
		}
		record_text_add(t, "]");
		free(params);
		return;
	}
	free(params);
	buf = p->kernelParams ? NULL : params_extra(p->extra, &bytes);
	if (buf && bytes <= PARAM_MOST) {
		record_text_add(t, ",\"x\":[%zu,\"", bytes);
		record_text_hex(t, buf, bytes);
		record_text_add(t, "\"]");
	} else {
		record_text_add(t, ",\"p\":[]");
	}
}

/* A node that cannot be asked is one of an unknown kernel, which may do anything. */
static void put_kernel(struct record_text *t, CUgraphNode node)
{
	CUDA_KERNEL_NODE_PARAMS p;
	struct kernel_rec *r;
	const struct ours *o;
	uint32_t attrs;
	int priority;

	if (real.cuGraphKernelNodeGetParams_v2(node, &p)) {
		record_text_add(t,
				"{\"k\":\"n\",\"f\":\"?\",\"g\":[0,0,0],\"b\":[0,0,0],\"p\":[]}\n");
		return;
	}
	r = graph_kernel(&p);
	o = ours_get(p.ctx);
	attrs = graph_attributes(node, r, &priority) | (p.kernelParams ? 0 : LAUNCH_EXTRA);
	record_text_add(t, "{\"k\":\"n\",\"f\":");
	record_text_string(t, r && strlen(r->k.name) < NAME_MOST ? r->k.name : "?");
	record_text_add(t, ",\"g\":[%u,%u,%u],\"b\":[%u,%u,%u],\"sm\":%u,\"attrs\":%u", p.gridDimX,
			p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ,
			p.sharedMemBytes, attrs);
	if (o)
		record_text_add(t, ",\"ctx\":%" PRIu64 ",\"dev\":%d", o->generation, o->device);
	if (r && (r->k.image[0] || r->k.image[1]))
		record_text_add(t, ",\"img\":\"%016" PRIx64 "%016" PRIx64 "\"", r->k.image[0],
				r->k.image[1]);
	if (priority)
		record_text_add(t, ",\"prio\":%d", priority);
	if (graph_device_updatable(node, r))
		record_text_add(t, ",\"upd\":1");
	put_params(t, &p, r);
	record_text_add(t, "}\n");
}

static void put_box(struct record_text *t, const char *key, const struct graph_box *b)
{
	record_text_add(t,
			",\"%s\":[\"0x%" PRIx64 "\",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			",%" PRId64 "]",
			key, b->addr, b->bytes, b->rows, b->pitch, b->slices, b->slice);
}

/* Copies and fills say what they touch. */
static void put_other(struct record_text *t, CUgraphNode node, CUgraphNodeType type)
{
	struct graph_box to, from;
	union graph_content c;

	record_text_add(t, "{\"k\":\"node\",\"type\":%u", (unsigned)type);
	if ((type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET) &&
	    !graph_get(node, type, &c) && graph_boxes(type, &c, &to, &from) &&
	    graph_box_sane(&to) && graph_box_sane(&from)) {
		put_box(t, "to", &to);
		if (from.bytes)
			put_box(t, "from", &from);
	}
	record_text_add(t, "}\n");
}

static void put_level(struct record_text *t, const struct graph_shape *s, unsigned level)
{
	const struct graph_level *l = &s->level[level];

	for (unsigned i = l->first; i < l->first + l->n; i++) {
		if (s->type[i] == CU_GRAPH_NODE_TYPE_KERNEL)
			put_kernel(t, s->node[i]);
		else
			put_other(t, s->node[i], s->type[i]);
	}
	for (size_t i = 0; i < l->nedge; i++) {
		const CUgraphEdgeData *d = &l->data[i];

		record_text_add(t, "{\"k\":\"edge\",\"a\":%u,\"b\":%u,\"ty\":%u,\"port\":%u}\n",
				l->edge[i].from, l->edge[i].to, (unsigned)d->type,
				(unsigned)(d->from_port ? d->from_port : d->to_port));
	}
}

static void put_graph(struct record_text *t, const char *call, const struct graph_shape *s,
		      unsigned long long flags, unsigned number)
{
	char opt[32];

	for (unsigned i = 0; i < s->nlevel; i++) {
		const struct graph_level *l = &s->level[i];

		record_text_add(t, "{\"k\":\"inst\",\"f\":\"%s\",\"id\":%u", call, number);
		if (i) {
			unsigned up = graph_level_of(s, l->parent);

			record_text_add(t, ",\"in\":[%u,%u]", up, l->parent - s->level[up].first);
		} else {
			record_text_add(t, ",\"flags\":%llu,\"opt\":\"%s\"", flags & INT32_MAX,
					option_format(&process.config.opt, OPTION_graphs, opt,
						      sizeof(opt)));
		}
		record_text_add(t, "}\n");
		put_level(t, s, i);
	}
}

void record_graph(unsigned call, CUgraph graph, unsigned long long flags, unsigned number)
{
	struct record_text t = {0};
	struct graph_shape s;
	const char *why = NULL;

	if (graph_read_nodes(graph, &s) || graph_read_edges(&s))
		why = "its nodes cannot be had, or are too many";
	else
		put_graph(&t, driver_name(call), &s, flags, number);
	graph_shape_free(&s);
	if (!why && t.failed)
		why = "it is too large";
	if (why) {
		t.used = 0;
		t.failed = false;
		record_text_add(&t, "{\"k\":\"inst\",\"f\":\"%s\",\"id\":%u,\"why\":\"%s\"}\n",
				driver_name(call), number, why);
	}
	if (!t.failed)
		record_lines(t.at, t.used);
	free(t.at);
}

void record_graph_groups(unsigned number, const struct graph_list *l)
{
	struct record_text t = {0};

	for (unsigned i = 0; i < l->n; i++) {
		const struct graph_listed *g = &l->item[i];

		record_text_add(&t, "{\"k\":\"gg\",\"id\":%u,\"f\":\"%s\",\"is\":\"%s\"", number,
				pattern_get((enum pattern_id)g->pattern)->name,
				g->why       ? "refused"
				: g->checked ? "checked"
					     : "fused");
		if (g->why)
			record_text_add(&t, ",\"why\":\"%s\"", reason_word((enum reason)g->why));
		for (unsigned m = 0; m < g->n; m++)
			record_text_add(&t, "%s%u", m ? "," : ",\"n\":[", g->node[m]);
		record_text_add(&t, "]}\n");
	}
	if (!t.failed && t.used)
		record_lines(t.at, t.used);
	free(t.at);
}
