/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/verdict.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/hash.h"
#include "config/log.h"
#include "matcher/decode.h"
#include "shim/cache.h"
#include "shim/hot.h"
#include "shim/kernels.h"
#include "shim/probe_parent.h"
#include "shim/process.h"
#include "shim/verdict_disk.h"

extern const struct decoder sig_decoder;

enum {
	KEY_TEXT_MAX = 1 << 16,
	PROBES_MAX = 512,
	/* A program whose parameters are others each time fills memory with keys: then no more. */
	VERDICTS_MAX = 8192,
	KNOWN_MAX = 4 * VERDICTS_MAX, /* then they are looked up by key once more */
};

struct entry { /* one verdict, by key */
	struct verdict v;
	UT_hash_handle hh;
};

struct known { /* one group shape seen in this process -> its verdict */
	uint64_t fingerprint;
	struct verdict *v;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* guards the tables and every change of a verdict */
	struct entry *verdict;
	struct known *known;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};
static HOT uint64_t changes_now; /* atomic */

static const char *const state_name[] = {[VERDICT_NEW] = "new",
					 [VERDICT_PROBING] = "probing",
					 [VERDICT_CHECKING] = "checking",
					 [VERDICT_USABLE] = "usable",
					 [VERDICT_REJECTED] = "rejected"};

/* The part of a row program that its key depends on, and its sizes. */
static uint64_t row_print_of(const struct row *r, uint64_t seed)
{
	uint64_t h = XXH3_64bits_withSeed(r->imm, r->nimm * sizeof(r->imm[0]), seed ^ row_hash(r));

	return XXH3_64bits_withSeed(r->size, r->ndim * sizeof(r->size[0]), h);
}

/*
 * A cheap stand-in for the key inside one process: record pointers instead of hashes and names.
 * Equal fingerprints imply equal keys; the converse need not hold.
 */
static uint64_t fingerprint(const struct group *g, const struct ours *o)
{
	uint64_t h = XXH3_64bits(&o->generation, sizeof(o->generation));
	struct {
		const void *pattern;
		int64_t rows, cols;
	} head = {g->pattern, g->rows, g->cols};

	h = XXH3_64bits_withSeed(&head, sizeof(head), h);
	for (unsigned i = 0; i < group_size(g); i++) {
		const struct launch *l = &g->member[i]->launch;
		struct {
			const void *kernel;
			uint64_t site;
			uint32_t grid[3], pad;
		} m = {l->kernel,
		       key_noted(l, &g->member[i]->op),
		       {l->grid[0], l->grid[1], l->grid[2]},
		       0};

		h = XXH3_64bits_withSeed(&m, sizeof(m), h);
	}
	if (g->row)
		return row_print_of(g->row, h);
	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];
		struct {
			int64_t pitch;
			uint32_t dtype, use, align, alias;
		} s = {b->pitch, b->dtype, b->use, (uint32_t)(b->addr % 32), 0};

		for (unsigned j = 0; j < i; j++)
			s.alias |= (uint32_t)(g->bound[j].addr == b->addr) << j;
		h = XXH3_64bits_withSeed(&s, sizeof(s), h);
	}
	return h;
}

bool verdict_slower(const struct verdict *v, int64_t rows)
{
	for (unsigned i = 0; i < v->nslower; i++)
		if (v->slower[i] == rows)
			return true;
	return false;
}

static int identify(const struct group *g)
{
	for (unsigned i = 0; i < group_size(g); i++) {
		struct kernel_rec *rec = (struct kernel_rec *)g->member[i]->launch.kernel;

		if (!rec->image || images_identify(rec->image))
			return -1;
		rec->k.image[0] = rec->image->hash[0];
		rec->k.image[1] = rec->image->hash[1];
	}
	return 0;
}

/* What the planner made of a chain. */
static void plan(struct verdict *v, const struct group *g)
{
	v->chain = v->known = v->family = g->row != NULL;
	for (unsigned i = 0; g->row && i < v->nmember; i++) {
		struct row_pick p;

		v->family &= g->member[i]->launch.kernel->decoder != &sig_decoder;
		v->known &= row_pick_known(&g->member[i]->op, &g->member[i]->launch, &p);
		v->planned[i] = row_pick_pack(&p);
	}
}

/* Makes the verdict of a group not seen before. Lock held. */
static struct verdict *find_or_make(const struct group *g, const struct ours *o)
{
	static char text[KEY_TEXT_MAX];
	char machine[96];
	struct entry *e;
	struct key key;
	int driver = 0, len;

