// SPDX-License-Identifier: Apache-2.0
/* What the owner of a planner asks it between launches, and its end. Declared in seq.h. */
#include <stdlib.h>

#include "matcher/seq_chain.h"

void seq_free(struct seq *s)
{
	if (!s)
		return;
	chains_free(s);
	while (s->nmatch)
		match_remove(s, s->nmatch - 1);
	while (s->nheld)
		member_drop(s, s->held[--s->nheld]);
	while (s->nout)
		member_drop(s, s->out[--s->nout]);
	member_free_list(s);
	free(s);
}

static bool touches(const struct seq_member *m, struct range r)
{
	for (unsigned i = 0; i < m->reach.n; i++)
		if (range_overlap(m->reach.range[i], r))
			return true;
	return false;
}

void seq_forget(struct seq *s, struct range r)
{
	if (s->chains)
		chains_forget(s, r);
	for (unsigned i = s->nmatch; i-- > 0;) {
		const struct match *t = &s->match[i];
		bool leans = false;

		for (unsigned k = 0; k < t->next; k++)
			leans |= touches(t->member[k], r);
		if (leans && !t->holding)
			match_remove(s, i);
	}
}

unsigned seq_held(const struct seq *s)
{
	return s->nheld;
}

unsigned seq_open(const struct seq *s)
{
	return s->nalive + chains_open(s);
}

unsigned seq_waiting(const struct seq *s)
{
	return s->nmatch;
}

uint64_t seq_beginners(void)
{
	uint64_t ops = 0;

	for (unsigned i = 0; i < PATTERN_COUNT; i++) {
		const struct pattern *p = pattern_get((enum pattern_id)i);

		ops |= p->nnode && !p->watched ? (uint64_t)1 << p->node[0] : 0;
	}
	return ops;
}

uint64_t seq_members(void)
{
	uint64_t ops = 0;

	for (unsigned i = 0; i < PATTERN_COUNT; i++) {
		const struct pattern *p = pattern_get((enum pattern_id)i);

		for (unsigned k = 0; k < p->nnode && !p->watched; k++)
			ops |= (uint64_t)1 << p->node[k];
	}
	return ops;
}

bool seq_touches(const struct seq *s, struct range r)
{
	for (unsigned i = 0; i < s->nheld; i++)
		if (touches(s->held[i], r))
			return true;
	return false;
}

bool seq_awaits(const struct seq *s, const struct op *op)
{
	struct reach reach;

	if (op->code == OP_opaque || !s->nmatch)
		return false;
	reach_of(&reach, op);
	for (unsigned i = 0; i < s->nmatch; i++)
		if (match_awaits(&s->match[i], op, &reach))
			return true;
	return false;
}
