/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/observe.h"
#include <atomic>
#include <time.h>
#include "tests/softgpu/softgpu.h"

namespace
{
std::atomic<const struct softgpu_observer *> observer;
std::atomic<uint32_t> calls;

/* Without a destructor: calls come from exit handlers, too. */
__thread uint32_t this_call, work_call;
__thread uint64_t work_node;
} // namespace

int softgpu_observe(const struct softgpu_observer *o)
{
	const struct softgpu_observer *none = nullptr;

	if (!o) {
		observer = nullptr;
		return 0;
	}
	return observer.compare_exchange_strong(none, o) ? 0 : -1;
}

void observe_enter(const char *call)
{
	const struct softgpu_observer *o = observer.load(std::memory_order_acquire);

	if (!o)
		return;
	this_call = ++calls;
	o->enter(o->arg, call, this_call);
}

uint32_t observe_call()
{
	return this_call;
}

observe_work::observe_work(uint32_t call, uint64_t graph_node)
{
	work_call = call;
	work_node = graph_node;
}

observe_work::~observe_work()
{
	work_call = 0;
	work_node = 0;
}

uint64_t observe_now()
{
	struct timespec t;

	if (!observer.load(std::memory_order_relaxed))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

void observe_ran(const char *kernel, uint64_t start)
{
	const struct softgpu_observer *o = observer.load(std::memory_order_acquire);

	if (o && start)
		o->ran(o->arg, work_call, kernel, start, observe_now(), work_node);
}
