/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts: what is known about a key (matcher/key.h), from the cache, the probe and live checks.
 *
 *   NEW -> PROBING -> CHECKING -> USABLE        each state may also end in REJECTED
 *
 * A verdict lives until the process ends. State, rows and counters are read without a lock; they
 * change under the store's lock, on the worker threads or where a group completes.
 */
#ifndef AF_SHIM_VERDICT_H
#define AF_SHIM_VERDICT_H

#include "fused/gen.h"
#include "matcher/key.h"
#include "shim/cache.h"
#include "shim/cache_choice.h"
#include "shim/images.h"
#include "shim/ours.h"

enum verdict_state {
	VERDICT_NEW,
	VERDICT_PROBING,  /* the probe child is at work, or waits for its turn */
	VERDICT_CHECKING, /* a candidate passed the probe; live checks are due */
	VERDICT_USABLE,
	VERDICT_REJECTED,
};

enum { VERDICT_SLOWER = 16 };

struct generated;    /* generated.h */
struct standin_form; /* standin_pattern.c */

struct verdict {
	struct key key;
	uint64_t site[GROUP_MAX_MEMBERS];     /* key_site of each member */
	uint64_t image_of[GROUP_MAX_MEMBERS]; /* its kernel's: the hash's first half */
	uint64_t vetted;                      /* 1 + verdict_unvetted() when the members were */
	const struct pattern *pattern;
	unsigned nmember;
	int64_t cols;
	int state;                  /* enum verdict_state, atomic */
	enum reason why;            /* REJECTED */
	bool known_bad;             /* and other processes are to know */
	int64_t rows;               /* largest number of rows proven; atomic */
	struct candidate candidate; /* from CHECKING on; of a pattern's group */
	struct choice choice;       /* which kernel with its arithmetic stands in */
	struct standin_form *form;  /* atomic */
	/*
	 * Of a chain, instead: the pick of each member (row_pick_pack), the kernels of the row
	 * program with these picks, once judge() has asked for them (image[0], atomic, comes last;
	 * the second is NULL where the program is one part), and whether that program is the one
	 * that the planner makes, so that a group's own row need only be launched.
	 */
	bool chain, as_planned;
	bool known;  /* no probe is needed to tell the picks: they are the planned ones */
	bool family; /* nor to tell what the kernels touch: no signature is involved */
	uint64_t pick[GROUP_MAX_MEMBERS], planned[GROUP_MAX_MEMBERS];
	struct generated *image[GEN_PARTS];
	unsigned checks;              /* live checks passed in this process */
	unsigned long long fused;     /* substitutions in this process */
	unsigned long long generated; /* of them on streams by a generated kernel, of a pattern's */
	unsigned long long
		unchecked; /* times it was used since the last live check; a graph counts as one */
	int64_t due;       /* rows beyond the proven ones that want a live check; 0: none */
	unsigned passed;   /* CHECKING: live checks passed, in earlier processes too */
	bool noted;        /* verdict_wants has left its note for later processes */
	unsigned wanted;   /* times a group of it was met while PROBING; atomic */
	unsigned met;      /* of a chain on streams: times it was met while NEW */
	unsigned seen,
		gap; /* the site's `begins` when it was last seen, and since the time before */
	bool marked; /* the crash marker is on disk */
	bool first_use_over; /* our kernel ran to its end once in this process */
	char detail[160];
	int64_t slower[VERDICT_SLOWER]; /* rows at which the profile says that fusing costs */
	unsigned nslower;
};

static inline int verdict_state(const struct verdict *v)
{
	return __atomic_load_n(&v->state, __ATOMIC_ACQUIRE);
}

/* Counts changes of any verdict's state or rows, and of what else a group may wait for: */
uint64_t verdict_changes(void);
void verdict_news(void); /* such as an image that is there */

/* Opens the cache and reads it, once: when the first kernel with a decoder is met, or when our
 * kernels are loaded and there is a cache. */
void verdict_load(void);
/* What the disk lets expect, of whatever program. Loads what it knows. */
enum foreseen {
	FORESEEN_NOTHING,
	FORESEEN_USE,    /* there are candidates */
	FORESEEN_CHECKS, /* and some want live checks */
};
enum foreseen verdict_foreseen(void);

