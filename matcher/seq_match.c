// SPDX-License-Identifier: Apache-2.0
#include "matcher/seq_match.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/legal.h"

void reach_of(struct reach *r, const struct op *op)
{
	r->n = op->noperand;
	r->ncover = 0;
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];

		r->access[i] = o->access;
		r->range[i] = operand_range(o);
		if (o->access & ACCESS_WRITE && operand_covers(o, r->range[i]))
			r->cover[r->ncover++] = r->range[i];
	}
}

/* Members are recycled with their parameter buffers: in steady state nothing is allocated. */
struct seq_member *member_new(struct seq *s, const struct launch *l, const struct op *op)
{
	struct seq_member *m = s->free;
	uint32_t bytes = l->kernel->param_bytes;

	if (m)
		s->free = m->next;
	else if (!(m = calloc(1, sizeof(*m))))
		return NULL;
	if (bytes > m->room) {
		uint8_t *grown = realloc(m->params, bytes);

		if (!grown) {
			m->next = s->free;
			s->free = m;
			return NULL;
		}
		m->params = grown;
		m->room = bytes;
	}
	m->m.launch = *l;
	m->m.launch.params = m->params;
	if (bytes)
		memcpy(m->params, l->params, bytes);
	op_copy(&m->m.op, op);
	reach_of(&m->reach, op);
	m->summed = false;
	m->refs = 1;
	m->wanted = 0;
	return m;
}

void member_drop(struct seq *s, struct seq_member *m)
{
	if (--m->refs)
		return;
	m->next = s->free;
	s->free = m;
}

void member_free_list(struct seq *s)
{
	while (s->free) {
		struct seq_member *m = s->free;

		s->free = m->next;
		free(m->params);
		free(m);
	}
}

struct match *match_open(struct seq *s, const struct pattern *p, enum reason dead)
{
	struct match *t;

	if (s->nmatch == SEQ_MATCHES) {
		unsigned i = 0;

		while (i < s->nmatch && !s->match[i].dead)
			i++;
		match_remove(s, i < s->nmatch ? i : 0);
	}
	t = &s->match[s->nmatch++];
	t->pattern = p;
	t->next = t->npending = 0;
	t->dead = (uint8_t)dead;
	t->holding = false;
	s->nalive += !dead;
	return t;
}

void match_append(struct match *t, struct seq_member *m)
{
	const struct pattern *p = t->pattern;

	t->member[t->next++] = m;
	m->refs++;
	m->wanted = (uint16_t)(m->wanted + t->holding);
	t->npending = 0;
	for (unsigned i = 0; i < p->njoin; i++) {
		const struct join *j = &p->join[i];
		const struct operand *o;

		if (j->from >= t->next || j->to < t->next)
			continue;
		o = op_operand(&t->member[j->from]->m.op, (enum role)j->from_role);
		if (!o)
			continue;
		t->soon[t->npending] = j->to == t->next;
		t->pending[t->npending++] = operand_range(o);
	}
}

void match_hold(struct match *t, bool holding)
{
	if (t->holding == holding)
		return;
	t->holding = holding;
	for (unsigned i = 0; i < t->next; i++)
		t->member[i]->wanted = (uint16_t)(t->member[i]->wanted + (holding ? 1 : -1));
}

void match_kill(struct seq *s, struct match *t, enum reason why)
{
	if (t->dead)
		return;
	match_hold(t, false);
	t->dead = (uint8_t)why;
	s->nalive--;
}

void match_remove(struct seq *s, unsigned i)
{
	struct match *t = &s->match[i];

	match_hold(t, false);
	s->nalive -= !t->dead;
	for (unsigned k = 0; k < t->next; k++)
		member_drop(s, t->member[k]);
	memmove(t, t + 1, (--s->nmatch - i) * sizeof(*t));
}

static bool reaches(const struct reach *reach, struct range r)
{
	for (unsigned i = 0; i < reach->n; i++)
		if (range_overlap(reach->range[i], r))
			return true;
	return false;
}

bool match_awaits(const struct match *t, const struct op *op, const struct reach *reach)
{
	const struct member *member[PATTERN_MAX_NODES];

	if (t->pattern->node[t->next] != op->code)
		return false;
	for (unsigned k = 0; k < t->npending; k++) /* the usual no costs little */
		if (t->soon[k] && !reaches(reach, t->pending[k]))
			return false;
	for (unsigned i = 0; i < t->next; i++)
		member[i] = &t->member[i]->m;
	return legal_joins(t->pattern, member, t->next, op);
}

/* Could the ranges alone stand in each other's way? */
static bool meet_somewhere(const struct reach *a, const struct reach *b)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned j = 0; j < b->n; j++)
			if ((a->access[i] | b->access[j]) & ACCESS_WRITE &&
			    range_overlap(a->range[i], b->range[j]))
				return true;
	return false;
}

enum reason match_conflict(const struct match *t, const struct launch *l, const struct op *op,
			   const struct reach *reach)
{
	enum reason why;

	/* Such a launch may start before the one in front of it ends, whichever that then is. */
	if (l->attrs & LAUNCH_PROGRAMMATIC)
		return REASON_ATTRIBUTES;
	for (unsigned i = 0; i < t->next; i++)
		if ((!op->vetted || meet_somewhere(&t->member[i]->reach, reach)) &&
		    !legal_cross(&t->member[i]->m.op, op, &why))
			return why;
	return REASON_NONE;
}

bool match_superseded(const struct match *t, const struct reach *reach)
{
	for (unsigned i = 0; i < reach->ncover; i++)
		for (unsigned k = 0; k < t->npending; k++)
			if (reach->cover[i].lo <= t->pending[k].lo &&
			    t->pending[k].hi <= reach->cover[i].hi)
				return true;
	return false;
}
