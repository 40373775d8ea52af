/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts from earlier processes, and for later ones. */
#include "shim/verdict_disk.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/hash.h"
#include "config/log.h"
#include "shim/cache_dir.h"
#include "shim/cache_profile.h"
#include "shim/process.h"

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

static struct {
	pthread_mutex_t lock; /* guards the tables, which only verdict_load changes */
	bool loaded;
	struct cached *cached;
	struct profiled *profiled;
	enum foreseen foreseen;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void load_record(void *arg, const struct cache_record *r)
{
	struct cached *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->r = *r;
	HASH_ADD(hh, disk.cached, r.key, sizeof(c->r.key), c);
	if (r->kind != CACHE_REJECT && !disk.foreseen)
		disk.foreseen = FORESEEN_USE;
	/* Of a chain maybe without a probe: the verdict says so, when it is met. */
	if (r->kind == CACHE_VERDICT && r->site[0] && !cache_of_chain(r)) {
		struct site *s = verdict_site_early(r->site[0]);

		if (s)
			s->expected = true;
		for (unsigned i = 0; i < GROUP_MAX_MEMBERS && r->site[i]; i++)
			verdict_vet_early(r->site[i], r->image[i]);
	}
	if ((r->kind == CACHE_PROBED || r->due > r->rows) && r->kind != CACHE_REJECT) {
		struct site *s = verdict_site_early(r->site[0]);

		disk.foreseen = FORESEEN_CHECKS;
		/* A chain is held when it is checked: which one it is shows by then. */
		if (s && !cache_of_chain(r))
			s->hints |= UINT64_C(1) << (r->at ? r->at : 1) % 64;
	}
}

static void load_profile(void *arg, const struct profile_row *r)
{
	struct profiled *p;

	if (r->fused_ns <= r->members_ns)
		return;
	HASH_FIND(hh, disk.profiled, &r->key, sizeof(r->key), p);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return;
		p->key = r->key;
		HASH_ADD(hh, disk.profiled, key, sizeof(p->key), p);
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
		memcpy(r.image, old.image, sizeof(r.image));
		memcpy(r.candidate, old.candidate, sizeof(r.candidate));
	}
	snprintf(r.detail, sizeof(r.detail), "a process ended during the first use");
	log_warn("an earlier process did not survive the first use of a fused kernel; it is not "
		 "used again (remove the cache directory to forget this)");
	cache_put(&r);
}

void verdict_load(void)
{
	pthread_mutex_lock(&disk.lock);
	if (!disk.loaded) {
		disk.loaded = true;
		if (!cache_open(process.config.opt.cache, fused_build_id())) {
			cache_left_marks(load_crash, NULL);
			cache_each(load_record, NULL);
			/* Who measures wants both forms. */
			if (process.config.opt.profile && !process.config.opt.times)
				cache_profile_each(load_profile, NULL);
		}
	}
	pthread_mutex_unlock(&disk.lock);
}

enum foreseen verdict_foreseen(void)
{
	char dir[4096];

	/* Who has no cache is not given one, or told of it, before a kernel is known. */
	if (cache_dir_resolve(process.config.opt.cache, dir, sizeof(dir)) || access(dir, F_OK))
		return FORESEEN_NOTHING;
	verdict_load();
	return disk.foreseen;
}

static void adopt(struct verdict *v)
{
	struct cached *c;

	HASH_FIND(hh, disk.cached, &v->key, sizeof(v->key), c);
	if (!c)
		return;
	snprintf(v->detail, sizeof(v->detail), "%s", c->r.detail);
	if (c->r.kind == CACHE_REJECT) {
		v->why = c->r.why;
		v->state = VERDICT_REJECTED;
		return;
	}
	if (verdict_parse(v, c->r.candidate))
		return; /* of a build that spelled candidates otherwise: probe again */
	v->rows = c->r.rows;
	v->passed = c->r.passed;
	v->state = c->r.kind == CACHE_VERDICT ? VERDICT_USABLE : VERDICT_CHECKING;
}

static void adopt_profile(struct verdict *v)
{
	struct profiled *p;

	HASH_FIND(hh, disk.profiled, &v->key, sizeof(v->key), p);
	if (!p)
		return;
	memcpy(v->slower, p->rows, sizeof(v->slower));
	v->nslower = p->n;
}

bool verdict_record(const struct verdict *v, struct cache_record *r)
{
	const int state = v->state;

	if (state < VERDICT_CHECKING || (state == VERDICT_REJECTED && !v->known_bad))
		return false;
	*r = (struct cache_record){.key = v->key,
				   .kind = state == VERDICT_REJECTED ? CACHE_REJECT
					   : state == VERDICT_USABLE ? CACHE_VERDICT
								     : CACHE_PROBED,
				   .rows = v->rows,
				   .due = v->due > v->rows ? v->due : 0,
				   .passed = v->passed,
				   .at = v->seen};
	memcpy(r->site, v->site, sizeof(r->site));
	memcpy(r->image, v->image_of, sizeof(r->image));
	if (state == VERDICT_REJECTED)
		r->why = v->why;
	else
		verdict_said(v, r->candidate);
	snprintf(r->detail, sizeof(r->detail), "%s", v->detail);
	for (char *p = r->detail; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return true;
}

void verdict_adopt(struct verdict *v)
{
	pthread_mutex_lock(&disk.lock);
	adopt(v);
	adopt_profile(v);
	pthread_mutex_unlock(&disk.lock);
}
