// SPDX-License-Identifier: Apache-2.0
#include "matcher/dead_search.h"

static bool put(struct dead_pieces *p, uint64_t lo, uint64_t hi)
{
	if (lo >= hi)
		return true;
	if (p->n == DEAD_PIECES)
		return false;
	p->r[p->n++] = (struct range){lo, hi};
	return true;
}

/* Is all that the node touches in its op? */
static bool dead_known(const struct graph_node *n)
{
	if (n->kind == GRAPH_EMPTY || n->kind == GRAPH_MEMORY)
		return true;
	return n->kind == GRAPH_KERNEL && n->op.code != OP_opaque && n->op.vetted;
}

bool dead_decoded(const struct graph_node *n)
{
	return n->kind == GRAPH_MEMORY || (n->kind == GRAPH_KERNEL && n->op.code != OP_opaque);
}

bool dead_touches(const struct graph_node *n, enum access access, struct range r)
{
	struct operand piece;

	if (!dead_decoded(n))
		return false;
	operand_dense(&piece, ROLE_NONE, ACCESS_READ, DT_u8, r.lo, 0, (int64_t)(r.hi - r.lo));
	for (unsigned i = 0; i < n->op.noperand; i++)
		if (n->op.operand[i].access & access && operand_overlap(&n->op.operand[i], &piece))
			return true;
	return false;
}

static void widen(struct range *r, struct range by)
{
	if (by.lo >= by.hi)
		return;
	if (r->lo >= r->hi)
		*r = by;
	r->lo = by.lo < r->lo ? by.lo : r->lo;
	r->hi = by.hi > r->hi ? by.hi : r->hi;
}

void dead_reach_of(struct dead_reach *r, const struct graph_node *n)
{
	*r = (struct dead_reach){0};
	for (unsigned i = 0; dead_decoded(n) && i < n->op.noperand; i++) {
		const struct operand *o = &n->op.operand[i];

		if (o->access & ACCESS_READ)
			widen(&r->read, operand_range(o));
		if (o->access & ACCESS_WRITE)
			widen(&r->written, operand_range(o));
	}
}

bool dead_is_member(const struct dead_question *q, unsigned node)
{
	for (unsigned i = 0; i < group_size(q->group); i++)
		if (q->member[i] == node)
			return true;
	return false;
}

bool dead_may_see(const struct dead_search *s, unsigned node)
{
	return !dead_is_member(s->q, node) && !dag_before(s->q->dag, node, s->first);
}

/* Does nobody read these bytes before `killer` overwrites them? */
static bool unseen(const struct dead_search *s, unsigned killer, struct range r)
{
	for (unsigned i = 0; i < s->nrisky; i++) {
		const struct graph_node *n = &s->q->node[s->risky[i]];

		if (dag_before(s->q->dag, killer, s->risky[i]))
			continue;
		if (dead_known(n) && s->q->reach &&
		    !range_overlap(s->q->reach[s->risky[i]].read, r))
			continue;
		if ((!s->assume && !dead_known(n)) || dead_touches(n, ACCESS_READ, r))
			return false;
	}
	return true;
}

/*
 * Adds to what is left one piece without the parts that the operand overwrites and nobody reads
 * before. False: too many parts.
 */
static bool cut(const struct dead_search *s, unsigned killer, const struct operand *o,
		struct range r, struct dead_pieces *left)
{
	int64_t run, pitch, n, k = 0;
	uint64_t kept = r.lo;

	if (!operand_bytes(o) || !operand_runs(o, &run, &pitch, &n))
		return put(left, r.lo, r.hi);
	if (pitch && o->addr + (uint64_t)run <= r.lo)
		k = (int64_t)(r.lo - o->addr - (uint64_t)run) / pitch + 1;
	for (unsigned tries = 0; k < n; k++, tries++) {
		uint64_t lo = o->addr + (uint64_t)(k * pitch), hi = lo + (uint64_t)run;

		if (lo >= r.hi)
			break;
		if (tries == DEAD_PIECES)
			return false;
		lo = lo > kept ? lo : kept;
		hi = hi < r.hi ? hi : r.hi;
		if (lo >= hi || !unseen(s, killer, (struct range){lo, hi}))
			continue;
		if (!put(left, kept, lo))
			return false;
		kept = hi;
	}
	return put(left, kept, r.hi);
}

