// SPDX-License-Identifier: Apache-2.0
#include "shim/outlook.h"

#include <stddef.h>

enum {
	PLACES = 4096, /* a power of two */
	BEFORE = 3,
	LOOKS = 6, /* in vain, before any is passed over */
	REST = 32, /* launches passed over then; four times as many after each further look, up to
		    */
	REST_MOST = 4096,
	WAIT = 3, /* of a group that waits, one in so many and one is looked at */
};

static struct place {
	uint32_t tag;
	uint16_t looks, rest, again; /* again: how many to pass over after the next look */
	uint16_t extent;
} places[PLACES];

static __thread struct {
	uint64_t before[BEFORE];
	uint64_t until; /* launches up to this number belong to a group that waits */
} thread;

static uint64_t mix(uint64_t h)
{
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

uint32_t outlook_here(const struct kernel_rec *rec, uint32_t grid)
{
	const uint64_t mine = (uintptr_t)rec;
	uint64_t h = mine ^ (uint64_t)grid << 40;

	for (unsigned i = 0; i < BEFORE; i++)
		h = mix(h ^ thread.before[i]);
	thread.before[2] = thread.before[1];
	thread.before[1] = thread.before[0];
	thread.before[0] = mine;
	return (uint32_t)h | 1;
}

static struct place *place(uint32_t here)
{
	return &places[(here >> 8) % PLACES];
}

bool outlook_pass(uint32_t here, uint64_t index)
{
	struct place *p = place(here);

	if (index <= thread.until)
		return true;
	if (p->tag != here) {
		*p = (struct place){.tag = here, .again = REST};
		return false;
	}
	if (p->rest) {
		p->rest--;
		if (p->extent)
			thread.until = index + p->extent;
		return true;
	}
	p->extent = 0;
	if (++p->looks <= LOOKS)
		return false;
	p->rest = p->again;
	if (p->again < REST_MOST)
		p->again = (uint16_t)(p->again * 4);
	return false;
}

void outlook_promise(uint32_t here, uint64_t extent, bool waits)
{
	struct place *p = place(here);

	if (!here || p->tag != here)
		return;
	p->looks = 0;
	p->again = REST;
	p->rest = waits ? WAIT : 0;
	p->extent = waits && extent < UINT16_MAX ? (uint16_t)extent : 0;
}
