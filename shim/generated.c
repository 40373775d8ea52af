/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/generated.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "config/log.h"
#include "shim/compile.h"
#include "shim/process.h"
#include "shim/verdict.h"
#include "shim/window.h"
#include "shim/worker.h"

/* The image in one context. */
struct loaded {
	struct worker_job job; /* first: the worker's */
	struct generated *of;
	CUcontext ctx;
	uint64_t generation; /* of the context */
	int state;           /* enum generated_state, atomic */
	bool asked;          /* the worker has the job */
	bool gone;           /* the context is */
	CUmodule module;
	CUfunction function[GEN_KERNELS];
	unsigned max_shmem;
	struct loaded *next; /* never freed: read without the lock */
};

struct image_for { /* no padding: it is hashed as it lies */
	uint64_t row;
	uint32_t cc, max_shmem;
};

struct generated {
	struct image_for is;
	char name[64], why[256];
	int state;       /* of the image: enum generated_state, atomic */
	unsigned wanted; /* generated_met; atomic */
	void *bytes;
	struct gen_recipe recipe;
	struct loaded *loaded;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* guards the table and the lists, never held in a driver call */
	struct generated *image;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct image_for is_for(uint64_t row_hash, const struct ours *o)
{
	return (struct image_for){row_hash, (uint32_t)o->cc, o->limits.max_shmem};
}

struct generated *generated_find(uint64_t row_hash, const struct ours *o)
{
	const struct image_for is = is_for(row_hash, o);
	struct generated *i;

	pthread_mutex_lock(&all.lock);
	HASH_FIND(hh, all.image, &is, sizeof(is), i);
	pthread_mutex_unlock(&all.lock);
	return i;
}

static void fail(struct generated *i, const char *why)
{
	snprintf(i->why, sizeof(i->why), "%s", why);
	__atomic_store_n(&i->state, GENERATED_FAILED, __ATOMIC_RELEASE);
	verdict_news();
}

/* On a thread autofuse-build. */
static void compiled(void *arg, const struct compile_answer *a)
{
	struct generated *i = arg;

	if (a->how == COMPILE_NONE) {
		fail(i, a->why);
		return;
	}
	i->bytes = a->image;
	__atomic_store_n(&i->state, GENERATED_READY, __ATOMIC_RELEASE);
	verdict_news();
}

/* Lock held. False: it is not going to be. */
static bool begin(struct generated *i, const struct row *r, const struct ours *o)
{
	struct compile_want want = {.name = i->name,
				    .cc = (unsigned)o->cc,
				    .weight = &i->wanted,
				    .done = compiled,
				    .arg = i};

	if (gen_prepare(r, &o->limits, &i->recipe) || !(want.text = gen_text(r, &o->limits)))
		return false;
	if (!compile_start(&want))
		return true;
	free(want.text);
	return false;
}

struct generated *generated_get(const struct row *r, const struct ours *o, const char *name)
{
	const struct image_for is = is_for(row_hash(r), o);
	struct generated *i;

	pthread_mutex_lock(&all.lock);
	HASH_FIND(hh, all.image, &is, sizeof(is), i);
	if (!i && HASH_COUNT(all.image) < (unsigned long)process.config.opt.generated &&
	    (i = calloc(1, sizeof(*i)))) {
		i->is = is;
		snprintf(i->name, sizeof(i->name), "%s", name);
		if (begin(i, r, o)) {
			HASH_ADD(hh, all.image, is, sizeof(i->is), i);
		} else {
			free(i);
			i = NULL;
		}
	}
	pthread_mutex_unlock(&all.lock);
	return i;
}

bool generated_fits(const struct generated *i, const struct row *r)
{
	return i->is.row == row_hash(r);
}

void generated_met(struct generated *i)
{
	__atomic_fetch_add(&i->wanted, 1, __ATOMIC_RELAXED);
}

const char *generated_why(const struct generated *i)
{
	return __atomic_load_n(&i->state, __ATOMIC_ACQUIRE) == GENERATED_FAILED ? i->why : "";
}

static CUresult load(struct loaded *l)
{
	const struct gen_recipe *p = &l->of->recipe;
	CUresult r = real.cuModuleLoadData(&l->module, l->of->bytes);

	for (unsigned k = 0; !r && k < p->n; k++) {
		int own = 0;

		r = real.cuModuleGetFunction(&l->function[k], l->module, p->kernel[k]);
		if (r)
			break;
		/* As for our own image: no launch waits for a lazy load. */
		real.cuFuncLoad(l->function[k]);
		real.cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, l->function[k]);
		if (l->max_shmem > (unsigned)own)
			real.cuFuncSetAttribute(l->function[k],
						CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
						(int)l->max_shmem - own);
	}
	return r;
}

