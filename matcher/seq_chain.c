// SPDX-License-Identifier: Apache-2.0
#include "matcher/seq_chain.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/chain_name.h"
#include "matcher/chain_unit.h"
#include "matcher/legal.h"
#include "matcher/row_build.h"

enum {
	CHAINS = SEQ_CHAINS,
	ENDED = 2 * CHAINS, /* groups of one call */
	/* Beyond these, two kernels do better than one that spills: values of a column alive at
	 * once, times a row is gone over, bytes of a row kept between two times (shared memory of a
	 * block). */
	MOST_LIVE = 48,
	MOST_PASSES = 5,
	MOST_STAGED = 96 << 10,
	LONE = 16,
	SIBLINGS_BYTES = 4 << 20, /* that move more are slower than a launch is long */
};

struct chain {
	struct seq_member *member[GROUP_MAX_MEMBERS];
	unsigned n;
	struct row row;   /* of the first `said` of its members: mostly all */
	uint64_t traffic; /* bytes that it moves */
	unsigned said;
	unsigned good; /* the first so many can be fused as they are */
	bool holding;  /* all its members are held */
};

/* A chain that is to be fused, until the next call. */
struct ended {
	struct group group;
	struct row row;
	struct seq_member *member[GROUP_MAX_MEMBERS];
};

struct chains {
	unsigned n, nended, nlone;
	bool pairing;                  /* chains that end now are looked at for siblings */
	struct chain chain[CHAINS];    /* oldest first */
	struct seq_member *lone[LONE]; /* ended alone in this call */
	struct row row;                /* of what is tried */
	struct ended ended[ENDED];
	const struct group *group[ENDED]; /* of these */
};

struct chains *chains_new(void)
{
	return calloc(1, sizeof(struct chains));
}

/* Its members are held from now on / no longer. */
static void hold(struct chain *c, bool holding)
{
	if (c->holding == holding)
		return;
	c->holding = holding;
	for (unsigned k = 0; k < c->n; k++)
		c->member[k]->wanted = (uint16_t)(c->member[k]->wanted + (holding ? 1 : -1));
}

static void forget(struct seq *s, unsigned i)
{
	struct chains *c = s->chains;

	hold(&c->chain[i], false);
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
		forget(s, 0);
	free(s->chains);
	s->chains = NULL;
}

bool chains_want(const struct seq *s, const struct launch *l, const struct op *op)
{
	return LAUNCH_PLAIN(l->attrs) && row_op_known(op) &&
	       (!s->policy.may_chain || s->policy.may_chain(s->policy.arg, l, op));
}

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

/*
 * The program of these members and its traffic; NONE if it is one that a kernel can be made of.
 * OVERLAP: it would be, but for operands that lie across each other; what comes may overwrite them,
 * or, `late`, nothing is left but to make stores wait for them.
 */
static enum reason build(struct row *r, uint64_t *traffic, struct seq_member *const *member,
			 unsigned n, bool late)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	struct row_cost cost;
	enum reason why;

	for (unsigned i = 0; i < n; i++) {
		m[i].op = &member[i]->m.op;
		row_pick_known(m[i].op, &member[i]->m.launch, &m[i].pick);
	}
	why = row_build_roughly(r, m, n, late);
	if (why && (why != REASON_OVERLAP || r->nmember != n))
		return REASON_SHAPE; /* whatever comes */
	row_cost_at_once(r, &cost);
	*traffic = cost.read + cost.written;
	if (cost.live > MOST_LIVE || cost.passes > MOST_PASSES ||
	    (uint64_t)cost.stage * (uint64_t)r->cols > MOST_STAGED)
		return REASON_NOT_PROFITABLE;
	return why;
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

/* These members are a group. Is it fused? */
static bool report(struct seq *s, struct row *r, struct seq_member *const *member, unsigned n,
		   bool held)
{
	struct group g;
	enum reason why;

	group_of(&g, member, n);
	row_canon(r);
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

/* What the op moves by itself. */
static uint64_t traffic_of(const struct op *op)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < op->noperand; i++)
		bytes += operand_bytes(&op->operand[i]);
	return bytes;
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
	if (all.pattern != others.pattern || build(less, &traffic, member, n - 1, false))
		return false;
	row_cost(&c->row, &cost);
	if (traffic + traffic_of(&member[n - 1]->m.op) > cost.read + cost.written)
		return false;
	row_copy(&c->row, less);
	return true;
}

