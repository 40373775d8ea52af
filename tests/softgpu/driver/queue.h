/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous execution: a queue runs its operations one after the other on a worker thread of its
 * own. An operation may wait for points of other queues. The worker comes with the first operation
 * and goes after a while without any. All functions want the driver's lock.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_QUEUE_H
#define AF_TESTS_SOFTGPU_DRIVER_QUEUE_H

#include <deque>
#include <functional>
#include <memory>
#include "tests/softgpu/driver/state.h"

struct queue;

/* The moment when the first `seq` operations of a queue are done. */
struct point {
	std::shared_ptr<struct queue> queue;
	uint64_t seq = 0;

	bool reached() const;
};

struct operation {
	std::vector<struct point> after;
	std::function<CUresult()> run; /* without the lock */
};

/* As many operations may wait in a queue as on a GPU; then a submission blocks. */
enum { QUEUE_LIMIT = 1024 };

struct queue {
	std::deque<struct operation> pending; /* the first one may be running */
	uint64_t submitted = 0, completed = 0;
	uint64_t wanted = UINT64_MAX; /* the nearest point that somebody waits for */
	bool working = false;         /* a worker thread exists */
	pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
	std::shared_ptr<CUresult> fault; /* the context's; a failing operation sets it */
};

/* Blocks while the queue is full. */
void queue_make_room(const std::shared_ptr<struct queue> &q);
struct point queue_submit(const std::shared_ptr<struct queue> &q, struct operation &&op);
/* Where everything submitted so far is done. */
struct point queue_end(const std::shared_ptr<struct queue> &q);
void point_wait(const struct point &p);
/* A point on no queue, for something in the middle of an operation; reached when somebody says so.
 */
struct point point_new();
void point_reach(const struct point &p);

#endif
