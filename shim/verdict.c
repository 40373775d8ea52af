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
#include "shim/cache.h"
#include "shim/cache_profile.h"
#include "shim/kernels.h"
#include "shim/probe_parent.h"
#include "shim/process.h"

enum { KEY_TEXT_MAX = 8192, SITE_MAX = 1 << 16, PROBES_MAX = 64 };

struct entry { /* one verdict, by key */
	struct verdict v;
	UT_hash_handle hh;
};

struct known { /* one group shape seen in this process -> its verdict */
	uint64_t fingerprint;
	struct verdict *v;
	UT_hash_handle hh;
};

struct cached { /* what the disk knew when the process began */
	struct cache_record r;
	UT_hash_handle hh;
};

struct profiled { /* shapes at which a fused kernel was measured to be slower, by key */
	struct key key;
	int64_t rows[VERDICT_SLOWER];
	unsigned n;
	UT_hash_handle hh;
};

struct site_entry {
	struct site s;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* guards the tables and every change of a verdict */
	bool loaded;
	struct entry *verdict;
	struct known *known;
	struct cached *cached;
	struct profiled *profiled;
	struct site_entry *site;
	unsigned nsite;
	enum foreseen foreseen;
	uint64_t changes; /* atomic */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const state_name[] = {[VERDICT_NEW] = "new",
					 [VERDICT_PROBING] = "probing",
					 [VERDICT_CHECKING] = "checking",
					 [VERDICT_USABLE] = "usable",
					 [VERDICT_REJECTED] = "rejected"};

static struct site *find_locked(uint64_t hash)
{
	struct site_entry *e;

	HASH_FIND(hh, store.site, &hash, sizeof(hash), e);
	return e ? &e->s : NULL;
}

static struct site *site_locked(uint64_t hash)
{
	struct site *s = find_locked(hash);
	struct site_entry *e;

	if (s)
		return s;
	if (store.nsite >= SITE_MAX || !(e = calloc(1, sizeof(*e))))
		return NULL;
	e->s.hash = hash;
	HASH_ADD(hh, store.site, s.hash, sizeof(hash), e);
	store.nsite++;
	return &e->s;
}

struct site *verdict_site(uint64_t hash)
{
	struct site *s;

	pthread_mutex_lock(&store.lock);
	s = site_locked(hash);
	pthread_mutex_unlock(&store.lock);
	return s;
}

struct site *verdict_site_find(uint64_t hash)
{
	struct site *s;

	pthread_mutex_lock(&store.lock);
	s = find_locked(hash);
	pthread_mutex_unlock(&store.lock);
	return s;
}

static void load_record(void *arg, const struct cache_record *r)
{
	struct cached *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->r = *r;
	HASH_ADD(hh, store.cached, r.key, sizeof(c->r.key), c);
	if (r->kind != CACHE_REJECT && !store.foreseen)
		store.foreseen = FORESEEN_USE;
	for (unsigned i = 0; r->kind == CACHE_VERDICT && i < PATTERN_MAX_NODES && r->site[i]; i++) {
		struct site *s = site_locked(r->site[i]);

		if (s)
			s->vetted = true;
		if (s && i == 0)
			s->expected = true;
	}
	if ((r->kind == CACHE_PROBED || r->due > r->rows) && r->kind != CACHE_REJECT) {
		struct site *s = site_locked(r->site[0]);

		store.foreseen = FORESEEN_CHECKS;
		if (s)
			s->hints |= UINT64_C(1) << (r->at ? r->at : 1) % 64;
	}
}

static void load_profile(void *arg, const struct profile_row *r)
{
	struct profiled *p;

	if (r->fused_ns <= r->members_ns)
		return;
	HASH_FIND(hh, store.profiled, &r->key, sizeof(r->key), p);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return;
		p->key = r->key;
		HASH_ADD(hh, store.profiled, key, sizeof(p->key), p);
	}
	if (p->n < VERDICT_SLOWER)
		p->rows[p->n++] = r->rows;
}

