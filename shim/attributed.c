/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/attributed.h"

#include <pthread.h>
#include <string.h>

#include "shim/hook.h"

enum { NAMES = 64, STREAMS = 16 };

/* A kernel has several handles (CUkernel, CUfunction), each with a record: names say which are one.
 */
static struct {
	pthread_mutex_t lock;
	const char *name[NAMES]; /* records live as long as the process */
	unsigned n;              /* atomic; only grows */
	bool all;                /* atomic */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	bool any;                /* there may be one that is not 0; atomic */
	unsigned epoch;          /* from 1 on, one more when a handle goes; atomic */
	unsigned next;           /* atomic */
	CUstream plain[STREAMS]; /* captured ones that have none; atomic */
} priority = {.epoch = 1};

/* The default streams have none. */
static bool is_default(CUstream s)
{
	return (uintptr_t)s <= (uintptr_t)CU_STREAM_PER_THREAD;
}

static CUstream *plain(CUstream s)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (__atomic_load_n(&priority.plain[i], __ATOMIC_ACQUIRE) == s)
			return &priority.plain[i];
	return NULL;
}

void attributed_capture(CUstream s)
{
	unsigned at;
	int p;

	if (is_default(s) || __atomic_load_n(&priority.any, __ATOMIC_RELAXED) || plain(s))
		return;
	if (real.cuStreamGetPriority(s, &p) || p) {
		__atomic_store_n(&priority.any, true, __ATOMIC_RELEASE);
		return;
	}
	at = __atomic_fetch_add(&priority.next, 1, __ATOMIC_RELAXED) % STREAMS;
	__atomic_store_n(&priority.plain[at], s, __ATOMIC_RELEASE);
}

void attributed_stream(CUstream s)
{
	static __thread struct {
		CUstream stream;
		unsigned epoch;
	} last;
	unsigned epoch = __atomic_load_n(&priority.epoch, __ATOMIC_ACQUIRE);

	if (is_default(s) || __atomic_load_n(&priority.any, __ATOMIC_RELAXED) ||
	    (last.epoch == epoch && last.stream == s))
		return;
	if (!plain(s))
		__atomic_store_n(&priority.any, true, __ATOMIC_RELEASE);
	last.stream = s;
	last.epoch = epoch;
}

void attributed_stream_goes(CUstream s)
{
	CUstream *at = is_default(s) ? NULL : plain(s);

	if (at)
		__atomic_store_n(at, NULL, __ATOMIC_RELEASE);
	__atomic_add_fetch(&priority.epoch, 1, __ATOMIC_ACQ_REL);
}

static bool listed(const char *name)
{
	unsigned n = __atomic_load_n(&list.n, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (!strcmp(list.name[i], name))
			return true;
	return false;
}

void attributed_note(struct kernel_rec *rec)
{
	if (__atomic_load_n(&list.all, __ATOMIC_RELAXED) ||
	    (rec && __atomic_load_n(&rec->attributed, __ATOMIC_RELAXED)))
		return;
	pthread_mutex_lock(&list.lock);
	if (!rec || (list.n == NAMES && !listed(rec->k.name))) {
		__atomic_store_n(&list.all, true, __ATOMIC_RELEASE);
	} else if (!listed(rec->k.name)) {
		list.name[list.n] = rec->k.name;
		__atomic_store_n(&list.n, list.n + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&list.lock);
	if (rec)
		__atomic_store_n(&rec->attributed, true, __ATOMIC_RELAXED);
}

bool attributed(struct kernel_rec *rec)
{
	unsigned n = __atomic_load_n(&list.n, __ATOMIC_ACQUIRE);

	if (!rec || __atomic_load_n(&list.all, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&rec->attributed, __ATOMIC_RELAXED))
		return true;
	if (__atomic_load_n(&rec->asked, __ATOMIC_RELAXED) == n)
		return false;
	if (listed(rec->k.name))
		__atomic_store_n(&rec->attributed, true, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&rec->asked, n, __ATOMIC_RELAXED);
	return __atomic_load_n(&rec->attributed, __ATOMIC_RELAXED);
}

bool attributed_priority(struct kernel_rec *rec)
{
	return __atomic_load_n(&priority.any, __ATOMIC_ACQUIRE) || attributed(rec);
}

/* Attributes that come to nodes in other ways than by a launch. */
#define GIVES(name, params, args, all, before)                                                     \
	CUresult name params                                                                       \
	{                                                                                          \
		CUresult r;                                                                        \
                                                                                                   \
		attributed_note(NULL);                                                             \
		before;                                                                            \
		if (hook_through())                                                                \
			return real.name args;                                                     \
		if ((r = all))                                                                     \
			return r;                                                                  \
		return real.name args;                                                             \
	}
#define NODE(name, params, args) GIVES(name, params, args, hook_all(CALL_##name), hook_loans())
#define STREAM(name, params, args, ptsz)                                                           \
	GIVES(name, params, args, hook_all_stream(CALL_##name, s, ptsz), (void)0)

NODE(cuGraphKernelNodeSetAttribute,
     (CUgraphNode n, CUkernelNodeAttrID a, const CUkernelNodeAttrValue *v), (n, a, v))
NODE(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from), (to, from))
STREAM(cuStreamSetAttribute, (CUstream s, CUstreamAttrID a, const CUstreamAttrValue *v), (s, a, v),
       false)
STREAM(cuStreamSetAttribute_ptsz, (CUstream s, CUstreamAttrID a, const CUstreamAttrValue *v),
       (s, a, v), true)
STREAM(cuStreamCopyAttributes, (CUstream s, CUstream from), (s, from), false)
STREAM(cuStreamCopyAttributes_ptsz, (CUstream s, CUstream from), (s, from), true)
