/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a folded sequence. */
#ifndef AF_TOOLS_FOLD_STATE_H
#define AF_TOOLS_FOLD_STATE_H

#include "config/hash.h"
#include "tools/fold.h"

enum {
	PERIOD_MAX = 1 << 14,
	LOOKS = 128,     /* earlier places of an element looked at */
	LOOP_LOOKS = 16, /* loops before it looked at */
	DEPTH_MAX = 64,  /* every level at least doubles the length */
	LOOP = 1u << 31, /* in an element: it is a loop, the rest is its number */
	NOWHERE = UINT32_MAX,
};

struct element {
	uint32_t sym;
	uint32_t before;      /* place of the same sym before this one, or NOWHERE */
	uint32_t loop_before; /* place of the nearest loop before this one */
	uint64_t hash;        /* of everything up to and with it */
};

struct body {
	uint32_t id, n;
	uint64_t length; /* numbers in a round */
	uint64_t hash;
	UT_hash_handle hh;
	uint32_t sym[]; /* n of them */
};

struct loop {
	const struct body *body;
	uint32_t rounds;
};

struct loop_key { /* in a table, to find a loop's number again */
	uint32_t body, rounds;
};

struct loop_entry {
	struct loop_key key;
	uint32_t number;
	UT_hash_handle hh;
};

struct fold {
	struct element *list;
	uint32_t n, room;
	uint32_t *last[2]; /* newest place of each number, of each loop */
	uint32_t nlast[2];
	struct body *bodies;
	struct loop *loop;
	uint32_t nloop, loop_room, nbody;
	struct loop_entry *numbers;
	uint64_t power[PERIOD_MAX + 1];
};

#endif
