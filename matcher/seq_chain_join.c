// SPDX-License-Identifier: Apache-2.0
/* Which chain does a launch join, and which does it stand against? */
#include <string.h>

#include "matcher/chain_unit.h"
#include "matcher/legal.h"
#include "matcher/seq_chain_state.h"

bool chain_reads_of(const struct chain *c, const struct reach *m, enum access access)
{
	for (unsigned k = 0; k < c->n; k++) {
		const struct reach *r = &c->member[k]->reach;

		for (unsigned i = 0; i < r->n; i++)
			for (unsigned j = 0; j < m->n && r->access[i] & access; j++)
				if (m->access[j] & ACCESS_READ &&
				    range_overlap(r->range[i], m->range[j]))
					return true;
	}
	return false;
}

bool chain_conflicts(const struct chain *c, const struct launch *l, const struct op *op)
{
	enum reason why;

	if (l->attrs & LAUNCH_PROGRAMMATIC)
		return true;
	for (unsigned k = 0; k < c->n; k++)
		if (!legal_cross(&c->member[k]->m.op, op, &why))
			return true;
	return false;
}

/* The members of a and b, b may be NULL, and m, in program order. Returns how many; 0 if too many.
 */
static unsigned together(const struct chain *a, const struct chain *b, struct seq_member *m,
			 struct seq_member **to)
{
	unsigned i = 0, k = 0, n = 0;

	if (a->n + (b ? b->n : 0) + 1 > GROUP_MAX_MEMBERS)
		return 0;
	while (i < a->n || (b && k < b->n)) {
		bool mine =
			!b || k == b->n ||
			(i < a->n && a->member[i]->m.launch.index < b->member[k]->m.launch.index);

		to[n++] = mine ? a->member[i++] : b->member[k++];
	}
	to[n++] = m;
	return n;
}

/* Is the chain complete without m? */
static bool ends_before(const struct chain *c, const struct seq_member *m)
{
	const struct member *all[GROUP_MAX_MEMBERS];

	for (unsigned k = 0; k < c->n; k++)
		all[k] = &c->member[k]->m;
	return chain_unit_ends(all, c->n, &m->m.op);
}

static bool may_join(const struct seq *s, const struct chain *c, const struct seq_member *m)
{
	return !s->policy.may_join ||
	       s->policy.may_join(s->policy.arg, &c->member[c->n - 1]->m, &m->m);
}

bool chain_join(struct seq *s, struct chain *a, struct chain *b, struct seq_member *m,
		uint64_t apart)
{
	const struct launch *first = &a->member[0]->m.launch, *l = &m->m.launch;
	struct seq_member *all[GROUP_MAX_MEMBERS];
	const unsigned n = together(a, b, m, all);
	struct outcome is;
	bool made;

	if (!n || !may_join(s, a, m) || (b && !may_join(s, b, m)) || ends_before(a, m) ||
	    (b && ends_before(b, m)) || first->priority != l->priority ||
	    first->device != l->device || (b && b->member[0]->m.launch.priority != l->priority) ||
	    !chain_in_order(s, all, n))
		return false;
	made = chain_outcome(s->chains, all, n, &is);
	if ((is.why && is.why != REASON_OVERLAP) || is.traffic >= apart)
		return false;
	if (b && a->holding != b->holding) {
		chain_hold(a, false);
		chain_hold(b, false);
	}
	memcpy(a->member, all, n * sizeof(all[0]));
	a->n = n;
	a->traffic = is.traffic;
	a->good = is.why ? (b ? 0 : a->good) : n;
	a->said = made ? n : 0;
	if (b) {
		b->n = b->good = b->said = 0;
		b->holding = false;
	}
	if (made)
		row_copy(&a->row, &s->chains->row);
	a->row.cols = is.cols;
	return true;
}

/* Would m end the chain by what it writes, being the conversion of a weight that the chain needs?
 */
static bool is_weight_of(const struct chain *c, const struct seq_member *m)
{
	const struct member *all[GROUP_MAX_MEMBERS];

	for (unsigned k = 0; k < c->n; k++)
		all[k] = &c->member[k]->m;
	return c->n > 1 && chain_conflicts(c, &m->m.launch, &m->m.op) &&
	       chain_unit_weight(all, c->n, &m->m.op, c->row.cols);
}

int chains_join_newest(struct seq *s, struct seq_member *m)
{
	static const enum access first[] = {ACCESS_WRITE, ACCESS_READ};

	for (unsigned n = 0; n < 2; n++)
		for (unsigned i = s->chains->n; i-- > 0;) {
			struct chain *c = &s->chains->chain[i];

			if (!chain_reads_of(c, &m->reach, first[n]) ||
			    (n && chain_reads_of(c, &m->reach, first[0])) ||
			    !chain_join(s, c, NULL, m, c->traffic + chain_traffic_of(&m->m.op)))
				continue;
			m->refs++;
			return (int)i;
		}
	for (unsigned i = s->chains->n; i-- > 0;) {
		struct chain *c = &s->chains->chain[i];

		if (is_weight_of(c, m) &&
		    chain_join(s, c, NULL, m, c->traffic + chain_traffic_of(&m->m.op) + 1)) {
			m->refs++;
			return (int)i;
		}
	}
	return -1;
}
