/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/worker.h"

enum {
	SETTLE_TICKS = 5,    /* polls (about a millisecond each) without an allocation of the program's */
	GIVE_UP_TICKS = 500, /* some programs never settle */
	BYTES_MIN = 1 << 20,
	COUNTER_BYTES = 256,
	SLOTS_BYTES = ARENA_SIGNALS * ARENA_SLOT_WORDS * 8,
};

static struct {
	pthread_mutex_t lock; /* guards the list, allocation and collection */
	struct arena *first;
} arenas = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct arena *arena_get(const struct ours *o, uint64_t bytes)
{
	struct arena *a;
	unsigned long most = process.config.opt.check_memory;

	for (a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next)
		if (a->generation == o->generation)
			break;
	if (a && __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == ARENA_READY)
		return a;
	if (most < BYTES_MIN)
		return NULL;
	pthread_mutex_lock(&arenas.lock);
	for (a = arenas.first; a; a = a->next)
		if (a->generation == o->generation)
			break;
	if (!a && (a = calloc(1, sizeof(*a)))) {
		a->ctx = o->ctx;
		a->generation = o->generation;
		a->next = arenas.first;
		__atomic_store_n(&arenas.first, a, __ATOMIC_RELEASE);
	}
	if (a && a->state == ARENA_NONE) {
		a->bytes = bytes < BYTES_MIN ? BYTES_MIN : bytes > most ? most : bytes;
		a->idle_ticks = 0;
		a->events_seen = memory_events();
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

int arena_signal(struct arena *a, struct verdict *v)
{
	int found = -1;

	pthread_mutex_lock(&arenas.lock);
	for (int i = 1; i < ARENA_SIGNALS && found < 0; i++)
		if (!a->signal[i].ticket)
			found = i;
	if (found > 0) {
		a->signal[found].verdict = v;
		a->signal[found].rows = 0;
		a->signal[found].ticket = __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&arenas.lock);
	if (found > 0)
		worker_poll(&worker_device);
	return found;
}

/* Allocates with the context current on this background thread. Lock held, driver entered. */
static void allocate(struct arena *a)
{
	void *host = NULL;
	CUcontext old;
	bool ok;

	if (real.cuCtxPushCurrent_v2(a->ctx))
		return;
	ok = !real.cuMemHostAlloc(&host, SLOTS_BYTES, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE) &&
	     !real.cuMemHostGetDevicePointer_v2(&a->slots_dev, host, 0) &&
	     !real.cuMemAlloc_v2(&a->base, a->bytes + COUNTER_BYTES);
	if (ok) {
		memset(host, 0, SLOTS_BYTES);
		a->slots = host;
		a->counter = a->base + a->bytes;
		memset(a->signal, 0, sizeof(a->signal));
		__atomic_store_n(&a->state, ARENA_READY, __ATOMIC_RELEASE);
	} else {
		/* The program needs what little there is: no live checks in this context. */
		if (host)
			real.cuMemFreeHost(host);
		__atomic_store_n(&a->state, ARENA_GONE, __ATOMIC_RELEASE);
		log_info("no device memory for live checks");
	}
	real.cuCtxPopCurrent_v2(&old);
}

/* Have the program's allocations come to rest? */
static bool settled(struct arena *a)
{
	uint64_t now = memory_events();

	a->idle_ticks++;
	if (now != a->events_seen && a->idle_ticks < GIVE_UP_TICKS) {
		a->events_seen = now;
		a->idle_ticks = 0;
	}
	return a->idle_ticks >= SETTLE_TICKS;
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
		same[*ndone] = !slot[0] ||
			       (process.config.opt.numerics == NUMERICS_CLOSE && slot[1] <= 1);
		done[(*ndone)++] = *s;
		s->ticket = 0;
		if (i == 0)
			__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	}
	return waiting;
}

bool arena_poll(void)
{
	bool again = false;

	for (struct arena *a = __atomic_load_n(&arenas.first, __ATOMIC_ACQUIRE); a; a = a->next) {
		struct signal done[ARENA_SIGNALS];
		bool same[ARENA_SIGNALS];
		unsigned ndone = 0;

		if (!worker_driver_enter())
			return false;
		pthread_mutex_lock(&arenas.lock);
		if (a->state == ARENA_WANTED && settled(a))
			allocate(a);
		again |= a->state == ARENA_WANTED;
		if (a->state == ARENA_READY)
			again |= collect(a, done, same, &ndone);
		pthread_mutex_unlock(&arenas.lock);
		worker_driver_leave();
		for (unsigned i = 0; i < ndone; i++) {
			if (!done[i].verdict)
				continue;
			verdict_unmark(done[i].verdict);
			if (done[i].rows)
				verdict_checked(done[i].verdict, done[i].rows, same[i]);
		}
	}
	return again;
}

bool arena_release_memory(void)
{
	bool freed = false;

	pthread_mutex_lock(&arenas.lock);
	for (struct arena *a = arenas.first; a; a = a->next) {
		int idle = 0;
		CUcontext old;
		bool waits = false;

		if (a->state != ARENA_READY ||
		    !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		for (int i = 0; i < ARENA_SIGNALS; i++)
			waits |= a->signal[i].ticket != 0;
		if (!waits && !real.cuCtxPushCurrent_v2(a->ctx)) {
			/* Idle on the device: the frees wait for nothing of ours. */
			__atomic_store_n(&a->state, ARENA_NONE, __ATOMIC_RELEASE);
			freed |= !real.cuMemFree_v2(a->base);
			real.cuMemFreeHost((void *)a->slots);
			real.cuCtxPopCurrent_v2(&old);
		}
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&arenas.lock);
	return freed;
}

void arena_drop_context(CUcontext ctx)
{
	pthread_mutex_lock(&arenas.lock);
	for (struct arena *a = arenas.first; a; a = a->next)
		if (a->ctx == ctx)
			__atomic_store_n(&a->state, ARENA_GONE, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&arenas.lock);
}
