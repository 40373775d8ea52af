/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that looks for the driver itself. Prints TAP.
 * usage: absent none             no libcuda is loaded: we must not look like one
 *        absent reload A B       loads driver A, drops it, loads copy B in its place
 *        absent tool TOOL        a library with a tool's name looks the driver up
 *        absent close            uses the driver, closes its handle, and ends
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdlib.h>

#include "tests/preload/owner.h"
#include "tests/preload/words.h"

static void none(void)
{
	void *self = dlopen(NULL, RTLD_NOW);

	dlerror();
	ok(!dlsym(RTLD_DEFAULT, "cuInit"), "without a driver RTLD_DEFAULT finds no cuInit");
	ok(dlerror(), "and says so");
	ok(!dlsym(self, "cuInit"), "nor does the program's handle");
	ok(dlerror(), "and says so");
	ok(dlsym(RTLD_DEFAULT, "dlsym") && dlsym(RTLD_DEFAULT, "malloc"), "other names are found");
}

static void reload(const char *a, const char *b)
{
	void *h = dlopen(a, RTLD_NOW), *first = h ? dlsym(h, "cuDeviceGetCount") : NULL;
	CUresult (*count)(int *);
	struct fake_log *log;
	int n;

	ok_owner(first, "libautofuse.so", "the first copy is wrapped");
	dlclose(h);
	ok(!dlopen(a, RTLD_NOW | RTLD_NOLOAD), "it can be unloaded: nothing of ours holds it");
	ok(!dlsym(RTLD_DEFAULT, "cuInit"), "and then there is no driver");
	h = dlopen(b, RTLD_NOW);
	count = h ? (CUresult(*)(int *))dlsym(h, "cuDeviceGetCount") : NULL;
	ok_owner((void *)count, "libautofuse.so", "the second copy is wrapped");
	log = h ? dlsym(h, "fake_log") : NULL;
	ok(log && count && !count(&n) && log->calls == 1, "and gets the calls");
}

static void tool(const char *path)
{
	void *h = dlopen("libcuda.so.1", RTLD_NOW), *t = dlopen(path, RTLD_NOW);
	void *(*lookup)(void *, const char *) = t ? dlsym(t, "plugin_lookup") : NULL;

	ok_owner(dlsym(h, "cuCtxSynchronize"), "libautofuse.so", "a program gets the wrapper");
	ok_owner(lookup ? lookup(h, "cuCtxSynchronize") : NULL, "libcuda.so.1",
		 "a tool gets the driver's own");
}

static void closes(void)
{
	void *h = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*init)(unsigned) = h ? dlsym(h, "cuInit") : NULL;
	__typeof__(cuLaunchKernel) *launch = h ? dlsym(h, "cuLaunchKernel") : NULL;

	ok(init && !init(0) && launch, "uses the driver");
	if (launch) /* refused or not: the exit handler is in place */
		launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	ok(h && !dlclose(h), "closes its only handle");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "none"))
		none();
	else if (argc == 4 && !strcmp(argv[1], "reload"))
		reload(argv[2], argv[3]);
	else if (argc == 3 && !strcmp(argv[1], "tool"))
		tool(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "close"))
		closes();
	else
		return 2;
	return finished();
}
