/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's half of the probe: starts the child and hands its answer to the verdict. */
#ifndef AF_SHIM_PROBE_PARENT_H
#define AF_SHIM_PROBE_PARENT_H

#include "shim/verdict.h"

/* Queues a probe of v for g (copied). Returns at once; the answer comes by verdict_probed or
 * verdict_reject from the probe thread. -1 if nothing could be queued or probes are off. */
int probe_start(struct verdict *v, const struct group *g, const struct ours *o);

/* Are there probes for such a group? */
static inline bool probe_can(const struct group *g)
{
	return group_size(g) <= GROUP_MAX_MEMBERS; /* patterns and chains */
}

#endif
