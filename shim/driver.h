/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own entry points, typed. The only way our code calls the driver. */
#ifndef AF_SHIM_DRIVER_H
#define AF_SHIM_DRIVER_H

/* cuda.h then declares every version of every function under its ELF name. Its functions are what
 * this library exports (hooks), so they get default visibility whatever the compiler was told. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#define DRIVER_API(name, base, since, flavour, stream, params, args) CUresult name params;
#include "shim/interop.def"
#undef DRIVER_API
#pragma GCC visibility pop
#include <stdbool.h>

/*
 * One pointer per export, named as the export, callable at any time. Until the driver is bound each
 * is a stub that binds first; where the loaded driver has no such function (or none is loaded) a
 * call answers CUDA_ERROR_NOT_FOUND.
 */
struct driver {
#define DRIVER_API(name, base, since, flavour, stream, params, args) __typeof__(name) *name;
#include "shim/rows.def"
#undef DRIVER_API
};
extern struct driver real;

enum driver_call {
#define DRIVER_API(name, base, since, flavour, stream, params, args) CALL_##name,
#include "shim/rows.def"
#undef DRIVER_API
	CALL_COUNT /* and above: entries of the pool in thunk.h */
};

/* Name of a row, for reports and recordings; "?" out of range. Never freed. */
const char *driver_name(unsigned call);

/*
 * Makes `real` valid. from: an address inside libcuda, or NULL to look for a loaded libcuda.so.1.
 * False if there is none, or if `from` lies in no libcuda, or in another one than the one in use.
 * Takes no lock of ours, allocates nothing, may be called by several threads at once.
 */
bool driver_bind(const void *from);

/* Is the address inside the bound libcuda? */
bool driver_holds(const void *addr);
/* The row whose real entry point this is, or -1. */
int driver_row(const void *function);

#endif
