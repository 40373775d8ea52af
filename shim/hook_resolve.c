/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: ask the driver, then put our wrapper in its answer's place. Programs ask before
 * cuInit and keep the pointers for life, with symbol "" and a NULL status; everything but the
 * pointer is the driver's.
 */
#include "shim/hook.h"
#include "shim/times.h"
#include "shim/route.h"

static CUresult routed(CUresult r, void **function)
{
	if (r == CUDA_SUCCESS && function && *function && process_wanted())
		*function = route_pointer(*function);
	return r;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
	hook_query(CALL_cuGetProcAddress);
	return routed(real.cuGetProcAddress(symbol, function, version, flags), function);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	hook_query(CALL_cuGetProcAddress_v2);
	return routed(real.cuGetProcAddress_v2(symbol, function, version, flags, status), function);
}

CUresult cuInit(unsigned flags)
{
	CUresult r;

	if (hook_through())
		return real.cuInit(flags);
	hook_query(CALL_cuInit);
	r = real.cuInit(flags);
	if (!r && record_on && guard_enter()) {
		times_start();
		guard_leave();
	}
	return r;
}
