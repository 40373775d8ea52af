/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a launch's parameters matter. PyTorch passes structs by value whose padding and
 * unused entries hold what the stack held: launches that say the same differ there. Launches of one
 * kernel with the same grid, block, shared memory and attributes that agree in the bytes that
 * matter to the decoder for one of them decode to the same op, and to each the same bytes matter:
 * the decoder, which looks at nothing else, takes the same way.
 */
#ifndef AF_MATCHER_HEED_H
#define AF_MATCHER_HEED_H

#include "matcher/launch.h"
#include "matcher/op.h"

enum { HEED_SPANS = 20, HEED_BYTES = 4096 };

struct heed {
	unsigned n;
	struct {
		uint16_t at, bytes;
	} span[HEED_SPANS]; /* in order, apart from each other */
};

/* For a launch and what it was decoded to. False: its parameters are too large. */
bool heed_of(const struct launch *l, const struct op *op, struct heed *h);
/* Copies what matters of a launch's parameters to out[HEED_BYTES]; how many bytes. */
static inline size_t heed_take(const struct heed *h, const uint8_t *params, uint8_t *out)
{
	size_t n = 0;

	for (unsigned i = 0; i < h->n; i++) {
		__builtin_memcpy(out + n, params + h->span[i].at, h->span[i].bytes);
		n += h->span[i].bytes;
	}
	return n;
}
/*
 * Does the decoder keep that promise here? It is asked again with all other bytes turned around. A
 * guard against decoders that say of bytes which they look at that these mean nothing.
 */
bool heed_holds(const struct heed *h, const struct launch *l, const struct op *op);

#endif
