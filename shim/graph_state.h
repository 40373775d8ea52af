/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of what stands beside an executable graph (graph_*.c).
 *
 * `base` is a clone of the program's graph, or that graph itself if the program destroyed it, and
 * is kept equal to what the program's exec does: edits are made to it, too. It is taken inside the
 * instantiate call, or later from a loan (graph_loan.h); until then there is none. A form is a
 * clone of base, rewritten, and the exec made of it. Levels are the graph itself and the graphs of
 * its child graph nodes.
 */
#ifndef AF_SHIM_GRAPH_STATE_H
#define AF_SHIM_GRAPH_STATE_H

#include <pthread.h>

#include "config/hash.h"
#include "matcher/graph_rewire.h"
#include "shim/graph.h"
#include "shim/graph_lean.h"
#include "shim/graph_list.h"
#include "shim/graph_loan.h"
#include "shim/graph_node.h"
#include "shim/graph_read.h"
#include "shim/graph_trial.h"
#include "shim/ours.h"
#include "shim/verdict.h"

struct arena;

enum graph_form {
	FORM_OWN,   /* the program's exec */
	FORM_FUSED, /* groups replaced */
	FORM_CHECK, /* groups in place, our candidates beside them on copies */
	FORM_COUNT,
	FORM_NONE = FORM_COUNT,
};

enum {
	GRAPH_VERDICTS = 512, /* distinct verdicts of one graph that are looked after */
	GRAPH_CHECKS = 32,    /* checks in one checking form; others get the next one */
	GRAPH_USED = 64,      /* modules of one graph that are told apart */
};

/* What is known of a node of the program's exec, beside graph_shape's. */
struct side_node {
	CUgraphNode twin[FORM_COUNT]; /* in the forms' graphs; NULL: not there */
	CUcontext ctx;                /* of a copy or fill, as the program said last */
	bool disabled;
	uint8_t witness;      /* forms that an edit of it may make wrong, one bit each */
	bool stores;          /* of the fused one, only stores that were left out rest on it */
	bool changed;         /* edited while a form was being built */
	bool read, clustered; /* what follows is known */
	union graph_content content; /* what base's node does */
	uint64_t cluster;            /* graph_cluster of it */
};

/*
 * Of a kernel node, as graph_attributes and graph_device_updatable say; it never changes. Asked in
 * the program's instantiate call: at any other time each question may wait until a thread that is
 * inside a synchronous copy comes out (H200, driver 580: 0.2 us against milliseconds).
 */
struct side_asked {
	int priority;
	uint32_t attrs : 31, device_updatable : 1;
};

struct side_form {
	CUgraph graph;
	CUgraphExec exec; /* NULL: there is none */
};

/* What one group of the fused form leans on besides the graph. */
struct side_group {
	struct verdict *verdict;
	int device;
	unsigned nrange, surviving;
	struct range range[GROUP_MAX_SLOTS];
	unsigned stores; /* left out */
	uint64_t bytes;  /* of them */
};

/* A verdict of groups in the graph, and the most rows that one of them has. */
struct graph_verdict {
	struct verdict *verdict;
	int64_t rows;
};

/* One check in the checking form. */
struct side_check {
	struct verdict *verdict;
	struct lean *lean; /* the kernel checked is this one; NULL: the verdict's own */
	int64_t rows;
	CUgraphNode publish; /* in the form's graph: the node that reports the result */
	int signal;          /* of the arena, where the launch in hand reports it */
	uint64_t ticket;
};

