/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's tables: members (copies of launches) and open matches. Used by seq*.c only. */
#ifndef AF_MATCHER_SEQ_MATCH_H
#define AF_MATCHER_SEQ_MATCH_H

#include "matcher/seq.h"

enum {
	SEQ_MATCHES = 16, /* open matches; the oldest dead one gives way to a new one */
	SEQ_REFUSED = 4,  /* groups refused in one call that chains are told of */
	SEQ_CHAINS = 8,   /* open chains; the oldest ends for a new one */
	/* Members of open matches and chains, at most. */
	SEQ_MEMBERS = SEQ_MATCHES * (PATTERN_MAX_NODES - 1) + SEQ_CHAINS * GROUP_MAX_MEMBERS,
};

/* Where an op reads and writes, worked out once. */
struct reach {
	uint8_t n, ncover;
	uint8_t access[OP_MAX_OPERANDS];
	struct range range[OP_MAX_OPERANDS]; /* of each operand */
	struct range cover[OP_MAX_OPERANDS]; /* of those it writes without gaps */
};
void reach_of(struct reach *r, const struct op *op);

struct seq_member {
	struct member m; /* first: out->flush points here */
	struct reach reach;
	uint8_t *params;
	uint32_t room;   /* bytes at params */
	uint16_t refs;   /* matches it is in, plus one for each of: held, handed out, in hand */
	uint16_t wanted; /* matches that are alive, held throughout, and have it as a member */
	bool summed;     /* there is a */
	uint64_t sum[2]; /* hash of what chains come to depends on (seq_chain_known.c) */
	struct seq_member *next; /* free list */
};

/* A set of matches, by index. */
typedef uint32_t match_set;
_Static_assert(SEQ_MATCHES <= 8 * sizeof(match_set), "match_set is too small");

struct match {
	const struct pattern *pattern;
	struct seq_member *member[PATTERN_MAX_NODES];
	uint8_t next; /* the node it waits for = members it has */
	uint8_t dead; /* enum reason; REASON_NONE: alive */
	bool holding; /* alive, and all its members are held */
	uint8_t npending;
	/* What members left that later nodes shall read, and whether the next one shall. */
	struct range pending[PATTERN_MAX_JOINS];
	bool soon[PATTERN_MAX_JOINS];
};

struct seq {
	struct seq_policy policy;
	uint32_t begins[OP_COUNT]; /* patterns whose node 0 has that opcode, one bit each */
	uint64_t members;          /* opcodes of any node of any pattern, one bit each */
	unsigned nmatch, nalive, nheld, nout;
	struct match match[SEQ_MATCHES];      /* oldest first */
	struct seq_member *held[SEQ_MEMBERS]; /* in program order */
	struct seq_member
		*out[SEQ_MEMBERS +
		     (3 + SEQ_REFUSED) * PATTERN_MAX_NODES]; /* handed out by the last call */
	const struct member *flush[SEQ_MEMBERS];
	struct group group; /* handed out likewise, if `completed` */
	bool completed;
	struct seq_member *free;
	struct chains *chains;             /* NULL: not looked for */
	struct group refused[SEQ_REFUSED]; /* in this call, while chains are looked for */
	uint8_t refused_why[SEQ_REFUSED];
	unsigned nrefused;
};

/* A copy of the launch with one reference, or NULL if out of memory. */
struct seq_member *member_new(struct seq *s, const struct launch *l, const struct op *op);
void member_drop(struct seq *s, struct seq_member *m);
void member_free_list(struct seq *s);

/* Opens an empty match, making room if need be. */
struct match *match_open(struct seq *s, const struct pattern *p, enum reason dead);
void match_append(struct match *t, struct seq_member *m);
/* The match cannot be fused any more; the first reason stays. */
void match_kill(struct seq *s, struct match *t, enum reason why);
/* All its members are held from now on / no longer. */
void match_hold(struct match *t, bool holding);
/* Forgets match i; later ones move down. */
void match_remove(struct seq *s, unsigned i);

/* Is op, which reaches so far, the node that the match waits for? */
bool match_awaits(const struct match *t, const struct op *op, const struct reach *reach);
/* What stands against running op between the members: NONE, or from legal_cross and the attributes.
 */
enum reason match_conflict(const struct match *t, const struct launch *l, const struct op *op,
			   const struct reach *reach);
/* Does the op overwrite all of something that the match waits to see read? Then nothing it has
 * left can complete it. */
bool match_superseded(const struct match *t, const struct reach *reach);

/* The group that `last` completes; bind() has not run. */
void match_group(struct group *g, const struct match *t, const struct seq_member *last);
/* Settles the waiting matches that `last` completes, and takes them out of the set. True if one is
 * to be fused: it is in s->group then. (seq_complete.c) */
bool match_complete(struct seq *s, match_set *waiting, const struct seq_member *last);

#endif
