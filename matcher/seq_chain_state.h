/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of chains, and what seq_chain*.c do for each other. Used by those only. */
#ifndef AF_MATCHER_SEQ_CHAIN_STATE_H
#define AF_MATCHER_SEQ_CHAIN_STATE_H

#include "matcher/row.h"
#include "matcher/seq_chain.h"

enum {
	CHAINS_ENDED = 2 * SEQ_CHAINS, /* groups of one call */
	CHAINS_LONE = 16,              /* launches that ended alone in one call */
};

struct chain {
	struct seq_member *member[GROUP_MAX_MEMBERS];
	unsigned n;
	struct row row;   /* of the first `said` of its members: all, or 0 and there is only cols */
	uint64_t traffic; /* bytes that it moves */
	unsigned said;
	unsigned good; /* the first so many can be fused as they are */
	bool holding;  /* all its members are held */
};

/* A chain that is to be fused, until the next call. */
struct ended {
	struct group group;
	struct row row;
	struct seq_member *member[GROUP_MAX_MEMBERS];
};

struct chains {
	unsigned n, nended, nlone;
	bool pairing;                         /* chains that end now are looked at for siblings */
	struct known *known;                  /* NULL: nothing was joined yet */
	struct chain chain[SEQ_CHAINS];       /* oldest first */
	struct seq_member *lone[CHAINS_LONE]; /* ended alone in this call */
	struct row row;                       /* of what is tried */
	struct ended ended[CHAINS_ENDED];
	const struct group *group[CHAINS_ENDED]; /* of these */
};

/* All its members are held from now on / no longer. */
void chain_hold(struct chain *c, bool holding);
/* Forgets chain i; later ones move down. */
void chain_remove(struct seq *s, unsigned i);

/* What members come to together (seq_chain_row.c). */

/*
 * The program of these members and its traffic; NONE if it is one that a kernel can be made of.
 * OVERLAP: it would be, but for operands that lie across each other; what comes may overwrite them,
 * or, `late`, nothing is left but to make stores wait for them.
 */
enum reason chain_build(struct row *r, uint64_t *traffic, struct seq_member *const *member,
			unsigned n, bool late);
/*
 * What was worked out before (seq_chain_known.c). What chain_build says of the members, not late;
 * true: it had to be asked, and the program is c->row.
 */
struct outcome {
	enum reason why;
	uint64_t traffic;
	int64_t cols;
};
bool chain_outcome(struct chains *c, struct seq_member *const *member, unsigned n,
		   struct outcome *to);
/* The canonical program of the members of a chain that ended, kept and found again (false: it is
 * not there). */
void chain_know(struct chains *c, struct seq_member *const *member, unsigned n, struct row *r);
bool chain_recall(const struct chains *c, struct seq_member *const *member, unsigned n,
		  struct row *r);
void chain_known_free(struct chains *c);

/* What the op moves by itself. */
uint64_t chain_traffic_of(const struct op *op);
/* Is each of them surely behind the one before? */
bool chain_in_order(const struct seq *s, struct seq_member *const *m, unsigned n);

/* Which chain a launch joins (seq_chain_join.c). */

/* Does m read what the chain has such access to? Memory that is merely used again is no reason to
 * join. */
bool chain_reads_of(const struct chain *c, const struct reach *m, enum access access);
/* Must the chain's members run before the launch? */
bool chain_conflicts(const struct chain *c, const struct launch *l, const struct op *op);
/*
 * Chain a, and b if there is one, become one with m, if that moves less than `apart` bytes: where
 * no byte is read once less, nothing is won. b's members are a's then.
 */
bool chain_join(struct seq *s, struct chain *a, struct chain *b, struct seq_member *m,
		uint64_t apart);
/* The newest chain that m can join, or -1: one that leaves what m reads, else one that reads the
 * same, else one that m would end. */
int chains_join_newest(struct seq *s, struct seq_member *m);

/* What ends (seq_chain_end.c), and those that end alone (seq_chain_pair.c). */

/*
 * The chain ends: what of it can be fused is a group. Behind that there may be members that came in
 * hope of one that overwrites what is in the way; they may make groups of their own.
 */
void chain_end(struct seq *s, unsigned i);
/* These members are a group, of that canonical program. Is it fused? */
bool chain_report(struct seq *s, struct row *r, struct seq_member *const *member, unsigned n,
		  bool held);
/* Launches that nothing connects, and that ended together: one does the work of those that are
 * alike, for the launches that it saves. */
void chains_pair(struct seq *s);

#endif
