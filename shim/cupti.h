/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI, the profiling library of the toolkit, loaded when a recording wants device times and only
 * then: a process has one place for a CUPTI subscriber, which a normal run leaves to profilers.
 * Declared here is what we use of any libcupti of CUDA 12 or 13; these layouts have not changed in
 * between.
 */
#ifndef AF_SHIM_CUPTI_H
#define AF_SHIM_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_TAKEN = 39, /* another subscriber is there */

	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_SITE_ENTER = 0,

	CUPTI_KIND_CONCURRENT_KERNEL = 10,
};

/* What a callback of a driver call is told. */
struct cupti_callback {
	int site;
	const char *function;
	const void *params, *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *data;
	uint32_t correlation;
};

/* The beginning of a kernel's record. */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shmem_config;
	uint16_t registers;
	int32_t global_cache_requested, global_cache_executed;
	uint64_t start, end, completed; /* ns; 0: not known */
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name; /* mangled */
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node; /* 0: not of a graph */
} __attribute__((aligned(8)));

typedef void (*cupti_call_fn)(void *arg, int domain, uint32_t id, const void *data);
typedef void (*cupti_give_fn)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*cupti_take_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			      size_t valid);

struct cupti {
	unsigned version; /* its API's */
	char path[512];
	int (*GetVersion)(uint32_t *version);
	int (*Subscribe)(void **subscriber, cupti_call_fn fn, void *arg);
	int (*Unsubscribe)(void *subscriber);
	int (*EnableDomain)(uint32_t enable, void *subscriber, int domain);
	int (*ActivityEnable)(int kind);
	int (*ActivityRegisterCallbacks)(cupti_give_fn give, cupti_take_fn take);
	int (*ActivityGetNextRecord)(uint8_t *buffer, size_t valid, void **record);
	int (*ActivityFlushAll)(uint32_t flag);
	int (*ActivityFlushPeriod)(uint32_t ms);
};

/*
 * Finds and loads one: what the option names (a file or a folder), else the one that the process
 * has loaded, else beside its CUDA libraries (Python wheels), where the loader looks, in the
 * toolkit. False, with one sentence, if there is none of a version we know.
 */
bool cupti_load(struct cupti *c, const char *option, char *why, unsigned size);

#endif
