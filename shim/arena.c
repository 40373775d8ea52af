/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/arena.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/log.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/window.h"
#include "shim/worker.h"

#define KEPT_NS 5000000000u /* memory beyond the least is kept so long for the next check */

enum {
	SETTLE_TICKS =
		5, /* polls (about a millisecond each) without an allocation of the program's */
	GIVE_UP_TICKS = 500,       /* some programs never settle */
	BYTES_MIN = 8 << 20,       /* is there from the start, as most checks need no more */
	BYTES_UNMAPPED = 64 << 20, /* at most, where memory cannot be mapped and stays */
	BYTES_LEAST = 64 << 10,    /* a smaller check_memory means no live checks */
	COUNTER_BYTES = 256,
	SLOTS_BYTES = ARENA_SIGNALS * ARENA_SLOT_WORDS * 8,
};

static struct {
	pthread_mutex_t lock; /* guards the list, states and signals; never held in a driver call */
	struct arena *first;
} arenas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct arena *find(const struct ours *o)
{
	struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE);

	while (a && a->generation != o->generation)
		a = a->next;
	return a;
}

static struct arena *find_or_make(const struct ours *o)
{
	struct arena *a = find(o);

	if (!a && (a = calloc(1, sizeof(*a)))) {
		a->ctx = o->ctx;
		a->device = o->device;
		a->generation = o->generation;
		a->next = arenas.first;
		__atomic_store_n(&arenas.first, a, __ATOMIC_RELEASE);
	}
	return a;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t arena_bytes(const struct arena *a)
{
	return __atomic_load_n(&a->memory.bytes, __ATOMIC_ACQUIRE);
}

/* As many as there will ever be, of so many. */
static uint64_t at_most(const struct arena *a, uint64_t bytes)
{
	uint64_t most = a ? __atomic_load_n(&a->most, __ATOMIC_ACQUIRE) : 0;

	if (!most)
		most = process.config.opt.check_memory;
	return bytes < most ? bytes : most;
}

struct arena *arena_get(const struct ours *o, uint64_t bytes)
{
	struct arena *a = find(o);
	const uint64_t asked = bytes;