/* On the device worker. */
static void run(struct worker_job *job)
{
	struct loaded *l = (struct loaded *)job;
	CUresult r = CUDA_ERROR_NOT_READY;
	bool gone, entered = worker_driver_enter();
	CUcontext old;

	pthread_mutex_lock(&all.lock);
	gone = l->gone;
	pthread_mutex_unlock(&all.lock);
	/* A load may wait for the device, which spoils a capture: who needs it asks again. */
	if (entered && !gone && !__atomic_load_n(&window_captures, __ATOMIC_SEQ_CST)) {
		r = real.cuCtxPushCurrent_v2(l->ctx);
		if (!r) {
			r = load(l);
			real.cuCtxPopCurrent_v2(&old);
		}
	}
	if (entered)
		worker_driver_leave();
	pthread_mutex_lock(&all.lock);
	if (r != CUDA_ERROR_NOT_READY)
		__atomic_store_n(&l->state, r ? GENERATED_FAILED : GENERATED_READY,
				 __ATOMIC_RELEASE);
	l->asked = false;
	pthread_mutex_unlock(&all.lock);
	if (r == CUDA_ERROR_NOT_READY)
		return;
	if (r)
		log_warn_once("a generated kernel (%s) does not load (error %d); it is not used",
			      l->of->name, (int)r);
	verdict_news();
}

static struct loaded *find(const struct generated *i, const struct ours *o)
{
	struct loaded *l = __atomic_load_n(&i->loaded, __ATOMIC_ACQUIRE);

	while (l && l->generation != o->generation)
		l = l->next;
	return l;
}

/* Has the worker load it. */
static void ask(struct generated *i, const struct ours *o)
{
	struct loaded *l;
	bool post = false;

	pthread_mutex_lock(&all.lock);
	l = find(i, o);
	if (!l && (l = calloc(1, sizeof(*l)))) {
		l->job.run = run;
		l->of = i;
		l->ctx = o->ctx;
		l->generation = o->generation;
		l->max_shmem = o->limits.max_shmem;
		l->next = i->loaded;
		__atomic_store_n(&i->loaded, l, __ATOMIC_RELEASE);
	}
	if (l && !l->asked && !l->gone && l->state == GENERATED_MAKING)
		post = l->asked = true;
	pthread_mutex_unlock(&all.lock);
	if (post && worker_post(&worker_device, &l->job))
		__atomic_store_n(&l->state, GENERATED_FAILED, __ATOMIC_RELEASE);
}

enum generated_state generated_state(struct generated *i, const struct ours *o)
{
	int state = __atomic_load_n(&i->state, __ATOMIC_ACQUIRE);
	const struct loaded *l;

	if (state != GENERATED_READY)
		return (enum generated_state)state;
	l = find(i, o);
	state = l ? __atomic_load_n(&l->state, __ATOMIC_ACQUIRE) : GENERATED_MAKING;
	if (state == GENERATED_MAKING && !__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		ask(i, o);
	return (enum generated_state)state;
}

bool generated_launch(struct generated *i, const struct row *r, const struct ours *o,
		      struct gen_launch *to, CUfunction *f)
{
	const struct loaded *l;
	unsigned k = 0;

	if (generated_state(i, o) != GENERATED_READY || !(l = find(i, o)))
		return false;
	gen_launch_by(&i->recipe, r, &o->limits, to);
	while (k + 1 < i->recipe.n && strcmp(to->kernel, i->recipe.kernel[k]) != 0)
		k++;
	*f = l->function[k];
	return true;
}

void generated_drop_context(CUcontext ctx)
{
	struct generated *i, *next;
	bool any = false;

	pthread_mutex_lock(&all.lock);
	HASH_ITER(hh, all.image, i, next)
	for (struct loaded *l = i->loaded; l; l = l->next)
		if (l->ctx == ctx)
			any = l->gone = true;
	pthread_mutex_unlock(&all.lock);
	if (any)
		worker_driver_wait(false); /* what the worker does there now must end first */
}
