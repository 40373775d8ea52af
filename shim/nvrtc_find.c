/* SPDX-License-Identifier: Apache-2.0 */
/* Which NVRTC: the program's own before any other. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/nvrtc.h"

static const char *const file[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
enum { FILES = 2, OLDEST = 12000, NEWEST = 13999 };

struct search {
	struct nvrtc *n;
	unsigned driver;
	char *why; /* of the last that would not do */
	unsigned size;
};

static bool bind(struct nvrtc *n)
{
#define NEED(name)                                                                                 \
	if (!(n->name = (__typeof__(n->name))dlsym(n->lib, "nvrtc" #name)))                        \
		return false;
	NEED(Version)
	NEED(GetErrorString)
	NEED(CreateProgram)
	NEED(DestroyProgram)
	NEED(CompileProgram)
	NEED(GetPTXSize)
	NEED(GetPTX)
	NEED(GetCUBINSize)
	NEED(GetCUBIN)
	NEED(GetProgramLogSize)
	NEED(GetProgramLog)
	NEED(GetNumSupportedArchs)
	NEED(GetSupportedArchs)
#undef NEED
	return true;
}

static bool try(struct search *s, const char *path)
{
	struct nvrtc *n = s->n;
	int major = 0, minor = 0;

	n->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!n->lib)
		return false;
	snprintf(n->path, sizeof(n->path), "%s", path);
	if (!bind(n) || n->Version(&major, &minor)) {
		snprintf(s->why, s->size, "%s is no NVRTC", path);
	} else {
		n->version = (unsigned)(major * 1000 + minor * 10);
		if (n->version < OLDEST || n->version > NEWEST)
			snprintf(s->why, s->size, "%s is NVRTC %d.%d, neither of CUDA 12 nor of 13",
				 path, major, minor);
		else if (s->driver && (unsigned)major > s->driver / 1000)
			snprintf(s->why, s->size,
				 "%s is NVRTC %d.%d, the driver is for CUDA %u.%u at most", path,
				 major, minor, s->driver / 1000, s->driver % 1000 / 10);
		else
			return true;
	}
	dlclose(n->lib);
	n->lib = NULL;
	return false;
}

static bool try_in(struct search *s, const char *dir, const char *below)
{
	char path[4096];

	for (unsigned i = 0; i < FILES; i++) {
		int n = snprintf(path, sizeof(path), "%s%s/%s", dir, below, file[i]);

		if (n > 0 && (size_t)n < sizeof(path) && !access(path, R_OK) && try(s, path))
			return true;
	}
	return false;
}

/* The toolkit's libraries lie in one folder, those of Python wheels in one for each, or all in one;
 * frameworks have a folder of their own beside those. */
static bool near(struct search *s, const char *dir)
{
	return try_in(s, dir, "") || try_in(s, dir, "/../../cuda_nvrtc/lib") ||
	       try_in(s, dir, "/../../cu13/lib") ||
	       try_in(s, dir, "/../../nvidia/cuda_nvrtc/lib") ||
	       try_in(s, dir, "/../../nvidia/cu13/lib");
}

static bool in_toolkit(struct search *s, const char *home)
{
	return home && home[0] &&
	       (try_in(s, home, "/lib64") || try_in(s, home, "/lib") ||
		try_in(s, home, "/targets/x86_64-linux/lib"));
}

int nvrtc_load(struct nvrtc *n, const struct nvrtc_places *p, char *why, unsigned size)
{
	struct search s = {n, p->driver, why, size};
	struct stat st;

	memset(n, 0, sizeof(*n));
	snprintf(why, size,
		 "libnvrtc.so.12 or .13 is not found (AUTOFUSE_NVRTC=FILE says where it is)");
	if (p->option && p->option[0]) {
		snprintf(why, size, "%s, which AUTOFUSE_NVRTC names, cannot be loaded", p->option);
		return (!stat(p->option, &st) && S_ISDIR(st.st_mode) ? try_in(&s, p->option, "")
								     : try(&s, p->option))
			       ? 0
			       : -1;
	}
	for (unsigned i = 0; i < p->nloaded; i++)
		if (try(&s, p->loaded[i]))
			return 0;
	for (unsigned i = 0; i < p->ndir; i++)
		if (near(&s, p->dir[i]))
			return 0;
	for (unsigned i = 0; i < FILES; i++)
		if (try(&s, file[i]))
			return 0;
	return in_toolkit(&s, getenv("CUDA_HOME")) || in_toolkit(&s, getenv("CUDA_PATH")) ||
			       in_toolkit(&s, "/usr/local/cuda")
		       ? 0
		       : -1;
}
