/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "matcher/decode.h"
#include "shim/hot.h"
#include "shim/torch.h"

enum {
	CACHE_SLOTS = 512, /* power of two; a decode step of PyTorch's launches about 70 kernels */
	PARAM_CHUNK = 16,
	PARAM_MAX = 4096, /* no kernel has more parameters than bytes of them (CUDA 12.1: 32,764) */
};

struct record {
	struct kernel_rec pub; /* first: kernel_rec * is record * */
	const void *owner;     /* module or library, NULL if the driver does not say */
	const void *library;   /* the library the owner is a part of, else owner */
	struct record *next;   /* in kernels.all */
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* guards table, and all's head against other writers */
	struct record *table; /* live handles */
	struct record *all;   /* every record, newest first */
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

static HOT uint64_t generation_now = 1; /* bumped when handles are forgotten */
static __thread uint64_t cache_generation HOT_THREAD;
static __thread struct {
	struct {
		CUfunction f;
		struct record *r;
	} slot[CACHE_SLOTS];
} cache;

/* What the driver knows about a handle, in either of its two families of functions. */
struct source {
	bool kernel; /* a CUkernel */
	const char *name;
	const void *owner;
};

static bool ask_function(CUfunction f, struct source *s)
{
	CUmodule module;

	if (real.cuFuncGetName(&s->name, f))
		return false;
	if (!real.cuFuncGetModule(&module, f))
		s->owner = module;
	return true;
}

static bool ask_kernel(CUkernel k, struct source *s)
{
	CUlibrary library;

	if (real.cuKernelGetName(&s->name, k))
		return false;
	s->kernel = true;
	if (!real.cuKernelGetLibrary(&library, k))
		s->owner = library;
	return true;
}

static bool ask(CUfunction f, bool kernel, struct source *s)
{
	memset(s, 0, sizeof(*s));
	return ((kernel && ask_kernel((CUkernel)f, s)) || ask_function(f, s) ||
		(!kernel && ask_kernel((CUkernel)f, s))) &&
	       s->name;
}

/* Parameter layout: one query per parameter until the driver says there is none of that index. */
static void ask_params(CUfunction f, bool kernel, struct kernel *k)
{
	uint32_t room = 0;

	for (size_t offset, bytes; k->nparam < PARAM_MAX; k->nparam++) {
		if (kernel ? real.cuKernelGetParamInfo((CUkernel)f, k->nparam, &offset, &bytes)
			   : real.cuFuncGetParamInfo(f, k->nparam, &offset, &bytes))
			return;
		if (k->nparam == room) {
			void *more = realloc(k->param, (room += PARAM_CHUNK) * sizeof(*k->param));

			if (!more)
				break;
			k->param = more;
		}
		k->param[k->nparam].offset = (uint32_t)offset;
		k->param[k->nparam].bytes = (uint32_t)bytes;
		if (offset + bytes > k->param_bytes)
			k->param_bytes = (uint32_t)(offset + bytes);
	}
	k->nparam = 0; /* a layout known by half is none */
	k->param_bytes = 0;
}

static void discard(struct record *r)
{
	free(r->pub.k.name);
	free(r->pub.k.param);
	free(r);
}

static struct record *make(CUfunction f, bool kernel)
{
	struct record *r;
	struct source s;

	if (!ask(f, kernel, &s) || !(r = calloc(1, sizeof(*r))))
		return NULL;
	r->pub.handle = f;
	r->pub.k.user = r;
	r->pub.k.name = strdup(s.name);
	if (!r->pub.k.name) {
		discard(r);
		return NULL;
	}
	ask_params(f, s.kernel, &r->pub.k);
	r->owner = s.owner;
	if (s.owner)
		r->pub.image = images_of(s.owner, &r->library);
	decode_kernel(&r->pub.k);
	if (r->pub.k.decoder && r->pub.image)
		images_need(r->pub.image);
	if (r->pub.k.family)
		torch_seen();
	return r;
}

/* Enters a new record; if another thread was faster, its record stands. */
static struct record *enter(struct record *r)
{
	struct record *other;

	pthread_mutex_lock(&kernels.lock);
	HASH_FIND_PTR(kernels.table, &r->pub.handle, other);
	if (!other) {
		HASH_ADD_PTR(kernels.table, pub.handle, r);
		r->next = kernels.all;
		__atomic_store_n(&kernels.all, r, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&kernels.lock);
	if (!other)
		return r;
	discard(r);
	return other;
}

static struct record *find(CUfunction f)
{
	struct record *r;

	pthread_mutex_lock(&kernels.lock);
	HASH_FIND_PTR(kernels.table, &f, r);
	pthread_mutex_unlock(&kernels.lock);
	return r;
}

/* A handle may sit in either slot of a pair; the one used last goes to its first. */
static struct kernel_rec *get_slow(CUfunction f, bool kernel, uint64_t generation, unsigned slot)
{
	struct record *r = find(f);

	if (!r && (r = make(f, kernel)))
		r = enter(r);
	if (!r)
		return NULL;
	if (cache_generation != generation) {
		memset(&cache, 0, sizeof(cache));
		cache_generation = generation;
	}
	cache.slot[slot ^ 1] = cache.slot[slot];
	cache.slot[slot].f = f;
	cache.slot[slot].r = r;
	return &r->pub;
}

static unsigned slot_of(CUfunction f)
{
	return (unsigned)(((uintptr_t)f * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % CACHE_SLOTS;
}

/* In the thread's cache, if that is of this generation. */
static inline struct kernel_rec *cached(CUfunction f, uint64_t generation, unsigned slot)
{
	if (!f || cache_generation != generation)
		return NULL;
	if (cache.slot[slot].f == f)
		return &cache.slot[slot].r->pub;
	if (cache.slot[slot ^ 1].f == f)
		return &cache.slot[slot ^ 1].r->pub;
	return NULL;
}

static inline struct kernel_rec *get(CUfunction f, bool kernel)
{
	uint64_t generation = __atomic_load_n(&generation_now, __ATOMIC_ACQUIRE);
	unsigned slot = slot_of(f);
	struct kernel_rec *r = cached(f, generation, slot);

	return r ? r : get_slow(f, kernel, generation, slot);
}

struct kernel_rec *kernels_get(CUfunction f)
{
	return get(f, false);
}

struct kernel_rec *kernels_get_kernel(CUkernel k)
{
	return get((CUfunction)k, true);
}

struct kernel_rec *kernels_peek(CUfunction f)
{
	return cached(f, __atomic_load_n(&generation_now, __ATOMIC_ACQUIRE), slot_of(f));
}

struct kernel_owner kernels_owner(const struct kernel_rec *rec)
{
	const struct record *r = rec->k.user;

	return (struct kernel_owner){r->owner, r->library ? r->library : r->owner};
}

void kernels_forget(const void *owner)
{
	struct record *r, *next;

	pthread_mutex_lock(&kernels.lock);
	HASH_ITER(hh, kernels.table, r, next)
	if (!owner || !r->owner || r->owner == owner || r->library == owner)
		HASH_DEL(kernels.table, r);
	__atomic_add_fetch(&generation_now, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&kernels.lock);
}

void kernels_each(void (*fn)(void *arg, const struct kernel_rec *r), void *arg)
{
	for (struct record *r = __atomic_load_n(&kernels.all, __ATOMIC_ACQUIRE); r; r = r->next)
		fn(arg, &r->pub);
}
