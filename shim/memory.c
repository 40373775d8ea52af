/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "shim/hot.h"
#include "shim/memory_ask.h"
#include "shim/record.h"

struct allocation {
	struct range range; /* first: a key is an entry with only this */
	CUcontext ctx;
	int device;
	unsigned flags;
};

static struct {
	pthread_rwlock_t lock;
	void *tree; /* tsearch(3): disjoint ranges, ordered; a red-black tree in glibc */
	bool peer;
} memory = {.lock = PTHREAD_RWLOCK_INITIALIZER};
static HOT uint64_t events_now;
static HOT uint64_t aliased_now; /* atomic */

/* Ranges that overlap compare equal: a look-up finds the entry that holds an address. */
static int order(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;

	return x->range.hi <= y->range.lo ? -1 : y->range.hi <= x->range.lo;
}

/* Any entry that touches the range. Some lock held. */
static struct allocation *touching(struct range r)
{
	struct allocation key = {.range = r};
	struct allocation **found = tfind(&key, &memory.tree, order);

	return found ? *found : NULL;
}

static struct range at(uint64_t addr)
{
	return (struct range){addr, addr + 1};
}

static void delete (struct allocation *e, const void *arg)
{
	record_free(e->range.lo, e->range.hi - e->range.lo);
	tdelete(e, &memory.tree, order);
	free(e);
}

/* Calls fn, which may delete it, for every entry that touches the range. Recursion is as deep as
 * the tree: what touching() finds is the highest such node. Write lock held. */
static void each(struct range r, void (*fn)(struct allocation *e, const void *arg), const void *arg)
{
	struct allocation *e = r.lo < r.hi ? touching(r) : NULL;
	struct range found;

	if (!e)
		return;
	found = e->range;
	fn(e, arg);
	each((struct range){r.lo, found.lo}, fn, arg);
	each((struct range){found.hi, r.hi}, fn, arg);
}

void memory_add(uint64_t base, uint64_t bytes, CUcontext ctx, int device, unsigned flags)
{
	struct range r = {base, base + bytes};
	struct allocation *e = malloc(sizeof(*e)), **slot = NULL;

	__atomic_add_fetch(&events_now, 1, __ATOMIC_RELAXED);
	if (record_on && !(flags & MEMORY_KIND)) {
		struct memory_answer a;

		memory_ask(base, &a);
		device = a.device;
		flags |= a.flags & MEMORY_KIND;
	}
	pthread_rwlock_wrlock(&memory.lock);
	each(r, delete, NULL);
	if (e && bytes) {
		*e = (struct allocation){.range = r, .ctx = ctx, .device = device, .flags = flags};
		slot = tsearch(e, &memory.tree, order);
		record_alloc(base, bytes, device, flags);
	}
	if (flags & MEMORY_ALIASED)
		__atomic_add_fetch(&aliased_now, 1, __ATOMIC_RELEASE);
	pthread_rwlock_unlock(&memory.lock);
	if (!slot)
		free(e); /* unknown to us: the driver will be asked */
}

uint64_t memory_remove(uint64_t base)
{
	uint64_t bytes = 0;
	struct allocation *e;

	__atomic_add_fetch(&events_now, 1, __ATOMIC_RELAXED);
	pthread_rwlock_wrlock(&memory.lock);
	e = touching(at(base));
	if (e && e->range.lo == base) {
		bytes = e->range.hi - base;
		delete (e, NULL);
	}
	pthread_rwlock_unlock(&memory.lock);
	return bytes;
}

struct removal {
	struct range r;
	void (*fn)(uint64_t base);
};

static void remove_one(struct allocation *e, const void *arg)
{
	const struct removal *rm = arg;

	if (e->range.lo < rm->r.lo)
		return; /* reaches in from below */
	if (rm->fn)
		rm->fn(e->range.lo);
	delete (e, NULL);
}

void memory_remove_range(struct range r, void (*fn)(uint64_t base))
{
	struct removal rm = {r, fn};

	__atomic_add_fetch(&events_now, 1, __ATOMIC_RELAXED);
	pthread_rwlock_wrlock(&memory.lock);
	each(r, remove_one, &rm);
	pthread_rwlock_unlock(&memory.lock);
}

/* Entries of the context being dropped; twalk(3) hands its action no argument. Guarded by the lock.
 */
static struct {
	CUcontext ctx;
	struct allocation **entry;
	size_t n, room;
} dropped;

