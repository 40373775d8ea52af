/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of one stream: launches and barriers in, decisions out. The live window and
 * `autofuse plan` drive the same code; it is a pure function of its inputs and its policy.
 *
 * A launch that may begin or continue a pattern is HELD if the policy agrees. A later launch that
 * is proven independent of every held one PASSes before them; anything else makes the caller
 * submit first (`flush`), in program order, what can no longer become part of a group. A launch
 * that completes a legal group whose members are all held FUSEs. Members that were submitted are
 * still tracked, so that a group which could not be fused is reported with its reason when its
 * last member comes.
 *
 * Why this keeps the program's meaning. A match lives until a launch arrives that conflicts with
 * one of its members and is not a member itself (legal_cross); held are exactly the members of
 * living matches. So a launch that is sent on was independent of every held one that came before
 * it, and a fused group runs at its last member's place after crossing only independent launches.
 * Nothing else changes order: what is flushed keeps program order.
 *
 * A match that can no longer be fused (it is "dead", with the first reason) waits on for its last
 * member, until a launch of an opcode that patterns have (any decoded one while other matches are
 * alive) overwrites what the members are joined by, the memory is freed, or newer matches need its
 * place.
 */
#ifndef AF_MATCHER_SEQ_H
#define AF_MATCHER_SEQ_H

#include "matcher/group.h"

struct seq;

struct seq_policy {
	void *arg;
	/* May this launch, which begins or continues a match of p at node, be held back? */
	bool (*may_hold)(void *arg, const struct member *m, const struct pattern *p, uint8_t node);
	/* Is [lo, hi) ordinary device memory of that device, mapped once? NONE or
	 * NOT_DEVICE_MEMORY. `surviving` is the number of outputs the group leaves in memory. */
	enum reason (*memory)(void *arg, struct range r, const struct launch *l, int surviving);
	/* Is the pattern switched on? */
	bool (*enabled)(void *arg, const struct pattern *p);
	/* The group is complete and legal. NONE: substitute it if all members are held. Otherwise
	 * why not. `all_held` says whether substitution is possible; if not, the policy still
	 * learns from the group, and the reason reported is the returned one or UNPREDICTED. */
	enum reason (*verdict)(void *arg, struct group *g, bool all_held);
	/* Every group that completed, once: fused (NONE) or not (why). Only pattern and members are
	 * sure to be filled in where it is not fused. */
	void (*done)(void *arg, const struct group *g, enum reason why);
	/* Patterns to look for, at most 32; NULL: all of pattern.def. */
	const struct pattern *const *pattern;
	unsigned npattern;
	/*
	 * Look for chains, too (seq_chain.h). may_hold is asked for each member with the pattern
	 * "chain" and its place in the chain. A chain ends with a later launch or a barrier; if all
	 * its members were held, it comes out in seq_out's `chain` then: SEQ_FUSE never means one.
	 * `larger`: chains are preferred to patterns, for which nothing is looked then.
	 */
	bool chains, larger;
	/* Launches that end alone, all by the same call, are a group if they do the same to little
	 * data. For who loses nothing by a launch that waited for none. */
	bool siblings;
	/* May this launch be a member of a chain? NULL: wherever it can be. */
	bool (*may_chain)(void *arg, const struct launch *l, const struct op *op);
	/* Does the second surely run after the first, so that both can be in one chain? NULL: yes,
	 * launches of a stream do. */
	bool (*follows)(void *arg, const struct launch *first, const struct launch *second);
	/* May m join a chain whose last member that is? NULL: always. */
	bool (*may_join)(void *arg, const struct member *last, const struct member *m);
};

enum seq_act { SEQ_PASS, SEQ_HOLD, SEQ_FUSE };

struct seq_out {
	/*
	 * First of all, these chains have ended, and all their members were held: launch the fused
	 * kernel of each. Where that fails, submit the members of that one in their order. Valid
	 * until the next call, as is what their `row` points to.
	 */
	const struct group *const *chain;
	unsigned nchain;
	/* Then submit these, in this order (members that were held; valid until the next call). */
	const struct member *const *flush;
	unsigned nflush;
	/* Then this, with the launch in hand. HOLD: the planner has copied it. FUSE: launch the
	 * fused kernel of `group` instead of the launch and of the group's held members. If that
	 * fails, submit the group's members 0..n-2 and then the launch. */
	enum seq_act act;
	/* The group that the launch completed and verdict() was asked for, if any; valid until the
	 * next call. With PASS or HOLD it was refused and is here for live checks. */
	const struct group *group;
};

/* NULL if out of memory. The policy is copied. */
struct seq *seq_new(const struct seq_policy *policy);
void seq_free(struct seq *s);

/* A launch in stream order. op comes from decode_launch. Copies what it keeps. */
void seq_launch(struct seq *s, const struct launch *l, const struct op *op, struct seq_out *out);

/*
 * Something other than a launch of this stream happened (or time ran out): everything held must
 * be submitted now, and open matches end with that reason. out->act is SEQ_PASS.
 */
void seq_barrier(struct seq *s, enum reason why, struct seq_out *out);

/* Nothing is held: all open matches end there, and none waits for a member any more. */
void seq_clear(struct seq *s);

/* [lo, hi) is freed or handed out again: matches that lean on it and hold nothing are forgotten,
 * chains end. */
void seq_forget(struct seq *s, struct range r);

unsigned seq_held(const struct seq *s); /* launches now held */
unsigned seq_open(const struct seq *s); /* matches that a later launch could still complete fused or
					   be taught by */
unsigned seq_waiting(const struct seq *s); /* matches, dead ones included */

/*
 * Opcodes, one bit each, that begin a pattern of pattern.def, and that are any member of one. While
 * no match is open anywhere, other launches than the former change nothing here; while none is
 * alive, other launches than the latter change nothing.
 */
uint64_t seq_beginners(void);
uint64_t seq_members(void);
/* Does anything held read or write [lo, hi)? */
bool seq_touches(const struct seq *s, struct range r);
/* Does a match of this stream, dead or alive, wait for this op? (for the reason different-stream)
 */
bool seq_awaits(const struct seq *s, const struct op *op);
/*
 * A launch of another stream is what matches of this one wait for: they continue with it, dead by
 * REASON_DIFFERENT_STREAM, and are reported if it is their last member. Members held for them
 * alone come out in out->flush (out->act is SEQ_PASS).
 */
void seq_elsewhere(struct seq *s, const struct launch *l, const struct op *op, struct seq_out *out);

#endif
