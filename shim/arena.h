/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory for live checks: one arena per context, allocated and freed off the launch path. */
#ifndef AF_SHIM_ARENA_H
#define AF_SHIM_ARENA_H

#include "shim/arena_memory.h"
#include "shim/ours.h"
#include "shim/verdict.h"

/* A slot is what fused_publish writes: elements that differ, greatest distance, ticket; one spare.
 */
enum { ARENA_SIGNALS = 64, ARENA_SLOT_WORDS = 4 };

/* A result or completion that the device reports through host-mapped memory. */
struct signal {
	struct verdict *verdict; /* NULL: nobody's result, the signal only frees its slot */
	int64_t rows;            /* of a check's result; 0: the end of a first use */
	int *passed;             /* becomes 1 if the check is passed; or NULL */
	uint64_t ticket;         /* awaited value; 0: free */
};

/*
 * NONE -> WANTED (slots and counter) -> READY; the memory of checks comes later, by WANTED again.
 * MAKING stands for WANTED where a thread of the program's allocates.
 * GONE is for good: the context went, or there was no memory.
 */
enum arena_state { ARENA_NONE, ARENA_MAKING, ARENA_WANTED, ARENA_READY, ARENA_GONE };

struct arena {
	CUcontext ctx;
	uint64_t generation;
	int device;         /* ordinal */
	int state;          /* enum arena_state, atomic */
	uint64_t want;      /* bytes for checks that were asked for; under the lock */
	uint64_t most;      /* more than that there will not be; atomic, 0: not known yet */
	uint64_t used_much; /* CLOCK_MONOTONIC ns when last more than the least was asked for */
	struct arena_memory memory; /* changes while `busy` is the worker's */
	CUdeviceptr counter, slots_dev;
	volatile uint64_t *slots; /* host side: ARENA_SIGNALS of ARENA_SLOT_WORDS u64 */
	bool denied;      /* no memory for checks, or it had to be given back: not asked again */
	int busy;         /* a check uses it; atomic */
	uint64_t tickets; /* last one given out; atomic */
	struct signal signal[ARENA_SIGNALS]; /* [0] belongs to the check under way */
	unsigned ticks;
	uint64_t events_seen;
	struct arena *next;
};

/*
 * The context's arena once it is there, with room for checks if bytes is not 0: as many, or as many
 * as it will ever have (check_memory, what the device has free); else NULL, after asking the worker
 * for it. What nobody asked for lately goes, but for a small rest.
 */
struct arena *arena_get(const struct ours *o, uint64_t bytes);

uint64_t arena_bytes(const struct arena *a); /* there now, for checks */

/* At the start of a context, on the program's own thread, with the driver entered: makes the arena
 * at once, for checks that are due with the first launches. */
void arena_make(const struct ours *o);

/* Will there never be memory for checks in that context? */
bool arena_never(const struct ours *o);

/* A free signal other than [0], its ticket set; rows: of a check's result, 0: a first use. -1 if
 * none is free. */
int arena_signal(struct arena *a, struct verdict *v, int64_t rows);
/* What it was taken for does not come. */
void arena_signal_drop(struct arena *a, int signal);
/* Device address of a signal's slot. */
CUdeviceptr arena_slot(const struct arena *a, int signal);

/* The device worker's poll. True while there is something to wait for. */
bool arena_poll(void);
bool arena_release_memory(void);
/* The context is about to go, or its handle is out of use; then, if it did go, nothing runs there.
 */
void arena_drop_context(CUcontext ctx);
void arena_context_gone(CUcontext ctx);

#endif
