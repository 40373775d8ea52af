/* SPDX-License-Identifier: Apache-2.0 */
/* A library linked to libcuda, as Triton's launchers are: what it calls, and what it finds. */
#include <cuda.h>
#include <dlfcn.h>

void *plugin_linked(void);
void *plugin_linked(void)
{
	return (void *)cuLaunchKernel;
}

void *plugin_found(void);
void *plugin_found(void)
{
	return dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernelEx");
}

/* For the copy named libcupti.so.13: a look-up made by a tool, not by a jump from it. */
void *plugin_lookup(void *handle, const char *name);
void *plugin_lookup(void *handle, const char *name)
{
	void *volatile found = dlsym(handle, name);

	return found;
}