/* The verdict of a complete, legal group in a context; made on first sight, from the cache if it
 * has the key. NULL if out of memory, if an image's bytes cannot be had, or if there are too many.
 */
struct verdict *verdict_of(const struct group *g, const struct ours *o);

/* Does the profile say that the fused kernel is slower with so many rows? */
bool verdict_slower(const struct verdict *v, int64_t rows);

/* Starts the probe of a NEW verdict. */
void verdict_probe(struct verdict *v, const struct group *g, const struct ours *o);

/* The picks of a NEW chain's verdict need no probe (v->known): live checks are next. */
void verdict_planned(struct verdict *v, const struct group *g);

/* The candidate's name and which kernel stands in (cache_choice.h); of a chain those of its picks,
 * joined by '+'. parse: 0 or -1. */
void verdict_said(const struct verdict *v, char *text /* CACHE_CANDIDATE_MAX */);
int verdict_parse(struct verdict *v, const char *text);

/* Results. Each also writes the cache. */
void verdict_probed(struct verdict *v, const char *answer /* CANDIDATE [slower] */);
void verdict_reject(struct verdict *v, enum reason why, const char *detail, bool tell);
void verdict_checked(struct verdict *v, int64_t rows, bool same);

/*
 * A group was met that wants a live check: more rows than are proven, or CHECKING. Where programs
 * are short it may be one of a kind: the next process is told which match of its site it is
 * (v->seen).
 */
void verdict_wants(struct verdict *v, int64_t rows);

/* Writes the crash marker before our kernel's first use, removes it after. */
void verdict_mark(struct verdict *v);
void verdict_unmark(struct verdict *v);
/* Is any marker of this process on disk? */
bool verdict_marks(void);
/* At exit: removes the markers of verdicts in use, unless the driver reported a fault. */
void verdict_unmark_all(void);

/*
 * Sites: what is known of launches that may be members of a match (key_site).
 */
struct site {
	uint64_t hash;
	struct verdict *open; /* a verdict seen here that wanted a live check, or NULL */
	unsigned begins;      /* matches that began here */
	uint64_t hints; /* bit n: number n (modulo 64) wants a check, an earlier process says */
	bool expected;  /* a group with a usable verdict has begun here (this run or before) */
	struct verdict *chain; /* of the last chain that began here and was not refused, or NULL */
	bool linked;           /* a launch like this was a further member of such a chain */
	/* Chains do not go on with it behind a launch of that site, as one that did was refused; 0:
	 * no such site. Of the first member of such a chain, who was blamed. */
	uint64_t not_after;
	struct site *blamed;
	unsigned misses; /* held launches in a row that were sent on unfused */
	unsigned skip;   /* do not hold the next so many */
};
/* The site's record, made if missing; NULL if out of memory. Fields are the window's to change,
 * racily: they are hints. */
struct site *verdict_site(uint64_t hash);
/* The same for what the disk knows, which leaves room for others. */
struct site *verdict_site_early(uint64_t hash);
/* The site's record, or NULL where there is none: most decoded launches begin nothing, and those
 * whose arguments change each time (a position) would fill the table. */
struct site *verdict_site_find(uint64_t hash);

/*
 * Launches that others may cross: a usable verdict, of this process or on disk, covers them, so
 * their extents were probed. Not by site alone, which another build of the program or another
 * module may have, too, but with the image of the kernel (the first half of its hash). Where there
 * is evidence of that site, an image that was not hashed yet is.
 */
bool verdict_vet(uint64_t site, uint64_t image);       /* true: it is news */
void verdict_vet_early(uint64_t site, uint64_t image); /* what the disk knows */
void verdict_unvet(uint64_t site, uint64_t image);
bool verdict_vetted(uint64_t site, struct image *from);
/* Counts those that are so no more: what was decided by them does not hold. */
uint64_t verdict_unvetted(void);

/* For reports. Strings are valid during the call. */
struct verdict_info {
	struct key key;
	const char *pattern, *state, *detail;
	char candidate[CACHE_CANDIDATE_MAX];
	enum reason why;
	int64_t rows;
	unsigned checks;
	unsigned long long fused, generated;
};
void verdict_each(void (*fn)(void *arg, const struct verdict_info *v), void *arg);

#endif
