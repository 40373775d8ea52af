/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/hot.h"

enum { WORDS = sizeof(struct counts) / sizeof(unsigned long long) };

/* One thread's; the next one goes on with it when that thread is over. */
struct block {
	struct counts counts; /* first: counts * is block * */
	struct block *next;   /* in all */
	struct block *free;
};

static struct {
	pthread_mutex_t lock;
	struct block *all, *free;
	pthread_key_t key;
	bool keyed;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* For those who cannot have their own; what they count at the same time may be lost. */
static struct block shared;

__thread struct counts *counts_thread HOT_THREAD;

static void over(void *arg)
{
	struct block *b = arg;

	counts_thread = NULL;
	pthread_mutex_lock(&blocks.lock);
	b->free = blocks.free;
	blocks.free = b;
	pthread_mutex_unlock(&blocks.lock);
}

struct counts *counts_make(void)
{
	struct block *b;

	pthread_mutex_lock(&blocks.lock);
	blocks.keyed = blocks.keyed || !pthread_key_create(&blocks.key, over);
	b = blocks.free;
	if (b) {
		blocks.free = b->free;
	} else if (blocks.keyed && (b = calloc(1, sizeof(*b)))) {
		b->next = blocks.all;
		blocks.all = b;
	}
	pthread_mutex_unlock(&blocks.lock);
	if (!b)
		return &shared.counts;
	counts_thread = &b->counts;
	pthread_setspecific(blocks.key, b); /* refused: nobody goes on with it, no more */
	return &b->counts;
}

static void add(struct counts *to, const struct block *b)
{
	unsigned long long *sum = (unsigned long long *)to;
	const unsigned long long *one = (const unsigned long long *)&b->counts;

	for (unsigned i = 0; i < WORDS; i++)
		sum[i] += __atomic_load_n(&one[i], __ATOMIC_RELAXED);
}

void counts_sum(struct counts *to)
{
	memset(to, 0, sizeof(*to));
	add(to, &shared);
	pthread_mutex_lock(&blocks.lock);
	for (const struct block *b = blocks.all; b; b = b->next)
		add(to, b);
	pthread_mutex_unlock(&blocks.lock);
}
