// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_report.h"

#include <string.h>

enum { LISTED_MAX = 256 }; /* execs listed one by one */

/* One exec of the program's. */
struct item {
	unsigned number, nodes, removed, groups, stores;
	uint64_t bytes;
	struct graph_list list;
	unsigned long long launches[FORM_COUNT], edits, until;
	uint64_t added_ns;
	bool planned;
	enum reason alone;
	unsigned rejected[REASON_COUNT];
};

static struct {
	pthread_mutex_t lock; /* guards what follows; innermost */
	unsigned long long made, nodes, built;
	unsigned long long alone[REASON_COUNT]; /* from the start */
	uint64_t added_ns, most_ns, cloned_nodes;
	unsigned long long lent, kept, settled; /* settled: in the program's calls */
	struct item item[LISTED_MAX];
	unsigned nitem;
	bool cut;
	/* Atomic. Of launches of fused forms: groups in them, nodes before and after. */
	unsigned long long launches[FORM_COUNT], groups, before, after;
	unsigned long long stores, bytes; /* left out */
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

void graph_report_made(const struct side *s, unsigned nodes)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.made++;
	graphs.nodes += nodes;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_alone(unsigned nodes, enum reason why)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.made++;
	graphs.nodes += nodes;
	graphs.alone[why]++;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_added(unsigned nodes, uint64_t ns)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.added_ns += ns;
	graphs.cloned_nodes += nodes;
	if (ns > graphs.most_ns)
		graphs.most_ns = ns;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_lent(void)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.lent++;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_kept(void)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.kept++;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_settled(unsigned n, uint64_t ns)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.settled += n;
	graphs.added_ns += ns;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_built(const struct side *s)
{
	pthread_mutex_lock(&graphs.lock);
	graphs.built++;
	pthread_mutex_unlock(&graphs.lock);
}

void graph_report_launched(const struct side *s, enum graph_form f)
{
	__atomic_fetch_add(&graphs.launches[f], 1, __ATOMIC_RELAXED);
	if (f != FORM_FUSED)
		return;
	__atomic_fetch_add(&graphs.groups, s->ngroup, __ATOMIC_RELAXED);
	__atomic_fetch_add(&graphs.before, s->shape.nnode, __ATOMIC_RELAXED);
	__atomic_fetch_add(&graphs.after, s->shape.nnode - s->removed, __ATOMIC_RELAXED);
	if (!s->stores)
		return;
	__atomic_fetch_add(&graphs.stores, s->stores, __ATOMIC_RELAXED);
	__atomic_fetch_add(&graphs.bytes, s->bytes, __ATOMIC_RELAXED);
}

static void list(struct side *s)
{
	struct item *i = &graphs.item[graphs.nitem];

	if (graphs.nitem == LISTED_MAX) {
		graphs.cut = true;
		return;
	}
	graphs.nitem++;
	i->number = s->number;
	i->nodes = s->shape.nnode;
	graph_list_move(&i->list, &s->list);
	i->removed = s->most_removed;
	i->groups = s->most_groups;
	i->stores = s->most_stores;
	i->bytes = s->most_bytes;
	memcpy(i->launches, s->launches, sizeof(i->launches));
	i->edits = s->edits;
	i->planned = s->planned;
	i->until = s->until;
	i->added_ns = s->added_ns + (s->loan ? graph_loan_ns(s->loan) : 0);
	i->alone = s->alone;
	memcpy(i->rejected, s->rejected, sizeof(i->rejected));
}

void graph_report_over(struct side *s)
{
	if (!s->added_ns) /* it never was in use */
		return;
	pthread_mutex_lock(&graphs.lock);
	list(s);
	pthread_mutex_unlock(&graphs.lock);
}

static bool list_live(void *arg, struct side *s)
{
	graph_report_over(s);
	return false;
}

/* Those that still have a record are listed, too, once. */
static void list_all(void)
{
	static bool listed;

	if (!listed)
		side_try_each(list_live, NULL, NULL);
	listed = true;
}

static unsigned long long sum(const unsigned long long *n)
{
	return n[FORM_OWN] + n[FORM_FUSED] + n[FORM_CHECK];
}

bool graph_report_any(void)
{
	return sum(graphs.launches) != 0;
}

/* Why most graphs were left alone, or most groups in them. */
static enum reason most(void)
{
	unsigned long long best = 0, n[REASON_COUNT];
	enum reason why = REASON_NONE;

