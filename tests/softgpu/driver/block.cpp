/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a block are fibers, made only when a thread has to wait: a thread that returns leaves
 * its stack to the next one, so a kernel without barriers is a plain loop. A thread that waits
 * parks its fiber; threads that can go on again come first, then threads not yet started.
 */
#include "tests/softgpu/driver/block.h"
#include <new>
#include <pthread.h>
#include <sched.h>
#include "tests/softgpu/driver/fiber.h"
#include "tests/softgpu/driver/warp.h"

__thread struct softgpu_place softgpu_here;

namespace
{
const char STUCK[] = "threads wait at a barrier or warp operation that others never reach";

struct thread {
	struct fiber *fiber; /* while it waits */
	struct softgpu_dim index;
};

/* The block that an operating system thread runs. */
struct engine {
	const struct block_launch *launch;
	unsigned nthread, nwarp;
	unsigned order[SOFTGPU_MAX_THREADS / SOFTGPU_WARP]; /* warps as they start */
	unsigned started_warps, next_lane;                  /* the next thread to start */
	struct softgpu_dim next_index;
	unsigned live;    /* threads that have not returned, those to be started included */
	unsigned running; /* linear index of the running thread */
	bool switched;
	const char *fault;

	unsigned arrived; /* threads at the block's barrier */
	uint16_t waiting[SOFTGPU_MAX_THREADS];
	int count, any, all;                /* their votes */
	int last_count, last_any, last_all; /* of the barrier that completed last */

	unsigned ready_first, nready; /* ring of threads that can go on */
	uint16_t ready[SOFTGPU_MAX_THREADS];

	struct fiber main;     /* the operating system thread's own stack */
	struct fiber *current; /* running fiber */
	struct fiber *idle;    /* parked inside engine_loop with no thread of the block on them */
	struct fiber *owned;   /* all of this thread's, by next_owned */
	struct thread thread[SOFTGPU_MAX_THREADS];
	struct warp warp[SOFTGPU_MAX_THREADS / SOFTGPU_WARP];
};

thread_local struct engine *engine;

void engine_switch(struct engine *e, struct fiber *to)
{
	struct fiber *from = e->current;

	e->current = to;
	fiber_switch(from, to);
}

void ready_push(struct engine *e, unsigned t)
{
	e->ready[(e->ready_first + e->nready++) % SOFTGPU_MAX_THREADS] = static_cast<uint16_t>(t);
}

void barrier_complete(struct engine *e, int self)
{
	for (unsigned i = 0; i < e->arrived; i++)
		if (e->waiting[i] != self)
			ready_push(e, e->waiting[i]);
	e->last_count = e->count;
	e->last_any = e->any;
	e->last_all = e->all;
	e->arrived = 0;
	e->count = e->any = 0;
	e->all = 1;
}

/* Threads of `lanes` in warp w can go on. */
void lanes_ready(struct engine *e, unsigned w, uint32_t lanes)
{
	for (; lanes; lanes &= lanes - 1)
		ready_push(e, w * SOFTGPU_WARP + static_cast<unsigned>(__builtin_ctz(lanes)));
}

bool all_started(const struct engine *e)
{
	return e->started_warps == e->nwarp;
}

/* Makes the next thread that has not started the running one. */
void thread_start(struct engine *e)
{
	const struct softgpu_dim *dim = &e->launch->block;
	unsigned w = e->order[e->started_warps], t = w * SOFTGPU_WARP + e->next_lane;

	if (e->next_lane == 0)
		e->next_index = {t % dim->x, t / dim->x % dim->y, t / dim->x / dim->y};
	e->running = t;
	e->thread[t].index = softgpu_here.thread = e->next_index;
	softgpu_here.lane = e->next_lane;
	if (++e->next_index.x == dim->x) {
		e->next_index.x = 0;
		if (++e->next_index.y == dim->y) {
			e->next_index.y = 0;
			e->next_index.z++;
		}
	}
	if (++e->next_lane == SOFTGPU_WARP || t + 1 == e->nthread) {
		e->next_lane = 0;
		e->started_warps++;
	}
}

/* The running thread returned: others may have waited for nothing but it. */
void thread_end(struct engine *e)
{
	unsigned w = e->running / SOFTGPU_WARP;

	e->live--;
	if (e->arrived && e->arrived == e->live)
		barrier_complete(e, -1);
	e->warp[w].live &= ~(1u << e->running % SOFTGPU_WARP);
	if (e->warp[w].waiting)
		lanes_ready(e, w, warp_complete(&e->warp[w]));
}

/* The thread that can go on next becomes the running one; answers its fiber. */
struct fiber *thread_resume(struct engine *e)
{
	unsigned t = e->ready[e->ready_first];

