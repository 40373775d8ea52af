/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: what belongs to one, and the calling thread's stack of them. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_CONTEXT_H
#define AF_TESTS_SOFTGPU_DRIVER_CONTEXT_H

#include "tests/softgpu/driver/object.h"
#include "tests/softgpu/driver/state.h"

/* A destroyed stream's work goes on. */
struct orphan {
	std::shared_ptr<struct queue> queue;
	bool blocking;
};

struct context {
	static const enum object_kind KIND = OBJECT_CONTEXT;
	struct device *device;
	unsigned flags, api_version;
	bool primary;
	uint64_t id;
	std::shared_ptr<CUresult> fault; /* sticky: every call that needs the context answers it */
	struct stream *legacy;
	std::map<uint64_t, struct stream *> per_thread; /* by thread_id() */
	std::set<struct stream *> streams;              /* all of them */
	std::vector<struct orphan> orphans;             /* work of destroyed streams */
	std::map<CUlimit, size_t> limits;
	CUfunc_cache cache_config;
};

/* The calling thread's context, or NULL and why not: none, destroyed, or faulted. */
struct context *context_current(CUresult *why);
/* context_current, else return from a CUresult function. */
#define CONTEXT_OR_RETURN(ctx)                                                                     \
	CUresult ctx##_why;                                                                        \
	struct context *ctx = context_current(&ctx##_why);                                         \
	if (!ctx)                                                                                  \
		return ctx##_why;
/* The context behind a handle to make current; one that was a primary one before a reset counts,
 * though calls in it will fail. NULL: neither. */
struct context *context_selectable(CUcontext handle);
/* Puts a context on the calling thread's stack; false if that is full. */
bool context_push(struct context *ctx);
struct device *device_get(CUdevice dev); /* NULL if there is no such device */

struct context *context_new(struct device *dev, unsigned flags, unsigned api_version, bool primary);
/* Waits for its work, then frees all that belongs to it. The handle is gone afterwards. */
void context_delete(struct context *ctx);
/* Waits until everything submitted to the context is done. */
void context_wait(struct context *ctx);

#endif
