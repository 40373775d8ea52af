// SPDX-License-Identifier: Apache-2.0
/* What of a graph can be fused: the planner's questions (matcher/graph_plan.h) answered for graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "matcher/dead.h"
#include "matcher/row_pick.h"
#include "matcher/sig.h"
#include "shim/graph_work.h"
#include "shim/judge.h"
#include "shim/memory.h"
#include "shim/probe_parent.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/standin_pattern.h"
#include "shim/window_chain.h"

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return memory_check(r, l->device, surviving);
}

static bool enabled(void *arg, const struct pattern *p)
{
	return process.pattern_on[pattern_id(p)];
}

/* Room for one more behind n of them. */
static bool room_for(void **list, unsigned n, unsigned *room, size_t size)
{
	unsigned want = *room ? 2 * *room : 16;
	void *more;

	if (n < *room)
		return true;
	more = realloc(*list, want * size);
	if (!more)
		return false;
	*list = more;
	*room = want;
	return true;
}

/* One of a known family whose spelling nobody knows would be in the way of the others: nothing can
 * find it out. */
static bool may_chain(void *arg, const struct launch *l, const struct op *op)
{
	struct row_pick p;

	return row_pick_known(op, l, &p) || l->kernel->decoder == &sig_decoder;
}

static void note_verdict(struct graph_work *w, struct verdict *v, int64_t rows)
{
	unsigned i = 0;

	while (i < w->nverdict && w->verdict[i].verdict != v)
		i++;
	if (i == w->nverdict) {
		if (i == GRAPH_VERDICTS ||
		    !room_for((void **)&w->verdict, i, &w->verdict_room, sizeof(*w->verdict)))
			return;
		w->verdict[w->nverdict++] = (struct graph_verdict){v, rows};
	} else if (rows > w->verdict[i].rows) {
		w->verdict[i].rows = rows;
	}
}

static void set_nodes(struct graph_group *to, const struct group *g, const unsigned *node)
{
	to->n = group_size(g);
	memcpy(to->node, node, to->n * sizeof(*node));
}

/* The group, which outlives the planner then. */
static bool keep_group(const struct graph_work *w, struct work_check *c, const struct group *g,
		       const unsigned *node)
{
	const unsigned n = group_size(g);
	struct member *member = calloc(n, sizeof(*member));
	struct row *row = g->row ? malloc(sizeof(*row)) : NULL;

	if (!member || (g->row && !row)) {
		free(member);
		free(row);
		return false;
	}
	free(c->member);
	free(c->row);
	c->group = *g;
	c->member = member;
	for (unsigned i = 0; i < n; i++) {
		const struct graph_node *from = &w->node[w->shape->level[w->at].first + node[i]];

		member[i] = (struct member){from->launch, from->op};
		c->group.member[i] = &member[i];
	}
	c->row = row;
	if (row)
		row_copy(row, g->row);
	c->group.row = row;
	return true;
}

/* Each verdict that wants it is checked on the first of its groups with the most rows. */
static void note_check(struct graph_work *w, const struct group *g, const unsigned *node,
		       struct verdict *v, struct lean *lean, const struct ours *o)
{
	struct work_check *c;
	unsigned at = 0;

	if (lean ? lean_passed(lean) : !judge_wants_check_of(v, g->rows))
		return;
	while (at < w->nwanted && (w->check[at].verdict != v || w->check[at].lean != lean))
		at++;
	if (at < w->nwanted && w->check[at].group.rows >= g->rows)
		return;
	if (at == w->nwanted) {
		if (at == GRAPH_VERDICTS ||
		    !room_for((void **)&w->check, at, &w->check_room, sizeof(*w->check)))
			return;
		memset(&w->check[at], 0, sizeof(*w->check));
	}
	c = &w->check[at];
	if (!keep_group(w, c, g, node))
		return;
	w->nwanted += at == w->nwanted;
	c->level = w->at;
	set_nodes(&c->nodes, g, node);
	c->verdict = v;
	c->lean = lean;
	c->ours = o;
}

/* What the group reads and writes. */
static void set_ranges(struct side_group *to, const struct group *g)
{
	struct group_slot slot[GROUP_MAX_SLOTS];

	to->nrange = group_slots(g, slot);
	for (unsigned i = 0; i < to->nrange; i++)
		to->range[i] = slot[i].range;
}

