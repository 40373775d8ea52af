// SPDX-License-Identifier: Apache-2.0
#include "matcher/dag.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_NODES = 1 << 15
}; /* of a graph that is not one chain: reachability takes n * n / 8 bytes */

/* Successors of all nodes in one array: those of u are at [start[u], start[u + 1]). */
struct successors {
	unsigned *start, *to;
};

static int collect(struct successors *s, unsigned *indegree, unsigned n,
		   const struct dag_edge *edge, size_t nedge)
{
	unsigned *fill = calloc((size_t)n + 1, sizeof(*fill));

	s->start = calloc((size_t)n + 2, sizeof(*s->start));
	s->to = calloc(nedge + 1, sizeof(*s->to));
	if (!fill || !s->start || !s->to) {
		free(fill);
		return -1;
	}
	for (size_t i = 0; i < nedge; i++) {
		s->start[edge[i].from + 1]++;
		indegree[edge[i].to]++;
	}
	for (unsigned u = 0; u < n; u++)
		s->start[u + 1] += s->start[u];
	for (size_t i = 0; i < nedge; i++)
		s->to[s->start[edge[i].from] + fill[edge[i].from]++] = edge[i].to;
	free(fill);
	return 0;
}

/* Fills d->order; false if a cycle keeps some nodes out. */
static bool sort(struct dag *d, const struct successors *s, unsigned *indegree)
{
	unsigned done = 0, lowest = 0;

	while (done < d->n) {
		unsigned u = lowest, next;

		while (u < d->n && indegree[u])
			u++;
		if (u == d->n)
			return false;
		indegree[u] = UINT32_MAX; /* taken */
		d->place[u] = done;
		d->order[done++] = u;
		next = u + 1;
		for (unsigned i = s->start[u]; i < s->start[u + 1]; i++)
			if (!--indegree[s->to[i]] && s->to[i] < next)
				next = s->to[i];
		lowest = next;
	}
	return true;
}

/* Does each node lead to the next one, and nowhere else? */
static bool is_linear(const struct dag *d, const struct successors *s)
{
	for (unsigned k = 0; k < d->n; k++) {
		const unsigned first = s->start[d->order[k]], n = s->start[d->order[k] + 1] - first;

		if (n != (k + 1 < d->n) || (n && s->to[first] != d->order[k + 1]))
			return false;
	}
	return true;
}

static int close_reach(struct dag *d, const struct successors *s)
{
	d->words = ((size_t)d->n + 63) / 64;
	d->reach = d->n <= MAX_NODES ? calloc(d->n, d->words * sizeof(*d->reach)) : NULL;
	if (!d->reach)
		return -1;
	for (unsigned k = d->n; k-- > 0;) {
		unsigned u = d->order[k];
		uint64_t *row = d->reach + u * d->words;

		for (unsigned i = s->start[u]; i < s->start[u + 1]; i++) {
			const uint64_t *other = d->reach + s->to[i] * d->words;

			for (size_t w = 0; w < d->words; w++)
				row[w] |= other[w];
			row[s->to[i] / 64] |= (uint64_t)1 << s->to[i] % 64;
		}
	}
	return 0;
}

int dag_make(struct dag *d, unsigned n, const struct dag_edge *edge, size_t nedge, const char **why)
{
	struct successors s = {NULL, NULL};
	unsigned *indegree = calloc((size_t)n + 1, sizeof(*indegree));
	int rc = -1;

	memset(d, 0, sizeof(*d));
	d->n = n;
	d->order = calloc((size_t)n + 1, sizeof(*d->order));
	d->place = calloc((size_t)n + 1, sizeof(*d->place));
	*why = "an edge of a node that is not there";
	for (size_t i = 0; i < nedge; i++)
		if (edge[i].from >= n || edge[i].to >= n)
			goto out;
	*why = "out of memory";
	if (!indegree || !d->order || !d->place || collect(&s, indegree, n, edge, nedge))
		goto out;
	*why = "edges in a circle";
	if (!sort(d, &s, indegree))
		goto out;
	d->linear = is_linear(d, &s);
	*why = "too many nodes";
	if (!d->linear && n && close_reach(d, &s))
		goto out;
	rc = 0;
out:
	free(indegree);
	free(s.start);
	free(s.to);
	if (rc)
		dag_free(d);
	return rc;
}

static bool reaches(const struct dag *d, unsigned a, unsigned b)
{
	return d->reach[a * d->words + b / 64] >> b % 64 & 1;
}

bool dag_before(const struct dag *d, unsigned a, unsigned b)
{
	return d->linear ? d->place[a] < d->place[b] : reaches(d, a, b);
}

bool dag_ordered(const struct dag *d, unsigned a, unsigned b)
{
	return d->linear || a == b || reaches(d, a, b) || reaches(d, b, a);
}

void dag_free(struct dag *d)
{
	free(d->order);
	free(d->place);
	free(d->reach);
	memset(d, 0, sizeof(*d));
}
