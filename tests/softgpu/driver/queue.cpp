/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/queue.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include "tests/softgpu/driver/block.h"

namespace
{
enum { IDLE_MS = 100 }; /* a worker without work goes after this long */

struct timespec deadline(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

void complete(struct queue *q)
{
	q->completed++;
	if (q->completed >= q->wanted) {
		q->wanted = UINT64_MAX; /* whoever waits for more says so again */
		pthread_cond_broadcast(&q->done);
	}
}

void work(struct queue *q)
{
	for (;;) {
		if (q->pending.empty()) {
			struct timespec until = deadline(IDLE_MS);

			pthread_cond_timedwait(&q->work, &driver.lock, &until);
			if (q->pending.empty())
				return;
			continue;
		}
		struct operation op = std::move(q->pending.front());
		for (const struct point &p : op.after)
			point_wait(p);
		pthread_mutex_unlock(&driver.lock);
		CUresult r = op.run ? op.run() : CUDA_SUCCESS;
		op.run = nullptr; /* what it held goes before anybody learns that it is done */
		pthread_mutex_lock(&driver.lock);
		if (r != CUDA_SUCCESS && q->fault && *q->fault == CUDA_SUCCESS)
			*q->fault = r;
		q->pending.pop_front();
		complete(q);
	}
}

void *worker(void *arg)
{
	std::shared_ptr<struct queue> *handed = static_cast<std::shared_ptr<struct queue> *>(arg);
	std::shared_ptr<struct queue> q = *handed;

	delete handed;
	prctl(PR_SET_NAME, "softgpu-stream");
	pthread_mutex_lock(&driver.lock);
	work(q.get());
	q->working = false;
	pthread_mutex_unlock(&driver.lock);
	block_release();
	return nullptr;
}

void start_worker(const std::shared_ptr<struct queue> &q)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	q->working = true;
	sigfillset(&all); /* signals are for the program's threads */
	for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
		sigdelset(&all, fault); /* but a kernel's faults cannot wait */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, worker, new std::shared_ptr<struct queue>(q)) != 0)
		abort(); /* nothing could ever run on this stream */
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
} // namespace

bool point::reached() const
{
	return !queue || queue->completed >= seq;
}

void queue_make_room(const std::shared_ptr<struct queue> &q)
{
	if (q->pending.size() >= QUEUE_LIMIT)
		point_wait({q, q->submitted - QUEUE_LIMIT + 1});
}

struct point queue_submit(const std::shared_ptr<struct queue> &q, struct operation &&op)
{
	q->pending.push_back(std::move(op));
	q->submitted++;
	if (!q->working)
		start_worker(q);
	else if (q->pending.size() == 1)
		pthread_cond_signal(&q->work);
	return {q, q->submitted};
}

struct point queue_end(const std::shared_ptr<struct queue> &q)
{
	return {q, q->submitted};
}

void point_wait(const struct point &p)
{
	std::shared_ptr<struct queue> q = p.queue;

	while (!p.reached()) {
		if (p.seq < q->wanted)
			q->wanted = p.seq;
		pthread_cond_wait(&q->done, &driver.lock);
	}
}

struct point point_new()
{
	std::shared_ptr<struct queue> q = std::make_shared<struct queue>();

	q->submitted = 1;
	return {q, 1};
}

void point_reach(const struct point &p)
{
	p.queue->completed = p.seq;
	pthread_cond_broadcast(&p.queue->done);
}