	if (identify(g))
		return NULL;
	real.cuDriverGetVersion(&driver);
	snprintf(machine, sizeof(machine), "sm_%d driver %d build %016" PRIx64 "%s", o->cc, driver,
		 fused_build_id(), process.config.opt.numerics == NUMERICS_CLOSE ? " close" : "");
	len = key_text(g, machine, text, sizeof(text));
	if (len < 0)
		return NULL;
	key = key_hash(text, (unsigned)len);
	HASH_FIND(hh, store.verdict, &key, sizeof(key), e);
	if (e)
		return &e->v;
	if (HASH_COUNT(store.verdict) >= VERDICTS_MAX || !(e = calloc(1, sizeof(*e))))
		return NULL;
	e->v.key = key;
	e->v.pattern = g->pattern;
	e->v.nmember = group_size(g);
	e->v.cols = g->cols;
	plan(&e->v, g);
	for (unsigned i = 0; i < group_size(g); i++) {
		const struct launch *l = &g->member[i]->launch;

		e->v.site[i] = key_site(l, &g->member[i]->op);
		e->v.image_of[i] = l->kernel->image[0];
	}
	snprintf(e->v.detail, sizeof(e->v.detail), "%s",
		 g->member[group_size(g) - 1]->launch.kernel->name);
	verdict_adopt(&e->v);
	HASH_ADD(hh, store.verdict, v.key, sizeof(key), e);
	log_debug("verdict key %016" PRIx64 "%016" PRIx64 " (%s): %s", key.hash[0], key.hash[1],
		  state_name[e->v.state], text);
	return &e->v;
}

static void forget_known(void)
{
	struct known *k, *next;

	HASH_ITER(hh, store.known, k, next)
	{
		HASH_DEL(store.known, k);
		free(k);
	}
}

struct verdict *verdict_of(const struct group *g, const struct ours *o)
{
	uint64_t fp = fingerprint(g, o);
	struct known *k;
	struct verdict *v;

	pthread_mutex_lock(&store.lock);
	HASH_FIND(hh, store.known, &fp, sizeof(fp), k);
	if (k) {
		v = k->v;
	} else {
		v = find_or_make(g, o);
		if (HASH_COUNT(store.known) >= KNOWN_MAX)
			forget_known();
		k = v ? calloc(1, sizeof(*k)) : NULL;
		if (k) {
			k->fingerprint = fp;
			k->v = v;
			HASH_ADD(hh, store.known, fingerprint, sizeof(fp), k);
		}
	}
	pthread_mutex_unlock(&store.lock);
	return v;
}

static void set_state(struct verdict *v, enum verdict_state s)
{
	__atomic_store_n(&v->state, (int)s, __ATOMIC_RELEASE);
	__atomic_add_fetch(&changes_now, 1, __ATOMIC_RELEASE);
}

uint64_t verdict_changes(void)
{
	return __atomic_load_n(&changes_now, __ATOMIC_ACQUIRE);
}

void verdict_news(void)
{
	__atomic_add_fetch(&changes_now, 1, __ATOMIC_RELEASE);
}

void verdict_probe(struct verdict *v, const struct group *g, const struct ours *o)
{
	static unsigned probes;
	int expected = VERDICT_NEW;

	/* A program whose shapes never repeat must not keep a process busy for ever. */
	if (__atomic_load_n(&probes, __ATOMIC_RELAXED) >= PROBES_MAX)
		return;
	if (!__atomic_compare_exchange_n(&v->state, &expected, VERDICT_PROBING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&probes, 1, __ATOMIC_RELAXED);
	v->rows = g->rows; /* the probe runs the program's kernels with these rows */
	if (probe_start(v, g, o))
		verdict_reject(v, REASON_NO_VERDICT, "the probe could not be started", false);
}

void verdict_planned(struct verdict *v, const struct group *g)
{
	pthread_mutex_lock(&store.lock);
	if (v->state == VERDICT_NEW) {
		memcpy(v->pick, v->planned, sizeof(v->pick));
		v->as_planned = true;
		if (!process.config.opt.live_checks)
			v->rows = g->rows;
		set_state(v, process.config.opt.live_checks ? VERDICT_CHECKING : VERDICT_USABLE);
	}
	pthread_mutex_unlock(&store.lock);
}

/* Writes it down for other processes, as it is by then: the last to write knows all that happened.
 * Nobody who only looks for a verdict waits for the disk. */
static void keep(struct verdict *v)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	struct cache_record r;
	bool any;

	pthread_mutex_lock(&turn);
	pthread_mutex_lock(&store.lock);
	any = verdict_record(v, &r);
	pthread_mutex_unlock(&store.lock);
	if (any)
		cache_put(&r);
	pthread_mutex_unlock(&turn);
}

