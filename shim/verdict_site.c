/* SPDX-License-Identifier: Apache-2.0 */
/* Sites, by hash. They live until the process ends. */
#include <pthread.h>
#include <stdlib.h>

#include "config/hash.h"
#include "shim/verdict.h"

enum { SITE_MAX = 1 << 16 };

struct site_entry {
	struct site s;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock;
	struct site_entry *site;
	unsigned n;
} sites = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct site *find_locked(uint64_t hash)
{
	struct site_entry *e;

	HASH_FIND(hh, sites.site, &hash, sizeof(hash), e);
	return e ? &e->s : NULL;
}

static struct site *site_locked(uint64_t hash)
{
	struct site *s = find_locked(hash);
	struct site_entry *e;

	if (s)
		return s;
	if (sites.n >= SITE_MAX || !(e = calloc(1, sizeof(*e))))
		return NULL;
	e->s.hash = hash;
	HASH_ADD(hh, sites.site, s.hash, sizeof(hash), e);
	sites.n++;
	return &e->s;
}

struct site *verdict_site(uint64_t hash)
{
	struct site *s;

	pthread_mutex_lock(&sites.lock);
	s = site_locked(hash);
	pthread_mutex_unlock(&sites.lock);
	return s;
}

struct site *verdict_site_find(uint64_t hash)
{
	struct site *s;

	pthread_mutex_lock(&sites.lock);
	s = find_locked(hash);
	pthread_mutex_unlock(&sites.lock);
	return s;
}