/*
 * The chain ends: what of it can be fused is a group. Behind that there may be members that came in
 * hope of one that overwrites what is in the way; they may make groups of their own.
 */
static void end(struct seq *s, unsigned i)
{
	struct chain *c = &s->chains->chain[i];
	unsigned from = 0;

	if (c->n == 1 && s->chains->pairing && s->chains->nlone < LONE) {
		s->chains->lone[s->chains->nlone++] = c->member[0];
		c->member[0]->refs++;
	}
	/* There is room for a group of each chain; for more of one only if it is not needed. */
	while (from + 1 < c->n && (!from || s->chains->nended + s->chains->n + 1 < ENDED)) {
		const bool known = !from && c->good == c->n && c->said == c->n;
		unsigned n = c->n - from;

		/* The longest that goes. */
		while (n > 1 && !known && build(&c->row, &c->traffic, &c->member[from], n, true))
			n--;
		if (!from && n < c->n)
			report_overlap(s, c, n);
		n -= n > 1 && last_apart(s, c, &c->member[from], n);
		/* What is not fused goes out behind all groups, so nothing after it may be one. */
		if (n < 2 || !report(s, &c->row, &c->member[from], n, c->holding))
			break;
		from += n;
	}
	forget(s, i);
}

/* Is each of them surely behind the one before? */
static bool in_order(const struct seq *s, struct seq_member *const *m, unsigned n)
{
	for (unsigned i = 1; i < n && s->policy.follows; i++)
		if (!s->policy.follows(s->policy.arg, &m[i - 1]->m.launch, &m[i]->m.launch))
			return false;
	return true;
}

static bool alike(const struct op *a, const struct op *b)
{
	const struct operand *x = op_operand(a, ROLE_out), *y = op_operand(b, ROLE_out);

	return a->code == b->code && a->rows == b->rows && a->cols == b->cols &&
	       a->noperand == b->noperand && x && y && x->dtype == y->dtype;
}

/* Launches that nothing connects, and that ended together: one does the work of those that are
 * alike, for the launches that it saves. */
static void pair(struct seq *s)
{
	struct chains *c = s->chains;
	struct seq_member *m[LONE];
	uint64_t traffic;

	c->pairing = false;
	while (c->nlone) {
		unsigned n = 0, kept = 0;

		/* In program order. */
		for (unsigned i = 0; i < c->nlone && n < GROUP_MAX_MEMBERS; i++) {
			unsigned at = n;

			if (!alike(&c->lone[0]->m.op, &c->lone[i]->m.op))
				continue;
			for (; at && m[at - 1]->m.launch.index > c->lone[i]->m.launch.index; at--)
				m[at] = m[at - 1];
			m[at] = c->lone[i];
			n++;
		}
		if (n > 1 && c->nended < ENDED && in_order(s, m, n) &&
		    !build(&c->row, &traffic, m, n, false) && traffic <= SIBLINGS_BYTES)
			report(s, &c->row, m, n, true);
		for (unsigned i = 0; i < c->nlone; i++) {
			bool used = false;

			for (unsigned k = 0; k < n; k++)
				used |= m[k] == c->lone[i];
			if (used)
				member_drop(s, c->lone[i]);
			else
				c->lone[kept++] = c->lone[i];
		}
		c->nlone = kept;
	}
}

void chains_end(struct seq *s)
{
	s->chains->pairing = s->policy.siblings;
	while (s->chains->n)
		end(s, 0);
	pair(s);
}

static bool touches(const struct chain *c, struct range r)
{
	for (unsigned k = 0; k < c->n; k++)
		for (unsigned i = 0; i < c->member[k]->reach.n; i++)
			if (range_overlap(c->member[k]->reach.range[i], r))
				return true;
	return false;
}

/* Does m read what the chain has such access to? Memory that is merely used again is no reason to
 * join. */
static bool reads_of(const struct chain *c, const struct reach *m, enum access access)
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

static bool conflicts(const struct chain *c, const struct launch *l, const struct op *op)
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

/*
 * Chain a, and b if there is one, become one with m, if that moves less than `apart` bytes: where
 * no byte is read once less, nothing is won. b's members are a's then.
 */
