/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep of silu -> mul through all floats, inside. */
#ifndef AF_SHIM_PROBE_CHILD_SWEEP_H
#define AF_SHIM_PROBE_CHILD_SWEEP_H

#include "fused/check.h"
#include "shim/probe_child_search.h"

enum {
	SWEEP_MOST = 16,     /* candidates */
	SWEEP_TOGETHER = 64, /* chunks between looks at the counts */
	/* Of a chunk: with every operand apart, theirs and ours take 192 MiB. */
	SWEEP_ELEMENTS = 1 << 23,
	SWEEP_ELEMENTS_MOST = 2 * SWEEP_ELEMENTS,
};
#define SWEEP_FLOATS (UINT64_C(1) << 32)

struct sweep {
	struct search *s;
	struct probe *p;
	struct group ours; /* dense; the silu is left on the gate, the product on the factor */
	CUdeviceptr gate, up, counts;
	struct sweep_args theirs; /* where the program's kernels have their inputs */
	int64_t elements;         /* of a chunk */
	bool ran;                 /* the program's kernels, once, without a fault */
	uint64_t tried;           /* elements so far */
	/* Of each candidate: elements that differed, and the first chunk in which any did, or -1.
	 */
	uint64_t differ[SWEEP_MOST];
	int64_t chunk[SWEEP_MOST];
};

/* Gates from `first` on, one of each `step`. */
struct stretch {
	uint32_t first, step;
	int64_t chunks;
};

/* Of one candidate and chunk: fused_compare's pair for silu, then for the product. */
struct sweep_counts {
	uint64_t silu[2], out[2];
};

static inline bool sweep_keeps_silu(const struct probe *p)
{
	return p->group.bound[SILU_MUL_SILU].use == BOUND_WRITE;
}
/* The last chunk may begin again at the first float. */
static inline unsigned long long sweep_tried(const struct sweep *w)
{
	return w->tried < SWEEP_FLOATS ? w->tried : SWEEP_FLOATS;
}

/* Memory of ours beside the arena as it is; TOO_LARGE leaves none (probe_child_sweep_run.c). */
enum probe_sized sweep_open(struct sweep *w);
void sweep_close(struct sweep *w);
/* Queues a chunk through the program's kernels and all candidates; counts: SWEEP_MOST or fewer of
 * struct sweep_counts. */
bool sweep_queue(struct sweep *w, const struct stretch *t, int64_t chunk, CUdeviceptr counts);
struct sweep_args sweep_inputs(const struct sweep *w, const struct stretch *t, int64_t chunk);
bool sweep_theirs(struct sweep *w, const struct stretch *t, int64_t chunk);
bool sweep_ours(struct sweep *w, const struct stretch *t, int64_t chunk, const struct candidate *c);

/* Every candidate differed: goes once more through the chunk in which the closest did so first.
 * Always false. */
bool sweep_say_where(struct sweep *w, const struct stretch *t);

#endif
