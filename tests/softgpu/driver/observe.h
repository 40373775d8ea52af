/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and kernels as a profiler sees them: softgpu_observe. Free while nobody looks. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_OBSERVE_H
#define AF_TESTS_SOFTGPU_DRIVER_OBSERVE_H

#include <stdint.h>

/* A call enters the driver, no lock held: gives it its number and tells the observer. */
void observe_enter(const char *call);
/* The number of this thread's call, for work that it queues. */
uint32_t observe_call();

/* Work queued by a call begins on this thread, until the object goes. */
struct observe_work {
	explicit observe_work(uint32_t call, uint64_t graph_node = 0);
	~observe_work();
	observe_work(const observe_work &) = delete;
	observe_work &operator=(const observe_work &) = delete;
};

/* Around one run of a kernel. */
uint64_t observe_now();
void observe_ran(const char *kernel, uint64_t start);

#endif
