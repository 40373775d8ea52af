// SPDX-License-Identifier: Apache-2.0
#include "matcher/heed.h"

#include <string.h>

#include "matcher/decode.h"

bool heed_of(const struct launch *l, const struct op *op, struct heed *h)
{
	const struct kernel *k = l->kernel;
	bool matters[HEED_BYTES + 1];

	h->n = 0;
	if (k->param_bytes > HEED_BYTES)
		return false;
	/* Between parameters, too: some decoders take them as one. */
	memset(matters, true, k->param_bytes);
	matters[k->param_bytes] = false;
	for (unsigned i = 0; i < op->nslot; i++)
		if (op->slot[i].role == ROLE_NONE &&
		    (uint32_t)op->slot[i].offset + op->slot[i].bytes <= k->param_bytes)
			memset(matters + op->slot[i].offset, false, op->slot[i].bytes);
	for (uint32_t at = 0, end; at < k->param_bytes; at = end) {
		for (end = at + 1; matters[end] == matters[at] && end < k->param_bytes;)
			end++;
		if (!matters[at])
			continue;
		if (h->n == HEED_SPANS) { /* then all of the rest */
			h->span[h->n - 1].bytes = (uint16_t)(k->param_bytes - h->span[h->n - 1].at);
			break;
		}
		h->span[h->n].at = (uint16_t)at;
		h->span[h->n++].bytes = (uint16_t)(end - at);
	}
	return true;
}

bool heed_holds(const struct heed *h, const struct launch *l, const struct op *op)
{
	const uint32_t bytes = l->kernel->param_bytes;
	uint8_t turned[HEED_BYTES];
	struct launch other = *l;
	struct op again;

	for (uint32_t i = 0; i < bytes; i++)
		turned[i] = (uint8_t)~l->params[i];
	for (unsigned i = 0; i < h->n; i++)
		memcpy(turned + h->span[i].at, l->params + h->span[i].at, h->span[i].bytes);
	other.params = turned;
	if (decode_launch(&other, &again))
		return false;
	again.vetted = op->vetted; /* probes say that, too */
	return op_same(op, &again);
}
