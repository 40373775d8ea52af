/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another preloaded library: it counts calls of a libc function and of driver functions, and finds
 * the originals by RTLD_NEXT. Built with NEXT_DLSYM it replaces dlsym instead, as those libraries
 * do that want the driver for themselves.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef NEXT_DLSYM
int next_dlsym;

void *dlsym(void *handle, const char *name)
{
	void *(*next)(void *, const char *) =
		(void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");

	next_dlsym++;
	return next(handle, name);
}
#else
int next_getppid, next_sync, next_launch;

pid_t getppid(void)
{
	pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");

	next_getppid++;
	return next ? next() : -1;
}

CUresult cuCtxSynchronize(void)
{
	CUresult (*next)(void) = (CUresult(*)(void))dlsym(RTLD_NEXT, "cuCtxSynchronize");

	next_sync++;
	return next ? next() : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shmem, CUstream stream, void **params,
			void **extra)
{
	__typeof__(cuLaunchKernel) *next = (__typeof__(next))dlsym(RTLD_NEXT, "cuLaunchKernel");

	next_launch++;
	return next ? next(f, gx, gy, gz, bx, by, bz, shmem, stream, params, extra)
		    : CUDA_ERROR_NOT_FOUND;
}
#endif
