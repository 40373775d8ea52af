/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the block that an operating system thread runs: between block.cpp and sync.cpp. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_THREADS_H
#define AF_TESTS_SOFTGPU_DRIVER_THREADS_H

#include "tests/softgpu/driver/block.h"
#include "tests/softgpu/driver/fiber.h"
#include "tests/softgpu/driver/warp.h"

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

/* The calling thread's; NULL before its first block. */
extern __thread struct engine *engine;

/* Thread t can go on. */
void ready_push(struct engine *e, unsigned t);
/* Threads of `lanes` in warp w can go on. */
void lanes_ready(struct engine *e, unsigned w, uint32_t lanes);
/* Everybody is at the barrier: all but thread `self` (-1: all) can go on. */
void barrier_complete(struct engine *e, int self);
/*
 * The running thread waits until another one makes it ready. Threads that can go on come before
 * those not yet started, unless start_first.
 */
void thread_wait(struct engine *e, bool start_first = false);
/* Ends the block from inside it. */
[[noreturn]] void block_fault(struct engine *e, const char *why);

#endif
