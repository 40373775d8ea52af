// SPDX-License-Identifier: Apache-2.0
/* Chains end: how much of one is a group, what stands against that, what is used up by it. */
#include "matcher/chain_name.h"
#include "matcher/legal.h"
#include "matcher/seq_chain_state.h"

/* What stands against the complete chain. */
static enum reason judge(struct seq *s, struct group *g, bool held)
{
	const struct row *r = g->row;
	const struct launch *last = &g->member[g->nmember - 1]->launch;
	int surviving = 0;

	if (!s->policy.enabled(s->policy.arg, g->pattern))
		return REASON_DISABLED;
	for (unsigned k = 0; k < r->noperand; k++)
		surviving += (r->operand[k].use & ROW_WRITE) != 0;
	for (unsigned k = 0; k < r->noperand; k++) {
		const struct operand o = row_operand_box(r, &r->operand[k]);
		enum reason why =
			s->policy.memory(s->policy.arg, operand_range(&o), last, surviving);

		if (why)
			return why;
	}
	if (!legal_pays(g))
		return REASON_NOT_PROFITABLE;
	return s->policy.verdict(s->policy.arg, g, held);
}

/* The group is to be fused: its members are used up. */
static void fuse(struct seq *s, const struct group *g, struct seq_member *const *member)
{
	struct chains *c = s->chains;
	struct ended *e = &c->ended[c->nended];
	unsigned kept = 0;

	row_copy(&e->row, g->row);
	e->group = *g;
	e->group.row = &e->row;
	for (unsigned k = 0; k < g->nmember; k++) {
		e->member[k] = member[k];
		e->member[k]->refs++;
	}
	c->group[c->nended++] = &e->group;
	for (unsigned i = 0; i < s->nheld; i++) {
		bool used = false;

		for (unsigned k = 0; k < g->nmember; k++)
			used |= s->held[i] == member[k];
		if (used)
			member_drop(s, s->held[i]);
		else
			s->held[kept++] = s->held[i];
	}
	s->nheld = kept;
	/* Matches with one of them would have it twice. */
	for (unsigned i = s->nmatch; i-- > 0;) {
		bool shares = false;

		for (unsigned t = 0; t < s->match[i].next; t++)
			for (unsigned k = 0; k < g->nmember; k++)
				shares |= s->match[i].member[t] == member[k];
		if (shares)
			match_remove(s, i);
	}
}

static void group_of(struct group *g, struct seq_member *const *member, unsigned n)
{
	*g = (struct group){.nmember = (uint8_t)n};
	for (unsigned k = 0; k < n; k++)
		g->member[k] = &member[k]->m;
	g->pattern = pattern_get(chain_name(g->member, n));
}

bool chain_report(struct seq *s, struct row *r, struct seq_member *const *member, unsigned n,
		  bool held)
{
	struct group g;
	enum reason why;

	group_of(&g, member, n);
	g.row = r;
	g.rows = row_rows(r);
	g.cols = r->cols;
	why = judge(s, &g, held);
	if (!why && !held)
		why = REASON_UNPREDICTED;
	s->policy.done(s->policy.arg, &g, why);
	if (!why)
		fuse(s, &g, member);
	return !why;
}

/*
 * All members were to be a group that people have a name for, and memory forbids it to the end:
 * that is said, besides what becomes of its parts.
 */
static void report_overlap(struct seq *s, const struct chain *c, unsigned good)
{
	struct group g, part;

	group_of(&g, c->member, c->n);
	group_of(&part, c->member, good);
	if (pattern_id(g.pattern) != PATTERN_chain && g.pattern != part.pattern)
		s->policy.done(s->policy.arg, &g, REASON_OVERLAP);
}

/*
 * Is the program of these members, which takes two kernels, no better than one kernel and the last
 * member's own? Then it becomes that of the others, if they are called the same.
 */
static bool last_apart(struct seq *s, struct chain *c, struct seq_member *const *member, unsigned n)
{
	struct row *less = &s->chains->row;
	struct group all, others;
	struct row_cost cost;
	uint64_t traffic;

	if (n < 3 || !row_is_late(&c->row))
		return false;
	group_of(&all, member, n);
	group_of(&others, member, n - 1);
	if (all.pattern != others.pattern || chain_build(less, &traffic, member, n - 1, false))
		return false;
	row_cost(&c->row, &cost);
	if (traffic + chain_traffic_of(&member[n - 1]->m.op) > cost.read + cost.written)
		return false;
	row_copy(&c->row, less);
	return true;
}

/* The canonical program of the longest that goes of n members, which becomes n. False: none does.
 */
static bool row_of(struct seq *s, struct chain *c, unsigned from, unsigned *n)
{
	const bool whole = !from && c->good == c->n;

	if (whole && chain_recall(s->chains, c->member, c->n, &c->row))
		return true;
	while (*n > 1 && !(whole && c->said == c->n) &&
	       chain_build(&c->row, &c->traffic, &c->member[from], *n, true))
		--*n;
	if (!from && *n < c->n)
		report_overlap(s, c, *n);
	*n -= *n > 1 && last_apart(s, c, &c->member[from], *n);
	if (*n < 2)
		return false;
	row_canon(&c->row);
	if (whole && *n == c->n)
		chain_know(s->chains, c->member, *n, &c->row);
	return true;
}

void chain_end(struct seq *s, unsigned i)
{
	struct chain *c = &s->chains->chain[i];
	unsigned from = 0;

	if (c->n == 1 && s->chains->pairing && s->chains->nlone < CHAINS_LONE) {
		s->chains->lone[s->chains->nlone++] = c->member[0];
		c->member[0]->refs++;
	}
	/* There is room for a group of each chain; for more of one only if it is not needed. */
	while (from + 1 < c->n && (!from || s->chains->nended + s->chains->n + 1 < CHAINS_ENDED)) {
		unsigned n = c->n - from;

		if (!row_of(s, c, from, &n))
			break;
		/* What is not fused goes out behind all groups, so nothing after it may be one. */
		if (!chain_report(s, &c->row, &c->member[from], n, c->holding))
			break;
		from += n;
	}
	chain_remove(s, i);
}

void chains_end(struct seq *s)
{
	s->chains->pairing = s->policy.siblings;
	while (s->chains->n)
		chain_end(s, 0);
	chains_pair(s);
}
