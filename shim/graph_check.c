// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_check.h"

#include <limits.h>

#include "matcher/legal.h"
#include "shim/arena.h"
#include "shim/graph_into.h"

/* The form being filled. */
struct fill {
	struct graph_work *w;
	const struct work_check *c;
	CUgraph graph;
	const CUgraphNode *twin; /* of the level's nodes */
	const struct graph_level *level;
	const struct arena *arena;
	CUgraphNode before; /* the end of the check before: the copies' memory is shared */
	CUgraphNode publish;
	struct graph_added *added;
};

static bool edge(const struct fill *f, CUgraphNode from, CUgraphNode to)
{
	return !from || !to || !real.cuGraphAddDependencies(f->graph, &from, &to, 1);
}

/* The first member that writes any byte of r. */
static unsigned first_writer(const struct work_check *c, struct range r)
{
	for (unsigned m = 0; m < c->nodes.n; m++)
		for (unsigned i = 0; i < c->member[m].op.noperand; i++) {
			const struct operand *o = &c->member[m].op.operand[i];

			if (o->access & ACCESS_WRITE && range_overlap(operand_range(o), r))
				return m;
		}
	return c->nodes.n - 1;
}

/* What the group reads and overwrites is copied right before that. */
static bool copies(struct fill *f, struct check *check)
{
	const struct work_check *c = f->c;
	struct range r[GROUP_MAX_SLOTS];
	unsigned n = check_copies(check, &c->group, r);

	for (unsigned i = 0; i < n; i++) {
		struct graph_into to = {.graph = f->graph, .ours = c->ours, .added = f->added};
		unsigned node = c->nodes.node[first_writer(c, r[i])];

		if (!check_snapshot(check, r[i], f->arena->memory.bytes / (2 * (n < 2 ? 2 : n)),
				    &graph_into, &to))
			return false;
		for (size_t e = 0; e < f->level->nedge; e++)
			if (f->level->edge[e].to == node &&
			    !edge(f, f->twin[f->level->edge[e].from], to.first))
				return false;
		if (!edge(f, to.last, f->twin[node]) || !edge(f, f->before, to.first))
			return false;
	}
	return true;
}

/* What comes after the last member, or is beside it and would change what the group read, waits. */
static bool hold_back(const struct fill *f)
{
	const struct dag *d = &f->w->dag[f->c->level];
	const struct graph_node *node = f->w->node + f->level->first;
	unsigned last = f->c->nodes.node[f->c->nodes.n - 1];
	enum reason why;

	for (size_t e = 0; e < f->level->nedge; e++)
		if (f->level->edge[e].from == last &&
		    !edge(f, f->publish, f->twin[f->level->edge[e].to]))
			return false;
	for (unsigned x = 0; x < d->n && !d->linear; x++) {
		bool conflict = false;

		if (dag_ordered(d, x, last) || node[x].kind != GRAPH_KERNEL)
			continue;
		for (unsigned m = 0; m + 1 < f->c->nodes.n; m++)
			conflict |= dag_before(d, f->c->nodes.node[m], x) &&
				    !legal_cross(&f->c->member[m].op, &node[x].op, &why);
		if (conflict && !edge(f, f->publish, f->twin[x]))
			return false;
	}
	return true;
}

static bool add_check(struct fill *f)
{
	const struct work_check *c = f->c;
	CUgraphNode last = f->twin[c->nodes.node[c->nodes.n - 1]];
	struct check check = {.arena = (struct arena *)f->arena};
	struct graph_into to = {.graph = f->graph, .ours = c->ours, .added = f->added};
	struct fused_launch l;
	struct standin s;

	if (!copies(f, &check) ||
	    !check_body(&check, &c->group, c->verdict, c->ours, &graph_into, &to))
		return false;
	fused_publish(f->arena->counter, arena_slot(f->arena, 0), 0, &l);
	if (!standin_ours(&l, c->ours, &s) || !graph_into.launch(&to, &s) ||
	    !edge(f, last, to.first) || !edge(f, f->before, to.first))
		return false;
	f->publish = to.last;
	graph_witness(f->w, FORM_CHECK, c->level, &c->nodes);
	return hold_back(f);
}

