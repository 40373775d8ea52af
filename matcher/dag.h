/* SPDX-License-Identifier: Apache-2.0 */
/* A directed acyclic graph of numbered nodes: one order that respects it, and who reaches whom. */
#ifndef AF_MATCHER_DAG_H
#define AF_MATCHER_DAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dag_edge {
	unsigned from, to;
};

struct dag {
	unsigned n;
	unsigned *order; /* n nodes; of those that are free to go, the lowest number first */
	unsigned *place; /* of each node in `order` */
	bool linear;     /* the edges make one chain of all nodes */
	uint64_t *reach; /* n rows of `words`; NULL if linear */
	size_t words;
};

/* 0; -1 if an edge leads out of 0..n-1, there is a cycle, or memory runs out (then *why says so).
 */
int dag_make(struct dag *d, unsigned n, const struct dag_edge *edge, size_t nedge,
	     const char **why);
/* Is there a path from a to b (a != b)? */
bool dag_before(const struct dag *d, unsigned a, unsigned b);
/* Does every path order a before b or b before a? True also for a == b. */
bool dag_ordered(const struct dag *d, unsigned a, unsigned b);
void dag_free(struct dag *d);

#endif
