/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on disk: one append-only text file per build of the library, one record a line, each
 * with its own checksum. Later records of a key win. Appends take an flock; readers take none and
 * ignore what is not whole. Directory and file must be the user's own and writable by nobody else;
 * anything else is left alone, with one warning, and the process runs without a cache.
 */
#ifndef AF_SHIM_CACHE_H
#define AF_SHIM_CACHE_H

#include <stdbool.h>
#include <string.h>
#include "matcher/key.h"
#include "matcher/reason.h"
#include "matcher/row_pick.h"

enum { CACHE_CANDIDATE_MAX = GROUP_MAX_MEMBERS * ROW_PICK_NAME_MAX };

enum cache_kind {
	CACHE_PROBED,  /* the probe found the candidate; live checks are still due */
	CACHE_VERDICT, /* probe and live checks agree */
	CACHE_REJECT,  /* why says what stands against it */
};

struct cache_record {
	struct key key;
	uint64_t site[GROUP_MAX_MEMBERS];  /* key_site of each member; 0 if unknown */
	uint64_t image[GROUP_MAX_MEMBERS]; /* of its kernel: the hash's first half, or 0 */
	enum cache_kind kind;
	enum reason why; /* CACHE_REJECT */
	int64_t rows;    /* largest proven number of rows */
	int64_t due;     /* CACHE_VERDICT: more rows, seen and not proven yet; 0: none */
	unsigned passed; /* CACHE_PROBED: live checks so far */
	unsigned at;     /* which match of its site wants a check, counted from 1 in each process */
	/* candidate_name; of a chain row_pick_name of each member, joined by '+'; or "" */
	char candidate[CACHE_CANDIDATE_MAX];
	char detail[160]; /* for people: pattern, kernels, or what went wrong; no newline */
};

/* Is it of a chain? */
static inline bool cache_of_chain(const struct cache_record *r)
{
	return strchr(r->candidate, '+') != NULL;
}

/* dir: the cache option ("" for the default place, "none" for no cache). 0, or -1 with the cache
 * off. Creates the directory (0700) if needed. build: fused_build_id. */
int cache_open(const char *dir, uint64_t build);
/* The directory in use, or NULL. */
const char *cache_dir(void);
/* Its descriptor, or -1. */
int cache_dirfd(void);
/* Calls fn for the newest record of every key. */
void cache_each(void (*fn)(void *arg, const struct cache_record *r), void *arg);
/* Reads the file again; true and *r if the key has a record. */
bool cache_find(struct key key, struct cache_record *r);
/* Appends. 0 or -1 (warned once). */
int cache_put(const struct cache_record *r);

/* The crash marker: present while a fused kernel's first use in this process is under way. */
int cache_mark(struct key key);
void cache_unmark(struct key key);
/* Calls fn for every key whose marker was left by a process that no longer lives, and removes it.
 */
void cache_left_marks(void (*fn)(void *arg, struct key key), void *arg);
/* Removes the markers that a process left: somebody ended it, it did not crash. */
void cache_forgive(int pid);

#endif
