/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: beside the program's executable graph, which is and stays the driver's own, a side exec
 * made of a private clone in which groups of kernel nodes became one node each. The program's every
 * call goes to its own exec first; what these functions do afterwards never changes its answer.
 * Where anything is in doubt the program's own exec is launched.
 */
#ifndef AF_SHIM_GRAPH_H
#define AF_SHIM_GRAPH_H

#include "shim/driver.h"

/* How many of the program's execs have a record here; at 0 its calls have nothing to do here. */
extern unsigned graph_execs;

/* A graph is about to be captured: what would take time when it is instantiated is done now. */
void graph_expected(void);
/* The program made an exec of a graph, its number `number` from 0 on. The graph is lent or cloned,
 * if a kernel node of it may begin a group. */
void graph_made(CUgraphExec exec, CUgraph graph, unsigned long long flags, unsigned number);
/* It is about to be destroyed. */
void graph_gone(CUgraphExec exec);

/* Makes the program's launch: of its own exec or of what stands beside it. */
CUresult graph_launch(CUgraphExec exec, CUstream stream, bool ptsz);
/* It was uploaded. */
void graph_uploaded(CUgraphExec exec, CUstream stream, bool ptsz);

/* The program changed what a node of its exec does. */
struct graph_edit {
	CUgraphNodeType type;
	const void *params; /* of the type's SetParams; CUgraphNodeParams if `common` */
	CUcontext ctx;      /* of copies and fills; NULL: the current one */
	CUevent event;
	bool common, v1;
};
/* It is about to, or to switch it: the handle may be of a graph that it destroyed. */
void graph_edits(CUgraphExec exec);
void graph_edited(CUgraphExec exec, CUgraphNode node, const struct graph_edit *e);
void graph_switched(CUgraphExec exec, CUgraphNode node, bool enabled);
/* The exec took over all of a graph (cuGraphExecUpdate); or, failed, maybe some of it. */
void graph_updated(CUgraphExec exec, CUgraph graph);
void graph_update_failed(CUgraphExec exec);
/* A graph holds an object of the program's. */
void graph_holds_object(void);

/* The program ran out of device memory: side execs go. True if any did. */
bool graph_release_memory(void);
/* The context is about to go (lives), or just went; or a module or library goes, with its kernels.
 * (graph_lost.c) */
void graph_drop_context(CUcontext ctx, bool lives);
void graph_drop_module(const void *handle);

/* In a forked child: everything is off; no lock is taken. */
void graph_forked(void);

/* The graph worker's poll. */
bool graph_poll(void);

#endif
