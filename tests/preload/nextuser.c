/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program linked to libcuda under two preloaded libraries, ours and next.c's. Prints what the
 * other one counted and what the driver got.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <unistd.h>

#include "tests/preload/owner.h"
#include "tests/preload/words.h"

static int arrived(const struct fake_log *log, const char *name)
{
	int n = 0;

	for (unsigned long i = 0; i < log->calls && i < FAKE_LOG; i++)
		n += !strcmp(log->call[i].name, name);
	return n;
}

int main(void)
{
	int *getppids = dlsym(RTLD_DEFAULT, "next_getppid"),
	    *syncs = dlsym(RTLD_DEFAULT, "next_sync");
	int *launches = dlsym(RTLD_DEFAULT, "next_launch");
	const struct fake_log *log = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_log");
	int good = getppid() == getppid();

	cuInit(0);
	for (int i = 0; i < 3; i++) {
		good &= !cuLaunchKernel((CUfunction)0x10, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		good &= !cuCtxSynchronize();
	}
	if (!getppids || !syncs || !launches || !log)
		return 2;
	printf("good %d getppid %d sync %d launch %d driver %d %d\n", good, *getppids, *syncs,
	       *launches, arrived(log, "cuCtxSynchronize"), arrived(log, "cuLaunchKernel"));
	return 0;
}
