// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_check.h"

#include <string.h>

#include "matcher/legal.h"
#include "shim/arena.h"
#include "shim/graph_into.h"
#include "shim/judge.h"

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
		struct graph_into to = {.graph = f->graph, .ours = c->ours};
		unsigned node = c->nodes.node[first_writer(c, r[i])];

		if (!check_snapshot(check, r[i], f->arena->bytes / 4, &graph_into, &to))
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
	struct graph_into to = {.graph = f->graph, .ours = c->ours};
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

static bool wanted(const struct graph_work *w, unsigned i)
{
	const struct work_check *c = &w->check[i];

	return judge_wants_check_of(c->verdict, c->group.rows);
}

/* Checks of the graph itself that follow each other, else any single one: w->check is cut to them.
 */
static void pick(struct graph_work *w)
{
	unsigned kept = 0, single = GRAPH_VERDICTS;
	struct work_check one;
	int end = -1;

	for (;;) {
		const struct dag *d = &w->dag[0];
		unsigned best = GRAPH_VERDICTS;

		/* The next one that begins behind the end, the one that ends first. */
		for (unsigned i = kept; i < w->ncheck; i++) {
			const struct graph_group *g = &w->check[i].nodes;

			if (!wanted(w, i))
				continue;
			if (w->check[i].level) {
				single = i;
				continue;
			}
			if ((int)d->place[g->node[0]] > end &&
			    (best == GRAPH_VERDICTS ||
			     d->place[g->node[g->n - 1]] <
				     d->place[w->check[best]
						      .nodes.node[w->check[best].nodes.n - 1]]))
				best = i;
		}
		if (best == GRAPH_VERDICTS)
			break;
		one = w->check[kept];
		w->check[kept] = w->check[best];
		w->check[best] = one;
		end = (int)d->place[w->check[kept].nodes.node[w->check[kept].nodes.n - 1]];
		kept++;
	}
	if (!kept && single < GRAPH_VERDICTS) {
		w->check[0] = w->check[single];
		kept = 1;
	}
	w->ncheck = kept;
	for (unsigned i = 0; i < kept; i++) /* they moved */
		for (unsigned m = 0; m < w->check[i].nodes.n; m++)
			w->check[i].group.member[m] = &w->check[i].member[m];
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

CUgraphExec graph_check_build(struct graph_work *w, unsigned long long flags)
{
	struct work_form *form = &w->form[FORM_CHECK];
	CUgraphNode before = NULL;
	CUgraphExec exec = NULL;
	const struct arena *a;

	pick(w);
	if (!w->ncheck)
		return NULL;
	a = arena_get(w->check[0].ours, bytes_wanted(w));
	if (!a) {
		w->unchecked = arena_never(w->check[0].ours);
		w->waits |= !w->unchecked;
		return NULL;
	}
	w->arena_base = a->base;
	for (unsigned i = 0; i < w->ncheck; i++) {
		struct fill f = {.w = w,
				 .c = &w->check[i],
				 .graph = form->level[w->check[i].level],
				 .level = &w->shape->level[w->check[i].level],
				 .arena = a,
				 .before = before};

		f.twin = form->twin + f.level->first;
		if (w->check[i].ours != w->check[0].ours || !add_check(&f)) {
			w->unchecked = true;
			return NULL;
		}
		w->publish[i] = before = f.publish;
	}
	if (graph_instantiate(w, FORM_CHECK, flags, &exec)) {
		if (exec)
			real.cuGraphExecDestroy(exec);
		w->unchecked = true;
		return NULL;
	}
	return exec;
}
