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
 * The short way for a launch that begins or continues a group which was fused before with the very
 * same arguments: true if it was held or its group fused, *r being the program's answer. False: the
 * launch has to go through window_launch, and all is as if this had not been asked.
 */
bool window_recall(const struct own_launch *own, struct launch *l, CUresult *r);

#endif
