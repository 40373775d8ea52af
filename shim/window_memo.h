/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that were fused before, by the launches that they are of. Used by window_memo*.c only. */
#ifndef AF_SHIM_WINDOW_MEMO_H
#define AF_SHIM_WINDOW_MEMO_H

#include "matcher/heed.h"
#include "shim/standin.h"

enum {
	MEMO_ROOTS = 64, /* a power of two */
	MEMO_RUN_PARAMS =
		64 << 10, /* bytes of parameters of all members: CatArrayBatchedCopy has 3 KiB */
};

/* A whole group: what was sent for it. */
struct whole {
	struct verdict *verdict;
	struct standin *standin; /* cut off behind its parameters */
	uint64_t events;         /* memory_events() when its memory was last asked about */
	unsigned nrange, surviving;
	struct range range[GROUP_MAX_SLOTS];
};

struct entry;

/* Entries that may come at one place, a ring: `last` is the one that came last, those behind it are
 * tried first, as programs go round. */
struct ring {
	struct entry *last;
};

/* A launch behind others: with them it begins groups, or is a whole one. */
struct entry {
	struct entry *next; /* in its ring */
	struct ring behind; /* what may come then */
	struct launch launch;
	struct heed heed;
	struct site *site;   /* where the groups begin */
	bool pattern, chain; /* there are such groups */
	struct whole *whole; /* NULL: it only begins some */
	uint8_t params[];    /* the launch's */
};

struct memo {
	struct ring root[MEMO_ROOTS]; /* by kernel */
	unsigned n, fresh;
	/* The launches now held: as many as the window's nrun. */
	struct entry *at; /* the last of them */
	struct launch run[GROUP_MAX_MEMBERS];
	uint8_t params[MEMO_RUN_PARAMS]; /* theirs */
	uint32_t used;                   /* bytes of that */
};

/* Where entries are that begin with that kernel, and maybe others. */
struct ring *memo_root(struct memo *m, const struct kernel *k);
/* The entry for that launch in the ring, or NULL. */
struct entry *memo_find(struct ring *r, const struct launch *l);
/* The same, made if missing; NULL: it cannot be. */
struct entry *memo_entry(struct memo *m, struct ring *r, const struct member *member);
/* The group's memory, to be asked about again, and what was sent. NULL if out of memory. */
struct whole *memo_whole(const struct group *g, struct verdict *v, const struct standin *s);
/* The entry only begins groups from now on. */
void memo_free_whole(struct entry *e);
/* No entry is left, and no launch is held by one. */
void memo_forget(struct memo *m);

#endif