void verdict_probed(struct verdict *v, const char *answer)
{
	char candidate[CACHE_CANDIDATE_MAX];
	bool slower, read;

	snprintf(candidate, sizeof(candidate), "%.*s", (int)strcspn(answer, " "), answer);
	slower = !strcmp(answer + strcspn(answer, " "), " slower");
	pthread_mutex_lock(&store.lock);
	read = !verdict_parse(v, candidate);
	pthread_mutex_unlock(&store.lock);
	if (!read) {
		verdict_reject(v, REASON_NO_VERDICT, "the probe gave no readable answer", false);
		return;
	}
	pthread_mutex_lock(&store.lock);
	if (slower && process.config.opt.profile && !process.config.opt.times &&
	    v->nslower < VERDICT_SLOWER)
		v->slower[v->nslower++] = v->rows;
	set_state(v, process.config.opt.live_checks ? VERDICT_CHECKING : VERDICT_USABLE);
	pthread_mutex_unlock(&store.lock);
	if (!process.config.opt.live_checks)
		keep(v);
	log_info("%s: the probe found %s%s", v->detail, candidate,
		 slower ? ", which is slower than the program's own kernels at that shape" : "");
}

void verdict_reject(struct verdict *v, enum reason why, const char *detail, bool tell)
{
	pthread_mutex_lock(&store.lock);
	v->why = why;
	snprintf(v->detail, sizeof(v->detail), "%s", detail);
	v->known_bad |= tell;
	set_state(v, VERDICT_REJECTED);
	pthread_mutex_unlock(&store.lock);
	for (unsigned i = 0; i < v->nmember; i++) /* behind the state: see judge_vet */
		verdict_unvet(v->site[i], v->image_of[i]);
	if (tell)
		keep(v);
	log_info("%s not used: %s (%s)", v->pattern->name, reason_word(why), detail);
}

void verdict_checked(struct verdict *v, int64_t rows, bool same)
{
	bool news = false;

	if (!same && verdict_state(v) == VERDICT_REJECTED)
		return; /* and that was said */
	if (!same) {
		log_warn("a fused %s kernel gave other bytes than the program's own; it is not "
			 "used again",
			 v->pattern->name);
		verdict_reject(v, REASON_QUARANTINED, "a live check found other bytes", true);
		return;
	}
	pthread_mutex_lock(&store.lock);
	v->checks++;
	if (rows >= v->due)
		v->due = 0;
	v->unchecked = 0;
	if (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE) {
		news = rows > v->rows || v->state == VERDICT_CHECKING;
		if (rows > v->rows) {
			__atomic_store_n(&v->rows, rows, __ATOMIC_RELEASE);
			__atomic_add_fetch(&changes_now, 1, __ATOMIC_RELEASE);
		}
		if (v->state == VERDICT_CHECKING &&
		    ++v->passed >= (unsigned long)process.config.opt.live_checks)
			set_state(v, VERDICT_USABLE);
	}
	pthread_mutex_unlock(&store.lock);
	if (news)
		keep(v);
}

void verdict_wants(struct verdict *v, int64_t rows)
{
	bool note = false;

	pthread_mutex_lock(&store.lock);
	if (rows > v->rows)
		v->due = rows;
	if (!v->noted && (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE))
		note = v->noted = true;
	pthread_mutex_unlock(&store.lock);
	if (note)
		keep(v);
}

void verdict_mark(struct verdict *v)
{
	if (!v->marked && !v->first_use_over) {
		v->marked = true;
		cache_mark(v->key);
	}
}

void verdict_unmark(struct verdict *v)
{
	v->first_use_over = true;
	if (v->marked) {
		v->marked = false;
		cache_unmark(v->key);
	}
}

bool verdict_marks(void)
{
	struct entry *e, *next;
	bool any = false;

	pthread_mutex_lock(&store.lock);
	HASH_ITER(hh, store.verdict, e, next)
	any |= e->v.marked;
	pthread_mutex_unlock(&store.lock);
	return any;
}

void verdict_unmark_all(void)
{
	struct entry *e, *next;

	pthread_mutex_lock(&store.lock);
	HASH_ITER(hh, store.verdict, e, next)
	verdict_unmark(&e->v);
	pthread_mutex_unlock(&store.lock);
}

void verdict_each(void (*fn)(void *arg, const struct verdict_info *v), void *arg)
{
	struct entry *e, *next;

	pthread_mutex_lock(&store.lock);
	HASH_ITER(hh, store.verdict, e, next)
	{
		const struct verdict *v = &e->v;
		struct verdict_info i = {.key = v->key,
					 .pattern = v->pattern->name,
					 .state = state_name[v->state],
					 .detail = v->detail,
					 .why = v->why,
					 .rows = v->rows,
					 .checks = v->checks,
					 .fused = v->fused,
					 .generated = v->generated};

		if (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE)
			verdict_said(v, i.candidate);
		fn(arg, &i);
	}
	pthread_mutex_unlock(&store.lock);
}
