// SPDX-License-Identifier: Apache-2.0
#include "matcher/graph_rewire.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/legal.h"

enum { GROWTH = 4, SLACK = 4096 }; /* so many times the edges, and so many more, are enough */

struct link {
	unsigned from, to;
	bool dead, added, typed;
	size_t next_out, next_in; /* of the same node; 0: the end */
};

struct rewiring {
	bool typed;        /* some edge is not plain */
	struct link *link; /* [0] is nobody's */
	size_t n, room, most;
	size_t *out, *in; /* first link of each node, 0: none */
};

static bool linked(const struct rewiring *w, unsigned from, unsigned to)
{
	for (size_t i = w->out[from]; i; i = w->link[i].next_out)
		if (w->link[i].to == to && !w->link[i].dead && !w->link[i].typed)
			return true;
	return false;
}

static int link_add(struct rewiring *w, struct dag_edge e, bool added, bool typed)
{
	struct link *l;

	if (e.from == e.to || (!typed && linked(w, e.from, e.to)))
		return 0;
	if (w->n == w->room) {
		size_t room = w->room ? 2 * w->room : 256;
		struct link *more = w->n < w->most ? realloc(w->link, room * sizeof(*more)) : NULL;

		if (!more)
			return -1;
		w->link = more;
		w->room = room;
	}
	l = &w->link[w->n];
	*l = (struct link){e.from, e.to, false, added, typed, w->out[e.from], w->in[e.to]};
	w->out[e.from] = w->in[e.to] = w->n++;
	return 0;
}

/*
 * What came before r comes before what came after r, and so before `fused`, which is after r by
 * plain edges: unless some are not plain, behind which a node may be over before what it waits for.
 */
static int take_out(struct rewiring *w, unsigned r, unsigned fused)
{
	for (size_t i = w->in[r]; i; i = w->link[i].next_in) {
		unsigned from = w->link[i].from;

		if (w->link[i].dead)
			continue;
		if (w->typed && link_add(w, (struct dag_edge){from, fused}, true, false))
			return -1;
		for (size_t k = w->out[r]; k; k = w->link[k].next_out)
			if (!w->link[k].dead &&
			    link_add(w, (struct dag_edge){from, w->link[k].to}, true, false))
				return -1;
	}
	for (size_t i = w->in[r]; i; i = w->link[i].next_in)
		w->link[i].dead = true;
	for (size_t i = w->out[r]; i; i = w->link[i].next_out)
		w->link[i].dead = true;
	return 0;
}

/* What is after a member that goes, and beside the fused node, waits for it if they conflict. */
static int order_consumers(struct rewiring *w, const struct graph_node *node, const struct dag *d,
			   const struct graph_group *g, const unsigned *stands_for)
{
	unsigned fused = g->node[g->n - 1];
	enum reason why;

	for (unsigned x = 0; x < d->n && !d->linear; x++) {
		if (dag_ordered(d, x, fused) || node[x].kind != GRAPH_KERNEL)
			continue;
		for (unsigned i = 0; i + 1 < g->n; i++)
			if (dag_before(d, g->node[i], x) &&
			    !legal_cross(&node[g->node[i]].op, &node[x].op, &why)) {
				if (link_add(w, (struct dag_edge){fused, stands_for[x]}, true,
					     false))
					return -1;
				break;
			}
	}
	return 0;
}

static int rewire(struct rewiring *w, const struct graph_node *node, const struct dag *d,
		  const struct graph_group *group, unsigned ngroup)
{
	unsigned *stands_for = calloc((size_t)d->n + 1, sizeof(*stands_for));
	int rc = stands_for ? 0 : -1;

	for (unsigned i = 0; i < d->n && !rc; i++)
		stands_for[i] = i;
	for (unsigned k = 0; k < ngroup && !rc; k++) {
		const struct graph_group *g = &group[k];
		unsigned fused = g->node[g->n - 1];

		rc = order_consumers(w, node, d, g, stands_for);
		for (unsigned i = 0; i + 1 < g->n && !rc; i++) {
			rc = take_out(w, g->node[i], fused);
			stands_for[g->node[i]] = fused;
		}
	}
	free(stands_for);
	return rc;
}

static int hand_out(struct graph_rewire *out, const struct rewiring *w)
{
	out->edge = calloc(w->n + 1, sizeof(*out->edge));
	if (!out->edge)
		return -1;
	for (size_t i = 1; i < w->n; i++)
		if (w->link[i].added && !w->link[i].dead)
			out->edge[out->nedge++] = (struct dag_edge){w->link[i].from, w->link[i].to};
	return 0;
}

int graph_rewire(struct graph_rewire *out, const struct graph_node *node, const struct dag *d,
		 const struct dag_edge *edge, const bool *typed, size_t nedge,
		 const struct graph_group *group, unsigned ngroup)
{
	struct rewiring w = {.most = GROWTH * nedge + SLACK};
	int rc = -1;

	memset(out, 0, sizeof(*out));
	w.out = calloc((size_t)d->n + 1, sizeof(*w.out));
	w.in = calloc((size_t)d->n + 1, sizeof(*w.in));
	w.link = calloc(1, sizeof(*w.link));
	w.n = w.room = 1;
	if (w.out && w.in && w.link) {
		rc = 0;
		for (size_t i = 0; i < nedge && !rc; i++) {
			rc = link_add(&w, edge[i], false, typed && typed[i]);
			w.typed |= typed && typed[i];
		}
		if (!rc)
			rc = rewire(&w, node, d, group, ngroup);
		if (!rc)
			rc = hand_out(out, &w);
	}
	free(w.out);
	free(w.in);
	free(w.link);
	return rc;
}
