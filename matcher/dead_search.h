/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of dead.c: who overwrites a slot, and who may read it before. */
#ifndef AF_MATCHER_DEAD_SEARCH_H
#define AF_MATCHER_DEAD_SEARCH_H

#include "matcher/dead.h"

enum { DEAD_PIECES = 64 }; /* of one slot; more are not worth it */

struct dead_pieces {
	unsigned n;
	struct range r[DEAD_PIECES];
};

/* The search for one slot. */
struct dead_search {
	const struct dead_question *q;
	bool assume;     /* what is not known reads nothing */
	unsigned first;  /* the member that stores it first */
	unsigned last;   /* the group's last member */
	unsigned *risky; /* nodes that may read it */
	unsigned nrisky;
	unsigned *killer; /* the overwriters found */
	unsigned nkiller;
	struct dead_pieces left; /* not overwritten */
	struct range around;     /* all of these lie in here */
};

/*
 * Finds the overwriters of what a slot stores, of which q, first, last and the room of the lists
 * are given, and what they leave. assume: what no decoder knows reads nothing.
 */
void dead_search(struct dead_search *s, const struct operand *slot, bool assume);

/* Does its op say at least something? */
bool dead_decoded(const struct graph_node *n);
/* Does what its op says touch these bytes? */
bool dead_touches(const struct graph_node *n, enum access access, struct range r);
bool dead_is_member(const struct dead_question *q, unsigned node);
/* Neither a member nor surely over when the first member stores. */
bool dead_may_see(const struct dead_search *s, unsigned node);
/* The places in the graph's order, first to last - 1, where nodes that are leaned on can be. */
void dead_span(const struct dead_search *s, unsigned *first, unsigned *last);
/* Is the node of those that must not read what is overwritten, or one that overwrites? */
bool dead_leaned_on(const struct dead_search *s, unsigned node);

#endif
