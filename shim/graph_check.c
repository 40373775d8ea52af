// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_check.h"

#include <string.h>

#include "matcher/legal.h"
#include "shim/arena.h"
#include "shim/check_body.h"
#include "shim/judge.h"
#include "shim/worker.h"

/* Into a graph: each piece of work is a node behind the one before it. */
struct into {
	CUgraph graph;
	const struct ours *ours;
	CUgraphNode first, last; /* of this chain; NULL: none yet */
};

static bool added(struct into *to, CUgraphNode node)
{
	if (!node)
		return false;
	if (!to->first)
		to->first = node;
	to->last = node;
	return true;
}

static bool into_copy(void *arg, uint64_t dst, uint64_t src, uint64_t bytes)
{
	struct into *to = arg;
	CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			   .srcDevice = src,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstDevice = dst,
			   .WidthInBytes = bytes,
			   .Height = 1,
			   .Depth = 1};
	CUgraphNode n = NULL;

	if (real.cuGraphAddMemcpyNode(&n, to->graph, &to->last, to->last != NULL, &p,
				      to->ours->ctx))
		return false;
	return added(to, n);
}

static bool into_fill(void *arg, uint64_t at, unsigned char value, uint64_t bytes)
{
	struct into *to = arg;
	CUDA_MEMSET_NODE_PARAMS p = {
		.dst = at, .value = value, .elementSize = 1, .width = bytes, .height = 1};
	CUgraphNode n = NULL;

	if (real.cuGraphAddMemsetNode(&n, to->graph, &to->last, to->last != NULL, &p,
				      to->ours->ctx))
		return false;
	return added(to, n);
}

/* params: room for one pointer. */
static bool node_params(CUDA_KERNEL_NODE_PARAMS *p, const struct ours *o,
			const struct fused_launch *l, void **params)
{
	*params = (void *)l->params;
	*p = (CUDA_KERNEL_NODE_PARAMS){.func = ours_function(o, l->kernel),
				       .gridDimX = l->grid[0],
				       .gridDimY = l->grid[1],
				       .gridDimZ = l->grid[2],
				       .blockDimX = l->block[0],
				       .blockDimY = l->block[1],
				       .blockDimZ = l->block[2],
				       .sharedMemBytes = l->shmem,
				       .kernelParams = params,
				       .ctx = o->ctx};
	return p->func;
}

static bool into_launch(void *arg, const struct fused_launch *l)
{
	struct into *to = arg;
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphNode n = NULL;
	void *params;

	if (!node_params(&p, to->ours, l, &params) ||
	    real.cuGraphAddKernelNode_v2(&n, to->graph, &to->last, to->last != NULL, &p))
		return false;
	return added(to, n);
}

static bool into_candidate(void *arg, const struct fused_launch *l, int64_t rows)
{
	return into_launch(arg, l);
}

static const struct check_sink sink = {
	.copy = into_copy, .fill = into_fill, .candidate = into_candidate, .launch = into_launch};

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

/* The first member that writes any byte of the slot. */
static unsigned first_writer(const struct work_check *c, unsigned slot)
{
	struct range r = bound_range(&c->group, &c->group.bound[slot]);

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

	for (unsigned i = 0; i < c->group.nbound; i++) {
		struct into to = {.graph = f->graph, .ours = c->ours};
		unsigned node = c->nodes.node[first_writer(c, i)];

		if (!check_overwritten(check, &c->group, i))
			continue;
		if (!check_snapshot(check, bound_range(&c->group, &c->group.bound[i]),
				    f->arena->bytes / 4, &sink, &to))
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
	struct into to = {.graph = f->graph, .ours = c->ours};
	struct fused_launch l;

	if (!copies(f, &check) ||
	    !check_body(&check, &c->group, &c->verdict->candidate, c->ours, &sink, &to))
		return false;
	fused_publish(f->arena->counter, arena_slot(f->arena, 0), 0, &l);
	if (!into_launch(&to, &l) || !edge(f, last, to.first) || !edge(f, f->before, to.first))
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
		uint64_t all = 0;

		for (unsigned b = 0; b < g->nbound; b++) {
			struct range r = bound_range(g, &g->bound[b]);

			all += r.hi - r.lo + 4 * CHECK_ALIGN;
		}
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

void graph_check_take(struct side *s, const struct graph_work *w)
{
	s->ncheck = w->ncheck;
	s->check_base = w->arena_base;
	for (unsigned i = 0; i < w->ncheck; i++)
		s->check[i] = (struct side_check){.verdict = w->check[i].verdict,
						  .rows = w->check[i].group.rows,
						  .publish = w->publish[i]};
}

/* Another ticket, and maybe another slot, for each result. */
static bool set_tickets(struct side *s, struct arena *a)
{
	for (unsigned i = 0; i < s->ncheck; i++) {
		struct side_check *c = &s->check[i];
		CUDA_KERNEL_NODE_PARAMS p;
		struct fused_launch l;
		void *params;

		/* The last result is the one that frees the memory of checks. */
		c->signal = i + 1 < s->ncheck ? arena_signal(a, c->verdict, c->rows) : 0;
		if (c->signal < 0)
			return false;
		verdict_mark(c->verdict);
		c->ticket = c->signal ? a->signal[c->signal].ticket
				      : __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);
		fused_publish(a->counter, arena_slot(a, c->signal), c->ticket, &l);
		if (!node_params(&p, s->ours, &l, &params) ||
		    real.cuGraphExecKernelNodeSetParams_v2(s->form[FORM_CHECK].exec, c->publish,
							   &p))
			return false;
	}
	return true;
}

bool graph_check_claim(struct side *s)
{
	struct arena *a = s->form[FORM_CHECK].exec ? arena_get(s->ours, 1) : NULL;
	int idle = 0;

	if (!a || !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_RELAXED))
		return false;
	s->arena = a;
	for (unsigned i = 0; i < s->ncheck; i++)
		s->check[i].signal = -1;
	if (a->base == s->check_base && a->bytes && set_tickets(s, a))
		return true;
	graph_check_launched(s, false);
	side_drop_form(s, FORM_CHECK);
	s->unchecked = true;
	return false;
}

void graph_check_launched(struct side *s, bool launched)
{
	struct arena *a = s->arena;

	for (unsigned i = 0; i < s->ncheck; i++) {
		struct side_check *c = &s->check[i];

		if (!launched && c->signal > 0)
			arena_signal_drop(a, c->signal);
		if (!launched)
			continue;
		/* The answer comes later; until then others need not stand back for it. */
		c->verdict->sampled_at = c->verdict->fused;
		if (c->rows >= c->verdict->due)
			c->verdict->due = 0;
		if (c->signal)
			continue;
		a->signal[0].verdict = c->verdict;
		a->signal[0].rows = c->rows;
		__atomic_store_n(&a->signal[0].ticket, c->ticket, __ATOMIC_RELEASE);
	}
	if (launched)
		worker_poll(&worker_device);
	else
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
}
