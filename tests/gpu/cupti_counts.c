/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts driver calls through CUPTI callbacks while a program runs: loaded by the driver itself
 * (CUDA_INJECTION64_PATH), writes "NAME COUNT" lines to CUPTI_COUNTS at exit.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

int InitializeInjection(void);

static unsigned long long count[CUPTI_DRIVER_TRACE_CBID_SIZE];

static void called(void *arg, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *d = data;

	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && d->callbackSite == CUPTI_API_ENTER &&
	    id < CUPTI_DRIVER_TRACE_CBID_SIZE)
		__atomic_fetch_add(&count[id], 1, __ATOMIC_RELAXED);
}

static void finish(void)
{
	const char *path = getenv("CUPTI_COUNTS"), *name;
	FILE *f = path ? fopen(path, "w") : NULL;

	for (uint32_t id = 0; f && id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
		if (count[id] && !cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name))
			fprintf(f, "%s %llu\n", name, count[id]);
	if (f)
		fclose(f);
}

int InitializeInjection(void)
{
	CUpti_SubscriberHandle s;

	if (cuptiSubscribe(&s, (CUpti_CallbackFunc)called, NULL) ||
	    cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_DRIVER_API))
		return 0;
	atexit(finish);
	return 1;
}
