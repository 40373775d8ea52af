/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/route.h"

#include <dlfcn.h>
#include <string.h>

#include "shim/driver.h"
#include "shim/elf.h"
#include "shim/process.h"
#include "shim/thunk.h"

/* The functions that entry.S's dlsym and dlopen jump to, in this order. */
struct route {
	void *(*dlsym)(void *handle, const char *name);
	void *(*dlopen)(const char *file, int flags);
};
struct route route;

/* Called by entry.S. */
void *route_dlsym(void *handle, const char **name, const void *caller);
int route_dlopen(int flags);

static bool ours(const void *addr)
{
	/* The thunks lie in our text, so does this function; the objects of a process do not nest.
	 */
	static uintptr_t lo, hi;

	if (!__atomic_load_n(&hi, __ATOMIC_ACQUIRE)) {
		struct elf o;

		if (!elf_at((const void *)route_pointer, &o))
			return false;
		lo = o.lo;
		__atomic_store_n(&hi, o.hi, __ATOMIC_RELEASE);
	}
	return (uintptr_t)addr >= lo && (uintptr_t)addr < hi;
}

/* The next dlsym and dlopen after ours in load order, as RTLD_NEXT would find them: another
 * preloaded library's, or libc's (libdl's before glibc 2.34). */
static bool next_definition(void *arg, const struct elf *o)
{
	bool *after_us = arg;

	if (!*after_us) {
		*after_us = (uintptr_t)route_pointer >= o->lo && (uintptr_t)route_pointer < o->hi;
		return false;
	}
	if (!route.dlsym)
		__atomic_store_n(&route.dlsym, (__typeof__(route.dlsym))elf_symbol(o, "dlsym"),
				 __ATOMIC_RELEASE);
	if (!route.dlopen)
		__atomic_store_n(&route.dlopen, (__typeof__(route.dlopen))elf_symbol(o, "dlopen"),
				 __ATOMIC_RELEASE);
	return route.dlsym && route.dlopen;
}

static bool first_definition(void *arg, const struct elf *o)
{
	void *found = elf_symbol(o, "dlsym");

	if (found)
		*(bool *)arg = ours(found);
	return found;
}

bool route_first(void)
{
	bool first = false;

	elf_each(first_definition, &first);
	return first;
}

static void *no_dlsym(void *handle, const char *name)
{
	return NULL;
}

static void *no_dlopen(const char *file, int flags)
{
	return NULL;
}

static void find_next(void)
{
	bool after_us = false;

	if (__atomic_load_n(&route.dlsym, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&route.dlopen, __ATOMIC_ACQUIRE))
		return;
	elf_each(next_definition, &after_us);
	/* glibc before 2.34 without libdl: nobody can call these yet, but whoever does gets an
	 * answer. */
	if (!route.dlsym)
		route.dlsym = no_dlsym;
	if (!route.dlopen)
		route.dlopen = no_dlopen;
}

void route_keep(void)
{
	struct elf o;

	find_next();
	if (driver_bind(NULL) && elf_at((const void *)real.cuInit, &o) && o.path[0])
		route.dlopen(o.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Tools of the driver's own kind must see the driver as it is. */
static bool by_tool(const void *caller)
{
	static const char *const tools[] = {"libcupti.",
					    "libnvperf_",
					    "libsanitizer-",
					    "libcuinj64",
					    "libcuda-injection",
					    "libToolsInjection",
					    "libInterceptorInjection",
					    "libcudadebugger."};
	const char *name;
	struct elf o;

	if (!elf_at(caller, &o))
		return false;
	name = strrchr(o.path, '/');
	name = name ? name + 1 : o.path;
	for (unsigned i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (!strncmp(name, tools[i], strlen(tools[i])))
			return true;
	return false;
}

void *route_pointer(void *function)
{
	int row = driver_row(function);
	void *thunk;

	if (row >= 0)
		return thunk_wrapper((unsigned)row);
	if (ours(function))
		return function;
	thunk = thunk_for(function);
	if (thunk)
		return thunk;
	/* A call that nothing flushes for would be a missed barrier: hold nothing any more. */
	process_give_up();
	return function;
}

void *route_dlsym(void *handle, const char **name, const void *caller)
{
	static const char absent[] = "a driver function (libcuda.so.1 is not loaded)";
	const char *n = *name;
	void *found;

	find_next();
	if (!n || n[0] != 'c' || n[1] != 'u' || n[2] < 'A' || n[2] > 'Z' || handle == RTLD_NEXT)
		return NULL;
	found = route.dlsym(handle, n);
	if (!found)
		return NULL; /* it fails again, or finds something in the caller's own scope */
	if (ours(found)) {   /* RTLD_DEFAULT or the main program's handle */
		if (!driver_bind(NULL))
			*name = absent; /* without a driver we must not look like one */
		return NULL;
	}
	if (!process_wanted() || !driver_bind(found) || driver_holds(caller) || by_tool(caller))
		return NULL;
	return route_pointer(found);
}

int route_dlopen(int flags)
{
	find_next();
	/* A library loaded with it would find libc's dlsym and the driver before ours. */
	return process_wanted() ? flags & ~RTLD_DEEPBIND : flags;
}