static unsigned place(const struct graph_work *w, const struct work_check *c, unsigned member)
{
	return w->dag[c->level].place[c->nodes.node[member]];
}

/*
 * The next check from number w->ncheck on: of the graph itself, behind `end`, the one that is over
 * first; else, if there is none yet, any of a child graph. -1: none.
 */
static int next(const struct graph_work *w, int end)
{
	int best = -1, single = -1;

	if (w->ncheck == GRAPH_CHECKS)
		return -1;
	for (unsigned i = w->ncheck; i < w->nwanted; i++) {
		const struct work_check *c = &w->check[i];

		if (c->failed)
			continue;
		if (c->level)
			single = (int)i;
		else if ((int)place(w, c, 0) > end &&
			 (best < 0 ||
			  place(w, c, c->nodes.n - 1) <
				  place(w, &w->check[best], w->check[best].nodes.n - 1)))
			best = (int)i;
	}
	return best >= 0 || w->ncheck ? best : single;
}

/* Number i is the next one; where it ends. After one of a child graph comes no other. */
static int take(struct graph_work *w, int i)
{
	struct work_check one = w->check[i];

	w->check[i] = w->check[w->ncheck];
	w->check[w->ncheck++] = one;
	return one.level ? INT_MAX : (int)place(w, &one, one.nodes.n - 1);
}

void graph_check_pick(struct graph_work *w)
{
	w->ncheck = 0;
	for (int end = -1, i; (i = next(w, end)) >= 0;)
		end = take(w, i);
}

/* Bytes that the largest check copies and writes. */
static uint64_t bytes_wanted(const struct graph_work *w)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < w->ncheck; i++) {
		const struct group *g = &w->check[i].group;
		uint64_t all = check_bytes(g);

		most = all > most ? all : most;
	}
	return 2 * most + (1 << 16);
}

/* Adds what fits, one behind the other. */
static void add_checks(struct graph_work *w, const struct arena *a)
{
	struct work_form *form = &w->form[FORM_CHECK];
	CUgraphNode before = NULL;

	w->ncheck = 0;
	for (int end = -1, i; (i = next(w, end)) >= 0;) {
		struct work_check *c = &w->check[i];
		const struct graph_level *l = &w->shape->level[c->level];
		struct graph_added added = {0};
		struct fill f = {.w = w,
				 .c = c,
				 .graph = form->level[c->level],
				 .level = l,
				 .twin = form->twin + l->first,
				 .arena = a,
				 .before = before,
				 .added = &added};

		if (c->ours->ctx != a->ctx || !add_check(&f)) {
			graph_into_undo(&added);
			c->failed = true;
			continue;
		}
		end = take(w, i);
		w->publish[w->ncheck - 1] = before = f.publish;
	}
}

CUgraphExec graph_check_build(struct graph_work *w, unsigned long long flags)
{
	const struct ours *o = w->ncheck ? w->check[0].ours : NULL;
	CUgraphExec exec = NULL;
	const struct arena *a;

	if (!o)
		return NULL;
	a = arena_get(o, bytes_wanted(w));
	if (!a) {
		w->unchecked = arena_never(o);
		w->waits |= !w->unchecked;
		return NULL;
	}
	w->arena_base = a->memory.base;
	w->arena_bytes = arena_bytes(a);
	add_checks(w, a);
	if (w->arena_bytes < arena_bytes(a)) /* it grew meanwhile */
		w->arena_bytes = arena_bytes(a);
	if (w->ncheck && !side_useless(w->side) && !graph_instantiate(w, FORM_CHECK, flags, &exec))
		return exec;
	if (exec)
		real.cuGraphExecDestroy(exec);
	w->unchecked = true;
	return NULL;
}
