/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcupti on the software GPU: a subscriber's callbacks on driver calls, and
 * records of kernels. As much as shim/cupti.h declares. From outside:
 *
 *   FAKECUPTI_VERSION=n             the API version it claims
 *   FAKECUPTI_TAKEN=1               somebody else has the place of the subscriber
 *   FAKECUPTI_NS=glob:ns[,...]      kernels whose mangled name matches take that long; else as long
 *                                   as they took
 */
#include <dlfcn.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/cupti.h"
#include "tests/softgpu/softgpu.h"

#define API __attribute__((visibility("default")))
enum { INVALID = 1, END_OF_BUFFER = 12, RECORDS = 64 };

static struct {
	pthread_mutex_t lock; /* guards what follows */
	cupti_call_fn called;
	void *arg;
	bool calls, kernels;
	cupti_give_fn give;
	cupti_take_fn take;
	struct cupti_kernel *record;
	size_t n, room;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter(void *arg, const char *call, uint32_t correlation)
{
	const struct cupti_callback c = {
		.site = CUPTI_SITE_ENTER, .function = call, .correlation = correlation};

	if (state.calls)
		state.called(state.arg, CUPTI_DOMAIN_DRIVER, 0, &c);
}

/* Hands the buffer over. Lock held; the reader calls nothing here that takes it. */
static void deliver(void)
{
	if (state.n)
		state.take(NULL, 0, (uint8_t *)state.record, state.room * sizeof(*state.record),
			   state.n * sizeof(*state.record));
	else
		free(state.record);
	state.record = NULL;
	state.n = state.room = 0;
}

static uint64_t duration(const char *kernel, uint64_t otherwise)
{
	const char *p = getenv("FAKECUPTI_NS");
	char glob[256];

	while (p && *p) {
		size_t n = strcspn(p, ":");

		snprintf(glob, sizeof(glob), "%.*s", (int)n, p);
		p += n + (p[n] == ':');
		if (!fnmatch(glob, kernel, 0))
			return strtoull(p, NULL, 10);
		p += strcspn(p, ",");
		p += *p == ',';
	}
	return otherwise;
}

static void ran(void *arg, uint32_t correlation, const char *kernel, uint64_t start, uint64_t end,
		uint64_t graph_node)
{
	pthread_mutex_lock(&state.lock);
	if (state.kernels && !state.record) {
		uint8_t *buffer;
		size_t size, most;

		state.give(&buffer, &size, &most);
		state.record = (void *)buffer;
		state.room = buffer ? size / sizeof(*state.record) : 0;
	}
	if (state.kernels && state.room) {
		struct cupti_kernel *k = &state.record[state.n++];

		memset(k, 0, sizeof(*k));
		k->kind = CUPTI_KIND_CONCURRENT_KERNEL;
		k->start = start;
		k->end = start + duration(kernel, end - start);
		k->correlation = correlation;
		k->name = kernel;
		k->graph_node = graph_node;
		if (state.n == state.room || state.n == RECORDS)
			deliver();
	}
	pthread_mutex_unlock(&state.lock);
}

static const struct softgpu_observer observer = {enter, ran, NULL};

API int cuptiGetVersion(uint32_t *version)
{
	const char *v = getenv("FAKECUPTI_VERSION");

	*version = v ? (uint32_t)strtoul(v, NULL, 10) : 130000;
	return CUPTI_OK;
}

API int cuptiSubscribe(void **subscriber, cupti_call_fn fn, void *arg)
{
	int (*observe)(const struct softgpu_observer *) =
		(__typeof__(observe))dlsym(RTLD_DEFAULT, "softgpu_observe");
	void *driver = observe ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (driver)
		observe = (__typeof__(observe))dlsym(driver, "softgpu_observe");
	if (!observe)
		return INVALID;
	state.called = fn;
	state.arg = arg;
	if (getenv("FAKECUPTI_TAKEN") || observe(&observer))
		return CUPTI_TAKEN;
	*subscriber = &state;
	return CUPTI_OK;
}

API int cuptiUnsubscribe(void *subscriber)
{
	state.calls = false;
	return CUPTI_OK;
}

API int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	state.calls = enable && domain == CUPTI_DOMAIN_DRIVER;
	return CUPTI_OK;
}

API int cuptiActivityEnable(int kind)
{
	state.kernels = kind == CUPTI_KIND_CONCURRENT_KERNEL && state.give && state.take;
	return state.kernels ? CUPTI_OK : INVALID;
}

API int cuptiActivityRegisterCallbacks(cupti_give_fn give, cupti_take_fn take)
{
	state.give = give;
	state.take = take;
	return CUPTI_OK;
}

API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(struct cupti_kernel) : buffer;

	if (next + sizeof(struct cupti_kernel) > buffer + valid)
		return END_OF_BUFFER;
	*record = next;
	return CUPTI_OK;
}

API int cuptiActivityFlushAll(uint32_t flag)
{
	pthread_mutex_lock(&state.lock);
	if (state.record)
		deliver();
	pthread_mutex_unlock(&state.lock);
	return CUPTI_OK;
}

API int cuptiActivityFlushPeriod(uint32_t ms)
{
	return CUPTI_OK; /* buffers are small here */
}
