/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's state. One lock guards all of it: entry points take it, workers take it between
 * operations, nobody holds it while a kernel or callback runs or while waiting. Nothing here is
 * ever destroyed, since workers may still run when the process exits.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_STATE_H
#define AF_TESTS_SOFTGPU_DRIVER_STATE_H

#include <map>
#include <memory>
#include <pthread.h>
#include <set>
#include <stdint.h>
#include <vector>
#include "tests/softgpu/driver/api.h"

struct context;
struct stream;
struct mempool;

struct device {
	int ordinal;
	size_t used; /* bytes of device memory handed out */
	struct context *primary;
	const void *last_primary; /* its handle, or the one that it had before a reset */
	unsigned primary_refs, primary_flags;
	struct mempool *default_pool, *current_pool;
};

struct driver {
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool initialised;
	bool forked; /* the parent had initialised: nothing works in this process */
	std::vector<struct device> devices;
	bool launch_blocking; /* CUDA_LAUNCH_BLOCKING=1 */
	size_t device_memory; /* bytes per device */
	int capability;       /* compute capability times 10 */
	uint64_t seed;        /* of everything that is random on a GPU */
	uint64_t next_id;     /* contexts, streams, allocations, captures */
	uint64_t launches;
};
extern struct driver &driver;

enum { CONTEXT_DEPTH = 16 };

/* What a thread is doing. Without a destructor: calls come from exit handlers, too. */
struct thread_state {
	struct context *contexts[CONTEXT_DEPTH]; /* its stack; the last one is current */
	unsigned depth;
	CUstreamCaptureMode capture_mode; /* begins as CU_STREAM_CAPTURE_MODE_GLOBAL, which is 0 */
	bool per_thread_default; /* the call in progress is of a per-thread-stream flavour */
	uint64_t id;             /* 0 until thread_id() */
};
extern __thread struct thread_state self;
uint64_t thread_id();

/* The number that an environment variable holds; fallback if it is unset, empty or no number. */
long long env_number(const char *name, long long fallback);

#endif
