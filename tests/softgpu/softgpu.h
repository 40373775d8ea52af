/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU's own interface, for tests: exported by its libcuda.so.1 beside the driver's
 * functions. Look the names up with dlsym, or link with libcuda.so.1. What is here can also be
 * driven from outside by environment variables:
 *
 *   SOFTGPU_KERNELS=lib[:lib...]     companion libraries to load (more are found by name)
 *   SOFTGPU_DEVICES=n                devices, 1 by default
 *   SOFTGPU_MEMORY=bytes             memory of each, 8 GiB by default
 *   SOFTGPU_SEED=n                   makes the orders of blocks and warps repeatable
 *   SOFTGPU_FAIL=name:nth:code[,...] the nth call (from 1, * for every one) of that name answers
 * code SOFTGPU_SLOW=name:usec[,...]     every call of that name takes that much longer
 *   SOFTGPU_REPORT=file              at exit, counts of kernels run, of calls made and of graphs
 * that are still there (%p: process id)
 *
 * A name is an exported one (cuMemAlloc_v2) or stands for all versions and flavours (cuMemAlloc).
 */
#ifndef AF_TESTS_SOFTGPU_SOFTGPU_H
#define AF_TESTS_SOFTGPU_SOFTGPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Runs of a kernel that have ended, by mangled name; NULL: of all kernels. */
uint64_t softgpu_launches(const char *kernel);
/* Calls of a driver function that entered the driver, refused ones included; NULL: all calls. */
uint64_t softgpu_calls(const char *name);
/* Sets both counts to 0. */
void softgpu_reset_counts(void);
/* As SOFTGPU_FAIL and SOFTGPU_SLOW; rules add up, NULL clears them. 0, or -1 for a bad rule. */
int softgpu_fail(const char *rules);
int softgpu_slow(const char *rules);
/* on: kernels are queued and end as ever, and do nothing: for those who time what launching costs.
 */
void softgpu_idle(int on);
/* Writes the report now, in the form of SOFTGPU_REPORT: lines "kernel NAME N", "call NAME N"
 * and "graphs N". */
int softgpu_report(const char *file);

/*
 * Calls and kernels as a profiler sees them. enter: before a call does anything, on its thread,
 * with a number that differs for every call; ran: a kernel that this call queued has ended (times
 * of CLOCK_MONOTONIC in ns), graph_node not 0 where it was a graph's. One observer at a time, never
 * freed: -1 if there is one. NULL takes it away.
 */
struct softgpu_observer {
	void (*enter)(void *arg, const char *call, uint32_t number);
	void (*ran)(void *arg, uint32_t number, const char *kernel, uint64_t start, uint64_t end,
		    uint64_t graph_node);
	void *arg;
};
int softgpu_observe(const struct softgpu_observer *o);

/* Driver functions outside every table, as newer and graphics-enabled drivers have them. */
int cuSoftgpuExtra(void); /* waits for the current context; CUresult */
/* *sum = a + ... + h + (long)x + (long)y: arguments in registers and on the stack. CUresult. */
int cuSoftgpuInterop(long *sum, long a, long b, long c, long d, long e, double x, long f, long g,
		     long h, double y);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