static bool note_group(struct graph_work *w, const struct group *g, const unsigned *node,
		       struct verdict *v, const struct ours *o, const struct standin *launch)
{
	struct work_group *to;

	if (!room_for((void **)&w->group, w->ngroup, &w->group_room, sizeof(*w->group)))
		return false;
	to = &w->group[w->ngroup++];
	memset(to, 0, sizeof(*to));
	to->level = w->at;
	set_nodes(&to->nodes, g, node);
	to->ours = o;
	to->launch = *launch;
	to->lean.verdict = v;
	to->lean.device = o->device;
	set_ranges(&to->lean, g);
	/* Memory that becomes shared is one where nothing may be left out. */
	to->lean.surviving = group_surviving(g);
	to->lean.stores = dead_count(g);
	to->lean.bytes = dead_bytes(g);
	to->dropped = g->dropped;
	return true;
}

/*
 * What stands in for the group, without stores that nobody sees, if there is such a kernel. One
 * that is generated is another one, and is checked by itself first.
 */
static enum standin_answer stand_in(struct graph_work *w, struct group *g, const unsigned *node,
				    struct verdict *v, const struct ours *o, uint32_t dead,
				    struct standin *to)
{
	struct group less = *g;
	enum standin_answer made;
	struct lean *lean;
	bool own;

	if (dead) {
		dead_apply(&less, dead);
		made = standin_make(&less, v, o, to);
		own = made == STANDIN_MADE && (g->row || to->generated);
		lean = own ? lean_of(v, to, o) : NULL;
		if (made == STANDIN_MADE && (!own || (lean && lean_passed(lean)))) {
			w->waits |= to->provisional;
			dead_apply(g, dead);
			return made;
		}
		w->waits |= made == STANDIN_LATER || lean;
		if (lean)
			note_check(w, &less, node, v, lean, o);
	}
	made = standin_make(g, v, o, to);
	w->waits |= made == STANDIN_MADE && to->provisional;
	return made;
}

/* The kernel that leaves stores out will be asked for once the other one has passed: both are
 * compiled, and loaded, at once. */
static void foresee(const struct group *g, const struct verdict *v, const struct ours *o,
		    uint32_t dead)
{
	struct group less = *g;
	struct standin s;
	int state = v ? verdict_state(v) : VERDICT_NEW;

	if (!g->row || !dead || (state != VERDICT_CHECKING && state != VERDICT_USABLE))
		return;
	dead_apply(&less, dead);
	standin_make(&less, v, o, &s);
}

static const struct ours *ours_of(const struct graph_work *w, const unsigned *node)
{
	CUDA_KERNEL_NODE_PARAMS p;
	unsigned i = w->shape->level[w->at].first + node[0];

	return real.cuGraphKernelNodeGetParams_v2(w->form[FORM_FUSED].twin[i], &p)
		       ? NULL
		       : ours_get(p.ctx);
}

