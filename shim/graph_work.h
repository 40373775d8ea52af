/* SPDX-License-Identifier: Apache-2.0 */
/* One build of a graph's forms, on the worker's thread. Nothing of it is anybody else's. */
#ifndef AF_SHIM_GRAPH_WORK_H
#define AF_SHIM_GRAPH_WORK_H

#include "config/config.h"
#include "shim/graph_state.h"
#include "shim/standin.h"

/* Why an edit of a node concerns a form. */
enum witness {
	WITNESS_NONE,
	WITNESS_STORES, /* only stores that were left out rest on it */
	WITNESS_GROUP,
};

/* A clone of base and what is to become of it. */
struct work_form {
	CUgraph graph;
	CUgraph *level; /* as shape.level */
	CUgraphNode *twin;
	uint8_t *witness; /* by node, enum witness */
};

struct work_group {
	unsigned level;
	struct graph_group nodes; /* by number within the level */
	const struct ours *ours;
	struct standin launch;
	struct side_group lean;
	uint32_t dropped; /* slots that are not stored */
};

struct work_check {
	unsigned level;
	struct graph_group nodes;
	struct group group;    /* of what follows */
	struct row *row;       /* owned; NULL: it has none */
	struct member *member; /* owned */
	struct verdict *verdict;
	struct lean *lean; /* NULL: it is the verdict's own kernel that is checked */
	const struct ours *ours;
	bool failed; /* there is no room for it */
};

struct graph_work {
	const struct side *side; /* to ask whether it is of any use */
	const struct graph_shape *shape;
	const struct side_asked *asked; /* of the record */
	bool *disabled;
	struct work_form form[FORM_COUNT];
	struct graph_node *node; /* params owned */
	struct dag *dag;         /* of each level */
	bool *aside;             /* each level: something may run beside all of it */
	unsigned at;             /* the level being planned */
	enum stores stores;
	uint8_t *lean; /* by node: stores that were left out rest on it */
	struct work_group *group;
	unsigned ngroup, group_room;
	struct work_check *check; /* one of each verdict that wants one */
	unsigned nwanted, check_room;
	unsigned ncheck;                   /* the first so many are in the checking form */
	CUgraphNode publish[GRAPH_CHECKS]; /* of these */
	uint64_t arena_base, arena_bytes;
	uint64_t events; /* memory_events() when it began */
	struct graph_verdict *verdict;
	unsigned nverdict, verdict_room;
	unsigned rejected[REASON_COUNT];
	struct graph_list list; /* of all groups, where that is wanted */
	uint32_t *kernel;       /* then: how many kernel nodes are before each node */
	bool waits, again;      /* for a verdict; a plan now would find more */
	bool unchecked;         /* there is no memory for checks, and will not be */
	enum reason alone;      /* the graph is one to leave alone */
};

/* graph_decode.c: fills in w->node of a level. 0, or -1: no memory, or of no use any more. */
int graph_decode(struct graph_work *w, const struct graph_level *l);
/* graph_match.c: decodes and plans all levels of form[FORM_FUSED]'s graph. 0 or -1, likewise. */
int graph_match(struct graph_work *w);
/* Notes that edits of what the group leans on concern form f. */
void graph_witness(struct graph_work *w, enum graph_form f, unsigned level,
		   const struct graph_group *g);
/* graph_form.c: puts the groups in; makes an exec of a form. 0 or -1. */
int graph_rewrite(struct graph_work *w);
CUresult graph_instantiate(struct graph_work *w, enum graph_form f, unsigned long long flags,
			   CUgraphExec *exec);

#endif
