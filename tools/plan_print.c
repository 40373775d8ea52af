// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "tools/plan.h"

enum { NAMES_SHOWN = 20 };

struct counts {
	uint64_t by_reason[REASON_COUNT]; /* [REASON_NONE]: fused */
	uint64_t stores, bytes;           /* left out */
	uint64_t groups, fewer;           /* all of them; launches that fusing saves */
	uint64_t late;                    /* fused in two kernels */
};

static struct counts count(const struct plan_result *r, const struct pattern *p)
{
	struct counts c = {0};

	for (size_t i = 0; i < r->ngroup; i++)
		if (r->group[i].pattern == p) {
			c.groups++;
			c.by_reason[r->group[i].why]++;
			if (!r->group[i].why) {
				c.late += r->group[i].late;
				c.fewer += r->group[i].n - 1 - r->group[i].late;
			}
			c.stores += r->group[i].stores;
			c.bytes += r->group[i].bytes;
		}
	return c;
}

/* Where in which graph, as reports have it. */
static void json_place(const struct plan_group *g, json_t *to)
{
	json_t *nodes = json_array();

	for (unsigned i = 0; i < g->n; i++)
		json_array_append_new(nodes, json_integer((json_int_t)(g->launch[i] - g->first)));
	json_object_set_new(to, "graph", json_integer(g->graph));
	json_object_set_new(to, "nodes", nodes);
}

static json_t *json_groups(const struct plan_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->ngroup; i++) {
		const struct plan_group *g = &r->group[i];
		json_t *launches = json_array(), *one;

		for (unsigned k = 0; k < g->n; k++)
			json_array_append_new(launches, json_integer((json_int_t)g->launch[k]));
		one = json_pack("{s:s, s:o, s:b}", "pattern", g->pattern->name, "launches",
				launches, "fused", g->why == REASON_NONE);
		if (g->generated)
			json_object_set_new(one, "generated", json_true());
		if (g->late)
			json_object_set_new(one, "kernels", json_integer(2));
		if (g->why)
			json_object_set_new(one, "reason", json_string(reason_word(g->why)));
		if (g->stores) {
			json_object_set_new(one, "stores_dropped", json_integer(g->stores));
			json_object_set_new(one, "bytes_dropped",
					    json_integer((json_int_t)g->bytes));
		}
		if (r->graph)
			json_place(g, one);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *json_summary(const struct plan_result *r)
{
	json_t *summary = json_object();

	for (unsigned i = 0; i < PATTERN_COUNT; i++) {
		const struct pattern *p = pattern_get((enum pattern_id)i);
		struct counts c = count(r, p);
		json_t *rejected = json_object();

		for (unsigned k = REASON_NONE + 1; k < REASON_COUNT; k++)
			if (c.by_reason[k])
				json_object_set_new(rejected, reason_word((enum reason)k),
						    json_integer((json_int_t)c.by_reason[k]));
		json_object_set_new(summary, p->name,
				    json_pack("{s:I, s:I, s:I, s:o}", "fused",
					      (json_int_t)c.by_reason[REASON_NONE],
					      "stores_dropped", (json_int_t)c.stores,
					      "bytes_dropped", (json_int_t)c.bytes, "rejected",
					      rejected));
	}
	return summary;
}

static json_t *json_unknown(const struct plan_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nunknown; i++) {
		const struct plan_unknown *u = &r->unknown[i];
		json_t *one = json_pack("{s:s, s:I}", "kernel", u->kernel->name, "launches",
					(json_int_t)u->launches);

		if (u->known)
			json_object_set_new(one, "reason", json_string(reason_word(REASON_SHAPE)));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *json_known(const struct plan_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nknown; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "kernel",
						      r->known[i].kernel->name, "launches",
						      (json_int_t)r->known[i].launches, "first",
						      r->known[i].what));
	return list;
}

static json_t *json_graphs(const struct plan_result *r)
{
	return json_pack("{s:I, s:I, s:I, s:b, s:o, s:o}", "instantiated", (json_int_t)r->ngraph,
			 "lost", (json_int_t)r->nlost, "kernel_nodes", (json_int_t)r->launches,
			 "off", (int)r->off, "groups", json_groups(r), "summary", json_summary(r));
}

void plan_print_json(const struct plan_result *r, const struct plan_result *graphs, FILE *f)
{
	json_t *all = json_pack("{s:I, s:o, s:o, s:o, s:o}", "launches", (json_int_t)r->launches,
				"groups", json_groups(r), "summary", json_summary(r), "known",
				json_known(r), "unknown", json_unknown(r));

	if (all && graphs)
		json_object_set_new(all, "graphs", json_graphs(graphs));
	if (all)
		json_dumpf(all, f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(all);
}

static void print_unknown(const struct plan_result *r, FILE *f)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < r->nunknown; i++)
		launches += r->unknown[i].launches;
	if (!launches)
		return;
	fprintf(f,
		"\n%" PRIu64
		" launches of %zu kernels that are not known (they may touch anything):\n",
		launches, r->nunknown);
	for (size_t i = 0; i < r->nunknown && i < NAMES_SHOWN; i++) {
		const char *name = r->unknown[i].kernel->name;
		bool cut = strlen(name) > 80;

		fprintf(f, "  %7" PRIu64 "  %.*s%s%s\n", r->unknown[i].launches, cut ? 80 : 999,
			name, cut ? "..." : "",
			r->unknown[i].known
				? "  (known, but its arguments do not fit the signature)"
				: "");
	}
	if (r->nunknown > NAMES_SHOWN)
		fprintf(f, "  and %zu more; --json lists all, with full names\n",
			r->nunknown - NAMES_SHOWN);
}

void plan_print_text(const struct plan_result *r, FILE *f)
{
	fprintf(f, "%" PRIu64 " %s\n", r->launches,
		r->graph ? "kernel nodes in graphs" : "launches");
	if (r->off)
		fprintf(f, "As it was recorded, graphs were left alone; graphs = on fuses them.\n");
	for (unsigned i = 0; i < PATTERN_COUNT; i++) {
		const struct pattern *p = pattern_get((enum pattern_id)i);
		struct counts c = count(r, p);

		if ((!p->nnode || p->watched) && !c.groups)
			continue;
		fprintf(f, "%s: %" PRIu64 " groups fused, %" PRIu64 " launches fewer\n", p->name,
			c.by_reason[REASON_NONE], c.fewer);
		if (c.late)
			fprintf(f,
				"  %7" PRIu64
				"  of them in two kernels: what they leave lies where "
				"other rows are read\n",
				c.late);
		if (c.stores)
			fprintf(f,
				"  %7" PRIu64 "  stores dropped, %" PRIu64
				" bytes: nobody reads them\n",
				c.stores, c.bytes);
		for (unsigned k = REASON_NONE + 1; k < REASON_COUNT; k++)
			if (c.by_reason[k])
				fprintf(f, "  %7" PRIu64 "  not fused, %s: %s\n", c.by_reason[k],
					reason_word((enum reason)k), reason_text((enum reason)k));
	}
	for (size_t i = 0; i < r->ngroup; i++)
		if (r->group[i].generated) {
			fprintf(f, "Code for chains, among these, is made at run time: a program's "
				   "first run goes without.\n");
			break;
		}
	plan_print_known(r, f, NAMES_SHOWN);
	print_unknown(r, f);
}
