// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/dead.h"

enum { GROUPS_MAX = 1 << 14 /* of one graph */ };

void graph_list_add(struct graph_list *l, const struct group *g, const uint32_t *node,
		    enum reason why, bool checked)
{
	struct graph_listed *to;

	if (l->n == l->room) {
		unsigned room = l->room ? 2 * l->room : 16;
		void *more = room <= GROUPS_MAX ? realloc(l->item, room * sizeof(*l->item)) : NULL;

		if (!more) {
			l->cut = true;
			return;
		}
		l->item = more;
		l->room = room;
	}
	to = &l->item[l->n++];
	memset(to, 0, sizeof(*to));
	to->pattern = (uint8_t)pattern_id(g->pattern);
	to->why = (uint8_t)why;
	to->n = (uint8_t)group_size(g);
	to->checked = checked;
	if (!why) {
		to->stores = (uint8_t)dead_count(g);
		to->bytes = dead_bytes(g);
	}
	memcpy(to->node, node, to->n * sizeof(*node));
}

bool graph_list_same(const struct graph_list *a, const struct graph_list *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->item, b->item, a->n * sizeof(*a->item)));
}

void graph_list_move(struct graph_list *to, struct graph_list *from)
{
	graph_list_free(to);
	*to = *from;
	memset(from, 0, sizeof(*from));
}

void graph_list_free(struct graph_list *l)
{
	free(l->item);
	memset(l, 0, sizeof(*l));
}

void graph_list_json(const struct graph_list *l, FILE *f)
{
	fputc('[', f);
	for (unsigned i = 0; i < l->n; i++) {
		const struct graph_listed *g = &l->item[i];

		fprintf(f, "%s\n        {\"pattern\": \"%s\", \"nodes\": [", i ? "," : "",
			pattern_get((enum pattern_id)g->pattern)->name);
		for (unsigned m = 0; m < g->n; m++)
			fprintf(f, "%s%u", m ? ", " : "", g->node[m]);
		fprintf(f, "], \"fused\": %s", g->why ? "false" : "true");
		if (g->why)
			fprintf(f, ", \"reason\": \"%s\"", reason_word((enum reason)g->why));
		if (g->stores)
			fprintf(f, ", \"stores_dropped\": %u, \"bytes_dropped\": %" PRIu64,
				g->stores, g->bytes);
		fprintf(f, "%s}", g->checked ? ", \"checked\": true" : "");
	}
	fputc(']', f);
}
