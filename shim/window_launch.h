/* SPDX-License-Identifier: Apache-2.0 */
/* A launch on its way through its window. */
#ifndef AF_SHIM_WINDOW_LAUNCH_H
#define AF_SHIM_WINDOW_LAUNCH_H

#include "matcher/launch.h"
#include "matcher/op.h"
#include "shim/driver.h"

/* The program's own call, to be made exactly as the program made it. */
struct own_launch {
	CUresult (*send)(const struct own_launch *own);
	CUstream stream;
	bool ptsz;
};

/*
 * Decides and acts: sends the launch, holds it back, or sends a fused kernel in its and its
 * predecessors' place. l->context, stream and device are filled in here. The answer is what the
 * program gets.
 */
CUresult window_launch(const struct own_launch *own, struct launch *l, const struct op *op);

/*
 * The short way for a launch that goes on as launches with the very same arguments did before
 * (window_memo.c): true if what was done then was done, *r being the program's answer. False: the
 * launch has to go through window_launch. l->params may be NULL where no decoder looks at them.
 */
bool window_recall(const struct own_launch *own, const struct launch *l, CUresult *r);

/* The planner had its share of time (budget.h): if nothing is held, it forgets what it knows of on
 * that stream. True: no stream's window has to see the launch. */
bool window_rest(const struct own_launch *own);

#endif
