/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function of the driver table once, with arguments that tell themselves apart, and
 * checks that the fake driver got exactly these. Prints one line per call: name, stream ("-"
 * without one), and the library that holds what was called. usage: calls linked|dlsym|proc linked
 * by the exported name, as a program linked to libcuda does dlsym   by dlsym on libcuda's handle
 *   proc    by cuGetProcAddress_v2, by base name, version and flavour
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <type_traits>
#include <utility>

#include "tests/preload/words.h"

static const char *mode;
static void *libcuda;
static int errors, called;
static struct fake_log *driver_log;

/* Zeroed memory that any pointer argument may point to. */
alignas(64) static char scratch[1 << 16];

/* A value for argument number i; no two of a call are equal. */
template <class T> static T value(int i)
{
	T v;

	memset(&v, 0, sizeof(v));
	if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>)
		v = (T)(scratch + 256 * i);
	else if constexpr (std::is_pointer_v<T>)
		memcpy(&v, &scratch, 0); /* a function: NULL */
	else if constexpr (std::is_floating_point_v<T>)
		v = (T)(1.5 + i);
	else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
		v = (T)(0x21 + i);
	else
		*(unsigned char *)&v = (unsigned char)(0x61 + i);
	return v;
}
/* Handles are opaque: pointers to incomplete types, never followed by anybody here. */
template <> CUstream value(int i)
{
	return (CUstream)(uintptr_t)(0x5000 + 0x10 * i);
}

static void wrong(const char *name, const char *what, int result)
{
	if (errors++ < 10)
		fprintf(stderr, "# %s: %s (result %d)\n", name, what, result);
}

static const char *owner(void *f)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(f, &info))
		return "?";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* How many calls from number `first` on were exactly the one wanted? */
static int arrived(unsigned long first, const char *name, const words_seen *want)
{
	int n = 0;

	for (; first < driver_log->calls; first++) {
		const words_seen *w = &driver_log->call[first % FAKE_LOG];

		n += !strcmp(w->name, name) && w->n == want->n &&
		     !memcmp(w->bytes, want->bytes, w->n);
	}
	return n;
}

template <class... A, size_t... I>
static void call(const char *name, CUresult (*f)(A...), int stream, std::index_sequence<I...>)
{
	unsigned long first = driver_log->calls;
	words_seen want = {};
	CUresult r;

	words_pack(&want, value<A>((int)I)...);
	r = f(value<A>((int)I)...);
	called++;
	if (stream < 0)
		printf("%s - %s\n", name, owner((void *)f));
	else
		printf("%s 0x%x %s\n", name, 0x5000 + 0x10 * stream, owner((void *)f));
	if (r || arrived(first, name, &want) != 1)
		wrong(name, "did not arrive as it was made", r);
}

template <class... A>
static void row(const char *name, const char *base, int since, int flags, int stream,
		CUresult (*f)(A...))
{
	auto query = (decltype(&cuGetProcAddress_v2))nullptr;
	void *p = nullptr;

	if (!strcmp(mode, "dlsym"))
		f = (decltype(f))dlsym(libcuda, name);
	if (!strcmp(mode, "proc")) {
		query = (decltype(query))dlsym(libcuda, "cuGetProcAddress_v2");
		f = query(base, &p, since, (cuuint64_t)flags, nullptr) ? nullptr : (decltype(f))p;
	}
	if (!f) {
		wrong(name, "not found", 0);
		return;
	}
	call(name, f, stream, std::index_sequence_for<A...>());
}

enum { legacy = 0, ptds = 2, ptsz = 2 };

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "";
	libcuda = dlopen("libcuda.so.1", RTLD_NOW);
	driver_log = libcuda ? (struct fake_log *)dlsym(libcuda, "fake_log") : nullptr;
	if (!driver_log) {
		fprintf(stderr, "calls: no fake driver: %s\n", dlerror());
		return 2;
	}
	cuInit(0); /* a program's first call; what comes before it is not recorded */
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	row(#name, #base, since, flavour, stream, name);
#include "driver_api.def"
#undef DRIVER_API
	fprintf(stderr, "%d calls, %d errors\n", called, errors);
	return errors != 0;
}
