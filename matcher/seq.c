// SPDX-License-Identifier: Apache-2.0
#include "matcher/seq.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/legal.h"
#include "matcher/seq_chain.h"
#include "matcher/seq_match.h"

static const struct pattern *pattern_at(const struct seq *s, unsigned i)
{
	return s->policy.pattern ? s->policy.pattern[i] : pattern_get((enum pattern_id)i);
}

struct seq *seq_new(const struct seq_policy *policy)
{
	struct seq *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->policy = *policy;
	if (!s->policy.pattern)
		s->policy.npattern = PATTERN_COUNT;
	for (unsigned i = 0; i < s->policy.npattern; i++) {
		const struct pattern *p = pattern_at(s, i);

		if (!p->nnode || (policy->chains ? policy->larger : p->watched))
			continue;
		for (unsigned code = 0; code < OP_COUNT; code++)
			if (pattern_begins(p, (enum opcode)code)) {
				s->begins[code] |= (uint32_t)1 << i;
				s->members |= (uint64_t)1 << code;
			}
		for (unsigned k = 1; k < p->nnode; k++)
			s->members |= (uint64_t)1 << p->node[k];
	}
	if (policy->chains && !(s->chains = chains_new())) {
		free(s);
		return NULL;
	}
	return s;
}

static void begin_call(struct seq *s, struct seq_out *out)
{
	while (s->nout)
		member_drop(s, s->out[--s->nout]);
	if (s->chains)
		chains_begin(s);
	out->nchain = s->nrefused = 0;
	out->flush = s->flush;
	out->nflush = 0;
	out->act = SEQ_PASS;
	out->group = NULL;
	s->completed = false;
}

/* Hands out, in program order, the held members that no match can use any more. */
static void flush_unwanted(struct seq *s, struct seq_out *out)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->nheld; i++) {
		struct seq_member *m = s->held[i];

		if (m->wanted) {
			s->held[kept++] = m;
			continue;
		}
		s->flush[out->nflush++] = &m->m;
		s->out[s->nout++] = m; /* the reference goes along */
	}
	s->nheld = kept;
}

static void kill_all(struct seq *s, enum reason why)
{
	for (unsigned i = 0; i < s->nmatch && s->nalive; i++)
		match_kill(s, &s->match[i], why);
}

/*
 * What the launch does to the open matches that do not wait for it: it ends those whose operand it
 * overwrites, kills those it conflicts with. Returns the ones that wait for it.
 */
static match_set meet(struct seq *s, const struct launch *l, const struct op *op)
{
	match_set waiting = 0;
	struct reach reach;

	if (s->nmatch)
		reach_of(&reach, op);
	for (unsigned i = 0; i < s->nmatch;) {
		struct match *t = &s->match[i];

		if (match_awaits(t, op, &reach)) {
			waiting |= (match_set)1 << i;
		} else if (match_superseded(t, &reach)) {
			match_remove(s, i);
			continue;
		} else if (!t->dead) {
			enum reason why = match_conflict(t, l, op, &reach);

			if (why)
				match_kill(s, t, why);
		}
		i++;
	}
	return waiting;
}

/* May m be held for match t, which it was just appended to? */
static bool ask_hold(struct seq *s, struct match *t, const struct seq_member *m)
{
	return !t->dead && LAUNCH_PLAIN(m->m.launch.attrs) &&
	       s->policy.may_hold(s->policy.arg, &m->m, t->pattern, (uint8_t)(t->next - 1));
}

/* The launch continues the waiting matches. */
static void continue_matches(struct seq *s, match_set waiting, struct seq_member *m)
{
	for (unsigned i = 0; i < s->nmatch; i++) {
		struct match *t = &s->match[i];

		if (!(waiting >> i & 1))
			continue;
		match_append(t, m);
		if (!LAUNCH_PLAIN(m->m.launch.attrs))
			match_kill(s, t, REASON_ATTRIBUTES);
		match_hold(t, t->holding && ask_hold(s, t, m));
	}
}

