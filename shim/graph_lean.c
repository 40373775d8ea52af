/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/graph_lean.h"

#include <stdlib.h>
#include <string.h>

static struct lean *known; /* the graph worker's */

struct lean *lean_of(const struct verdict *v, const struct standin *s, const struct ours *o)
{
	CUfunction function[GEN_PARTS] = {NULL};
	struct lean *l = known;

	for (unsigned k = 0; k < s->n; k++)
		function[k] = s->kernel[k].function;
	while (l && (l->verdict != v || memcmp(l->function, function, sizeof(function)) != 0 ||
		     l->generation != o->generation))
		l = l->next;
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->verdict = v;
	memcpy(l->function, function, sizeof(function));
	l->generation = o->generation;
	l->next = known;
	return known = l;
}
