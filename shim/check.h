/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live checks: our candidate runs on a snapshot of the group's inputs, and what it leaves is
 * compared with what the program's own launches left (DESIGN 7). All of it is queued on the
 * program's stream, around the program's launches; nothing waits. The result comes back through
 * host-mapped memory and is collected by the device worker.
 *
 * One check at a time per context, in an arena of at most `check_memory` bytes of device memory.
 */
#ifndef AF_SHIM_CHECK_H
#define AF_SHIM_CHECK_H

#include "matcher/group.h"
#include "shim/ours.h"
#include "shim/verdict.h"

struct arena;

enum { CHECK_SNAPSHOTS = 8 };

/* A check under way in one window; zero is none. */
struct check {
	struct arena *arena;
	unsigned nsnap;
	struct {
		struct range range; /* the program's bytes that were copied (maybe a prefix) */
		uint64_t copy;      /* where to */
	} snap[CHECK_SNAPSHOTS];
};

/* Could a check of a group that begins with m start now? Sees to its memory if there is none yet.
 */
bool check_ready(const struct ours *o, const struct member *m);
/* The same where all members will be held (a chain): the first may read nothing, as a fill. */
bool check_ready_group(const struct ours *o, const struct member *m);
/*
 * Called before the first member is launched: copies what it reads. The context is current.
 * False if no check can be made now (no arena yet, one under way, allocations not settled); asks
 * for an arena if there is none.
 */
bool check_begin(struct check *c, const struct ours *o, CUstream stream, const struct member *m);

/* The same for a group whose members are all held (a chain): whatever has to be copied is. */
bool check_begin_group(struct check *c, const struct ours *o, CUstream stream,
		       const struct group *g);

/* Called before the last member is launched, with the complete group: copies what it overwrites.
 * False (and the check is over) if there is no room. */
bool check_last(struct check *c, const struct ours *o, CUstream stream, const struct group *g);

/* Called after the last member was launched: runs the candidate, compares, publishes. Ends the
 * check. */
void check_run(struct check *c, const struct ours *o, CUstream stream, const struct group *g,
	       struct verdict *v);

/* The group did not come to its end. */
void check_cancel(struct check *c, const struct ours *o, CUstream stream);

/*
 * Queues a completion signal behind the first substitution of v, so that its crash marker can go.
 * Without an arena the marker stays until the process ends well.
 */
void check_first_use(const struct ours *o, CUstream stream, struct verdict *v);

/* The device worker's poll: collects results. True while some are outstanding. */
bool check_poll(void);

/* The program ran out of device memory: gives back what is not in use. True if anything was freed.
 */
bool check_release_memory(void);
/* The context is about to go: its arena goes with it. */
void check_drop_context(CUcontext ctx);
/* It went: so does what a check under way had left. */
void check_context_gone(CUcontext ctx);

#endif
