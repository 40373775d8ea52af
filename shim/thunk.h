/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thunks (entry.S): what stands in for a driver function that no hook replaces. Usual path: nothing
 * is watched, and no graph lent that it may touch, jump to the driver. Else the argument registers
 * are saved, thunk_known or thunk_outside does what the call's class asks, and the jump follows, or
 * the error of a held launch is returned in its place.
 */
#ifndef AF_SHIM_THUNK_H
#define AF_SHIM_THUNK_H

#include <stdint.h>

#include "shim/driver.h"

/* Classes of matcher/calls.def; the numbers are entry.S's too. */
enum call_class { CLASS_NEUTRAL, CLASS_STREAM, CLASS_ALL };

struct thunk_row {
	uint8_t class;  /* enum call_class */
	int8_t stream;  /* position of the stream argument, -1: none */
	uint8_t ptsz;   /* stream 0 is the per-thread stream */
	uint8_t hooked; /* a hook of that name replaces it (hooks.def) */
	uint8_t loan;   /* may touch a graph that is lent (loans.def) */
};
extern const struct thunk_row thunk_rows[CALL_COUNT] __attribute__((visibility("hidden")));

/* The hook or thunk that stands for a row. */
void *thunk_wrapper(unsigned call);

/*
 * A thunk for a driver function outside the table, of whatever signature: submits everything held,
 * settles all loans, then jumps. The same one for the same function. NULL when the pool is used up.
 */
void *thunk_for(void *function);
/* Name of pool entry `slot` as libcuda exports it, "?" if it has none. */
const char *thunk_outside_name(unsigned slot);

#endif
