/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver says of an address. */
#ifndef AF_SHIM_MEMORY_ASK_H
#define AF_SHIM_MEMORY_ASK_H

#include "shim/memory.h"

struct memory_answer {
	unsigned flags; /* a kind; ALIASED, too, if its origin is unclear; 0: it knows nothing */
	int device;
	struct range range;
};

/* One call, about 0.1 us on a 580 driver; allowed at any time, also during captures. */
void memory_ask(uint64_t addr, struct memory_answer *a);

#endif
