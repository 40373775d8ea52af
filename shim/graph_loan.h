/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs on loan. To clone a graph inside the program's instantiate call costs more than all else
 * that is done there, so the program's own graph is only noted: it stays what the new exec was made
 * of for as long as nobody touches it. Whoever comes first ends the loan:
 *
 *   - the program is about to make a call that may touch any graph (loans.def, entry.S, the hooks):
 *     all open loans are settled before, that is, cloned, on the program's thread;
 *   - the program destroys the graph: it is not destroyed, but kept in the clone's place, under its
 *     own handles, and goes for good when the clone would have; or before the program's next edit
 *     of the exec, since what the driver answers to handles of nodes that are gone is its business;
 *   - the worker, a while later: it clones.
 *
 * Graph objects are not synchronised by the driver: the program sees to it that no two of its
 * threads are in calls on one graph. A loan is opened in the instantiate call, when none is, and a
 * call on a lent graph goes on when its loan is over. So nothing of ours reads a graph while a call
 * of the program's is on it.
 *
 * What touches a graph without its name in the call cannot be: none is lent while a capture is
 * under way, or if it has child graphs. Calls on streams that capture (cuStreamGetCaptureInfo,
 * cuStreamUpdateCaptureDependencies) concern graphs that no exec was made of yet; they settle
 * nothing. Once the program was given a handle of a graph inside another one
 * (cuGraphChildGraphNodeGetGraph, bodies of conditional nodes), nothing is lent any more: it cannot
 * destroy such a graph, and its parent takes it along. Of those that it made children itself, that
 * is looked for when another one is destroyed.
 *
 * One lock guards all loans; it is inside side.lock, and given up while the driver clones. A call
 * of the program's that settles takes no other lock and writes to loans alone: it waits for who is
 * cloning, never for a launch.
 */
#ifndef AF_SHIM_GRAPH_LOAN_H
#define AF_SHIM_GRAPH_LOAN_H

#include "shim/graph_read.h"

struct graph_loan;

/* How many loans are open; entry.S reads it without a lock. Atomic. */
extern unsigned graph_loans;

/*
 * The graph, of one level and plain nodes, is lent; the caller is inside the program's instantiate
 * call. shape: of the graph, its nodes unchanged until the loan is over; ctx: current where it is
 * cloned. NULL: it is not to be lent (again), or out of memory.
 */
struct graph_loan *graph_loan_open(CUgraph graph, const struct graph_shape *shape, CUcontext ctx);
/* The program has, or will have, handles of graphs inside others, which it cannot destroy: nothing
 * is lent any more. */
void graph_loan_handed_out(void);
bool graph_loan_possible(void);
/* Is it too early for the worker to settle it? NULL: there is none, so no. */
bool graph_loan_early(const struct graph_loan *l);

/* What stands for the graph from now on. */
struct graph_lent {
	CUgraph base;      /* NULL: there is none, the loan is over */
	CUgraphNode *twin; /* malloc'ed: its nodes; NULL: base is the graph that was lent */
	uint64_t ns;       /* taken from the program's calls */
};
/* Settles the loan if it is open. If base is what was lent, the loan lasts until it is dropped;
 * else it is over. */
struct graph_lent graph_loan_take(struct graph_loan *l);
/* Did the program destroy the graph, which is kept for it? NULL: no. */
bool graph_loan_kept(const struct graph_loan *l);
/* It is destroyed after all, and cloned before; the loan is over. */
struct graph_lent graph_loan_part(struct graph_loan *l);
/* Over, whatever became of it: what is ours of it is destroyed. */
void graph_loan_drop(struct graph_loan *l);
/* Time that settling took from the program's calls, so far. */
uint64_t graph_loan_ns(const struct graph_loan *l);

/* Before a call of the program's that may touch any graph; that graph. The guard is held. */
void graph_loan_settle(void);
void graph_loan_settle_graph(CUgraph graph);
/* The program destroys a graph. True: *r is its answer, the driver's call is not to be made. The
 * guard is held. */
bool graph_loan_destroyed(CUgraph graph, CUresult *r);
/* Is there anything that the above could concern? */
bool graph_loan_any(void);

/* The context is about to go: what would be cloned there is not. */
void graph_loan_drop_context(CUcontext ctx);
/* In a forked child: no lock is taken, nothing is lent any more. */
void graph_loan_forked(void);

#endif
