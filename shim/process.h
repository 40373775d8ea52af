/* SPDX-License-Identifier: Apache-2.0 */
/* The process: configuration, master switch, and the recursion guard. */
#ifndef AF_SHIM_PROCESS_H
#define AF_SHIM_PROCESS_H

#include "config/config.h"
#include "matcher/group.h"
#include "shim/driver.h"

/* All process-wide state that more than one file needs. */
struct process {
	/* 0: every wrapper is a tail call (AUTOFUSE=0, forked child, switched off after a failure).
	 * Read without a lock. Set to 1 by process_start if the configuration allows. */
	int on;
	int pid;                        /* of the process that process_start ran in */
	bool started;                   /* process_start is over */
	bool launch_blocking;           /* CUDA_LAUNCH_BLOCKING=1: nothing is held */
	struct config config;           /* constant after process_start */
	bool pattern_on[PATTERN_COUNT]; /* likewise */
};
extern struct process process;

/* Reads the environment's AUTOFUSE alone: may the routing hand out wrappers at all? Cheap, no
 * allocation, callable from the dlsym path. */
bool process_wanted(void);

/* Once, from the first hooked call that may allocate (cuInit, or any launch, load or allocation):
 * configuration, signatures, fork handler, report and recording. */
void process_start_once(void);
static inline void process_start(void)
{
	if (!__atomic_load_n(&process.started, __ATOMIC_ACQUIRE))
		process_start_once();
}

/* Switches everything off for good, with one warning: "autofuse: ... ; fusion is off". What is held
 * now is still submitted by the next barrier or the way out. */
void process_off(const char *why);
/* The same without the warning, callable from the dlsym path. */
void process_give_up(void);

/*
 * One recursion guard per thread, entered and left here only: while it is held, hooks called on
 * this thread (by the driver or by us) go straight through. guard_enter returns false if it was
 * already held.
 */
bool guard_enter(void);
void guard_leave(void);
bool guard_held(void);

#endif
