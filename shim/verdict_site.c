/* SPDX-License-Identifier: Apache-2.0 */
/* Sites, by hash. They live until the process ends. And which launches at them may be crossed. */
#include <pthread.h>
#include <stdlib.h>

#include "config/hash.h"
#include "shim/hot.h"
#include "shim/verdict.h"

enum { SITE_MAX = 1 << 16, VETTED_MAX = 1 << 14 };

struct site_entry {
	struct site s;
	UT_hash_handle hh;
};

struct vetted {
	struct vetted_key {
		uint64_t site, image[2];
	} key;
	UT_hash_handle hh;
};

static HOT uint64_t unvetted_now; /* atomic */
static struct {
	pthread_mutex_t lock;
	struct site_entry *site;
	unsigned n;
	struct vetted *vetted;
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

static struct vetted *vetted_locked(const struct vetted_key *key)
{
	struct vetted *e;

	HASH_FIND(hh, sites.vetted, key, sizeof(*key), e);
	return e;
}

bool verdict_vet(uint64_t site, const uint64_t image[2])
{
	const struct vetted_key key = {site, {image[0], image[1]}};
	struct vetted *e = NULL;

	pthread_mutex_lock(&sites.lock);
	if ((key.image[0] || key.image[1]) && !vetted_locked(&key) &&
	    HASH_COUNT(sites.vetted) < VETTED_MAX && (e = calloc(1, sizeof(*e)))) {
		e->key = key;
		HASH_ADD(hh, sites.vetted, key, sizeof(key), e);
	}
	pthread_mutex_unlock(&sites.lock);
	return e;
}

void verdict_unvet(uint64_t site, const uint64_t image[2])
{
	const struct vetted_key key = {site, {image[0], image[1]}};
	struct vetted *e;

	pthread_mutex_lock(&sites.lock);
	if ((e = vetted_locked(&key))) {
		HASH_DEL(sites.vetted, e);
		free(e);
		__atomic_add_fetch(&unvetted_now, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&sites.lock);
}

bool verdict_vetted(uint64_t site, const struct image *from)
{
	struct vetted_key key = {.site = site};
	bool is;

	/* It may be hashed just now: half a hash is none that is in the table. */
	for (unsigned i = 0; from && i < 2; i++)
		key.image[i] = __atomic_load_n(&from->hash[i], __ATOMIC_RELAXED);
	if (!key.image[0] && !key.image[1])
		return false;
	pthread_mutex_lock(&sites.lock);
	is = vetted_locked(&key);
	pthread_mutex_unlock(&sites.lock);
	return is;
}

uint64_t verdict_unvetted(void)
{
	return __atomic_load_n(&unvetted_now, __ATOMIC_ACQUIRE);
}
