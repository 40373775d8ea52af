/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of `eager`: what operands of recorded launches name, at the recorded addresses. */
#ifndef AF_TESTS_APPS_EAGER_MEMORY_H
#define AF_TESTS_APPS_EAGER_MEMORY_H

#include "matcher/op.h"

/* What the launch touches shall be there. */
void memory_note(const struct op *op);
/* Makes all that was noted. False: there is not so much, or something else is there. */
bool memory_make(void);
/* Numbers for what an op reads before any writes it. */
void memory_fill(const struct op *op);
/* Other numbers where a pass begins: in what the first op read. */
void memory_begin(unsigned pass);
/* Of all that was written, on top of h. The device is idle. */
uint64_t memory_hash(uint64_t h);

/* The nth of numbers of that type, about 1 or small. */
void memory_number(enum dtype t, uint64_t r, uint8_t *to);

#endif
