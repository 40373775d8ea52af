/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 that does nothing but note who was called with what, for tests of the way a call
 * takes. Every call succeeds and leaves its outputs alone, but for cuGetProcAddress.
 */
#include <dlfcn.h>

#include "tests/preload/words.h"

struct fake_log fake_log;

static void *resolve(const char *symbol, int version, cuuint64_t flags);

template <class... A> static CUresult answer(const A &...)
{
	return CUDA_SUCCESS;
}

static CUresult answer(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	void *found = resolve(symbol, version, flags);

	if (pfn)
		*pfn = found;
	return found || !*symbol ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult answer(const char *symbol, void **pfn, int version, cuuint64_t flags,
		       CUdriverProcAddressQueryResult *status)
{
	CUresult r = answer(symbol, pfn, version, flags);

	if (status)
		*status = r ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
	return r;
}

template <class... A> static CUresult noted(const char *name, A... values)
{
	words_seen *seen = &fake_log.call[fake_log.calls++ % FAKE_LOG];

	seen->name = name;
	words_pack(seen, values...);
	return answer(values...);
}

#define AND(...) __VA_OPT__(, ) __VA_ARGS__
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	extern "C" CUresult name params                                                            \
	{                                                                                          \
		return noted(#name AND args);                                                      \
	}
#include "driver_api.def"
#undef DRIVER_API

enum { legacy = 0, ptds = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, ptsz = ptds };

static const struct {
	const char *base;
	int since, flags;
	void *function;
} rows[] = {
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	{#base, since, flavour, (void *)name},
#include "driver_api.def"
#undef DRIVER_API
};

static void *resolve(const char *symbol, int version, cuuint64_t flags)
{
	void *best = nullptr;
	int newest = -1;

	for (auto &r : rows)
		if (!strcmp(r.base, symbol) && r.since <= version && r.since > newest &&
		    r.flags == (int)(flags & ptds)) {
			best = r.function;
			newest = r.since;
		}
	if (!best && (flags & ptds)) /* no such flavour: the only one there is */
		return resolve(symbol, version, 0);
	return best ? best : !strcmp(symbol, "cuFakeOutside") ? (void *)cuFakeOutside : nullptr;
}

CUresult cuFakeOutside(long a, double b, long c, double d, long e, double f, long g, double h,
		       long i, double j, long k, double l, long m, double n, long o, double p,
		       long q, double r)
{
	return noted("cuFakeOutside", a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
}

void *fake_lookup(void *handle, const char *name)
{
	void *volatile found = dlsym(handle, name); /* not by a jump from here */

	return found;
}
