/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background threads. Each takes jobs in order, starts with its first job, blocks all signals and
 * runs in relaxed capture mode, so that nothing it does can spoil a capture of the program's. Those
 * that wait for children are several where many jobs wait.
 */
#ifndef AF_SHIM_WORKER_H
#define AF_SHIM_WORKER_H

#include <pthread.h>
#include <stdbool.h>

#include "shim/driver.h"

struct worker_job {
	void (*run)(struct worker_job *job); /* frees the job */
	/* How often what the job is about was met meanwhile: the highest goes first, and of equals
	 * the first one. Outlives the job; NULL: 0. */
	const unsigned *weight;
	struct worker_job *next;
};

struct worker {
	const char *name; /* for debuggers, at most 15 characters */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct worker_job *first, **last;
	bool dead;
	unsigned threads, waiting; /* jobs that nobody has taken */
	/* Another thread, up to so many (NULL: one), where more than `patience` jobs wait. */
	unsigned (*most)(void);
	unsigned patience;
	/* Called about every millisecond between jobs while it returns true. */
	bool (*poll)(void);
	bool polling; /* set it with worker_poll */
	/* Called on each thread that had nothing to do for a while. */
	void (*rest)(void);
};

/* One for device memory of checks and their results, one for probes (each waits for a child), one
 * for what stands beside graphs, one for kernels that are compiled (each waits for a child, too).
 */
extern struct worker worker_device, worker_probe, worker_graph, worker_build;

/* Queues a job. -1 if the thread cannot be started; the job is then the caller's again. */
int worker_post(struct worker *w, struct worker_job *job);
/* Starts the thread, which then waits: for those who will have no time for that. */
void worker_start(struct worker *w);
/* Calls w->poll until it returns false. */
void worker_poll(struct worker *w);

/* Starts a detached thread with all signals blocked. 0 or -1. */
int worker_thread(void *(*fn)(void *), void *arg, const char *name);

/*
 * Background threads call the driver only between worker_driver_enter (false: the process is
 * ending, do not) and worker_driver_leave. worker_driver_wait returns when none is inside; with
 * forever = true none will enter again (at exit).
 */
bool worker_driver_enter(void);
bool worker_driver_enter_soon(void); /* false also if it takes too long */
void worker_driver_leave(void);
bool worker_driver_open(void); /* may background threads still call the driver? */
void worker_driver_wait(bool forever);

#endif
