/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/driver.h"

#include <stddef.h>
#include <string.h>

#include "shim/elf.h"
#include "shim/thunk.h"

/* Names without pointers to them: a preloaded library pays for every relocation in every process.
 */
static const struct {
#define DRIVER_API(name, base, since, flavour, stream, params, args) char name[sizeof(#name)];
#include "shim/rows.def"
#undef DRIVER_API
} names = {
#define DRIVER_API(name, base, since, flavour, stream, params, args) #name,
#include "shim/rows.def"
#undef DRIVER_API
};

static const uint16_t name_offset[CALL_COUNT] = {
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	offsetof(__typeof__(names), name),
#include "shim/rows.def"
#undef DRIVER_API
};

/* entry.S: bind, then jump. */
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	extern __typeof__(name) lazy_##name __attribute__((visibility("hidden")));
#include "shim/rows.def"
#undef DRIVER_API

struct driver real = {
#define DRIVER_API(name, base, since, flavour, stream, params, args) .name = lazy_##name,
#include "shim/rows.def"
#undef DRIVER_API
};

enum { SLOTS = 4096 }; /* power of two, several times CALL_COUNT */

/* Which libcuda is bound. Written with equal values by whoever binds; hi is stored last. */
static struct {
	uintptr_t lo, hi;
	uint16_t row[SLOTS]; /* hash of a real entry point -> its row + 1 */
} bound;

static CUresult missing(void)
{
	return CUDA_ERROR_NOT_FOUND;
}

const char *driver_name(unsigned call)
{
	if (call < CALL_COUNT)
		return (const char *)&names + name_offset[call];
	return thunk_outside_name(call - CALL_COUNT);
}

bool driver_holds(const void *addr)
{
	uintptr_t a = (uintptr_t)addr;

	return a < __atomic_load_n(&bound.hi, __ATOMIC_ACQUIRE) && a >= bound.lo;
}

static unsigned slot(const void *function)
{
	return (unsigned)(((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % SLOTS;
}

int driver_row(const void *function)
{
	void *const *table = (void *const *)&real;

	for (unsigned i = slot(function);; i = (i + 1) % SLOTS) {
		unsigned row = __atomic_load_n(&bound.row[i], __ATOMIC_RELAXED);

		if (!row)
			return -1;
		if (__atomic_load_n(&table[row - 1], __ATOMIC_RELAXED) == function)
			return (int)row - 1;
	}
}

static void enter_row(const void *function, unsigned row)
{
	unsigned i = slot(function);
	uint16_t seen = 0;

	/* The same from every thread: a taken slot either is this row's already or belongs to
	 * another. */
	while (!__atomic_compare_exchange_n(&bound.row[i], &seen, (uint16_t)(row + 1), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		if (seen == row + 1)
			return;
		i = (i + 1) % SLOTS;
		seen = 0;
	}
}

static void bind(const struct elf *o)
{
	void **table = (void **)&real;

	for (unsigned i = 0; i < CALL_COUNT; i++) {
		void *function = elf_symbol(o, driver_name(i));

		__atomic_store_n(&table[i], function ? function : (void *)missing,
				 __ATOMIC_RELAXED);
		if (function)
			enter_row(function, i);
	}
	bound.lo = o->lo;
	__atomic_store_n(&bound.hi, o->hi, __ATOMIC_RELEASE);
}

/* A program may load libcuda only to see whether it is there, unload it and come back: its own
 * unloading is allowed until the process starts (route_keep), and the next copy may lie elsewhere.
 */
static void unbind(void)
{
	void **table = (void **)&real;

	for (unsigned i = 0; i < CALL_COUNT; i++)
		__atomic_store_n(&table[i], (void *)missing, __ATOMIC_RELAXED);
	__atomic_store_n(&bound.hi, 0, __ATOMIC_RELEASE);
	memset(bound.row, 0, sizeof(bound.row));
}

struct search {
	uintptr_t from; /* 0: any */
	struct elf found;
	bool have, old_alive; /* found is valid; the bound one is still loaded */
};

static bool is_driver(void *arg, const struct elf *o)
{
	struct search *s = arg;

	if (strncmp(o->soname, "libcuda.so", 10))
		return false;
	if (o->lo == bound.lo && o->hi == bound.hi)
		s->old_alive = true;
	if (!s->have && (!s->from || (s->from >= o->lo && s->from < o->hi)) &&
	    elf_symbol(o, "cuInit") && elf_symbol(o, "cuDriverGetVersion")) {
		s->found = *o;
		s->have = true;
	}
	return false;
}

bool driver_bind(const void *from)
{
	struct search s = {.from = (uintptr_t)from};

	if (from && driver_holds(from))
		return true;
	elf_each(is_driver, &s);
	if (s.old_alive)
		return !from;
	if (__atomic_load_n(&bound.hi, __ATOMIC_ACQUIRE))
		unbind();
	if (!s.have)
		return false;
	bind(&s.found);
	return true;
}

/* A call came in by an exported name before anything was bound. Returns where to jump. */
void *driver_lazy(unsigned call);
void *driver_lazy(unsigned call)
{
	void **table = (void **)&real;

	return driver_bind(NULL) ? table[call] : (void *)missing;
}
