// SPDX-License-Identifier: Apache-2.0
/* The last member of a match has come: is the group fused, and if not, why? */
#include <string.h>

#include "matcher/legal.h"
#include "matcher/seq_match.h"

void match_group(struct group *g, const struct match *t, const struct seq_member *last)
{
	memset(g, 0, sizeof(*g));
	g->pattern = t->pattern;
	g->nmember = (uint8_t)(t->next + 1);
	for (unsigned i = 0; i < t->next; i++)
		g->member[i] = &t->member[i]->m;
	g->member[t->next] = &last->m;
}

static bool in_group(const struct group *g, const struct seq_member *m)
{
	for (unsigned i = 0; i < group_size(g); i++)
		if (g->member[i] == &m->m)
			return true;
	return false;
}

/* What stands against fusing g, which completes t. *asked: it came as far as the policy's verdict.
 */
static enum reason judge(struct seq *s, const struct match *t, struct group *g, bool *asked)
{
	const struct launch *last = &g->member[group_size(g) - 1]->launch;
	uint64_t unfused, fused;
	enum reason why;
	int surviving = 0;

	*asked = false;
	if (t->dead)
		return (enum reason)t->dead;
	why = legal_group(g);
	if (why)
		return why;
	for (unsigned i = 0; i < g->nbound; i++)
		surviving += (g->bound[i].use & BOUND_WRITE) != 0;
	for (unsigned i = 0; i < g->nbound; i++) {
		why = s->policy.memory(s->policy.arg, bound_range(g, &g->bound[i]), last,
				       surviving);
		if (why)
			return why;
	}
	legal_bytes(g, &unfused, &fused);
	if (fused >= unfused)
		return REASON_NOT_PROFITABLE;
	*asked = true;
	why = s->policy.verdict(s->policy.arg, g, t->holding);
	return why || t->holding ? why : REASON_UNPREDICTED;
}

/* The caller gets to see t's group, which `last` completes: all of it lives until the next call. */
static void hand_out(struct seq *s, const struct match *t, const struct group *g)
{
	for (unsigned i = 0; i < t->next; i++) {
		t->member[i]->refs++;
		s->out[s->nout++] = t->member[i];
	}
	s->group = *g;
	s->completed = true;
}

static bool shares_member(const struct group *g, const struct match *t)
{
	for (unsigned k = 0; k < t->next; k++)
		if (in_group(g, t->member[k]))
			return true;
	return false;
}

/*
 * The members of s->group are used up. Matches that share one end without a word, as do others that
 * `last` would have completed; where it would have been a further member, it is now a launch
 * between theirs.
 */
static void consume(struct seq *s, match_set waiting, const struct seq_member *last)
{
	unsigned kept = 0;

	for (unsigned i = s->nmatch; i-- > 0;) {
		struct match *t = &s->match[i];
		bool waits = waiting >> i & 1;

		if (shares_member(&s->group, t) || (waits && t->next + 1 == t->pattern->nnode)) {
			match_remove(s, i);
		} else if (waits) {
			enum reason why =
				match_conflict(t, &last->m.launch, &last->m.op, &last->reach);

			if (why)
				match_kill(s, t, why);
		}
	}
	for (unsigned i = 0; i < s->nheld; i++)
		if (in_group(&s->group, s->held[i]))
			member_drop(s, s->held[i]);
		else
			s->held[kept++] = s->held[i];
	s->nheld = kept;
}

/* The waiting match with the most members that this launch completes, or -1. */
static int next_complete(const struct seq *s, match_set waiting)
{
	int best = -1;

	for (unsigned i = 0; i < s->nmatch; i++) {
		const struct match *t = &s->match[i];

		if (waiting >> i & 1 && t->next + 1 == t->pattern->nnode &&
		    (best < 0 || t->next > s->match[best].next))
			best = (int)i;
	}
	return best;
}

/* The group is refused, which concerns chains, too: they are told when all is settled, and where
 * only the form was wrong they may have more to say of it. */
static void refuse(struct seq *s, const struct match *t, const struct group *g, enum reason why)
{
	const bool room = s->nrefused < SEQ_REFUSED;

	if (!room || why != REASON_SHAPE)
		s->policy.done(s->policy.arg, g, why);
	if (!room)
		return;
	for (unsigned i = 0; i < t->next; i++) {
		t->member[i]->refs++;
		s->out[s->nout++] = t->member[i];
	}
	s->refused[s->nrefused] = *g;
	s->refused_why[s->nrefused++] = (uint8_t)why;
}

bool match_complete(struct seq *s, match_set *waiting, const struct seq_member *last)
{
	int i;

	while ((i = next_complete(s, *waiting)) >= 0) {
		const match_set below = ((match_set)1 << i) - 1;
		struct group g;
		enum reason why;
		bool asked;

		match_group(&g, &s->match[i], last);
		why = judge(s, &s->match[i], &g, &asked);
		if (why && s->chains)
			refuse(s, &s->match[i], &g, why);
		else
			s->policy.done(s->policy.arg, &g, why);
		if (asked && (!why || !s->completed))
			hand_out(s, &s->match[i], &g);
		if (!why) {
			consume(s, *waiting, last);
			return true;
		}
		match_remove(s, (unsigned)i);
		*waiting = (*waiting & below) | (*waiting >> 1 & ~below);
	}
	return false;
}