	if (bytes && bytes < BYTES_MIN)
		bytes = BYTES_MIN;
	bytes = at_most(a, bytes);
	if (a && bytes > BYTES_MIN)
		__atomic_store_n(&a->used_much, now_ns(), __ATOMIC_RELAXED);
	if (a && __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == ARENA_READY &&
	    arena_bytes(a) >= bytes && (!asked || arena_bytes(a)))
		return a;
	if (asked && (process.config.opt.check_memory < BYTES_LEAST || (a && a->denied)))
		return NULL;
	pthread_mutex_lock(&arenas.lock);
	a = find_or_make(o);
	if (a && (a->state == ARENA_NONE || a->state == ARENA_READY) && a->want < bytes + !asked) {
		a->want = bytes;
		a->ticks = 0;
		a->events_seen = memory_events();
		/* What there is can be used until there is more. */
		if (a->state == ARENA_NONE || !a->memory.bytes)
			__atomic_store_n(&a->state, ARENA_WANTED, __ATOMIC_RELEASE);
		worker_poll(&worker_device);
	}
	pthread_mutex_unlock(&arenas.lock);
	return NULL;
}

CUdeviceptr arena_slot(const struct arena *a, int signal)
{
	return a->slots_dev + (CUdeviceptr)signal * ARENA_SLOT_WORDS * 8;
}

int arena_signal(struct arena *a, struct verdict *v, int64_t rows)
{
	int found = -1;

	pthread_mutex_lock(&arenas.lock);
	for (int i = 1; i < ARENA_SIGNALS && found < 0; i++)
		if (!a->signal[i].ticket)
			found = i;
	if (found > 0) {
		a->signal[found].verdict = v;
		a->signal[found].rows = rows;
		a->signal[found].passed = NULL;
		a->signal[found].ticket = __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&arenas.lock);
	if (found > 0)
		worker_poll(&worker_device);
	return found;
}

void arena_signal_drop(struct arena *a, int signal)
{
	pthread_mutex_lock(&arenas.lock);
	a->signal[signal].ticket = 0;
	pthread_mutex_unlock(&arenas.lock);
}

bool arena_never(const struct ours *o)
{
	const struct arena *a = find(o);

	return process.config.opt.check_memory < BYTES_LEAST ||
	       (a && (a->denied || __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == ARENA_GONE));
}

/* Of what is wanted the least; more comes by growing. False: there is none. Context current. */
static bool allocate_memory(struct arena *a)
{
	const uint64_t most = process.config.opt.check_memory;
	const uint64_t want = a->want < BYTES_UNMAPPED ? a->want : BYTES_UNMAPPED;

	a->denied = !arena_memory_make(&a->memory, a->device,
				       a->want < BYTES_MIN ? a->want : BYTES_MIN, want, most);
	if (!a->denied && !a->memory.reserved)
		__atomic_store_n(&a->most, want, __ATOMIC_RELEASE);
	return !a->denied;
}

/* The same for more of it, while no check uses it. False: to be tried again. */
static bool grow(struct arena *a, uint64_t want)
{
	CUcontext old;
	int idle = 0;

	if (!__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	if (a->memory.bytes && a->memory.bytes < want && !real.cuCtxPushCurrent_v2(a->ctx)) {
		if (!arena_memory_grow(&a->memory, a->device, want)) {
			log_info("no more than %" PRIu64 " bytes of device memory for live checks",
				 a->memory.bytes);
			__atomic_store_n(&a->most, a->memory.bytes, __ATOMIC_RELEASE);
		}
		real.cuCtxPopCurrent_v2(&old);
	}
	__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	return true;
}

/* Gives back what was not needed lately. True: later, maybe. */
static bool shrink(struct arena *a)
{
	int idle = 0;

	if (a->memory.bytes <= a->memory.first)
		return false;
	if (now_ns() - __atomic_load_n(&a->used_much, __ATOMIC_RELAXED) < KEPT_NS ||
	    __atomic_load_n(&window_captures, __ATOMIC_SEQ_CST) ||
	    !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return true;
	arena_memory_shrink(&a->memory);
	__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	return false;
}

/* Allocates what is missing. Driver entered. False: there is none. */
static bool allocate(struct arena *a)
{
	void *host = (void *)a->slots;
	CUcontext old;
	bool ok;

	if (real.cuCtxPushCurrent_v2(a->ctx))
		return false;
	ok = host || (!real.cuMemHostAlloc(&host, SLOTS_BYTES,
					   CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE) &&
		      !real.cuMemHostGetDevicePointer_v2(&a->slots_dev, host, 0) &&
		      !real.cuMemAlloc_v2(&a->counter, COUNTER_BYTES));
	if (ok && !a->slots)
		memset(host, 0, SLOTS_BYTES);
	if (ok)
		a->slots = host;
	if (ok && a->want && !a->memory.bytes)
		ok = allocate_memory(a);
	real.cuCtxPopCurrent_v2(&old);
	if (!ok)
		log_info("no device memory for live checks");
	return ok;
}

void arena_make(const struct ours *o)
{
	unsigned long most = process.config.opt.check_memory;
	struct arena *a;
	bool mine;

	if (most < BYTES_LEAST)
		return;
	pthread_mutex_lock(&arenas.lock);
	a = find_or_make(o);
	mine = a && a->state == ARENA_NONE;
	if (mine) {
		a->want = BYTES_MIN < most ? BYTES_MIN : most;
		__atomic_store_n(&a->state, ARENA_MAKING, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&arenas.lock);
	if (mine)
		__atomic_store_n(&a->state, allocate(a) || a->slots ? ARENA_READY : ARENA_GONE,
				 __ATOMIC_RELEASE);
}

/* Have the program's allocations come to rest? */
static bool settled(struct arena *a)
{
	uint64_t now = memory_events();

	a->ticks++;
	if (now != a->events_seen && a->ticks < GIVE_UP_TICKS) {
		a->events_seen = now;
		a->ticks = 0;
	}
	return a->ticks >= SETTLE_TICKS;
}

/* True while the arena waits for a signal. Results are appended to done[]. */
static bool collect(struct arena *a, struct signal *done, bool *same, unsigned *ndone)
{
	bool waiting = false;

	for (int i = 0; i < ARENA_SIGNALS; i++) {
		struct signal *s = &a->signal[i];
		volatile uint64_t *slot = &a->slots[i * ARENA_SLOT_WORDS];

		if (!s->ticket)
			continue;
		if (__atomic_load_n(&slot[2], __ATOMIC_ACQUIRE) != s->ticket) {
			waiting = true;
			continue;
		}
		same[*ndone] =
			!slot[0] || (process.config.opt.numerics == NUMERICS_CLOSE && slot[1] <= 1);
		done[(*ndone)++] = *s;
		s->passed = NULL;
		s->ticket = 0;
		if (i == 0)
			__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	}
	return waiting;
}

static void deliver(const struct signal *s, bool same)
{
	if (!s->verdict)
		return;
	verdict_unmark(s->verdict);
	if (s->rows)
		verdict_checked(s->verdict, s->rows, same);
	if (!same || !s->passed)
		return;
	__atomic_store_n(s->passed, 1, __ATOMIC_RELEASE);
	verdict_news();
}

/* One arena's turn. Driver entered. True while there is something to wait for. */
static bool turn(struct arena *a)
{
	struct signal done[ARENA_SIGNALS];
	bool same[ARENA_SIGNALS], again = false;
	unsigned ndone = 0;
	uint64_t want;
	int state;

	pthread_mutex_lock(&arenas.lock);
	state = a->state;
	want = at_most(a, a->want);
	if (state == ARENA_READY || (state == ARENA_WANTED && a->slots))
		again = collect(a, done, same, &ndone);
	pthread_mutex_unlock(&arenas.lock);
	for (unsigned i = 0; i < ndone; i++)
		deliver(&done[i], same[i]);
	if (state != ARENA_WANTED && (state != ARENA_READY || want <= arena_bytes(a)))
		return (state == ARENA_READY && shrink(a)) || again;
	/* Not while a capture is under way: the begin of one waits for us to leave the driver. */
	if (!settled(a) || __atomic_load_n(&window_captures, __ATOMIC_SEQ_CST))
		return true;
	if (state == ARENA_READY) {
		if (!grow(a, want))
			return true;
		pthread_mutex_lock(&arenas.lock);
		a->want = 0;
		pthread_mutex_unlock(&arenas.lock);
		return true;
	}
	/* The memory of checks is no reason to give up the rest. */
	state = allocate(a) || a->slots ? ARENA_READY : ARENA_GONE;
	pthread_mutex_lock(&arenas.lock);
	if (a->state == ARENA_WANTED)
		__atomic_store_n(&a->state, state, __ATOMIC_RELEASE);
	if (arena_bytes(a) >= at_most(a, a->want))
		a->want = 0;
	pthread_mutex_unlock(&arenas.lock);
	return again || state == ARENA_READY;
}

bool arena_poll(void)
{
	bool again = false;

	for (struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next) {
		if (!worker_driver_enter())
			return false;
		again |= turn(a);
		worker_driver_leave();
	}
	return again;
}

bool arena_release_memory(void)
{
	bool freed = false;

	for (struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next) {
		CUcontext old;
		int idle = 0;

		/* Not in use on the device: the free waits for nothing of ours. */
		if (__atomic_load_n(&a->state, __ATOMIC_ACQUIRE) != ARENA_READY ||
		    !arena_bytes(a) ||
		    !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		if (!real.cuCtxPushCurrent_v2(a->ctx)) {
			freed |= arena_memory_free(&a->memory);
			a->denied = true;
			real.cuCtxPopCurrent_v2(&old);
		}
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	}
	return freed;
}

/* What was mapped outlives its context. */
static void unmap(struct arena *a)
{
	if (a->memory.reserved)
		arena_memory_free(&a->memory);
}

void arena_drop_context(CUcontext ctx)
{
	worker_driver_wait(false); /* what the worker does there now must end first */
	pthread_mutex_lock(&arenas.lock);
	for (struct arena *a = arenas.first; a; a = a->next)
		if (a->ctx == ctx)
			__atomic_store_n(&a->state, ARENA_GONE, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&arenas.lock);
	for (struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next) {
		int idle = 0;

		/* A check may be under way still, and the context may live on. */
		if (a->ctx == ctx && __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == ARENA_GONE &&
		    __atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			unmap(a);
	}
}

void arena_context_gone(CUcontext ctx)
{
	worker_driver_wait(false); /* it may be giving some of it back */
	for (struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next)
		if (a->ctx == ctx && __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == ARENA_GONE)
			unmap(a);
}