static void load_crash(void *arg, struct key key)
{
	struct cache_record r = {.key = key, .kind = CACHE_REJECT, .why = REASON_CRASHED};
	struct cache_record old;

	if (cache_find(key, &old)) {
		memcpy(r.site, old.site, sizeof(r.site));
		memcpy(r.candidate, old.candidate, sizeof(r.candidate));
	}
	snprintf(r.detail, sizeof(r.detail), "a process ended during the first use");
	log_warn("an earlier process did not survive the first use of a fused kernel; it is not "
		 "used again (remove the cache directory to forget this)");
	cache_put(&r);
}

void verdict_load(void)
{
	pthread_mutex_lock(&store.lock);
	if (!store.loaded) {
		store.loaded = true;
		if (!cache_open(process.config.opt.cache, fused_build_id())) {
			cache_left_marks(load_crash, NULL);
			cache_each(load_record, NULL);
			/* Who measures wants both forms. */
			if (process.config.opt.profile && !process.config.opt.times)
				cache_profile_each(load_profile, NULL);
		}
	}
	pthread_mutex_unlock(&store.lock);
}

enum foreseen verdict_foreseen(void)
{
	verdict_load();
	return store.foreseen;
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
	for (unsigned i = 0; i < g->pattern->nnode; i++) {
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

/* The state a verdict starts in, from what the disk knew. Lock held. */
static void adopt(struct verdict *v)
{
	struct cached *c;
	struct candidate cand;

	HASH_FIND(hh, store.cached, &v->key, sizeof(v->key), c);
	if (!c)
		return;
	snprintf(v->detail, sizeof(v->detail), "%s", c->r.detail);
	if (c->r.kind == CACHE_REJECT) {
		v->why = c->r.why;
		v->state = VERDICT_REJECTED;
		return;
	}
	if (candidate_parse(c->r.candidate, &cand))
		return; /* of a build that spelled candidates otherwise: probe again */
	v->candidate = cand;
	v->rows = c->r.rows;
	v->passed = c->r.passed;
	v->state = c->r.kind == CACHE_VERDICT ? VERDICT_USABLE : VERDICT_CHECKING;
}

static void adopt_profile(struct verdict *v)
{
	struct profiled *p;

	HASH_FIND(hh, store.profiled, &v->key, sizeof(v->key), p);
	if (!p)
		return;
	memcpy(v->slower, p->rows, sizeof(v->slower));
	v->nslower = p->n;
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
	for (unsigned i = 0; i < g->pattern->nnode; i++) {
		struct kernel_rec *rec = (struct kernel_rec *)g->member[i]->launch.kernel;

		if (!rec->image || images_identify(rec->image))
			return -1;
		rec->k.image[0] = rec->image->hash[0];
		rec->k.image[1] = rec->image->hash[1];
	}
	return 0;
}

/* Makes the verdict of a group not seen before. Lock held. */
static struct verdict *find_or_make(const struct group *g, const struct ours *o)
{
	char text[KEY_TEXT_MAX], machine[96];
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
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->v.key = key;
	e->v.pattern = g->pattern;
	e->v.cols = g->cols;
	for (unsigned i = 0; i < g->pattern->nnode; i++)
		e->v.site[i] = key_site(&g->member[i]->launch, &g->member[i]->op);
	snprintf(e->v.detail, sizeof(e->v.detail), "%s",
		 g->member[g->pattern->nnode - 1]->launch.kernel->name);
	adopt(&e->v);
	adopt_profile(&e->v);
	HASH_ADD(hh, store.verdict, v.key, sizeof(key), e);
	log_debug("verdict key %016" PRIx64 "%016" PRIx64 " (%s): %s", key.hash[0], key.hash[1],
		  state_name[e->v.state], text);
	return &e->v;
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

static void put(const struct verdict *v, enum cache_kind kind)
{
	struct cache_record r = {.key = v->key,
				 .kind = kind,
				 .rows = v->rows,
				 .due = v->due > v->rows ? v->due : 0,
				 .passed = v->passed,
				 .at = v->seen};

	memcpy(r.site, v->site, sizeof(r.site));
	if (kind == CACHE_REJECT)
		r.why = v->why;
	else
		candidate_name(&v->candidate, r.candidate);
	snprintf(r.detail, sizeof(r.detail), "%s", v->detail);
	for (char *p = r.detail; *p; p++)
		if (*p == '\n')
			*p = ' ';
	cache_put(&r);
}

static void set_state(struct verdict *v, enum verdict_state s)
{
	__atomic_store_n(&v->state, (int)s, __ATOMIC_RELEASE);
	__atomic_add_fetch(&store.changes, 1, __ATOMIC_RELEASE);
}

uint64_t verdict_changes(void)
{
	return __atomic_load_n(&store.changes, __ATOMIC_ACQUIRE);
}

void verdict_probe(struct verdict *v, const struct group *g, const struct ours *o)
{
	static unsigned probes;
	int expected = VERDICT_NEW;

	/* A program whose shapes never repeat must not start a process for each. */
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

void verdict_probed(struct verdict *v, const char *answer)
{
	char candidate[CANDIDATE_NAME_MAX];
	struct candidate c;
	bool slower;

	snprintf(candidate, sizeof(candidate), "%.*s", (int)strcspn(answer, " "), answer);
	slower = !strcmp(answer + strcspn(answer, " "), " slower");
	if (candidate_parse(candidate, &c)) {
		verdict_reject(v, REASON_NO_VERDICT, "the probe gave no readable answer", false);
		return;
	}
	pthread_mutex_lock(&store.lock);
	v->candidate = c;
	if (slower && process.config.opt.profile && !process.config.opt.times &&
	    v->nslower < VERDICT_SLOWER)
		v->slower[v->nslower++] = v->rows;
	if (process.config.opt.live_checks) {
		set_state(v, VERDICT_CHECKING);
	} else {
		set_state(v, VERDICT_USABLE);
		put(v, CACHE_VERDICT);
	}
	pthread_mutex_unlock(&store.lock);
	log_info("%s: the probe found %s%s", v->detail, candidate,
		 slower ? ", which is slower than the program's own kernels at that shape" : "");
}

void verdict_reject(struct verdict *v, enum reason why, const char *detail, bool keep)
{
	pthread_mutex_lock(&store.lock);
	v->why = why;
	snprintf(v->detail, sizeof(v->detail), "%s", detail);
	set_state(v, VERDICT_REJECTED);
	if (keep)
		put(v, CACHE_REJECT);
	pthread_mutex_unlock(&store.lock);
	log_info("%s not used: %s (%s)", v->pattern->name, reason_word(why), detail);
}

void verdict_checked(struct verdict *v, int64_t rows, bool same)
{
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
	v->sampled_at = v->fused;
	if (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE) {
		bool news = rows > v->rows || v->state == VERDICT_CHECKING;

		if (rows > v->rows) {
			__atomic_store_n(&v->rows, rows, __ATOMIC_RELEASE);
			__atomic_add_fetch(&store.changes, 1, __ATOMIC_RELEASE);
		}
		if (v->state == VERDICT_CHECKING &&
		    ++v->passed >= (unsigned long)process.config.opt.live_checks)
			set_state(v, VERDICT_USABLE);
		if (news)
			put(v, v->state == VERDICT_USABLE ? CACHE_VERDICT : CACHE_PROBED);
	}
	pthread_mutex_unlock(&store.lock);
}

void verdict_wants(struct verdict *v, int64_t rows)
{
	pthread_mutex_lock(&store.lock);
	if (rows > v->rows)
		v->due = rows;
	if (!v->noted && (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE)) {
		v->noted = true;
		put(v, v->state == VERDICT_USABLE ? CACHE_VERDICT : CACHE_PROBED);
	}
	pthread_mutex_unlock(&store.lock);
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
					 .fused = v->fused};

		if (v->state == VERDICT_CHECKING || v->state == VERDICT_USABLE)
			candidate_name(&v->candidate, i.candidate);
		fn(arg, &i);
	}
	pthread_mutex_unlock(&store.lock);
}
