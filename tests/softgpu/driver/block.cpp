/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a block are fibers, made only when a thread has to wait: a thread that returns leaves
 * its stack to the next one, so a kernel without barriers is a plain loop. A thread that waits
 * parks its fiber; threads that can go on again come first, then threads not yet started.
 */
#include "tests/softgpu/driver/block.h"
#include <new>
#include <pthread.h>
#include "tests/softgpu/driver/threads.h"

__thread struct softgpu_place softgpu_here;
__thread struct engine *engine;

static const char STUCK[] = "threads wait at a barrier or warp operation that others never reach";

static void engine_switch(struct engine *e, struct fiber *to)
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

void lanes_ready(struct engine *e, unsigned w, uint32_t lanes)
{
	for (; lanes; lanes &= lanes - 1)
		ready_push(e, w * SOFTGPU_WARP + static_cast<unsigned>(__builtin_ctz(lanes)));
}

static bool all_started(const struct engine *e)
{
	return e->started_warps == e->nwarp;
}

/* Makes the next thread that has not started the running one. */
static void thread_start(struct engine *e)
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
static void thread_end(struct engine *e)
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
static struct fiber *thread_resume(struct engine *e)
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
static void engine_loop()
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
static struct fiber *fiber_idle(struct engine *e)
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
static void fibers_release(struct engine *e)
{
	while (e->owned) {
		struct fiber *f = e->owned;

		e->owned = f->next_owned;
		fiber_put(f);
	}
	e->idle = nullptr;
}

void block_fault(struct engine *e, const char *why)
{
	e->fault = why;
	engine_switch(e, &e->main);
	__builtin_unreachable();
}

void thread_wait(struct engine *e, bool start_first)
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

static struct engine *engine_get()
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

static void warps_prepare(struct engine *e, uint64_t random)
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
