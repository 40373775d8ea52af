// SPDX-License-Identifier: Apache-2.0
#include "shim/outlook.h"

#include <stddef.h>
#include <time.h>

#include "shim/hot.h"

enum {
	PLACES = 4096, /* a power of two */
	KERNELS = 4,   /* a power of two: that of a launch, and of those before */
	LOOKS = 6,     /* in vain, before any is passed over */
	REST = 32, /* launches passed over then; four times as many after each further look, up to
		    */
	REST_MOST = 4096,
	WAIT_TIMES = 64, /* so much longer than a look at what waits took, there is no other, but */
	WAIT_LEAST_NS = 1000000,
	WAIT_MOST_NS = 50000000,
};

static struct place {
	uint32_t tag;
	uint16_t looks, rest, again; /* again: how many to pass over after the next look */
	uint16_t extent;             /* of a group that */
	bool waits;
} places[PLACES];

static HOT uint64_t next_look; /* at what waits, in ns; racy */

static __thread struct {
	const struct kernel_rec *kernel[KERNELS];
	uint64_t seen;
	uint64_t until; /* launches up to that number belong to a group that waits */
	uint64_t since; /* when such a look began, in ns */
} thread HOT_THREAD;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t mix(uint64_t h)
{
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

void outlook_seen(const struct kernel_rec *rec)
{
	thread.kernel[thread.seen++ % KERNELS] = rec;
}

uint32_t outlook_here(uint32_t grid)
{
	uint64_t h = (uint64_t)grid << 40;

	for (unsigned i = 0; i < KERNELS; i++)
		h = mix(h ^ (uintptr_t)thread.kernel[(thread.seen + i) % KERNELS]);
	return (uint32_t)h | 1;
}

static struct place *place(uint32_t here)
{
	return &places[(here >> 8) % PLACES];
}

bool outlook_waits(uint32_t here, uint64_t index)
{
	const struct place *p = place(here);
	uint64_t t;

	if (index < thread.until)
		return true;
	if (p->tag != here || !p->waits)
		return false;
	t = now();
	if (t >= __atomic_load_n(&next_look, __ATOMIC_RELAXED)) {
		thread.since = t;
		return false;
	}
	thread.until = index + p->extent + 1;
	return true;
}

bool outlook_pass(uint32_t here)
{
	struct place *p = place(here);

	if (p->tag != here) {
		*p = (struct place){.tag = here, .again = REST};
		return false;
	}
	if (p->rest) {
		p->rest--;
		return true;
	}
	if (++p->looks <= LOOKS)
		return false;
	p->rest = p->again;
	if (p->again < REST_MOST)
		p->again = (uint16_t)(p->again * 4);
	return false;
}

static void put_off(void)
{
	const uint64_t t = now();
	uint64_t rest = thread.since ? WAIT_TIMES * (t - thread.since) : WAIT_LEAST_NS;

	rest = rest < WAIT_LEAST_NS ? WAIT_LEAST_NS : rest > WAIT_MOST_NS ? WAIT_MOST_NS : rest;
	thread.since = 0;
	__atomic_store_n(&next_look, t + rest, __ATOMIC_RELAXED);
}

void outlook_promise(uint32_t here, uint64_t extent, bool waits)
{
	struct place *p = place(here);

	if (waits)
		put_off();
	if (!here || (p->tag != here && !waits))
		return;
	*p = (struct place){.tag = here, .again = REST, .waits = waits};
	p->extent = waits && extent < UINT16_MAX ? (uint16_t)extent : 0;
}
