/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of the driver's functions, one per export, declared from the table: namespace soft
 * holds functions of the exports' own names and signatures. entry.cpp exports the real names and
 * calls these with the driver's lock held; defaults.cpp supplies those that nothing else defines.
 * A per-thread-stream flavour (_ptsz, _ptds) runs the body of its legacy sibling.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_API_H
#define AF_TESTS_SOFTGPU_DRIVER_API_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>

namespace soft
{
#define DRIVER_API(name, base, since, flavour, stream, params, args) __typeof__(::name) name;
#include "driver_api.def"
#undef DRIVER_API
} // namespace soft

enum api_call {
#define DRIVER_API(name, base, since, flavour, stream, params, args) CALL_##name,
#include "driver_api.def"
#undef DRIVER_API
	CALL_COUNT
};

enum api_flavour { FLAVOUR_legacy, FLAVOUR_ptds, FLAVOUR_ptsz };

struct api_row {
	const char *name, *base;
	int since;
	enum api_flavour flavour;
	void *entry; /* the exported function */
	void *body;  /* what it runs */
};
/* Constant after the library's constructors. */
extern struct api_row api_rows[CALL_COUNT];

#endif
