/* SPDX-License-Identifier: Apache-2.0 */
/* usage: runpathuser LIBRARY    exit status 0 if the library finds its neighbour by its RUNPATH */
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*found)(void) = h ? (int (*)(void))dlsym(h, "runpath_found") : NULL;

	return !found || !found();
}