static bool join(struct seq *s, struct chain *a, struct chain *b, struct seq_member *m,
		 uint64_t apart)
{
	const struct launch *first = &a->member[0]->m.launch, *l = &m->m.launch;
	struct seq_member *all[GROUP_MAX_MEMBERS];
	const unsigned n = together(a, b, m, all);
	enum reason why;
	uint64_t traffic;

	if (!n || !may_join(s, a, m) || (b && !may_join(s, b, m)) || ends_before(a, m) ||
	    (b && ends_before(b, m)) || first->priority != l->priority ||
	    first->device != l->device || (b && b->member[0]->m.launch.priority != l->priority) ||
	    !in_order(s, all, n) ||
	    ((why = build(&s->chains->row, &traffic, all, n, false)) && why != REASON_OVERLAP) ||
	    traffic >= apart)
		return false;
	if (b && a->holding != b->holding) {
		hold(a, false);
		hold(b, false);
	}
	memcpy(a->member, all, n * sizeof(all[0]));
	a->n = n;
	a->traffic = traffic;
	a->good = why ? (b ? 0 : a->good) : n;
	a->said = n;
	if (b) {
		b->n = b->good = b->said = 0;
		b->holding = false;
	}
	row_copy(&a->row, &s->chains->row);
	return true;
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

	if (c->n == CHAINS)
		end(s, 0);
	mine = &c->chain[c->n++];
	mine->member[0] = m;
	mine->n = 1;
	/* Most stay alone: what they come to is said when a second one is there. */
	mine->traffic = traffic_of(&m->m.op);
	mine->row.cols = m->m.op.cols;
	mine->good = 1;
	mine->said = 0;
	mine->holding = false;
	m->refs++;
	hold(mine, may_hold(s, mine, m));
}

/* Would m end the chain by what it writes, being the conversion of a weight that the chain needs?
 */
static bool is_weight_of(const struct chain *c, const struct seq_member *m)
{
	const struct member *all[GROUP_MAX_MEMBERS];

	for (unsigned k = 0; k < c->n; k++)
		all[k] = &c->member[k]->m;
	return c->n > 1 && conflicts(c, &m->m.launch, &m->m.op) &&
	       chain_unit_weight(all, c->n, &m->m.op, c->row.cols);
}

/* The newest chain that m can join, or -1: one that leaves what m reads, else one that reads the
 * same, else one that m would end. */
static int join_newest(struct seq *s, struct seq_member *m)
{
	static const enum access first[] = {ACCESS_WRITE, ACCESS_READ};

	for (unsigned n = 0; n < 2; n++)
		for (unsigned i = s->chains->n; i-- > 0;) {
			struct chain *c = &s->chains->chain[i];

			if (!reads_of(c, &m->reach, first[n]) ||
			    (n && reads_of(c, &m->reach, first[0])) ||
			    !join(s, c, NULL, m, c->traffic + traffic_of(&m->m.op)))
				continue;
			m->refs++;
			return (int)i;
		}
	for (unsigned i = s->chains->n; i-- > 0;) {
		struct chain *c = &s->chains->chain[i];

		if (is_weight_of(c, m) &&
		    join(s, c, NULL, m, c->traffic + traffic_of(&m->m.op) + 1)) {
			m->refs++;
			return (int)i;
		}
	}
	return -1;
}

bool chains_launch(struct seq *s, const struct launch *l, const struct op *op, struct seq_member *m)
{
	struct chains *c = s->chains;
	int mine = m ? join_newest(s, m) : -1;

	c->pairing = s->policy.siblings;
	for (unsigned i = c->n; i-- > 0;) {
		if ((int)i == mine || !conflicts(&c->chain[i], l, op))
			continue;
		/* It needs what two chains leave: they are one, perhaps. */
		if (mine >= 0 && reads_of(&c->chain[i], &m->reach, ACCESS_WRITE)) {
			struct chain *a = &c->chain[mine];

			a->n--; /* m, its last one, comes last in both */
			if (!join(s, a, &c->chain[i], m, a->traffic + c->chain[i].traffic))
				a->n++;
		}
		end(s, i);
		mine -= (int)i < mine;
	}
	pair(s);
	if (mine < 0 && m)
		open_chain(s, m);
	if (mine >= 0) {
		struct chain *a = &c->chain[mine];
		const bool held = a->holding && may_hold(s, a, m);

		a->n--; /* m is not counted yet */
		hold(a, held);
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
		end(s, i);
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
			end(s, i);
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
