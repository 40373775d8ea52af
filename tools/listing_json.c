// SPDX-License-Identifier: Apache-2.0
/* The listing as JSON: everything, nothing rounded. */
#include <jansson.h>

#include "tools/infer.h"
#include "tools/listing.h"

static const char *const state_word[] = {"fused", "checked", "refused"};

static json_t *kernels_of(const struct listing *l, const struct listing_line *line)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < line->nkernel && i < LINE_KERNELS; i++) {
		const struct listing_kernel *k = &l->kernel[line->kernel[i]];

		json_array_append_new(
			list, json_pack("{s:s?, s:s?}", "name", k->name, "mangled", k->k->name));
	}
	return list;
}

static json_t *places_of(const struct listing_line *line)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < line->nplace; i++) {
		const struct listing_place *p = &line->place[i];

		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:I}", "stream", (json_int_t)p->stream,
						"rounds", (json_int_t)p->rounds, "count",
						(json_int_t)p->count));
	}
	return list;
}

static void group_of(const struct listing_line *line, json_t *to)
{
	const struct listing_group *g = line->group;

	json_object_set_new(to, "pattern", json_string(g->pattern->name));
	json_object_set_new(to, "state", json_string(state_word[g->state]));
	if (g->state == LISTED_REFUSED)
		json_object_set_new(to, "reason", json_string(reason_word(g->why)));
	if (g->fused) {
		json_object_set_new(to, "bytes", json_integer((json_int_t)g->unfused));
		json_object_set_new(to, "bytes_fused", json_integer((json_int_t)g->fused));
	}
	if (line->fusedn)
		json_object_set_new(to, "ns_fused",
				    json_real((double)line->fused_ns / (double)line->fusedn));
	if (line->saves_ns) {
		json_object_set_new(to, "saves_ns", json_real(line->saves_ns));
		json_object_set_new(to, "estimated", json_boolean(line->estimated));
	}
}

static json_t *line_of(const struct listing *l, const struct listing_line *line)
{
	char where[64], verdict[640];
	json_t *one = json_object();

	listing_where(line, where, sizeof(where));
	listing_verdict(l, line, verdict, sizeof(verdict));
	json_object_set_new(one, "kernels", kernels_of(l, line));
	json_object_set_new(one, "launches", json_integer(line->nkernel));
	json_object_set_new(one, "count", json_integer((json_int_t)line->count));
	json_object_set_new(one, "where", json_string(where));
	json_object_set_new(one, "places", places_of(line));
	if (line->shape != LISTING_NONE) {
		const struct listing_shape *s = &l->shape[line->shape];

		json_object_set_new(one, "rows", json_integer(s->rows));
		json_object_set_new(one, "cols", json_integer(s->cols));
		if (s->dtype)
			json_object_set_new(one, "dtype",
					    json_string(dtype_name((enum dtype)s->dtype)));
	}
	if (line->device_ns)
		json_object_set_new(one, "device_ns", json_integer((json_int_t)line->device_ns));
	if (line->timed)
		json_object_set_new(one, "ns", json_real((double)line->ns / (double)line->timed));
	if (line->group)
		group_of(line, one);
	else if (line->nunknown)
		json_object_set_new(one, "reason", json_string(reason_word(REASON_UNKNOWN_KERNEL)));
	else if (line->nmisfit)
		json_object_set_new(one, "reason", json_string(reason_word(REASON_SHAPE)));
	json_object_set_new(one, "says", json_string(verdict));
	return one;
}

static json_t *lines_of(const struct listing *l)
{
	json_t *lines = json_array();

	for (uint32_t i = 0; i < l->nline; i++)
		json_array_append_new(lines, line_of(l, &l->line[i]));
	return lines;
}

/* Under `graphs`: what is in graphs besides. */
static json_t *graphs_of(const struct listing *l)
{
	return json_pack("{s:I, s:I, s:I, s:b, s:o}", "graphs", (json_int_t)l->graphs,
			 "kernel_nodes", (json_int_t)l->launches, "listed", (json_int_t)l->nlaunch,
			 "off", (int)l->off, "sequences", lines_of(l));
}

void listing_json(const struct listing *l, const struct listing *graph,
		  const struct listing_view *v, FILE *f)
{
	json_t *streams = json_array(), *all;

	for (uint32_t i = 0; i < l->nstream; i++)
		json_array_append_new(streams,
				      json_pack("{s:I, s:I, s:s?}", "handle",
						(json_int_t)l->stream[i].handle, "launches",
						(json_int_t)l->stream[i].launches, "loops",
						l->stream[i].loops));
	all = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s*, s:o, s:o}", "launches",
			(json_int_t)l->launches, "listed", (json_int_t)l->nlaunch, "timed",
			(json_int_t)l->timed, "device_ns", (json_int_t)l->ns, "graph_kernels",
			(json_int_t)l->graph_kernels, "graph_ns", (json_int_t)l->graph_ns,
			"no_times", v->times_note, "streams", streams, "sequences", lines_of(l));
	if (all && (graph || l->graphs))
		json_object_set_new(all, "graphs", graphs_of(graph ? graph : l));
	if (all && v->inferred)
		json_object_set_new(all, "inferred", inferred_json(v->inferred));
	if (all)
		json_dumpf(all, f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(all);
}