static uint64_t total(const struct dead_pieces *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < p->n; i++)
		sum += p->r[i].hi - p->r[i].lo;
	return sum;
}

static void overwrite(struct dead_search *s, unsigned killer)
{
	const struct op *op = &s->q->node[killer].op;
	bool any = false;

	if (s->q->reach && !range_overlap(s->q->reach[killer].written, s->around))
		return;
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		struct dead_pieces left = {0};
		bool fits = true;

		if (!(o->access & ACCESS_WRITE))
			continue;
		for (unsigned k = 0; k < s->left.n && fits; k++)
			fits = cut(s, killer, o, s->left.r[k], &left);
		if (!fits || total(&left) == total(&s->left))
			continue;
		s->left = left;
		any = true;
	}
	if (!any)
		return;
	s->killer[s->nkiller++] = killer;
	s->around = (struct range){0};
	for (unsigned k = 0; k < s->left.n; k++)
		widen(&s->around, s->left.r[k]);
}

/* In the order of the graph, until nothing is left. */
static void overwriters(struct dead_search *s)
{
	const struct dag *d = s->q->dag;

	for (unsigned i = d->place[s->last] + 1; i < d->n && s->left.n; i++) {
		const struct graph_node *n = &s->q->node[d->order[i]];
		/* A programmatic edge may let a node begin before what it waits for is over. */
		bool counts = dead_known(n) && dead_decoded(n) && !n->typed &&
			      dag_before(d, s->last, d->order[i]);

		if (counts)
			overwrite(s, d->order[i]);
		else if (d->linear && !s->assume && !dead_known(n))
			break; /* it may read what is left */
	}
}

/* The rows of the slot, as far as they have gaps and are few; else all of it, gaps included. */
static void pieces_of(const struct operand *slot, struct dead_pieces *to)
{
	struct range all = operand_range(slot);
	int64_t run, pitch, n;

	to->n = 0;
	if (!operand_bytes(slot) || !operand_runs(slot, &run, &pitch, &n) || n > DEAD_PIECES) {
		put(to, all.lo, all.hi);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		put(to, slot->addr + (uint64_t)(i * pitch),
		    slot->addr + (uint64_t)(i * pitch + run));
}

static void start(struct dead_search *s, const struct operand *slot, bool assume)
{
	const struct dead_question *q = s->q;
	struct range all = operand_range(slot);

	s->assume = assume;
	s->nrisky = s->nkiller = 0;
	pieces_of(slot, &s->left);
	s->around = all;
	for (unsigned i = q->dag->linear ? q->dag->place[s->first] : 0; i < q->dag->n; i++) {
		const struct graph_node *n = &q->node[q->dag->order[i]];
		bool blind = !assume && !dead_known(n);

		if (!blind && q->reach && !range_overlap(q->reach[q->dag->order[i]].read, all))
			continue;
		if (dead_may_see(s, q->dag->order[i]) &&
		    (blind || dead_touches(n, ACCESS_READ, all)))
			s->risky[s->nrisky++] = q->dag->order[i];
		if (blind && q->dag->linear)
			break; /* nothing behind it can count */
	}
}

void dead_span(const struct dead_search *s, unsigned *first, unsigned *last)
{
	const struct dag *d = s->q->dag;

	*first = d->linear ? d->place[s->first] : 0;
	*last = d->linear ? *first : d->n;
	for (unsigned i = 0; i < s->nkiller && d->linear; i++)
		if (d->place[s->killer[i]] >= *last)
			*last = d->place[s->killer[i]] + 1;
}

bool dead_leaned_on(const struct dead_search *s, unsigned node)
{
	bool lean = false;

	for (unsigned i = 0; i < s->nkiller && !lean; i++)
		lean = s->killer[i] == node || !dag_before(s->q->dag, s->killer[i], node);
	return lean && dead_may_see(s, node);
}

void dead_search(struct dead_search *s, const struct operand *slot, bool assume)
{
	start(s, slot, assume);
	overwriters(s);
}
