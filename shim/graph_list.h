/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a graph one by one, for reports that list groups. */
#ifndef AF_SHIM_GRAPH_LIST_H
#define AF_SHIM_GRAPH_LIST_H

#include <stdio.h>

#include "matcher/group.h"

struct graph_listed {
	uint8_t pattern, why, n;
	bool checked;
	uint8_t stores; /* left out, and their bytes */
	uint64_t bytes;
	/* n of them: the graph's kernel nodes, as recordings count them. */
	uint32_t node[GROUP_MAX_MEMBERS];
};

struct graph_list {
	struct graph_listed *item; /* malloc'ed */
	unsigned n, room;
	bool cut;
};

/* Does nothing (but `cut`) where memory runs out or there are too many. node: of each member. */
void graph_list_add(struct graph_list *l, const struct group *g, const uint32_t *node,
		    enum reason why, bool checked);
bool graph_list_same(const struct graph_list *a, const struct graph_list *b);
/* *to becomes *from, which is empty then. */
void graph_list_move(struct graph_list *to, struct graph_list *from);
void graph_list_free(struct graph_list *l);
/* A JSON array. */
void graph_list_json(const struct graph_list *l, FILE *f);

#endif
