// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_read.h"

#include <stdlib.h>
#include <string.h>

static unsigned home(const struct graph_index *x, CUgraphNode node)
{
	return (unsigned)(((uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (x->nslot - 1);
}

int graph_index_make(struct graph_index *x, const CUgraphNode *node, unsigned n)
{
	x->node = node;
	x->nslot = 16;
	while (x->nslot < 2 * n)
		x->nslot *= 2;
	x->slot = calloc(x->nslot, sizeof(*x->slot));
	if (!x->slot)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = home(x, node[i]);

		while (x->slot[at])
			at = (at + 1) & (x->nslot - 1);
		x->slot[at] = i + 1;
	}
	return 0;
}

int graph_index_find(const struct graph_index *x, CUgraphNode node)
{
	if (!x->slot)
		return -1;
	for (unsigned at = home(x, node); x->slot[at]; at = (at + 1) & (x->nslot - 1))
		if (x->node[x->slot[at] - 1] == node)
			return (int)x->slot[at] - 1;
	return -1;
}

void graph_index_free(struct graph_index *x)
{
	free(x->slot);
	memset(x, 0, sizeof(*x));
}

/* Room for n nodes and one level more. */
static int grow(struct graph_shape *s, size_t n)
{
	size_t all = s->nnode + n + 1;
	void *node, *type, *level;

	if (all > GRAPH_NODES)
		return -1;
	if ((node = realloc(s->node, all * sizeof(*s->node))))
		s->node = node;
	if ((type = realloc(s->type, all * sizeof(*s->type))))
		s->type = type;
	if ((level = realloc(s->level, (s->nlevel + 1) * sizeof(*s->level))))
		s->level = level;
	return node && type && level ? 0 : -1;
}

static int add_level(struct graph_shape *s, CUgraph graph, unsigned parent)
{
	struct graph_level *l;
	size_t n = 0;

	if (real.cuGraphGetNodes(graph, NULL, &n) || grow(s, n))
		return -1;
	if (n && real.cuGraphGetNodes(graph, s->node + s->nnode, &n))
		return -1;
	l = &s->level[s->nlevel];
	memset(l, 0, sizeof(*l));
	l->graph = graph;
	l->first = s->nnode;
	l->n = (unsigned)n;
	l->parent = parent;
	for (unsigned i = s->nnode; i < s->nnode + n; i++)
		if (real.cuGraphNodeGetType(s->node[i], &s->type[i]))
			return -1;
	s->nnode += (unsigned)n;
	s->nlevel++;
	return 0;
}

int graph_read_nodes(CUgraph graph, struct graph_shape *out)
{
	memset(out, 0, sizeof(*out));
	if (add_level(out, graph, 0))
		return -1;
	for (unsigned i = 0; i < out->nnode; i++) {
		CUgraph child;

		if (out->type[i] == CU_GRAPH_NODE_TYPE_GRAPH &&
		    (real.cuGraphChildGraphNodeGetGraph(out->node[i], &child) ||
		     add_level(out, child, i)))
			return -1;
	}
	return 0;
}

/* The list of edges; drivers before 12.3 know no data. */
static CUresult edges(CUgraph g, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
		      size_t *n)
{
	CUresult r = real.cuGraphGetEdges_v2(g, from, to, data, n);

	return r == CUDA_ERROR_NOT_FOUND ? real.cuGraphGetEdges(g, from, to, n) : r;
}

static bool is_typed(const CUgraphEdgeData *d)
{
	return d->type || d->from_port || d->to_port;
}

/* An edge as it is sorted: drivers list those of a clone in another order. */
struct whole {
	struct dag_edge edge;
	CUgraphEdgeData data;
};

static int by_number(const void *a, const void *b)
{
	const struct whole *x = a, *y = b;

	if (x->edge.from != y->edge.from)
		return x->edge.from < y->edge.from ? -1 : 1;
	if (x->edge.to != y->edge.to)
		return x->edge.to < y->edge.to ? -1 : 1;
	return memcmp(&x->data, &y->data, sizeof(x->data));
}

/* Numbers, sorts and keeps the edges; whole: room for them. */
static int keep_edges(struct graph_level *l, const struct graph_index *index,
		      const CUgraphNode *from, const CUgraphNode *to, struct whole *whole, size_t n)
{
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		int a = graph_index_find(index, from[i]), b = graph_index_find(index, to[i]);

		if (a < 0 || b < 0)
			return -1;
		whole[i].edge = (struct dag_edge){(unsigned)a, (unsigned)b};
		whole[i].data = l->data[i];
	}
	for (size_t i = 1; i < n && sorted; i++)
		sorted = by_number(&whole[i - 1], &whole[i]) <= 0;
	if (!sorted)
		qsort(whole, n, sizeof(*whole), by_number);
	for (size_t i = 0; i < n; i++) {
		l->edge[i] = whole[i].edge;
		l->data[i] = whole[i].data;
		l->typed[i] = is_typed(&l->data[i]);
	}
	l->nedge = n;
	return 0;
}

static int read_level(struct graph_level *l, const CUgraphNode *node)
{
	struct graph_index index = {0};
	CUgraphNode *from = NULL, *to = NULL;
	struct whole *whole = NULL;
	size_t n = 0;
	int rc = -1;

	if (edges(l->graph, NULL, NULL, NULL, &n))
		return -1;
	l->edge = calloc(n + 1, sizeof(*l->edge));
	l->typed = calloc(n + 1, sizeof(*l->typed));
	l->data = calloc(n + 1, sizeof(*l->data));
	from = calloc(n + 1, sizeof(*from));
	to = calloc(n + 1, sizeof(*to));
	whole = calloc(n + 1, sizeof(*whole));
	if (l->edge && l->typed && l->data && from && to && whole &&
	    !(n && edges(l->graph, from, to, l->data, &n)) &&
	    !graph_index_make(&index, node + l->first, l->n))
		rc = keep_edges(l, &index, from, to, whole, n);
	graph_index_free(&index);
	free(from);
	free(to);
	free(whole);
	return rc;
}

int graph_read_edges(struct graph_shape *s)
{
	for (unsigned i = 0; i < s->nlevel; i++)
		if (!s->level[i].edge && read_level(&s->level[i], s->node))
			return -1;
	return 0;
}

unsigned graph_level_of(const struct graph_shape *s, unsigned node)
{
	unsigned l = 0;

	while (l + 1 < s->nlevel && s->level[l + 1].first <= node)
		l++;
	return l;
}

void graph_shape_free(struct graph_shape *s)
{
	for (unsigned i = 0; i < s->nlevel; i++) {
		free(s->level[i].edge);
		free(s->level[i].typed);
		free(s->level[i].data);
	}
	free(s->node);
	free(s->type);
	free(s->level);
	memset(s, 0, sizeof(*s));
}

bool graph_shape_same(const struct graph_shape *a, const struct graph_shape *b)
{
	if (a->nnode != b->nnode || a->nlevel != b->nlevel ||
	    memcmp(a->type, b->type, a->nnode * sizeof(*a->type)) != 0)
		return false;
	for (unsigned i = 0; i < a->nlevel; i++) {
		const struct graph_level *x = &a->level[i], *y = &b->level[i];

		if (x->n != y->n || x->parent != y->parent || x->nedge != y->nedge ||
		    memcmp(x->edge, y->edge, x->nedge * sizeof(*x->edge)) != 0 ||
		    memcmp(x->data, y->data, x->nedge * sizeof(*x->data)) != 0)
			return false;
	}
	return true;
}

/* One level's; where the driver does not find a twin, it is the one at the same place. */
static int twins(const CUgraphNode *node, const struct graph_level *l, CUgraph clone,
		 CUgraphNode *twin)
{
	CUgraphNode *list = NULL;
	size_t n = l->n;
	int rc = 0;

	for (unsigned i = l->first; i < l->first + l->n && !rc; i++) {
		if (!list && !real.cuGraphNodeFindInClone(&twin[i], node[i], clone))
			continue;
		if (!list) {
			list = calloc(n + 1, sizeof(*list));
			rc = !list || real.cuGraphGetNodes(clone, list, &n) || n != l->n ? -1 : 0;
		}
		if (!rc)
			twin[i] = list[i - l->first];
	}
	free(list);
	return rc;
}

int graph_twins(const struct graph_shape *s, const CUgraphNode *node, CUgraph clone,
		CUgraphNode *twin, CUgraph *graph)
{
	for (unsigned i = 0; i < s->nlevel; i++) {
		const struct graph_level *l = &s->level[i];

		graph[i] = clone;
		if (i && real.cuGraphChildGraphNodeGetGraph(twin[l->parent], &graph[i]))
			return -1;
		if (twins(node, l, graph[i], twin))
			return -1;
	}
	return 0;
}
