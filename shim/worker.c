/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "shim/check.h"
#include "shim/graph.h"
#include "shim/process.h"

enum { POLL_NS = 1000000, REST_NS = 400000000, EXIT_WAIT_S = 2 };

struct worker worker_device = {.name = "autofuse-dev",
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .more = PTHREAD_COND_INITIALIZER,
			       .poll = check_poll};
struct worker worker_graph = {.name = "autofuse-graph",
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .more = PTHREAD_COND_INITIALIZER,
			      .poll = graph_poll};

static struct {
	pthread_mutex_t lock; /* held by the one background thread inside the driver */
	bool closed;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool worker_driver_enter(void)
{
	pthread_mutex_lock(&gate.lock);
	if (!gate.closed)
		return true;
	pthread_mutex_unlock(&gate.lock);
	return false;
}

void worker_driver_leave(void)
{
	pthread_mutex_unlock(&gate.lock);
}

bool worker_driver_open(void)
{
	return !__atomic_load_n(&gate.closed, __ATOMIC_ACQUIRE);
}

/* False: somebody is stuck in the driver, and what the program wants to do matters more. */
static bool lock_soon(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += EXIT_WAIT_S;
	return !pthread_mutex_timedlock(&gate.lock, &t);
}

bool worker_driver_enter_soon(void)
{
	if (!lock_soon())
		return false;
	if (!gate.closed)
		return true;
	pthread_mutex_unlock(&gate.lock);
	return false;
}

void worker_driver_wait(bool forever)
{
	if (!lock_soon())
		return;
	if (forever)
		__atomic_store_n(&gate.closed, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&gate.lock);
}

int worker_thread(void *(*fn)(void *), void *arg, const char *name)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t t;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&t, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err ? -1 : 0;
}

/* Waits for news, at most so long; 0: for ever. False: time is up. Lock held. */
static bool wait_for(struct worker *w, long ns)
{
	struct timespec t;

	if (!ns)
		return !pthread_cond_wait(&w->more, &w->lock);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return !pthread_cond_timedwait(&w->more, &w->lock, &t);
}

/* Until there is something to do. Lock held. */
static void await(struct worker *w, bool *rested)
{
	while (!w->first && !w->polling) {
		if (wait_for(w, w->rest && !*rested ? REST_NS : 0))
			continue;
		*rested = true;
		pthread_mutex_unlock(&w->lock);
		w->rest();
		pthread_mutex_lock(&w->lock);
	}
	if (!w->first)
		wait_for(w, POLL_NS);
}

static unsigned weight(const struct worker_job *job)
{
	return job->weight ? __atomic_load_n(job->weight, __ATOMIC_RELAXED) : 0;
}

/* The first of those that weigh most. Lock held. */
static struct worker_job *take(struct worker *w)
{
	struct worker_job **best = &w->first, *job;

	if (!w->first)
		return NULL;
	for (struct worker_job **at = &w->first->next; *at; at = &(*at)->next)
		if (weight(*at) > weight(*best))
			best = at;
	job = *best;
	*best = job->next;
	if (w->last == &job->next)
		w->last = best;
	w->waiting--;
	return job;
}

static int start(struct worker *w);

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	bool relaxed = false, rested = true;

	prctl(PR_SET_NAME, w->name);
	guard_enter(); /* whatever this thread calls, it is not the program's */
	for (;;) {
		struct worker_job *job;
		bool polling;

		pthread_mutex_lock(&w->lock);
		await(w, &rested);
		job = take(w);
		if (job && w->most && w->waiting > w->patience && w->threads < w->most())
			start(w);
		polling = w->polling; /* asked again while the poll runs: kept */
		w->polling = false;
		pthread_mutex_unlock(&w->lock);
		if (!relaxed && real.cuThreadExchangeStreamCaptureMode) {
			CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

			relaxed = real.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
		}
		if (job) {
			job->run(job);
			rested = false;
		}
		if (polling && w->poll())
			worker_poll(w);
	}
	return NULL;
}

/* One more. Lock held. */
static int start(struct worker *w)
{
	if (!w->threads)
		w->last = &w->first;
	if (w->dead || worker_thread(worker_main, w, w->name)) {
		w->dead = true;
		return -1;
	}
	w->threads++;
	return 0;
}

int worker_post(struct worker *w, struct worker_job *job)
{
	int ret;

	job->next = NULL;
	pthread_mutex_lock(&w->lock);
	ret = w->threads ? 0 : start(w);
	if (!ret) {
		*w->last = job;
		w->last = &job->next;
		w->waiting++;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	return ret;
}

void worker_start(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (!w->threads)
		start(w);
	pthread_mutex_unlock(&w->lock);
}

void worker_poll(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if ((w->threads || !start(w)) && !w->polling) {
		w->polling = true;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
}
