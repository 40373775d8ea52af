/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library is loaded whose constructor uses the driver, which meanwhile another thread uses for
 * the first time in the process. The loader's lock is the constructor's until it is through. Prints
 * TAP; the driver may be any. usage: constructor LIBRARY     (this source, compiled with LIBRARY
 * defined)
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { SOON_US = 200000, LATE_US = 600000, STUCK_S = 20 };

#ifdef LIBRARY
__attribute__((constructor)) static void constructed(void)
{
	usleep(LATE_US);
	cuInit(0);
}
#else
static void *first(void *arg)
{
	usleep(SOON_US);
	*(int *)arg = cuInit(0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int r = -1;
	void *library;

	alarm(STUCK_S);
	pthread_create(&thread, NULL, first, &r);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_join(thread, NULL);
	printf("%sok 1 - both come to an end\n", library && !r ? "" : "not ");
	return !library || r;
}
#endif
