/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways that a stream went before: launches one behind the other, from one before which the planner
 * knew of nothing, and what was done at each. Used by window_memo*.c only.
 *
 * A step says what is done in terms of what is held, and is taken only where just those launches of
 * the way are held that were held when it was written. So each held launch goes out once, whatever
 * else was written meanwhile, and all that it crosses is what the planner let it cross: between it
 * and the step lie the same launches as then.
 */
#ifndef AF_SHIM_WINDOW_MEMO_H
#define AF_SHIM_WINDOW_MEMO_H

#include "config/hash.h"
#include "matcher/heed.h"
#include "shim/standin.h"
#include "shim/window_state.h"

enum {
	MEMO_ROOTS = 64, /* a power of two */
	MEMO_SEEN = 1024,
	MEMO_HELD = 64,         /* launches held at once on a way */
	MEMO_PARAMS = 64 << 10, /* bytes of parameters of these: CatArrayBatchedCopy has 3 KiB */
	MEMO_ACTS = 96,         /* of one step, at most */
	MEMO_LONG = 8192,       /* launches of a way */
	MEMO_CUT = 32,          /* so many, and it ends where the planner knows of nothing */
	MEMO_PAST = 16,         /* beginnings of others that one looked at again goes past */
};

/* A whole group: what was sent for it. */
struct whole {
	struct verdict *verdict;
	struct standin *standin; /* cut off behind its parameters */
	struct site *site;       /* where it begins */
	int64_t rows;
	unsigned put_off; /* times in a row that a check was due and could wait */
	bool elsewhere;   /* checks of it are the planner's */
	uint64_t events;  /* memory_events() when its memory was last asked about */
	unsigned nrange, surviving;
	struct range range[GROUP_MAX_SLOTS];
};

/* One thing that was done at a launch. */
struct act {
	struct whole *whole; /* a group was fused; NULL: one held launch was sent as it was, or */
	bool refused;        /* a group was complete and not fused, only counted: */
	uint8_t pattern, why;
	uint8_t n; /* members that were held, and by number, in what was held just then: */
	uint8_t held[GROUP_MAX_MEMBERS];
};

/* All that was done when a launch came that way, before and with it. */
struct step {
	enum seq_act own;    /* the launch. FUSE: it is the last member of the last act's group */
	struct site *begins; /* held: it is the first member of a pattern's group there, or NULL */
	unsigned nheld, nact;
	uint16_t *place; /* what was held before: how far on the way each came; behind act[] */
	struct act act[];
};

struct entry;

/* Entries that may come at one place, a ring: `last` is the one that came last, those behind it are
 * tried first, as programs go round. */
struct ring {
	struct entry *last;
};

/* One for all entries to which the same bytes matter. */
struct heeded {
	struct heed heed;
	UT_hash_handle hh;
};

/*
 * A launch behind others. There are as many as a program makes launches, and each is looked at once
 * a round, when near caches hold it no more: what is looked at is the first 64 bytes.
 */
struct entry {
	struct entry *next; /* in its ring */
	struct ring behind; /* what may come then */
	const struct kernel *kernel;
	const struct heed *heed; /* NULL: parameters do not matter */
	uint64_t hash[2];        /* XXH3-128 of the launch, as far as it matters */
	struct step *step;       /* NULL: none is known */
	unsigned lost;           /* times that something unknown came behind it */
	bool goes_on;            /* chains were fused in which it was not the last */
	struct entry *before;    /* NULL: it is the first */
	/* Of the first on a way: it is left to the planner, as far as there is time for that, when
	 * verdict_changes() is no more what it was, or, as something on it waits for evidence,
	 * after `rest` more times; `looks` times it was so, and nothing had come of it. */
	bool waits;
	unsigned rest, looks;
	uint64_t changes;
};

struct memo {
	struct ring root[MEMO_ROOTS]; /* by kernel */
	unsigned n, fresh;            /* entries; those made since a group was last known again */
	unsigned starts, away;        /* ways that might have been written; launches on none */
	/* The way was left where it was left before: one may be begun though matches are open, not
	 * with the launch in hand, which is another each time. */
	bool astray, skip;

	struct heeded *heeded;

	uint32_t seen[MEMO_SEEN]; /* hashes of launches that might have begun one */

	/* On a way: where, and what is held (as many as the window's nrun). */
	struct entry *at, *first;
	bool refused;     /* the launch in hand is the next, and is the planner's all the same, */
	bool torn;        /* as its step is for what is not held now, or there is none */
	unsigned count;   /* launches on it so far */
	uint64_t started; /* number of the first */
	struct launch run[MEMO_HELD];
	uint16_t place[MEMO_HELD];
	uint8_t params[MEMO_PARAMS]; /* theirs, in that order */
	uint32_t used;               /* bytes of that */

	/* Writing one, launch by launch: what the planner holds, and the launch in hand. */
	bool writing, spoilt;
	unsigned resumed; /* launches that a way had which is written on from where it was left */
	struct entry *behind, *begun, *in_hand;
	bool waits;
	/* A known way was left to the planner; by budget_clock(): when that may be again, and what
	 * this one took up to now. */
	bool again;
	unsigned past; /* of these, beginnings of others that it went past */
	uint64_t again_at, took;
	uint64_t changes, from; /* verdict_changes() when it was begun, and its first launch */
	unsigned written, nheld, nact;
	struct {
		uint64_t index;
		uint16_t place;
		struct entry *entry;
	} held[MEMO_HELD];
	struct act act[MEMO_ACTS];
	unsigned nbefore; /* what was held before the launch in hand */
	uint16_t before[MEMO_HELD];
};

/* Where entries are that begin with that kernel, and maybe others. */
struct ring *memo_root(struct memo *m, const struct kernel *k);
/* The entry for that launch in the ring, or NULL. */
struct entry *memo_find(struct ring *r, const struct launch *l);
/* The entry for that launch behind that one (NULL: it is a way's first), made if missing; NULL: it
 * cannot be. */
struct entry *memo_entry(struct memo *m, struct entry *before, const struct launch *l,
			 const struct op *op);
/* The group's memory, to be asked about again, and what was sent. NULL if out of memory. */
struct whole *memo_whole(const struct group *g, struct verdict *v, const struct standin *s);
void memo_free_whole(struct whole *x);
/* The entry has no step any more, or another one (to be the entry's). */
void memo_set_step(struct entry *e, struct step *to);
/* No entry is left, no way is followed or written. */
void memo_forget(struct memo *m);
/* While one is written. The member goes out by that act, if it is held (false: it is not); those of
 * an act are held no more: their numbers ascend, as members are in program order. */
bool memo_take(struct memo *m, struct act *a, const struct member *member);
void memo_taken(struct memo *m, const struct act *a);
/* The chain just fused is to be fused when its last member comes, the next time. False: that cannot
 * be, or it was seen to go on. */
bool memo_earlier(struct memo *m, const struct group *g, struct verdict *v,
		  const struct standin *s);
/*
 * A live check of the act's group instead of fusing it: its members are sent, their row program is
 * made again beside them. The first error of these is `pending` then, for the launch in hand.
 * False: nothing was sent, there is no memory for it now, or the planner has to do it.
 */
bool memo_check(struct window *w, const struct act *a, const struct launch *own);
/* What is written ends here. */
void memo_end(struct memo *m);
/* No way is followed any more. What is held is left to the caller. */
void memo_leave(struct memo *m);
/* May a known way be left to the planner, for all the time that it took for the last one? */
bool memo_time(const struct memo *m);

#endif