	memcpy(n, graphs.alone, sizeof(n));
	for (unsigned i = 0; i < graphs.nitem; i++) {
		n[graphs.item[i].alone]++;
		for (unsigned r = 0; r < REASON_COUNT; r++)
			n[r] += graphs.item[i].rejected[r];
	}
	for (unsigned r = REASON_NONE + 1; r < REASON_COUNT; r++)
		if (n[r] > best) {
			best = n[r];
			why = (enum reason)r;
		}
	return why;
}

bool graph_report_text(char *text, size_t size, unsigned long long *fused)
{
	unsigned long long all = sum(graphs.launches), checked = graphs.launches[FORM_CHECK];
	char stores[80] = "";
	enum reason why;

	*fused = graphs.launches[FORM_FUSED];
	if (!all)
		return false;
	list_all();
	why = most();
	if (!*fused && !checked &&
	    !why) /* nothing was looked at: the launches' reason is the graphs' */
		return false;
	if (graphs.stores)
		snprintf(stores, sizeof(stores), "; %llu stores of %llu bytes were not needed",
			 graphs.stores, graphs.bytes);
	if (*fused)
		snprintf(text, size,
			 "%llu graph launches, %llu of them fused (%llu groups, %llu nodes became "
			 "%llu%s)",
			 all, *fused, graphs.groups, graphs.before, graphs.after, stores);
	else if (!why && checked)
		snprintf(text, size, "%llu graph launches, %llu of them checked", all, checked);
	else
		snprintf(text, size, "%llu graph launches, none fused: %s (%s)", all,
			 reason_word(why), reason_text(why));
	return true;
}

static void reasons(FILE *f, const unsigned long long *n)
{
	const char *comma = "";

	for (unsigned r = REASON_NONE + 1; r < REASON_COUNT; r++)
		if (n[r]) {
			fprintf(f, "%s\"%s\": %llu", comma, reason_word((enum reason)r), n[r]);
			comma = ", ";
		}
}

static void json_item(FILE *f, const struct item *it, const char *sep)
{
	unsigned long long rejected[REASON_COUNT];

	for (unsigned r = 0; r < REASON_COUNT; r++)
		rejected[r] = it->rejected[r];
	fprintf(f,
		"%s\n      {\"graph\": %u, \"nodes\": %u, \"nodes_fused\": %u, \"groups\": %u, "
		"\"stores_dropped\": %u, \"bytes_dropped\": %llu, \"own\": %llu, "
		"\"fused\": %llu, \"checked\": %llu, \"edits\": %llu, ",
		sep, it->number, it->nodes, it->nodes - it->removed, it->groups, it->stores,
		(unsigned long long)it->bytes, it->launches[FORM_OWN], it->launches[FORM_FUSED],
		it->launches[FORM_CHECK], it->edits);
	if (it->launches[FORM_FUSED])
		fprintf(f, "\"launches_before\": %llu, ", it->until);
	fprintf(f, "\"added_ms\": %.3f, \"left_alone\": ", (double)it->added_ns / 1e6);
	if (it->alone)
		fprintf(f, "\"%s\"", reason_word(it->alone));
	else
		fputs("null", f);
	fputs(", \"rejected\": {", f);
	reasons(f, rejected);
	fputs("}, \"listed\": ", f);
	graph_list_json(&it->list, f);
	fprintf(f, ", \"listed_cut\": %s, \"planned\": %s}", it->list.cut ? "true" : "false",
		it->planned ? "true" : "false");
}

void graph_report_json(FILE *f)
{
	list_all();
	fprintf(f,
		"  \"graphs\": {\n    \"instantiated\": %llu, \"nodes\": %llu, \"side_execs\": "
		"%llu,\n    \"added_ms\": %.3f, \"added_ms_most\": %.3f, \"cloned_nodes\": "
		"%llu,\n    \"lent\": %llu, \"lent_kept\": %llu, \"lent_settled\": %llu,\n"
		"    \"launches\": {\"own\": %llu, \"fused\": %llu, \"checked\": %llu},\n"
		"    \"stores_dropped\": %llu, \"bytes_dropped\": %llu,\n    \"left_alone\": {",
		graphs.made, graphs.nodes, graphs.built, (double)graphs.added_ns / 1e6,
		(double)graphs.most_ns / 1e6, (unsigned long long)graphs.cloned_nodes, graphs.lent,
		graphs.kept, graphs.settled, graphs.launches[FORM_OWN], graphs.launches[FORM_FUSED],
		graphs.launches[FORM_CHECK], graphs.stores, graphs.bytes);
	reasons(f, graphs.alone);
	fputs("},\n    \"execs\": [", f);
	for (unsigned i = 0; i < graphs.nitem; i++)
		json_item(f, &graphs.item[i], i ? "," : "");
	fprintf(f, "\n    ],\n    \"execs_cut\": %s\n  },\n", graphs.cut ? "true" : "false");
}
