/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/graph_lean.h"

#include <stdlib.h>

static struct lean *known; /* the graph worker's */

struct lean *lean_of(const struct verdict *v, CUfunction function, const struct ours *o)
{
	struct lean *l = known;

	while (l && (l->verdict != v || l->function != function || l->generation != o->generation))
		l = l->next;
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->verdict = v;
	l->function = function;
	l->generation = o->generation;
	l->next = known;
	return known = l;
}