	e->ready_first = (e->ready_first + 1) % SOFTGPU_MAX_THREADS;
	e->nready--;
	e->running = t;
	softgpu_here.thread = e->thread[t].index;
	softgpu_here.lane = t % SOFTGPU_WARP;
	return e->thread[t].fiber;
}

/* Every fiber runs this: start threads until another fiber's thread can go on. */
void engine_loop()
{
	struct engine *e = engine;

	for (;;) {
		do { /* whoever switched to an idle fiber wants a thread started */
			thread_start(e);
			e->launch->kernel->run(e->launch->params);
			thread_end(e);
		} while (!e->nready && !all_started(e));
		struct fiber *self = e->current, *to = &e->main;
		if (e->nready)
			to = thread_resume(e);
		else if (e->live)
			e->fault = STUCK;
		self->next = e->idle;
		e->idle = self;
		engine_switch(e, to);
	}
}

/* A fiber with no thread on it; it will run engine_loop. */
struct fiber *fiber_idle(struct engine *e)
{
	struct fiber *f = e->idle;

	if (f) {
		e->idle = f->next;
		return f;
	}
	f = fiber_get(engine_loop);
	if (f) {
		f->next_owned = e->owned;
		e->owned = f;
	}
	return f;
}

/* Gives all stacks back, whatever is on them. */
void fibers_release(struct engine *e)
{
	while (e->owned) {
		struct fiber *f = e->owned;

		e->owned = f->next_owned;
		fiber_put(f);
	}
	e->idle = nullptr;
}

/* Ends the block from inside it. Does not come back. */
[[noreturn]] void block_fault(struct engine *e, const char *why)
{
	e->fault = why;
	engine_switch(e, &e->main);
	__builtin_unreachable();
}

/*
 * The running thread waits until another one makes it ready. Threads that can go on come before
 * those not yet started, unless start_first.
 */
void thread_wait(struct engine *e, bool start_first = false)
{
	unsigned t = e->running;
	struct fiber *to;

	e->switched = true;
	e->thread[t].fiber = e->current;
	if (!e->nready && all_started(e))
		block_fault(e, STUCK);
	to = all_started(e) || (e->nready && !start_first) ? thread_resume(e) : fiber_idle(e);
	if (!to)
		block_fault(e, "no memory for the stack of a thread");
	if (to != e->current) /* it may be the next one itself, after softgpu_yield */
		engine_switch(e, to);
}

struct engine *engine_get()
{
	pthread_attr_t attr;
	void *stack = nullptr;

	if (engine)
		return engine;
	engine = new (std::nothrow) struct engine();
	if (engine && pthread_getattr_np(pthread_self(), &attr) == 0) {
		pthread_attr_getstack(&attr, &stack, &engine->main.bytes);
		engine->main.stack = static_cast<char *>(stack);
		pthread_attr_destroy(&attr);
	}
	return engine;
}

void warps_prepare(struct engine *e, uint64_t random)
{
	for (unsigned i = 0; i < e->nwarp; i++) {
		unsigned lanes = e->nthread - i * SOFTGPU_WARP;

		e->order[i] = i;
		e->warp[i].waiting = 0;
		e->warp[i].live = lanes >= SOFTGPU_WARP ? ~0u : (1u << lanes) - 1;
	}
	for (unsigned i = e->nwarp; i > 1; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		unsigned j = static_cast<unsigned>(random >> 33) % i;
		unsigned swap = e->order[i - 1];

		e->order[i - 1] = e->order[j];
		e->order[j] = swap;
	}
}
} // namespace

const char *block_run(const struct block_launch *l, struct softgpu_dim where, uint64_t random)
{
	struct engine *e = engine_get();
	struct fiber *first = e ? fiber_idle(e) : nullptr;

	if (!first)
		return "no memory for a stack";
	e->launch = l;
	e->nthread = e->live = l->block.x * l->block.y * l->block.z;
	e->nwarp = (e->nthread + SOFTGPU_WARP - 1) / SOFTGPU_WARP;
	e->started_warps = e->next_lane = 0;
	e->arrived = e->nready = 0;
	e->count = e->any = 0;
	e->all = 1;
	e->switched = false;
	e->fault = nullptr;
	warps_prepare(e, random);
	softgpu_here.block = where;
	softgpu_here.block_dim = l->block;
	softgpu_here.grid_dim = l->grid;
	e->current = &e->main;
	engine_switch(e, first);
	if (e->fault)
		fibers_release(e);
	return e->fault;
}

bool block_switched()
{
	return engine && engine->switched;
}

void block_release()
{
	if (!engine)
		return;
	fibers_release(engine);
	delete engine;
	engine = nullptr;
}

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