static enum reason verdict(void *arg, struct group *g, const unsigned *node,
			   const struct graph_dead *dead)
{
	struct graph_work *w = arg;
	const struct ours *o = ours_of(w, node);
	struct standin launch;
	struct group whole;
	struct verdict *v;
	enum reason why;
	bool refused;
	int state;

	if (w->aside[w->at])
		return REASON_BARRIER;
	if (!o)
		return REASON_NO_VERDICT;
	why = judge(g, o, &v);
	if (why == REASON_NO_VERDICT)
		w->waits |= !v || verdict_state(v) != VERDICT_REJECTED;
	state = v ? verdict_state(v) : VERDICT_NEW;
	if (!why && state == VERDICT_REJECTED)
		why = v->why;
	refused = why == REASON_NO_KERNEL ||
		  (state == VERDICT_REJECTED && why != REASON_NOT_COMPILED);
	if (!why || why == REASON_NO_VERDICT)
		foresee(g, v, o, dead->slots);
	if (g->row && refused &&
	    window_chain_join(NULL, g->member[g->nmember - 2], g->member[g->nmember - 1])) {
		window_chain_leave(g); /* perhaps something comes of the others */
		w->again = true;
	}
	if (why)
		return why;
	w->waits |= !g->row && standin_generated(g, v, o) == STANDIN_LATER;
	note_verdict(w, v, g->rows);
	if (state == VERDICT_USABLE && g->rows > __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE))
		v->due = g->rows;
	if (state != VERDICT_USABLE || g->rows > __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE)) {
		note_check(w, g, node, v, NULL, o);
		w->waits = true;
		return REASON_NO_VERDICT;
	}
	if (!v->known || (!v->family && probe_can(g))) /* a probe saw them */
		w->again |= judge_vet(v);
	if (process.config.opt.verify == VERIFY_ALWAYS) {
		note_check(w, g, node, v, NULL, o);
		return REASON_NONE;
	}
	whole = *g;
	switch (stand_in(w, g, node, v, o, dead->slots, &launch)) {
	case STANDIN_LATER:
		w->waits = true;
		return REASON_NO_VERDICT;
	case STANDIN_NEVER:
		return REASON_NO_KERNEL;
	case STANDIN_MADE:
		break;
	}
	/* A kernel by hand is told which stores to leave out: checks see to all it can do. */
	note_check(w, g->row || launch.generated ? g : &whole, node, v, NULL, o);
	if (!note_group(w, g, node, v, o, &launch))
		return REASON_NO_MEMORY;
	for (unsigned i = 0; g->dropped && i < w->dag[w->at].n; i++)
		w->lean[w->shape->level[w->at].first + i] |= dead->lean[i];
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
	struct graph_work *w = arg;
	uint32_t kernel[GROUP_MAX_MEMBERS];

	if (why)
		w->rejected[why]++;
	if (!w->kernel) /* nobody wants a list */
		return;
	for (unsigned i = 0; i < group_size(g); i++)
		kernel[i] = w->kernel[w->shape->level[w->at].first + node[i]];
	graph_list_add(&w->list, g, kernel, why,
		       !why && process.config.opt.verify == VERIFY_ALWAYS);
}

/* Numbers the kernel nodes for the list. */
static void number(struct graph_work *w)
{
	uint32_t n = 0;

	w->kernel = calloc(w->shape->nnode + 1, sizeof(*w->kernel));
	for (unsigned i = 0; w->kernel && i < w->shape->nnode; i++) {
		w->kernel[i] = n;
		n += w->shape->type[i] == CU_GRAPH_NODE_TYPE_KERNEL;
	}
}

/* May something run beside the level, that is beside its child graph node? */
static bool is_aside(const struct graph_work *w, unsigned level)
{
	const struct graph_level *l = &w->shape->level[level], *up;
	unsigned above;

	if (!level)
		return false;
	above = graph_level_of(w->shape, l->parent);
	up = &w->shape->level[above];
	if (w->aside[above] || w->disabled[l->parent])
		return true;
	for (unsigned i = 0; i < up->n; i++)
		if (!dag_ordered(&w->dag[above], i, l->parent - up->first))
			return true;
	return false;
}

int graph_match(struct graph_work *w)
{
	const struct graph_policy policy = {.arg = w,
					    .stores = w->stores,
					    .memory = memory,
					    .enabled = enabled,
					    .verdict = verdict,
					    .done = done,
					    .chains = process.config.opt.generated,
					    .may_chain = may_chain,
					    .may_join = window_chain_join};
	const char *why;

	if (report_listing() || record_on)
		number(w);
	else
		w->list.cut = true;
	for (w->at = 0; w->at < w->shape->nlevel; w->at++) {
		const struct graph_level *l = &w->shape->level[w->at];

		if (graph_decode(w, l) || dag_make(&w->dag[w->at], l->n, l->edge, l->nedge, &why))
			return -1;
		if (w->alone)
			return 0;
		w->aside[w->at] = is_aside(w, w->at);
		if (side_useless(w->side))
			return -1;
		if (graph_plan(&policy, w->node + l->first, &w->dag[w->at]))
			return -1;
	}
	return 0;
}

void graph_witness(struct graph_work *w, enum graph_form f, unsigned level,
		   const struct graph_group *g)
{
	const struct graph_level *l = &w->shape->level[level];
	const struct dag *d = &w->dag[level];
	unsigned from = d->place[g->node[0]], to = d->place[g->node[g->n - 1]];

	for (unsigned i = from; i <= to; i++)
		w->form[f].witness[l->first + d->order[i]] = WITNESS_GROUP;
	for (unsigned i = 0; i < l->n && !d->linear; i++)
		for (unsigned m = 0; m < g->n; m++)
			if (!dag_ordered(d, i, g->node[m]))
				w->form[f].witness[l->first + i] = WITNESS_GROUP;
}
