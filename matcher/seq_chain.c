// SPDX-License-Identifier: Apache-2.0
/* The table of open chains, and what each call of the planner does to it. */
#include "matcher/seq_chain.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/row_build.h"
#include "matcher/seq_chain_state.h"

struct chains *chains_new(void)
{
	return calloc(1, sizeof(struct chains));
}

void chain_hold(struct chain *c, bool holding)
{
	if (c->holding == holding)
		return;
	c->holding = holding;
	for (unsigned k = 0; k < c->n; k++)
		c->member[k]->wanted = (uint16_t)(c->member[k]->wanted + (holding ? 1 : -1));
}

void chain_remove(struct seq *s, unsigned i)
{
	struct chains *c = s->chains;

	chain_hold(&c->chain[i], false);
	for (unsigned k = 0; k < c->chain[i].n; k++)
		member_drop(s, c->chain[i].member[k]);
	memmove(&c->chain[i], &c->chain[i + 1], (--c->n - i) * sizeof(c->chain[0]));
}

void chains_begin(struct seq *s)
{
	struct chains *c = s->chains;

	while (c->nended) {
		struct ended *e = &c->ended[--c->nended];

		for (unsigned k = 0; k < e->group.nmember; k++)
			member_drop(s, e->member[k]);
	}
}

void chains_free(struct seq *s)
{
	if (s->chains)
		chains_begin(s);
	while (s->chains && s->chains->n)
		chain_remove(s, 0);
	if (s->chains)
		chain_known_free(s->chains);
	free(s->chains);
	s->chains = NULL;
}

bool chains_want(const struct seq *s, const struct launch *l, const struct op *op)
{
	return LAUNCH_PLAIN(l->attrs) && row_op_known(op) &&
	       (!s->policy.may_chain || s->policy.may_chain(s->policy.arg, l, op));
}

static bool touches(const struct chain *c, struct range r)
{
	for (unsigned k = 0; k < c->n; k++)
		for (unsigned i = 0; i < c->member[k]->reach.n; i++)
			if (range_overlap(c->member[k]->reach.range[i], r))
				return true;
	return false;
}

static bool may_hold(const struct seq *s, const struct chain *c, const struct seq_member *m)
{
	return s->policy.may_hold(s->policy.arg, &m->m, pattern_get(PATTERN_chain),
				  (uint8_t)(c->n - 1));
}

static void open_chain(struct seq *s, struct seq_member *m)
{
	struct chains *c = s->chains;
	struct chain *mine;

	if (c->n == SEQ_CHAINS)
		chain_end(s, 0);
	mine = &c->chain[c->n++];
	mine->member[0] = m;
	mine->n = 1;
	/* Most stay alone: what they come to is said when a second one is there. */
	mine->traffic = chain_traffic_of(&m->m.op);
	mine->row.cols = m->m.op.cols;
	mine->good = 1;
	mine->said = 0;
	mine->holding = false;
	m->refs++;
	chain_hold(mine, may_hold(s, mine, m));
}

bool chains_launch(struct seq *s, const struct launch *l, const struct op *op, struct seq_member *m)
{
	struct chains *c = s->chains;
	int mine = m ? chains_join_newest(s, m) : -1;

	c->pairing = s->policy.siblings;
	for (unsigned i = c->n; i-- > 0;) {
		if ((int)i == mine || !chain_conflicts(&c->chain[i], l, op))
			continue;
		/* It needs what two chains leave: they are one, perhaps. */
		if (mine >= 0 && chain_reads_of(&c->chain[i], &m->reach, ACCESS_WRITE)) {
			struct chain *a = &c->chain[mine];

			a->n--; /* m, its last one, comes last in both */
			if (!chain_join(s, a, &c->chain[i], m, a->traffic + c->chain[i].traffic))
				a->n++;
		}
		chain_end(s, i);
		mine -= (int)i < mine;
	}
	chains_pair(s);
	if (mine < 0 && m)
		open_chain(s, m);
	if (mine >= 0) {
		struct chain *a = &c->chain[mine];
		const bool held = a->holding && may_hold(s, a, m);

		a->n--; /* m is not counted yet */
		chain_hold(a, held);
		a->n++;
		m->wanted = (uint16_t)(m->wanted + held);
	}
	return mine >= 0;
}

void chains_claim(struct seq *s, const struct group *g)
{
	struct chains *c = s->chains;

	for (unsigned i = c->n; i-- > 0;) {
		struct chain *mine = &c->chain[i];
		unsigned keep = 0;

		for (bool taken = false; keep < mine->n && !taken; keep += !taken)
			for (unsigned k = 0; k < g->nmember; k++)
				taken |= g->member[k] == &mine->member[keep]->m;
		if (keep == mine->n)
			continue;
		while (mine->n > keep) {
			struct seq_member *m = mine->member[--mine->n];

			m->wanted = (uint16_t)(m->wanted - mine->holding);
			member_drop(s, m);
		}
		if (mine->good > keep)
			mine->good = keep;
		chain_end(s, i);
	}
}

bool chains_have(const struct seq *s, const struct group *g)
{
	for (unsigned i = 0; i < s->chains->n; i++) {
		const struct chain *c = &s->chains->chain[i];
		unsigned found = 0;

		for (unsigned k = 0; k < c->n; k++)
			for (unsigned j = 0; j < g->nmember; j++)
				found += g->member[j] == &c->member[k]->m;
		if (found == g->nmember)
			return true;
	}
	return false;
}

void chains_forget(struct seq *s, struct range r)
{
	for (unsigned i = s->chains->n; i-- > 0;) {
		if (!s->chains->chain[i].holding && touches(&s->chains->chain[i], r))
			chain_end(s, i);
	}
}

unsigned chains_open(const struct seq *s)
{
	return s->chains ? s->chains->n : 0;
}

void chains_out(const struct seq *s, struct seq_out *out)
{
	out->chain = s->chains->group;
	out->nchain = s->chains->nended;
}
