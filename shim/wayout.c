/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out: a held launch never waits for the program's next call. Each window that ever held
 * something has a thread of its own, so that one stuck in the driver delays no other window. It
 * ticks while launches get held and sleeps on a futex otherwise; arming it costs a store, and a
 * system call only when it sleeps.
 */
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/window_state.h"
#include "shim/worker.h"

enum {
	IDLE_TICKS = 64, /* ticks without anything held before it sleeps */
	TICK_NS_MIN = 20000,
	RECORD_TICKS = 200,
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tick(void)
{
	long ns = process.config.opt.idle_us * 1000 / 2;
	struct timespec t = {0, ns < TICK_NS_MIN ? TICK_NS_MIN : ns > 500000000 ? 500000000 : ns};

	nanosleep(&t, NULL);
}

/* A recording shall have the timer before the launches that come after it. They may not come soon.
 */
static bool wait_for_record(unsigned *waited)
{
	if (!record_on || !__atomic_load_n(&record_ahead, __ATOMIC_SEQ_CST) ||
	    ++*waited > RECORD_TICKS)
		return false;
	return true;
}

static void submit(struct window *w, unsigned arms, unsigned *waited)
{
	/* Not if the thread that holds the lock is at work on this very window. */
	pthread_mutex_lock(&w->lock);
	if (w->used && w->held && w->arms == arms && worker_driver_open() &&
	    !wait_for_record(waited)) {
		const unsigned fused = w->fused;
		CUresult r;

		*waited = 0;
		COUNT(timed_out, w->held);
		if (record_on)
			record_timer(w->stream, w->ours->generation);
		r = window_flush(w, REASON_TIMER);
		if (w->fused == fused)
			COUNT(sequences_timed_out, 1);
		if (r)
			w->pending = r;
		window_update(w);
	}
	pthread_mutex_unlock(&w->lock);
}

static void *wayout_main(void *arg)
{
	struct window *w = arg;
	unsigned seen = 0, seen_arms = 0, idle = 0, waited = 0;
	uint64_t quiet_since = 0;

	prctl(PR_SET_NAME, "autofuse-out");
	prctl(PR_SET_TIMERSLACK, 1);
	guard_enter();
	for (;;) {
		unsigned activity, arms;
		uint64_t now;

		if (idle >= IDLE_TICKS) {
			__atomic_store_n(&w->wayout_asleep, 1, __ATOMIC_SEQ_CST);
			if (!__atomic_load_n(&w->held, __ATOMIC_SEQ_CST))
				syscall(SYS_futex, &w->wayout_asleep, FUTEX_WAIT_PRIVATE, 1, NULL,
					NULL, 0);
			__atomic_store_n(&w->wayout_asleep, 0, __ATOMIC_SEQ_CST);
			idle = 0;
		}
		tick();
		arms = __atomic_load_n(&w->arms, __ATOMIC_ACQUIRE);
		if (!__atomic_load_n(&w->held, __ATOMIC_ACQUIRE)) {
			idle = arms == seen_arms ? idle + 1 : 0;
			seen_arms = arms;
			continue;
		}
		idle = 0;
		now = now_ns();
		activity = __atomic_load_n(&w->activity, __ATOMIC_ACQUIRE);
		if (activity != seen || arms != seen_arms) {
			seen = activity;
			seen_arms = arms;
			quiet_since = now;
		}
		if (now - quiet_since >= (uint64_t)process.config.opt.idle_us * 1000 ||
		    now - __atomic_load_n(&w->held_since, __ATOMIC_ACQUIRE) >=
			    (uint64_t)process.config.opt.hold_us * 1000)
			submit(w, arms, &waited);
	}
	return NULL;
}

void wayout_arm(struct window *w)
{
	const unsigned held = seq_held(w->seq) + w->nrun;

	/* All of these are written under the lock. */
	__atomic_store_n(&w->arms, w->arms + 1, __ATOMIC_RELEASE);
	if (w->held) { /* it is awake */
		__atomic_store_n(&w->held, held, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&w->held_since, now_ns(), __ATOMIC_RELEASE);
	__atomic_store_n(&w->held, held, __ATOMIC_SEQ_CST);
	if (!w->wayout_started) {
		if (worker_thread(wayout_main, w, "autofuse-out")) {
			process_off("no thread could be started");
			return;
		}
		w->wayout_started = true;
	}
	if (__atomic_load_n(&w->wayout_asleep, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&w->wayout_asleep, 0, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &w->wayout_asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}
