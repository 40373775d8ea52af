/* SPDX-License-Identifier: Apache-2.0 */
/* Sites, by hash. They live until the process ends. And which launches at them may be crossed. */
#include <pthread.h>
#include <stdlib.h>

#include "config/hash.h"
#include "shim/hot.h"
#include "shim/verdict.h"

enum {
	SITE_MAX = 1 << 16,
	SITE_EARLY = SITE_MAX / 4,
	VETTED_MAX = 1 << 16,
	VETTED_EARLY = VETTED_MAX / 2
};

struct site_entry {
	struct site s;
	UT_hash_handle hh;
};

struct vetted {
	struct vetted_key {
		uint64_t site, image; /* 0: there is evidence of some image's */
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

static struct site *site_locked(uint64_t hash, unsigned most)
{
	struct site *s = find_locked(hash);
	struct site_entry *e;

	if (s)
		return s;
	if (sites.n >= most || !(e = calloc(1, sizeof(*e))))
		return NULL;
	e->s.hash = hash;
	HASH_ADD(hh, sites.site, s.hash, sizeof(hash), e);
	sites.n++;
	return &e->s;
}

static struct site *site(uint64_t hash, unsigned most)
{
	struct site *s;

	pthread_mutex_lock(&sites.lock);
	s = site_locked(hash, most);
	pthread_mutex_unlock(&sites.lock);
	return s;
}

struct site *verdict_site(uint64_t hash)
{
	return site(hash, SITE_MAX);
}

struct site *verdict_site_early(uint64_t hash)
{
	return site(hash, SITE_EARLY);
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

/* True: it is new there. */
static bool add_locked(uint64_t site, uint64_t image, unsigned most)
{
	struct vetted_key key = {site, image};
	struct vetted *e;

	if (vetted_locked(&key) || HASH_COUNT(sites.vetted) >= most || !(e = calloc(1, sizeof(*e))))
		return false;
	e->key = key;
	HASH_ADD(hh, sites.vetted, key, sizeof(key), e);
	return true;
}

static bool vet(uint64_t site, uint64_t image, unsigned most)
{
	bool news;

	if (!image)
		return false;
	pthread_mutex_lock(&sites.lock);
	news = add_locked(site, image, most);
	add_locked(site, 0, most);
	pthread_mutex_unlock(&sites.lock);
	return news;
}

bool verdict_vet(uint64_t site, uint64_t image)
{
	return vet(site, image, VETTED_MAX);
}

void verdict_vet_early(uint64_t site, uint64_t image)
{
	vet(site, image, VETTED_EARLY);
}

void verdict_unvet(uint64_t site, uint64_t image)
{
	const struct vetted_key key = {site, image};
	struct vetted *e;

	pthread_mutex_lock(&sites.lock);
	if (image && (e = vetted_locked(&key))) {
		HASH_DEL(sites.vetted, e);
		free(e);
		__atomic_add_fetch(&unvetted_now, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&sites.lock);
}

static bool is_vetted(uint64_t site, uint64_t image)
{
	const struct vetted_key key = {site, image};
	bool is;

	pthread_mutex_lock(&sites.lock);
	is = vetted_locked(&key);
	pthread_mutex_unlock(&sites.lock);
	return is;
}

bool verdict_vetted(uint64_t site, struct image *from)
{
	uint64_t image = from ? __atomic_load_n(&from->hash[0], __ATOMIC_ACQUIRE) : 0;

	if (image)
		return is_vetted(site, image);
	return from && is_vetted(site, 0) && !images_identify(from) && from->hash[0] &&
	       is_vetted(site, from->hash[0]);
}

uint64_t verdict_unvetted(void)
{
	return __atomic_load_n(&unvetted_now, __ATOMIC_ACQUIRE);
}