static void collect(const void *node, VISIT visit, int depth)
{
	struct allocation *e = *(struct allocation *const *)node;

	if ((visit != postorder && visit != leaf) || e->ctx != dropped.ctx)
		return;
	if (dropped.n == dropped.room) {
		size_t room = dropped.room ? 2 * dropped.room : 256;
		void *more = realloc(dropped.entry, room * sizeof(*dropped.entry));

		if (!more)
			return;
		dropped.entry = more;
		dropped.room = room;
	}
	dropped.entry[dropped.n++] = e;
}

void memory_drop_context(CUcontext ctx)
{
	if (!ctx)
		return;
	pthread_rwlock_wrlock(&memory.lock);
	memset(&dropped, 0, sizeof(dropped));
	dropped.ctx = ctx;
	twalk(memory.tree, collect);
	for (size_t i = 0; i < dropped.n; i++)
		delete (dropped.entry[i], NULL);
	free(dropped.entry);
	pthread_rwlock_unlock(&memory.lock);
}

static void add_flags(struct allocation *e, const void *arg)
{
	const unsigned flags = *(const unsigned *)arg;

	if (flags & ~e->flags & MEMORY_ALIASED)
		__atomic_add_fetch(&aliased_now, 1, __ATOMIC_RELEASE);
	e->flags |= flags;
}

void memory_flag(struct range r, unsigned flags)
{
	pthread_rwlock_wrlock(&memory.lock);
	each(r, add_flags, &flags);
	__atomic_add_fetch(&events_now, 1, __ATOMIC_RELAXED);
	pthread_rwlock_unlock(&memory.lock);
}

void memory_peer_enabled(void)
{
	__atomic_store_n(&memory.peer, true, __ATOMIC_RELEASE);
	__atomic_add_fetch(&events_now, 1, __ATOMIC_RELAXED);
}

/* The entry that holds addr, with its kind known. False if there is none. */
static bool look(uint64_t addr, struct allocation *out)
{
	struct allocation *e;
	struct memory_answer a;

	pthread_rwlock_rdlock(&memory.lock);
	e = touching(at(addr));
	if (e)
		*out = *e;
	pthread_rwlock_unlock(&memory.lock);
	if (!e)
		return false;
	if (out->flags & MEMORY_KIND)
		return true;
	memory_ask(addr, &a);
	out->flags |= a.flags & MEMORY_KIND;
	out->device = a.device;
	pthread_rwlock_wrlock(&memory.lock);
	e = touching(at(addr));
	if (e && e->range.lo == out->range.lo && e->range.hi == out->range.hi) {
		e->flags |= a.flags & MEMORY_KIND;
		e->device = a.device;
	}
	pthread_rwlock_unlock(&memory.lock);
	return true;
}

enum reason memory_check(struct range r, int device, int surviving)
{
	/* Adjacent mappings count as one: frameworks grow their segments that way. */
	while (r.lo < r.hi) {
		struct allocation e;

		if (!look(r.lo, &e)) {
			struct memory_answer a;

			memory_ask(r.lo, &a);
			e = (struct allocation){
				.range = a.range, .device = a.device, .flags = a.flags};
		}
		if (__atomic_load_n(&memory.peer, __ATOMIC_ACQUIRE))
			e.flags |= MEMORY_SHARED;
		if ((e.flags & MEMORY_KIND) != MEMORY_DEVICE || e.flags & MEMORY_ALIASED ||
		    (e.flags & MEMORY_SHARED && surviving > 1) || e.device != device ||
		    e.range.hi <= r.lo || e.range.lo > r.lo)
			return REASON_NOT_DEVICE_MEMORY;
		r.lo = e.range.hi;
	}
	return REASON_NONE;
}

bool memory_find(uint64_t addr, struct range *alloc, unsigned *flags)
{
	struct allocation *e;

	pthread_rwlock_rdlock(&memory.lock);
	e = touching(at(addr));
	if (e) {
		*alloc = e->range;
		*flags = e->flags;
	}
	pthread_rwlock_unlock(&memory.lock);
	return e;
}

int memory_device(uint64_t addr)
{
	struct allocation e;
	struct memory_answer a;

	if (look(addr, &e))
		return e.device;
	memory_ask(addr, &a);
	return a.device;
}

uint64_t memory_aliased(void)
{
	return __atomic_load_n(&aliased_now, __ATOMIC_ACQUIRE);
}

uint64_t memory_events(void)
{
	return __atomic_load_n(&events_now, __ATOMIC_RELAXED);
}
