/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains: groups that grow launch by launch, beside the patterns of fixed form. A launch joins a
 * chain if it touches what the chain touches, all of them together are a row program (row_build.h)
 * that is worth it, and nothing in between stands against it. A chain ends when something comes
 * that conflicts with one of its members, at a barrier, or when newer ones need its place; it is a
 * group then, at the place of its last member, under the most specific name (chain_name.h). Used by
 * seq*.c only.
 */
#ifndef AF_MATCHER_SEQ_CHAIN_H
#define AF_MATCHER_SEQ_CHAIN_H

#include "matcher/seq_match.h"

struct chains;
/* NULL if out of memory. */
struct chains *chains_new(void);
void chains_free(struct seq *s);

/* What the last call handed out is used up. */
void chains_begin(struct seq *s);
/* The chains that ended in this call and are to be fused. */
void chains_out(const struct seq *s, struct seq_out *out);
unsigned chains_open(const struct seq *s);

/* Could the launch be a member of one? */
bool chains_want(const struct seq *s, const struct launch *l, const struct op *op);
/* The launch comes: it ends what it conflicts with and joins or begins a chain. m: NULL where it
 * cannot be a member. True if it is in a chain with others now. */
bool chains_launch(struct seq *s, const struct launch *l, const struct op *op,
		   struct seq_member *m);
/* Everything ends; what is a group by then is one. */
void chains_end(struct seq *s);
/* The group has been fused otherwise: chains lose its members. */
void chains_claim(struct seq *s, const struct group *g);
/* Are all its members in one chain? */
bool chains_have(const struct seq *s, const struct group *g);
/* Memory is freed: chains that touch it and hold nothing end. */
void chains_forget(struct seq *s, struct range r);

#endif
