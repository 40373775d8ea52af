/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/times.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/log.h"
#include "shim/cupti.h"
#include "shim/hot.h"
#include "shim/process.h"

enum {
	BUFFER = 1 << 20,
	FLUSH_FORCED = 1,
	FLUSH_MS = 100, /* so much of the times a killed process may lose */
};

HOT bool times_on;

static struct cupti cupti;
static void *subscriber;

static __thread struct {
	bool armed;
	uint32_t id, second; /* of the first two driver calls since; 0: none yet */
} here;

static void called(void *arg, int domain, uint32_t id, const void *data)
{
	const struct cupti_callback *c = data;

	if (!here.armed || domain != CUPTI_DOMAIN_DRIVER || c->site != CUPTI_SITE_ENTER)
		return;
	if (!here.id)
		here.id = c->correlation;
	else if (!here.second)
		here.second = c->correlation;
}

static void give(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = malloc(BUFFER);
	*size = *buffer ? BUFFER : 0;
	*records = 0;
}

/* On a thread of CUPTI's own, or inside times_stop. */
static void take(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	while (buffer && !cupti.ActivityGetNextRecord(buffer, valid, &record)) {
		const struct cupti_kernel *k = record;

		if (k->kind == CUPTI_KIND_CONCURRENT_KERNEL && k->start && k->end >= k->start)
			record_ran(k->correlation, k->start, k->end - k->start,
				   !k->graph_node ? NULL
				   : k->name      ? k->name
						  : "?");
	}
	free(buffer);
}

/* Whoever loads itself through the driver's injection is the likely holder of the place. */
static void taken(char *why, unsigned size)
{
	const char *by = getenv("CUDA_INJECTION64_PATH");

	if (by && by[0])
		snprintf(why, size, "%s (CUDA_INJECTION64_PATH) holds CUPTI in this process", by);
	else
		snprintf(why, size,
			 "another tool, a profiler perhaps, holds CUPTI in this process");
}

static bool subscribe(char *why, unsigned size)
{
	const char *step = "cuptiSubscribe";
	int r = cupti.Subscribe(&subscriber, called, NULL);

	if (r == CUPTI_TAKEN) {
		taken(why, size);
		return false;
	}
	if (!r && (r = cupti.ActivityRegisterCallbacks(give, take)))
		step = "cuptiActivityRegisterCallbacks";
	if (!r && (r = cupti.EnableDomain(1, subscriber, CUPTI_DOMAIN_DRIVER)))
		step = "cuptiEnableDomain";
	if (!r && (r = cupti.ActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL)))
		step = "cuptiActivityEnable";
	if (!r) {
		if (cupti.ActivityFlushPeriod)
			cupti.ActivityFlushPeriod(FLUSH_MS);
		return true;
	}
	snprintf(why, size, "%s of %s answers error %d", step, cupti.path, r);
	if (subscriber)
		cupti.Unsubscribe(subscriber);
	return false;
}

void times_start(void)
{
	static int started;
	char why[640];

	if (!process.config.opt.times || __atomic_exchange_n(&started, 1, __ATOMIC_ACQ_REL))
		return;
	if (!cupti_load(&cupti, process.config.opt.cupti, why, sizeof(why)) ||
	    !subscribe(why, sizeof(why))) {
		record_clock(cupti.version, why);
		log_info("no device times: %s", why);
		return;
	}
	record_clock(cupti.version, NULL);
	times_on = true;
}

void times_stop(void)
{
	if (times_on)
		cupti.ActivityFlushAll(FLUSH_FORCED);
}

void times_before(void)
{
	here.armed = times_on;
	here.id = here.second = 0;
}

void times_after(const struct record_sent *what)
{
	if (here.armed && here.id)
		record_sent(here.id, what);
	here.armed = false;
}

void times_after_own(uint64_t index)
{
	const struct record_sent s = {.how = "own", .launch = {index}, .n = 1};

	times_after(&s);
}

void times_after_group(const struct group *g, unsigned kernels, const struct key *key, int64_t rows,
		       bool check)
{
	struct record_sent s = {.how = check ? "check" : "fused",
				.n = group_size(g),
				.key = key,
				.rows = rows,
				.second = kernels > 1 ? here.second : 0};

	for (unsigned i = 0; i < s.n; i++)
		s.launch[i] = g->member[i]->launch.index;
	times_after(&s);
}
