/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/elf.h"

_Static_assert(offsetof(struct cupti_callback, correlation) == 64, "CUpti_CallbackData");
_Static_assert(offsetof(struct cupti_kernel, start) == 16, "CUpti_ActivityKernel");
_Static_assert(offsetof(struct cupti_kernel, correlation) == 92, "CUpti_ActivityKernel");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "CUpti_ActivityKernel");
_Static_assert(offsetof(struct cupti_kernel, graph_node) == 144, "CUpti_ActivityKernel");

static const char *const file[] = {"libcupti.so.13", "libcupti.so.12"};
enum { FILES = 2, VERSION_12_0 = 19, VERSION_12_END = 100, VERSION_13_0 = 130000 };

struct search {
	struct cupti *c;
	char *why; /* of the best candidate so far */
	unsigned size;
	bool loaded_only;
};

/* 12.x counts from 19 (or spells 12xxyy), 13.x spells 13xxyy. */
static bool known_version(unsigned v)
{
	return (v >= VERSION_12_0 && v < VERSION_12_END) || (v >= 120000 && v < 140000);
}

static bool bind(struct cupti *c, void *lib)
{
#define NEED(name)                                                                                 \
	if (!(c->name = (__typeof__(c->name))dlsym(lib, "cupti" #name)))                           \
		return false;
	NEED(GetVersion)
	NEED(Subscribe)
	NEED(Unsubscribe)
	NEED(EnableDomain)
	NEED(ActivityEnable)
	NEED(ActivityRegisterCallbacks)
	NEED(ActivityGetNextRecord)
	NEED(ActivityFlushAll)
#undef NEED
	c->ActivityFlushPeriod =
		(__typeof__(c->ActivityFlushPeriod))dlsym(lib, "cuptiActivityFlushPeriod");
	return true;
}

static bool try(struct search *s, const char *path, int flags)
{
	struct cupti *c = s->c;
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	uint32_t version = 0;

	if (!lib)
		return false;
	snprintf(c->path, sizeof(c->path), "%s", path);
	if (!bind(c, lib) || c->GetVersion(&version)) {
		snprintf(s->why, s->size, "%s is no CUPTI that can record kernels", path);
		return false;
	}
	c->version = version;
	if (known_version(version))
		return true;
	snprintf(s->why, s->size,
		 "%s has CUPTI API version %u, which is neither of CUDA 12 nor of 13", path,
		 version);
	return false;
}

static bool try_in(struct search *s, const char *dir, const char *below)
{
	char path[4096];

	for (unsigned i = 0; i < FILES; i++) {
		int n = snprintf(path, sizeof(path), "%s%s/%s", dir, below, file[i]);

		if (n > 0 && (size_t)n < sizeof(path) && !access(path, R_OK) && try(s, path, 0))
			return true;
	}
	return false;
}

/* One that the program has loaded is the one to share. Else: the toolkit's libraries lie in one
 * folder, those of Python wheels in one folder for each, or all in one. */
static bool near(void *arg, const struct elf *o)
{
	struct search *s = arg;
	const char *slash = strrchr(o->path, '/');
	char dir[4096];

	if (s->loaded_only)
		return !strncmp(o->soname, "libcupti.so.", 12) && try(s, o->path, RTLD_NOLOAD);
	if (!slash || (strncmp(o->soname, "libcudart.so.", 13) &&
		       strncmp(o->soname, "libcublas", 9) && strncmp(o->soname, "libnvrtc", 8)))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - o->path), o->path);
	return try_in(s, dir, "") || try_in(s, dir, "/../../cuda_cupti/lib") ||
	       try_in(s, dir, "/../extras/CUPTI/lib64");
}

static bool in_toolkit(struct search *s, const char *home)
{
	return home && home[0] &&
	       (try_in(s, home, "/lib64") || try_in(s, home, "/extras/CUPTI/lib64") ||
		try_in(s, home, "/targets/x86_64-linux/lib"));
}

bool cupti_load(struct cupti *c, const char *option, char *why, unsigned size)
{
	struct search s = {c, why, size, true};
	struct stat st;

	memset(c, 0, sizeof(*c));
	snprintf(why, size,
		 "libcupti.so.12 or .13 is not found (AUTOFUSE_CUPTI=FILE says where it is)");
	if (option && option[0]) {
		snprintf(why, size, "%s, which AUTOFUSE_CUPTI names, cannot be loaded", option);
		return !stat(option, &st) && S_ISDIR(st.st_mode) ? try_in(&s, option, "")
								 : try(&s, option, 0);
	}
	if (elf_each(near, &s))
		return true;
	s.loaded_only = false;
	if (elf_each(near, &s))
		return true;
	for (unsigned i = 0; i < FILES; i++)
		if (try(&s, file[i], 0))
			return true;
	return in_toolkit(&s, getenv("CUDA_HOME")) || in_toolkit(&s, getenv("CUDA_PATH")) ||
	       in_toolkit(&s, "/usr/local/cuda");
}