static void begin_matches(struct seq *s, uint32_t begins, struct seq_member *m)
{
	for (; begins; begins &= begins - 1) {
		const struct pattern *p = pattern_at(s, (unsigned)__builtin_ctz(begins));
		enum reason dead = !s->policy.enabled(s->policy.arg, p) ? REASON_DISABLED
				   : !LAUNCH_PLAIN(m->m.launch.attrs)   ? REASON_ATTRIBUTES
									: REASON_NONE;
		struct match *t = match_open(s, p, dead);

		match_append(t, m);
		match_hold(t, ask_hold(s, t, m));
	}
}

/* Chains are told of the launch, and of what became of the groups that it completed. */
static void tell_chains(struct seq *s, const struct launch *l, const struct op *op,
			struct seq_member *m, bool fused, struct seq_out *out)
{
	if (fused)
		chains_claim(s, &s->group);
	for (unsigned i = 0; i < s->nrefused; i++)
		if (s->refused_why[i] != REASON_SHAPE)
			chains_claim(s, &s->refused[i]);
	chains_launch(s, l, op, fused ? NULL : m);
	/* A group counts once: as a chain where only its form was wrong. */
	for (unsigned i = 0; i < s->nrefused; i++)
		if (s->refused_why[i] == REASON_SHAPE && !chains_have(s, &s->refused[i]))
			s->policy.done(s->policy.arg, &s->refused[i], REASON_SHAPE);
	chains_out(s, out);
}

void seq_launch(struct seq *s, const struct launch *l, const struct op *op, struct seq_out *out)
{
	const uint32_t begins = op->code == OP_opaque ? 0 : s->begins[op->code];
	const bool link = s->chains && chains_want(s, l, op);
	struct seq_member *m = NULL;
	match_set waiting = 0;

	begin_call(s, out);
	/* Dead matches wait on for members only; what overwrites their operands is not looked for.
	 */
	if (!s->nalive && !(s->members >> op->code & 1) && !s->chains)
		return;
	if (op->code == OP_opaque)
		kill_all(s, REASON_UNKNOWN_KERNEL);
	else
		waiting = meet(s, l, op);
	if (waiting | begins || link) {
		m = member_new(s, l, op);
		if (!m) /* out of memory: nobody will hear of these */
			for (unsigned i = s->nmatch; i-- > 0;)
				if (waiting >> i & 1)
					match_remove(s, i);
	}
	if (m && match_complete(s, &waiting, m)) {
		out->act = SEQ_FUSE;
	} else if (m) {
		continue_matches(s, waiting, m);
		begin_matches(s, begins, m);
	}
	if (s->chains)
		tell_chains(s, l, op, link ? m : NULL, out->act == SEQ_FUSE, out);
	if (m && m->wanted && out->act != SEQ_FUSE)
		out->act = SEQ_HOLD;
	if (s->completed)
		out->group = &s->group;
	if (s->nheld)
		flush_unwanted(s, out);
	if (!m)
		return;
	if (out->act == SEQ_HOLD)
		s->held[s->nheld++] = m;
	else
		s->out[s->nout++] = m;
}

void seq_barrier(struct seq *s, enum reason why, struct seq_out *out)
{
	begin_call(s, out);
	if (s->chains) {
		chains_end(s);
		chains_out(s, out);
	}
	kill_all(s, why);
	flush_unwanted(s, out);
}

void seq_elsewhere(struct seq *s, const struct launch *l, const struct op *op, struct seq_out *out)
{
	struct seq_member *m;
	struct reach reach;

	begin_call(s, out);
	if (!seq_awaits(s, op) || !(m = member_new(s, l, op)))
		return;
	reach_of(&reach, op);
	for (unsigned i = s->nmatch; i-- > 0;) {
		struct match *t = &s->match[i];

		if (!match_awaits(t, op, &reach))
			continue;
		match_kill(s, t, REASON_DIFFERENT_STREAM);
		if (t->next + 1 < t->pattern->nnode) {
			match_append(t, m);
			continue;
		}
		match_group(&s->group, t, m);
		s->policy.done(s->policy.arg, &s->group, REASON_DIFFERENT_STREAM);
		match_remove(s, i);
	}
	flush_unwanted(s, out);
	s->out[s->nout++] = m;
}

void seq_clear(struct seq *s)
{
	struct seq_out out;

	seq_barrier(s, REASON_UNPREDICTED, &out);
	while (s->nmatch)
		match_remove(s, s->nmatch - 1);
}
