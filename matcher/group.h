/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns and groups. A pattern is a small sub-graph of ops joined by operands; a group is one
 * instance of it in a sequence of launches, with everything a fused kernel needs to stand in.
 */
#ifndef AF_MATCHER_GROUP_H
#define AF_MATCHER_GROUP_H

#include "matcher/launch.h"
#include "matcher/op.h"
#include "matcher/reason.h"

enum {
	PATTERN_MAX_NODES = 4,
	PATTERN_MAX_JOINS = 6,
	GROUP_MAX_MEMBERS = 16, /* of a chain; of a pattern's group PATTERN_MAX_NODES */
	GROUP_MAX_OPERANDS = 8,
	GROUP_MAX_SLOTS = 32, /* group_slots */
};

/* Operand `to_role` of node `to` is what node `from` left in its operand `from_role`. */
struct join {
	uint8_t from, from_role, to, to_role;
};

enum bound_use {
	BOUND_READ = 1,  /* the group reads it before any member writes it */
	BOUND_WRITE = 2, /* the group leaves it in memory: the fused kernel must store it */
	BOUND_DEAD = 4,  /* written by a member, and nobody can see it: no store */
};

/*
 * An operand of the whole group, seen as rows x cols. Slots are fixed by the pattern (its enum).
 * Where rows mean nothing (an elementwise group whose operands have no gaps), each element is a
 * row: cols is 1, and the number of elements is as free as that of rows is elsewhere.
 */
struct bound {
	uint64_t addr;
	int64_t pitch; /* bytes between rows; 0 broadcasts one row */
	uint8_t dtype, use;
};

struct member {
	struct launch launch; /* .params points to bytes the member owns */
	struct op op;
};

struct row; /* row.h */

struct group {
	const struct pattern *pattern;
	const struct member *member[GROUP_MAX_MEMBERS]; /* group_size() of them, in program order */
	uint8_t nmember;                                /* 0: as many as the pattern has nodes */
	/* A group without a form of its own (a chain) is a row program, which has the operands;
	 * nothing below but rows and cols is filled in then. NULL: the pattern's bind() has filled
	 * it in. */
	const struct row *row;
	int64_t rows, cols;
	double eps;
	bool has_eps;
	bool plus_one; /* the norm multiplies by 1 + weight */
	uint8_t nbound;
	uint32_t dropped; /* slots that were BOUND_WRITE and became BOUND_DEAD (dead.h); of a chain,
			     numbers of group_slots */
	struct bound bound[GROUP_MAX_OPERANDS];
	void *judged; /* the policy's own note of what it said of the group */
};

/* A pattern without nodes is the name of chains that come to this; they are found without it
 * (seq_chain.h). */
struct pattern {
	const char *name;
	uint8_t nnode, njoin;
	enum opcode node[PATTERN_MAX_NODES]; /* in program order; node 0 begins a match */
	struct join join[PATTERN_MAX_JOINS];
	/*
	 * Checks what is special to the pattern (types, rows, columns, pitches, aliasing inside the
	 * group) for members in g->member and fills rows, cols, eps, plus_one and bound[]. What the
	 * members read and write must all be bound. Returns REASON_NONE, REASON_SHAPE or
	 * REASON_OVERLAP.
	 */
	enum reason (*bind)(struct group *g);
	/* Another opcode that node 0 may have. */
	enum opcode also;
	/* There is no kernel of this form, it is found as a chain: looked for beside chains only,
	 * so that what stands against it has a name. */
	bool watched;
	/* Bound slots (bits) whose store the fused kernel can leave out, be they overwritten in the
	 * group or not. Not what the group is for. */
	uint32_t unstored;
};

static inline unsigned group_size(const struct group *g)
{
	return g->nmember ? g->nmember : g->pattern->nnode;
}

/* May op of that code be node 0? */
static inline bool pattern_begins(const struct pattern *p, enum opcode code)
{
	return p->nnode && (p->node[0] == code || (p->also && p->also == code));
}

/*
 * Bound slots of add_rmsnorm: sum = a + b; out = rmsnorm(sum) * w, or * (1 + w) if g->plus_one.
 * A, B, SUM and OUT have one type (f32, f16, bf16) and are rows x cols; W is one row, pitch 0, of
 * that type or f32. g->eps is what the norm adds where g->has_eps, else the candidate says. SUM is
 * BOUND_DEAD where the norm overwrites it or nobody sees it; where the norm leaves a copy of what
 * it read (ROLE_copy), SUM is the place of that copy, and what the add wrote is there too or
 * overwritten by OUT.
 */
enum {
	ADD_RMSNORM_A,
	ADD_RMSNORM_B,
	ADD_RMSNORM_SUM,
	ADD_RMSNORM_W,
	ADD_RMSNORM_OUT,
	ADD_RMSNORM_NBOUND
};

/*
 * Bound slots of silu_mul: silu = x / (1 + exp(-x)) of gate; out = silu * up. All four have one
 * type (f32, f16, bf16). Dense operands give rows = the number of elements, cols = 1 and pitch =
 * one element: a kernel does well to take rows * cols elements in one run where every pitch is
 * dense. GATE and UP may have gaps between rows (halves of one table) or pitch 0 (one row for all).
 * SILU is BOUND_WRITE where the activation stays in memory, BOUND_DEAD where OUT overwrites it or
 * nobody sees it.
 * Exact aliases, element on element, are allowed: SILU on GATE, OUT on GATE, OUT on UP, GATE on UP;
 * hence each element is read from both inputs before either output of it is stored. eps, has_eps
 * and plus_one mean nothing. Which factor of the program's product the silu was does not show: a
 * product does not depend on the order of its factors.
 */
enum { SILU_MUL_GATE, SILU_MUL_UP, SILU_MUL_SILU, SILU_MUL_OUT, SILU_MUL_NBOUND };

#define PATTERN(name, symbol, help) extern const struct pattern symbol;
#include "matcher/pattern.def"
#undef PATTERN

enum pattern_id {
#define PATTERN(name, symbol, help) PATTERN_##name,
#include "matcher/pattern.def"
#undef PATTERN
	PATTERN_COUNT
};
const struct pattern *pattern_get(enum pattern_id id);
enum pattern_id pattern_id(const struct pattern *p);
/* PATTERN_COUNT if no pattern has that name. */
enum pattern_id pattern_parse(const char *name);

/* Bytes a bound slot spans, for range checks. */
struct range bound_range(const struct group *g, const struct bound *b);

/*
 * What a group reads and leaves in memory, whichever kind it is: the bound slots of a pattern, the
 * operands of a chain's row program, by the same numbers. What members hand each other and nobody
 * needs to find is BOUND_DEAD, or (of a chain) not there at all.
 */
struct group_slot {
	struct operand box; /* dtype, sizes and strides; role and access mean nothing */
	struct range range; /* all of it */
	uint8_t use;        /* enum bound_use */
};
/* Fills in slot[] and returns how many there are: at most GROUP_MAX_SLOTS. */
unsigned group_slots(const struct group *g, struct group_slot *slot);
/* Slots that the group leaves in memory or would, had their stores not been dropped: the
 * `surviving` of memory kinds (seq.h). */
unsigned group_surviving(const struct group *g);
/* Does any member write any byte of it, be it left in memory or not? */
bool group_writes(const struct group *g, struct range r);

#endif
