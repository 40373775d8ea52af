/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way in which a program finds a driver function, with each stream flavour. Prints TAP.
 * usage: paths OWNER LIBCUDA PLUGIN
 *   OWNER    the library that must hold what is found: libautofuse.so, or libcuda.so.1 without it
 *   LIBCUDA  absolute path of the driver
 *   PLUGIN   a library linked to libcuda, to be loaded with RTLD_DEEPBIND
 */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/preload/owner.h"

static const char *const names[] = {"cuLaunchKernel",
				    "cuLaunchKernel_ptsz",
				    "cuLaunchKernelEx_ptsz",
				    "cuMemcpyHtoDAsync_v2",
				    "cuMemcpyHtoDAsync_v2_ptsz",
				    "cuStreamSynchronize_ptsz",
				    "cuGetProcAddress_v2",
				    "cuMemFree_v2"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* Thirty functions of which versions differ, flavours differ, both, or neither. */
static const char *const bases[] = {"cuLaunchKernel",
				    "cuLaunchKernelEx",
				    "cuLaunchCooperativeKernel",
				    "cuLaunchHostFunc",
				    "cuMemcpyHtoD",
				    "cuMemcpyHtoDAsync",
				    "cuMemcpyDtoH",
				    "cuMemcpyAsync",
				    "cuMemsetD8",
				    "cuMemsetD32Async",
				    "cuMemAlloc",
				    "cuMemAllocAsync",
				    "cuMemFree",
				    "cuMemFreeAsync",
				    "cuCtxCreate",
				    "cuCtxDestroy",
				    "cuCtxGetDevice",
				    "cuCtxSynchronize",
				    "cuDevicePrimaryCtxReset",
				    "cuEventRecord",
				    "cuEventElapsedTime",
				    "cuStreamBeginCapture",
				    "cuStreamGetCaptureInfo",
				    "cuStreamWaitValue32",
				    "cuGraphInstantiate",
				    "cuGraphLaunch",
				    "cuGraphExecUpdate",
				    "cuGraphAddKernelNode",
				    "cuGetProcAddress",
				    "cuInit"};
enum { BASES = sizeof(bases) / sizeof(bases[0]) };

typedef CUresult (*query_v2)(const char *, void **, int, cuuint64_t,
			     CUdriverProcAddressQueryResult *);
typedef CUresult (*query_v1)(const char *, void **, int, cuuint64_t);

/* Whatever the driver gives for a name, version and flavour: the wrapper must be that of the very
 * function. dlsym knows it by the name under which the driver exports it. */
static void versions(void *libcuda, const char *who, query_v2 query, query_v2 raw)
{
	static const int version[] = {11000, 12000, 13000};
	unsigned same = 0, other = 0, flavours = 0;

	for (unsigned i = 0; i < 3 * 2 * BASES; i++) {
		const char *base = bases[i % BASES];
		int v = version[i / BASES % 3];
		cuuint64_t flags =
			i / BASES / 3 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
		CUdriverProcAddressQueryResult status = 99, raw_status = 99;
		void *p = NULL, *q = NULL;
		CUresult r = query(base, &p, v, flags, &status),
			 want = raw(base, &q, v, flags, &raw_status);
		Dl_info info;

		if (r == want && status == raw_status &&
		    (!q ? !p
			: dladdr(q, &info) && info.dli_sname &&
				     dlsym(libcuda, info.dli_sname) == p))
			same++;
		else if (other++ < 5)
			printf("# %s at %d, flags %d: result %d/%d, status %d/%d, %s\n", base, v,
			       (int)flags, r, want, status, raw_status, owner(p));
		if (q && flags && !query(base, &p, v, 0, NULL) && !raw(base, &q, v, flags, NULL) &&
		    !strcmp(base, "cuLaunchKernel"))
			flavours += p != q;
	}
	ok(!other && same == 3 * 2 * BASES,
	   "%s: %u of %d look-ups give the function that the driver gives", who, same,
	   3 * 2 * BASES);
	ok(flavours, "%s: legacy and per-thread flavours differ", who);
}

int main(int argc, char **argv)
{
	const char *who = argc > 3 ? argv[1] : "";
	void *h, *self, *by_path, *plugin, *p = NULL, *q = NULL, *(*lookup)(void *, const char *);
	query_v2 query;
	query_v1 old;

	if (argc < 4)
		return 2;
	h = dlopen("libcuda.so.1", RTLD_NOW);
	by_path = dlopen(argv[2], RTLD_NOW);
	self = dlopen(NULL, RTLD_NOW);
	if (!h || !by_path || !self) {
		fprintf(stderr, "paths: %s\n", dlerror());
		return 2;
	}
	for (int i = 0; i < NAMES; i++) {
		ok_owner(dlsym(h, names[i]), who, "dlsym on the soname's handle: %s", names[i]);
		ok_owner(dlsym(by_path, names[i]), who, "dlsym on the path's handle: %s", names[i]);
		ok_owner(dlsym(RTLD_DEFAULT, names[i]), "libautofuse.so", "RTLD_DEFAULT: %s",
			 names[i]);
		ok_owner(dlsym(self, names[i]), "libautofuse.so", "the program's handle: %s",
			 names[i]);
		ok_owner(dlsym(RTLD_NEXT, names[i]), "libautofuse.so",
			 "RTLD_NEXT of the program: %s", names[i]);
	}
	ok_owner(dlsym(RTLD_DEFAULT, "cuCtxGetDevice"), who,
		 "RTLD_DEFAULT: a query, which we do not export");
	/* Linked: the address that the program itself has. A pure query has no stand-in there. */
	ok_owner(cuLaunchKernel, "libautofuse.so", "linked: cuLaunchKernel");
	ok_owner(cuMemcpyDtoH_v2_ptds, "libautofuse.so", "linked: cuMemcpyDtoH_v2_ptds");
	ok_owner(cuCtxGetDevice, "libcuda.so.1",
		 "linked: cuCtxGetDevice, a query, is the driver's own");
	ok(dlsym(h, "cuLaunchKernel") != dlsym(h, "cuLaunchKernel_ptsz"),
	   "two flavours are two functions");

	query = (query_v2)dlsym(h, "cuGetProcAddress_v2");
	old = (query_v1)dlsym(h, "cuGetProcAddress");
	query("", &p, 0, 0, NULL); /* the runtime's first question; drivers answer it differently */
	p = NULL;
	ok(query("cuLaunchKernel", &p, 13000, 0, NULL) == CUDA_SUCCESS && p,
	   "a NULL symbolStatus is fine, after an empty symbol");
	ok_owner(p, who, "cuGetProcAddress_v2: cuLaunchKernel");
	p = NULL;
	ok(query("cuNoSuchThing", &p, 13000, 0, NULL) != CUDA_SUCCESS || !p,
	   "an unknown symbol is still unknown");
	ok(old("cuLaunchKernel", &p, 11030, 2) == CUDA_SUCCESS, "cuGetProcAddress of 11.3");
	ok_owner(p, who, "cuGetProcAddress of 11.3: cuLaunchKernel, per thread");
	ok(!query("cuGetProcAddress", &p, 11030, 0, NULL) && p == (void *)old &&
		   !query("cuGetProcAddress", &q, 12000, 0, NULL) && q == (void *)query,
	   "looking up cuGetProcAddress itself gives the four- or five-argument one");
	lookup = (void *(*)(void *, const char *))dlsym(h, "fake_lookup");
	if (lookup) {
		ok_owner(lookup(h, "cuLaunchKernel"), "libcuda.so.1",
			 "a look-up made by the driver itself is left alone");
		versions(h, who, query, (query_v2)lookup(h, "cuGetProcAddress_v2"));
	}

	plugin = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	ok(plugin, "a plugin loads with RTLD_DEEPBIND%s%s", plugin ? "" : ": ",
	   plugin ? "" : dlerror());
	if (plugin) {
		void *(*linked)(void) = (void *(*)(void))dlsym(plugin, "plugin_linked");
		void *(*found)(void) = (void *(*)(void))dlsym(plugin, "plugin_found");

		/* Without our help (AUTOFUSE=0) the flag does what it says. */
		ok_owner(linked(), who, "the plugin's own cuLaunchKernel");
		ok_owner(found(), who, "what the plugin's dlsym finds");
	}
	dlerror();
	ok(!dlsym(h, "cuNoSuchThing") && dlerror(), "a failed look-up fails, and says so");
	ok(dlsym(h, "cuInit") && !dlerror(), "a good one leaves no error behind");
	ok(!dlsym(h, "cudaLaunchKernel"), "other libraries' names are not touched");
	return finished();
}
