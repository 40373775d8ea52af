// SPDX-License-Identifier: Apache-2.0
#include "matcher/dead.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 64 }; /* of one slot; more are not worth it */

struct pieces {
	unsigned n;
	struct range r[PIECES];
};

/* The search for one slot. */
struct search {
	const struct dead_question *q;
	bool assume;     /* what is not known reads nothing */
	unsigned first;  /* the member that stores it first */
	unsigned last;   /* the group's last member */
	unsigned *risky; /* nodes that may read it */
	unsigned nrisky;
	unsigned *killer; /* the overwriters found */
	unsigned nkiller;
	struct pieces left; /* not overwritten */
};

static bool put(struct pieces *p, uint64_t lo, uint64_t hi)
{
	if (lo >= hi)
		return true;
	if (p->n == PIECES)
		return false;
	p->r[p->n++] = (struct range){lo, hi};
	return true;
}

/* Is all that the node touches in its op? */
static bool known(const struct graph_node *n)
{
	if (n->kind == GRAPH_EMPTY)
		return true;
	return n->kind == GRAPH_KERNEL && n->op.code != OP_opaque && n->op.vetted;
}

/* Its op says at least something. */
static bool decoded(const struct graph_node *n)
{
	return n->kind == GRAPH_KERNEL && n->op.code != OP_opaque;
}

static bool touches(const struct graph_node *n, enum access access, struct range r)
{
	struct operand piece;

	if (!decoded(n))
		return false;
	operand_dense(&piece, ROLE_NONE, ACCESS_READ, DT_u8, r.lo, 0, (int64_t)(r.hi - r.lo));
	for (unsigned i = 0; i < n->op.noperand; i++)
		if (n->op.operand[i].access & access && operand_overlap(&n->op.operand[i], &piece))
			return true;
	return false;
}

static bool is_member(const struct dead_question *q, unsigned node)
{
	for (unsigned i = 0; i < q->group->pattern->nnode; i++)
		if (q->member[i] == node)
			return true;
	return false;
}

/* Neither a member nor surely over when the first member stores. */
static bool may_see(const struct search *s, unsigned node)
{
	return !is_member(s->q, node) && !dag_before(s->q->dag, node, s->first);
}

/* Does nobody read these bytes before `killer` overwrites them? */
static bool unseen(const struct search *s, unsigned killer, struct range r)
{
	for (unsigned i = 0; i < s->nrisky; i++) {
		const struct graph_node *n = &s->q->node[s->risky[i]];

		if (dag_before(s->q->dag, killer, s->risky[i]))
			continue;
		if ((!s->assume && !known(n)) || touches(n, ACCESS_READ, r))
			return false;
	}
	return true;
}

/*
 * Takes out of `from`, into what is left, the parts of one piece that the operand overwrites and
 * nobody reads before. False: too many parts.
 */
static bool cut(const struct search *s, unsigned killer, const struct operand *o, struct range r,
		struct pieces *left)
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
		if (tries == PIECES)
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

static uint64_t total(const struct pieces *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < p->n; i++)
		sum += p->r[i].hi - p->r[i].lo;
	return sum;
}

static void overwrite(struct search *s, unsigned killer)
{
	const struct op *op = &s->q->node[killer].op;
	bool any = false;

	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		struct pieces left = {0};
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
	if (any)
		s->killer[s->nkiller++] = killer;
}

/* In the order of the graph, until nothing is left. */
static void overwriters(struct search *s)
{
	const struct dag *d = s->q->dag;

	for (unsigned i = d->place[s->last] + 1; i < d->n && s->left.n; i++) {
		const struct graph_node *n = &s->q->node[d->order[i]];
		/* A programmatic edge may let a node begin before what it waits for is over. */
		bool counts = known(n) && n->kind == GRAPH_KERNEL && !n->typed &&
			      dag_before(d, s->last, d->order[i]);

		if (counts)
			overwrite(s, d->order[i]);
		else if (d->linear && !s->assume && !known(n))
			break; /* it may read what is left */
	}
}

/* The rows of the slot, as far as they have gaps and are few; else all of it, gaps included. */
static void pieces_of(const struct group *g, const struct bound *b, struct pieces *to)
{
	struct range all = bound_range(g, b);
	uint64_t row = (uint64_t)g->cols * dtype_bytes((enum dtype)b->dtype);

	to->n = 0;
	if ((uint64_t)b->pitch == row || g->rows > PIECES) {
		put(to, all.lo, all.hi);
		return;
	}
	for (int64_t r = 0; r < g->rows; r++)
		put(to, b->addr + (uint64_t)(r * b->pitch),
		    b->addr + (uint64_t)(r * b->pitch) + row);
}

/* The member that writes the slot first; false if it is none. */
static bool find_first(struct search *s, struct range r)
{
	const struct dead_question *q = s->q;

	for (unsigned i = 0; i < q->group->pattern->nnode; i++)
		if (touches(&q->node[q->member[i]], ACCESS_WRITE, r)) {
			s->first = q->member[i];
			return true;
		}
	return false;
}

static void begin(struct search *s, const struct bound *b, bool assume)
{
	const struct dead_question *q = s->q;
	struct range all = bound_range(q->group, b);

	s->assume = assume;
	s->nrisky = s->nkiller = 0;
	pieces_of(q->group, b, &s->left);
	for (unsigned i = q->dag->linear ? q->dag->place[s->first] : 0; i < q->dag->n; i++) {
		const struct graph_node *n = &q->node[q->dag->order[i]];
		bool blind = !assume && !known(n);

		if ((blind || touches(n, ACCESS_READ, all)) && may_see(s, q->dag->order[i]))
			s->risky[s->nrisky++] = q->dag->order[i];
		if (blind && q->dag->linear)
			break; /* nothing behind it can count */
	}
}

