/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen looks at its caller's RUNPATH: a library beside ours is found, or not, as without us. */
#include <dlfcn.h>
#include <stddef.h>

int runpath_found(void);
int runpath_found(void)
{
	return dlopen("libonlythere.so", RTLD_NOW) != NULL;
}