struct side {
	pthread_mutex_t lock;
	unsigned refs; /* the table, and who looks at it; atomic */
	CUgraphExec own;
	unsigned number;         /* of the exec, as recordings have it */
	const struct ours *ours; /* context of the instantiate call */
	unsigned long long flags;
	CUgraph base;                                      /* NULL: lent, or stripped */
	struct graph_loan *loan;                           /* what lends it, or keeps it */
	struct graph_shape shape;                          /* nodes are base's, or those lent */
	enum { CHAIN_UNKNOWN, CHAIN_YES, CHAIN_NO } chain; /* see graph_update.c */
	/* Their handles in the program's graph, by which it edits: after side_base; maybe the same.
	 */
	CUgraphNode *program_node;
	struct side_asked *asked;   /* by node */
	struct graph_index program; /* of program_node, and: */
	struct side_node *node;     /* shape.nnode of them; both after side_nodes */
	/* Modules, libraries and contexts that its kernels are of. Only ever added to, under the
	 * lock, and read without; more than GRAPH_USED: all there are. */
	const void *used[GRAPH_USED];
	unsigned nused;
	struct side_form form[FORM_COUNT];
	struct side_group *group; /* of the fused form */
	unsigned ngroup, removed;
	uint64_t print;  /* of its groups, as planned (graph_print) */
	unsigned stores; /* that its groups leave out, and their bytes */
	uint64_t bytes;
	unsigned most_groups, most_removed; /* of any fused form there was */
	unsigned most_stores;               /* then */
	uint64_t most_bytes;
	bool keep_stores; /* the program edits what stores rested on that were left out: no more */
	unsigned rejected[REASON_COUNT]; /* groups of the last plan that were left alone */
	struct graph_list list;          /* they and the others, where a report lists groups */
	struct side_check check[GRAPH_CHECKS]; /* of the checking form */
	unsigned ncheck;
	unsigned check_tries; /* checking forms made while no verdict changed */
	uint64_t check_changes;
	uint64_t check_base, check_bytes; /* memory of the arena that its nodes name */
	struct arena *arena;              /* claimed for the launch in hand */
	struct graph_verdict *verdict;    /* of all groups, as far as there is room */
	unsigned nverdict;
	/* What is to be done. */
	bool want;      /* the worker shall look at it */
	bool stale;     /* base is no longer what the fused form was made of */
	bool waits;     /* for a verdict, or memory for checks */
	bool planned;   /* it was, at least once */
	bool unchecked; /* there will be no memory for checks */
	bool building;  /* the worker is at it, without the lock */
	bool discard;   /* what is being built is of no use any more */
	bool gone;      /* the program's exec is: the worker or graph_gone takes all down. Atomic */
	bool mixed;     /* updated as a whole, so that handles may mean other nodes than we think */
	enum reason alone; /* left alone for good; NONE: not. Atomic */
	bool homeless;     /* its context is gone, and with it what was made there; atomic, stays */
	bool lost; /* it shall be, by whoever has the lock: what it uses is gone. Atomic, stays */
	uint64_t changes; /* verdict_changes() last looked at by the worker */
	/* verdict_changes() and memory_events() when the fused form's groups were last seen to
	 * hold. */
	uint64_t held_changes, held_events;
	unsigned ticks, patience; /* polls since, and after how many to look again regardless */
	unsigned pace;            /* polls at least: news of many verdicts come one by one */
	/* Order of launches. */
	enum graph_form last;
	bool launched;
	unsigned long long last_stream; /* id; 0: not to be had */
	unsigned long long home_stream; /* one known to be of the exec's context */
	bool recorded;                  /* `event` is behind the last launch */
	CUevent event;
	/* How it goes. */
	unsigned long long launches[FORM_COUNT], edits, edited_launches, until;
	bool edited;          /* since the last launch */
	unsigned rebuilds;    /* of the fused form, each soon after the one before */
	uint64_t launches_at; /* launches of the fused form when it was last built */
	struct graph_trial trial;
	uint64_t added_ns;
	UT_hash_handle hh;
};

/* graph_table.c: the record of an exec, locked; NULL if there is none. */
struct side *side_lock(CUgraphExec exec);
void side_unlock(struct side *s);
/* Enters a new record. -1 if out of memory or something of that handle is there. */
int side_enter(struct side *s);
/* Takes the record out of the table; locked, or NULL. */
struct side *side_take(CUgraphExec exec);
/* Calls fn for all, locked, until it returns true: that one stays locked. Passes over those whose
 * lock is taken, and calls `passed` (may be NULL) for them; true if there were such. */
bool side_try_each(bool (*fn)(void *arg, struct side *s), void (*passed)(void *arg, struct side *s),
		   void *arg);
/* Takes everything down, frees nothing: base, forms, event. Lock held, driver callable. */
void side_strip(struct side *s);
/* Takes base from its loan. Lock held, driver callable. False: it is not to be had, and the exec
 * left alone. */
bool side_base(struct side *s);
/* Takes over a clone of the graph, whose nodes are twin[]. */
void side_set_base(struct side *s, CUgraph base, CUgraphNode *twin);
/* Makes what was left out in the program's instantiate call, where each page of memory that is
 * touched costs: the index, and node[]. Lock held. -1 if out of memory. */
int side_nodes(struct side *s);
/* Frees a record that nobody refers to. */
void side_free(struct side *s);
void side_drop_form(struct side *s, enum graph_form f);
/* Left alone from now on. Lock held. */
void side_alone(struct side *s, enum reason why);
/* The worker shall look at it. Lock held. */
void side_want(struct side *s);
/* The fused form is not what the program's exec does any more: it goes, and is made anew unless
 * that happens too often. Lock held. (graph_edit.c) */
void side_stale(struct side *s);
/* base's node does something else now: the forms follow. c: what; NULL: ask base. Lock held.
 * (graph_edit.c) */
void graph_follow(struct side *s, unsigned node, const union graph_content *c);
/* Does base's node do just that? */
bool graph_base_same(struct side *s, unsigned node, const union graph_content *c);
/* Makes twin[f] do what base does. False: it cannot. Lock held. (graph_edit.c) */
bool graph_refresh(struct side *s, enum graph_form f, unsigned node);

/* Does all that the fused form leans on still hold? Asked again when something has changed. Lock
 * held. (graph_launch.c) */
bool side_holds(struct side *s);
/* What the kernel of a node is of counts as used. Lock held. (graph_lost.c) */
void side_uses(struct side *s, const CUDA_KERNEL_NODE_PARAMS *p);
static inline bool side_lost(const struct side *s)
{
	return __atomic_load_n(&s->lost, __ATOMIC_ACQUIRE);
}
static inline bool side_homeless(const struct side *s)
{
	return __atomic_load_n(&s->homeless, __ATOMIC_ACQUIRE);
}
/* Is whatever is being built for nothing? Asked without the lock. */
static inline bool side_useless(const struct side *s)
{
	return side_lost(s) || __atomic_load_n(&s->gone, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&s->alone, __ATOMIC_ACQUIRE);
}

/* Something is being built, maybe of an exec that is gone already; atomic. (graph_build.c) */
extern unsigned graph_building;
/* Builds what is missing, on the worker's thread; lock held (given up meanwhile), driver entered.
 * False: it is not entered any more. (graph_build.c) */
bool graph_build(struct side *s);

#endif