/* Is the node of those that must not read what is overwritten, or one that overwrites? */
static bool leaned_on(const struct search *s, unsigned node)
{
	bool lean = false;

	for (unsigned i = 0; i < s->nkiller && !lean; i++)
		lean = s->killer[i] == node || !dag_before(s->q->dag, s->killer[i], node);
	return lean && may_see(s, node);
}

/* Could the host or another device know how far the nodes are that the proof leans on? */
static bool shows(const struct search *s)
{
	for (unsigned i = 0; i < s->q->dag->n; i++) {
		const struct graph_node *n = &s->q->node[i];

		if (n->kind != GRAPH_KERNEL || !leaned_on(s, i))
			continue;
		for (unsigned k = 0; k < n->op.noperand; k++)
			if (n->op.operand[k].access & ACCESS_WRITE &&
			    s->q->memory(s->q->arg, operand_range(&n->op.operand[k]), &n->launch))
				return true;
	}
	return false;
}

static bool proven(struct search *s, const struct bound *b)
{
	begin(s, b, false);
	overwriters(s);
	return !s->left.n && !shows(s);
}

/* Is what the node reads of these bytes written before, in the same launch of the graph? */
static bool reads_own(const struct search *s, unsigned node, struct range r)
{
	const struct dead_question *q = s->q;
	struct graph_node one = q->node[node];

	for (unsigned i = 0; i < q->node[node].op.noperand; i++) {
		bool written = false;

		one.op.noperand = 1;
		one.op.operand[0] = q->node[node].op.operand[i];
		if (!touches(&one, ACCESS_READ, r))
			continue;
		for (unsigned w = 0; w < q->dag->n && !written; w++)
			for (unsigned k = 0; k < q->node[w].op.noperand && !written; k++) {
				const struct operand *o = &q->node[w].op.operand[k];

				written = o->access & ACCESS_WRITE &&
					  operand_covers(o, operand_range(&one.op.operand[0])) &&
					  dag_before(q->dag, w, node);
			}
		if (!written)
			return false;
	}
	return true;
}

/* Does no decoded node read it, in this launch of the graph or the next one? */
static bool unread(struct search *s, const struct bound *b)
{
	const struct dead_question *q = s->q;

	begin(s, b, true);
	overwriters(s);
	for (unsigned p = 0; p < s->left.n; p++)
		for (unsigned i = 0; i < q->dag->n; i++)
			if (!is_member(q, i) && touches(&q->node[i], ACCESS_READ, s->left.r[p]) &&
			    (may_see(s, i) || !reads_own(s, i, s->left.r[p])))
				return false;
	return true;
}

static bool is_dead(struct search *s, unsigned slot, uint8_t *lean)
{
	const struct dead_question *q = s->q;
	const struct bound *b = &q->group->bound[slot];

	if (!find_first(s, bound_range(q->group, b)) ||
	    q->memory(q->arg, bound_range(q->group, b), &q->node[s->first].launch))
		return false;
	if (proven(s, b)) {
		for (unsigned i = 0; i < q->dag->n; i++)
			lean[i] |= leaned_on(s, i);
		return true;
	}
	if (q->stores != STORES_ASSUME_DEAD || !(dead_assumed(q->group) >> slot & 1) ||
	    !unread(s, b))
		return false;
	for (unsigned i = 0; i < q->dag->n; i++)
		lean[i] |= decoded(&q->node[i]) && !is_member(q, i);
	return true;
}

int dead_stores(const struct dead_question *q, uint32_t *slots, uint8_t *lean)
{
	const struct group *g = q->group;
	struct search s = {.q = q, .last = q->member[g->pattern->nnode - 1]};
	int rc = -1;

	*slots = 0;
	memset(lean, 0, q->dag->n);
	if (q->stores == STORES_ALL)
		return 0;
	s.risky = calloc(q->dag->n, sizeof(*s.risky));
	s.killer = calloc(q->dag->n, sizeof(*s.killer));
	if (s.risky && s.killer) {
		for (unsigned i = 0; i < g->nbound; i++)
			if (g->pattern->unstored >> i & 1 && g->bound[i].use == BOUND_WRITE &&
			    is_dead(&s, i, lean))
				*slots |= 1u << i;
		rc = 0;
	}
	free(s.risky);
	free(s.killer);
	return rc;
}

uint32_t dead_assumed(const struct group *g)
{
	uint32_t slots = 0;

	for (unsigned i = 0; i < g->nbound; i++) {
		bool other = false;

		for (unsigned k = 0; k < g->nbound; k++)
			other |= k != i && range_overlap(bound_range(g, &g->bound[i]),
							 bound_range(g, &g->bound[k]));
		if (g->pattern->unstored >> i & 1 && g->bound[i].use == BOUND_WRITE && !other)
			slots |= 1u << i;
	}
	return slots;
}

void dead_apply(struct group *g, uint32_t slots)
{
	for (unsigned i = 0; i < g->nbound; i++)
		if (slots >> i & 1)
			g->bound[i].use = BOUND_DEAD;
	g->dropped = slots;
}

unsigned dead_count(const struct group *g)
{
	return (unsigned)__builtin_popcount(g->dropped);
}

uint64_t dead_bytes(const struct group *g)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < g->nbound; i++)
		if (g->dropped >> i & 1)
			bytes += (uint64_t)(g->rows * g->cols) *
				 dtype_bytes((enum dtype)g->bound[i].dtype);
	return bytes;
}
