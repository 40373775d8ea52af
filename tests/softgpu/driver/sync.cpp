/* SPDX-License-Identifier: Apache-2.0 */
/* What device code calls: barriers, warp operations, giving way. */
#include <sched.h>
#include "tests/softgpu/driver/threads.h"

int softgpu_block_sync(enum softgpu_vote vote, int predicate)
{
	struct engine *e = engine;

	e->count += predicate != 0;
	e->any |= predicate != 0;
	e->all &= predicate != 0;
	e->waiting[e->arrived++] = static_cast<uint16_t>(e->running);
	if (e->arrived == e->live)
		barrier_complete(e, static_cast<int>(e->running));
	else
		thread_wait(e);
	/* No other barrier can have completed meanwhile: this thread has to take part in it. */
	return vote == SOFTGPU_COUNT ? e->last_count
	       : vote == SOFTGPU_AND ? e->last_all
				     : e->last_any;
}

uint64_t softgpu_warp_exchange(enum softgpu_warp_op op, uint32_t mask, uint64_t value,
			       unsigned source)
{
	struct engine *e = engine;
	unsigned w = e->running / SOFTGPU_WARP, lane = e->running % SOFTGPU_WARP;
	struct warp *warp = &e->warp[w];

	if (!(mask >> lane & 1))
		block_fault(e, "a lane calls a warp operation whose mask leaves it out");
	warp->lane[lane] = {op, mask, source, value, 0};
	warp->waiting |= 1u << lane;
	uint32_t lanes = warp_complete_lane(warp, lane);
	if (lanes)
		lanes_ready(e, w, lanes & ~(1u << lane));
	else
		thread_wait(e);
	return warp->lane[lane].result;
}

uint32_t softgpu_warp_live()
{
	return engine->warp[engine->running / SOFTGPU_WARP].live;
}

void softgpu_yield()
{
	struct engine *e = engine;

	sched_yield();
	ready_push(e, e->running);
	thread_wait(e, true);
}

void softgpu_trap(const char *why)
{
	block_fault(engine, why);
}
