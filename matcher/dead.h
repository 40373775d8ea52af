/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead stores: what a fused kernel need not leave in memory.
 *
 * Within one graph a member's store is dead if later nodes overwrite all of it before anybody
 * reads it: each byte has an overwriter, of known extent, that comes after the last member on every
 * path; and each node that is neither before the store nor after that overwriter on every path is
 * of known extent, does not read the byte, and writes only memory that nobody else sees. Whoever
 * reads what an overwriter leaves then finds what it would have found.
 *
 * If an overwriter is itself a member of a group whose store is dead, then that one has overwriters
 * in turn: the last one in such a row is what memory shows in the end.
 */
#ifndef AF_MATCHER_DEAD_H
#define AF_MATCHER_DEAD_H

#include "matcher/graph_plan.h"

/* All that a node reads and writes lies in here. */
struct dead_reach {
	struct range read, written;
};
void dead_reach_of(struct dead_reach *r, const struct graph_node *n);

struct dead_question {
	const struct graph_node *node;
	const struct dead_reach *reach; /* of each node; NULL: not known, which takes longer */
	const struct dag *dag;
	const struct group *group;
	const unsigned *member; /* nodes of the group's members */
	enum stores stores;
	/* NONE: that is memory of the launch's device that nobody else sees. */
	enum reason (*memory)(void *arg, struct range r, const struct launch *l);
	void *arg;
};

/*
 * The slots (bits, numbers of group_slots) whose stores can go, of a pattern's group among those of
 * pattern->unstored, of a chain among those that not its last member writes. lean: dag->n bytes; 1
 * for each node besides the members that this rests on, so that an edit of it may undo it. -1 if
 * out of memory.
 */
int dead_stores(const struct dead_question *q, uint32_t *slots, uint8_t *lean);

/*
 * STORES_ASSUME_DEAD where no graph says more: the slots whose memory is nothing else's in the
 * group; of a chain, only if a later member reads them. A store over an input (a running sum) is
 * kept.
 */
uint32_t dead_assumed(const struct group *g);

/* Makes the group one without those stores. */
void dead_apply(struct group *g, uint32_t slots);
/* Of a chain's group: the row program r, which has the operands of g->row by place but not by
 * number, without those stores; canonical. */
void dead_row(const struct group *g, struct row *r);
/* Stores that dead_apply took out, and the bytes that they would have written. */
unsigned dead_count(const struct group *g);
uint64_t dead_bytes(const struct group *g);

#endif
