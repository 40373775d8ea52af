// SPDX-License-Identifier: Apache-2.0
/*
 * The worker's part: from base to forms that can be launched. It clones base under the record's
 * lock, works on the clone without it, and comes back to publish; what the program edited meanwhile
 * is repeated on the new exec, or makes it useless.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/log.h"
#include "shim/graph_check.h"
#include "shim/graph_report.h"
#include "shim/graph_work.h"
#include "shim/judge.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/record_graph.h"
#include "shim/window.h"
#include "shim/worker.h"

enum {
	CAPTURE_US = 500, /* between looks whether a capture is over */
	REST = 4,         /* so much longer than it took to look, nothing is looked at again */
	CHECK_TRIES = 8,  /* then some verdicts stay unchecked that no form has room for */
};

unsigned graph_building;

static void form_free(struct work_form *f)
{
	if (f->graph)
		real.cuGraphDestroy(f->graph);
	free(f->level);
	free(f->twin);
	free(f->witness);
	memset(f, 0, sizeof(*f));
}

static void work_free(struct graph_work *w)
{
	for (unsigned i = 0; w->node && i < w->shape->nnode; i++)
		free((void *)w->node[i].launch.params);
	for (unsigned i = 0; w->dag && i < w->shape->nlevel; i++)
		dag_free(&w->dag[i]);
	for (unsigned f = 0; f < FORM_COUNT; f++)
		form_free(&w->form[f]);
	free(w->disabled);
	free(w->node);
	free(w->dag);
	free(w->aside);
	free(w->lean);
	free(w->group);
	for (unsigned i = 0; i < w->nwanted; i++) {
		free(w->check[i].member);
		free(w->check[i].row);
	}
	free(w->check);
	free(w->verdict);
	free(w->kernel);
	graph_list_free(&w->list);
}

/* A clone of that graph, whose nodes are node[]. */
static int form_clone(struct work_form *f, const struct graph_shape *s, const CUgraphNode *node,
		      CUgraph graph)
{
	f->level = calloc(s->nlevel + 1, sizeof(*f->level));
	f->twin = calloc(s->nnode + 1, sizeof(CUgraphNode));
	f->witness = calloc(s->nnode + 1, 1);
	if (!f->level || !f->twin || !f->witness)
		return -1;
	if (real.cuGraphClone(&f->graph, graph)) {
		f->graph = NULL;
		return -1;
	}
	return graph_twins(s, node, f->graph, f->twin, f->level);
}

/* Lock held. */
static int begin(struct side *s, struct graph_work *w)
{
	const struct graph_shape *shape = &s->shape;

	w->disabled = calloc(shape->nnode + 1, sizeof(*w->disabled));
	w->node = calloc(shape->nnode + 1, sizeof(*w->node));
	w->dag = calloc(shape->nlevel + 1, sizeof(*w->dag));
	w->aside = calloc(shape->nlevel + 1, sizeof(*w->aside));
	w->lean = calloc(shape->nnode + 1, sizeof(*w->lean));
	w->stores = s->keep_stores ? STORES_ALL : (enum stores)process.config.opt.stores;
	if (!w->disabled || !w->node || !w->dag || !w->aside || !w->lean || side_nodes(s) ||
	    graph_read_edges(&s->shape) ||
	    form_clone(&w->form[FORM_FUSED], shape, shape->node, s->base))
		return -1;
	for (unsigned i = 0; i < shape->nnode; i++) {
		w->disabled[i] = s->node[i].disabled;
		s->node[i].changed = false;
	}
	return 0;
}

/* Is the next form's check one that the checking form there is (of those) is not for? */
static bool wants_checks(const struct graph_work *w, const struct side_check *there, unsigned n)
{
	for (unsigned i = 0; i < w->ncheck; i++) {
		const struct work_check *c = &w->check[i];
		bool covered = false;

		for (unsigned k = 0; k < n; k++)
			covered |= there[k].verdict == c->verdict && there[k].lean == c->lean &&
				   there[k].rows >= c->group.rows;
		if (!covered)
			return true;
	}
	return false;
}

/* Is one of the checks of a verdict that is not used any more? Lock held. */
static bool checks_rejected(const struct side *s)
{
	for (unsigned i = 0; s->form[FORM_CHECK].exec && i < s->ncheck; i++)
		if (verdict_state(s->check[i].verdict) == VERDICT_REJECTED)
			return true;
	return false;
}

/* The new form's exec stands; what was edited since base was cloned is made up for. Lock held. */
static bool publish(struct side *s, struct graph_work *w, enum graph_form f, CUgraphExec exec)
{
	if (s->discard)
		return false;
	for (unsigned i = 0; i < s->shape.nnode; i++)
		if (s->node[i].changed && w->form[f].witness[i]) {
			s->keep_stores |= w->form[f].witness[i] == WITNESS_STORES;
			return false;
		}
	side_drop_form(s, f);
	s->form[f].exec = exec;
	s->form[f].graph = w->form[f].graph;
	w->form[f].graph = NULL;
	for (unsigned i = 0; i < s->shape.nnode; i++) {
		s->node[i].twin[f] = w->form[f].twin[i];
		if (w->form[f].witness[i])
			s->node[i].witness |= (uint8_t)(1u << f);
		if (f == FORM_FUSED)
			s->node[i].stores = w->form[f].witness[i] == WITNESS_STORES;
	}
	for (unsigned i = 0; i < s->shape.nnode; i++)
		if (s->node[i].changed && !graph_refresh(s, f, i)) {
			side_drop_form(s, f);
			return false;
		}
	return true;
}

/* Plans of the same print have the same groups, of the same nodes, with the same evidence. */
static uint64_t graph_print(const struct graph_work *w)
{
	uint64_t h = w->ngroup;

	for (unsigned i = 0; i < w->ngroup; i++) {
		const struct work_group *g = &w->group[i];
		const struct {
			const struct verdict *verdict;
			uint32_t level, dropped, surviving;
			int32_t device;
		} head = {g->lean.verdict, g->level, g->dropped, g->lean.surviving, g->lean.device};

		h = XXH3_64bits_withSeed(&head, sizeof(head), h);
		h = XXH3_64bits_withSeed(g->nodes.node, g->nodes.n * sizeof(g->nodes.node[0]), h);
		h = XXH3_64bits_withSeed(g->lean.range, g->lean.nrange * sizeof(g->lean.range[0]),
					 h);
	}
	return h;
}

/* Without the lock. kept: the print of the form that is there, if it is still right; else 0. */
static CUgraphExec build_fused(struct graph_work *w, unsigned long long flags, uint64_t kept)
{
	uint64_t from = graph_now(), rewritten;
	CUgraphExec exec = NULL;

	if (!w->ngroup || graph_print(w) == kept)
		return NULL;
	if (graph_rewrite(w))
		w->alone = REASON_REFUSED;
	rewritten = graph_now();
	if (!w->alone && !side_useless(w->side) && graph_instantiate(w, FORM_FUSED, flags, &exec)) {
		if (exec)
			real.cuGraphExecDestroy(exec);
		exec = NULL;
		w->alone = REASON_REFUSED;
	}
	log_debug("a graph of %u nodes: rewritten in %.1f ms, instantiated in %.1f",
		  w->shape->nnode, 1e-6 * (double)(rewritten - from),
		  1e-6 * (double)(graph_now() - rewritten));
	return exec;
}

static void take_groups(struct side *s, const struct graph_work *w)
{
	s->group = calloc(w->ngroup + 1, sizeof(*s->group));
	for (unsigned i = 0; s->group && i < w->ngroup; i++) {
		s->group[i] = w->group[i].lean;
		s->removed += w->group[i].nodes.n - w->group[i].launch.n;
		s->stores += w->group[i].lean.stores;
		s->bytes += w->group[i].lean.bytes;
	}
	s->ngroup = s->group ? w->ngroup : 0;
	s->print = graph_print(w);
	s->held_changes = s->changes;
	s->held_events = w->events;
	if (s->ngroup > s->most_groups ||
	    (s->ngroup == s->most_groups && s->stores > s->most_stores)) {
		s->most_groups = s->ngroup;
		s->most_removed = s->removed;
		s->most_stores = s->stores;
		s->most_bytes = s->bytes;
	}
	s->launches_at = s->launches[FORM_FUSED];
	if (!s->group)
		side_drop_form(s, FORM_FUSED);
}

/* Lock held: what became of the build. */
static void finish(struct side *s, struct graph_work *w, CUgraphExec fused, CUgraphExec check)
{
	memcpy(s->rejected, w->rejected, sizeof(s->rejected));
	if (record_on && !w->alone && !graph_list_same(&s->list, &w->list))
		record_graph_groups(s->number, &w->list);
	graph_list_move(&s->list, &w->list);
	s->planned = true;
	free(s->verdict);
	s->verdict = w->verdict;
	s->nverdict = w->nverdict;
	w->verdict = NULL;
	s->waits = w->waits;
	s->unchecked = w->unchecked;
	if (w->alone) {
		side_alone(s, w->alone);
		return;
	}
	if (fused && publish(s, w, FORM_FUSED, fused)) {
		take_groups(s, w);
		graph_report_built(s);
		log_debug("a graph of %u nodes has a side exec: %u groups, %u nodes and %u stores "
			  "less",
			  s->shape.nnode, s->ngroup, s->removed, s->stores);
	} else if (fused) {
		real.cuGraphExecDestroy(fused);
		side_stale(s);
	} else if (s->form[FORM_FUSED].exec && !w->ngroup) {
		side_drop_form(s, FORM_FUSED);
	}
	if (s->form[FORM_FUSED].exec && !side_holds(s)) /* what was planned is out of date */
		side_stale(s);
	if (checks_rejected(s))
		side_drop_form(s, FORM_CHECK);
	if (check && publish(s, w, FORM_CHECK, check)) {
		graph_check_take(s, w);
		if (s->check_changes != s->changes)
			s->check_tries = 0;
		s->check_changes = s->changes;
		s->unchecked = ++s->check_tries >= CHECK_TRIES;
	} else if (check) {
		real.cuGraphExecDestroy(check);
		s->waits = true;
	}
	if (s->stale || w->again)
		side_want(s);
}

/*
 * Takes the lock again. Its holder may be stuck in a launch until the device gets on, and whoever
 * begins a capture meanwhile must not wait for us: then the driver is left first. False: the
 * process is ending; the lock is held all the same.
 */
static bool come_back(struct side *s)
{
	if (!pthread_mutex_trylock(&s->lock))
		return true;
	worker_driver_leave();
	for (;;) {
		pthread_mutex_lock(&s->lock);
		if (!worker_driver_enter())
			return false;
		if (!__atomic_load_n(&window_captures, __ATOMIC_SEQ_CST))
			return true;
		worker_driver_leave();
		pthread_mutex_unlock(&s->lock);
		usleep(CAPTURE_US);
	}
}

bool graph_build(struct side *s)
{
	CUgraphExec fused = NULL, check = NULL;
	CUcontext old;
	struct graph_work w = {.side = s, .shape = &s->shape, .asked = s->asked};
	bool pushed, ok;
	struct side_check there[GRAPH_CHECKS];
	unsigned nthere;
	uint64_t kept;
	enum reason why = REASON_NONE;
	uint64_t from = graph_now(), cloned, matched;

	kept = s->form[FORM_FUSED].exec && !s->stale ? s->print : 0;
	memcpy(there, s->check, sizeof(there));
	nthere = s->form[FORM_CHECK].exec && !checks_rejected(s) ? s->ncheck : 0;
	s->want = false;
	s->building = true;
	__atomic_store_n(&graph_building, 1, __ATOMIC_SEQ_CST);
	s->stale = s->discard = false;
	s->changes = verdict_changes();
	w.events = memory_events();
	pushed = !real.cuCtxPushCurrent_v2(s->ours->ctx);
	ok = pushed && !begin(s, &w);
	pthread_mutex_unlock(&s->lock);
	cloned = graph_now();
	if (!ok) {
		why = REASON_REFUSED;
	} else if (graph_match(&w)) { /* too many nodes, or no memory */
		why = REASON_NOT_CLONEABLE;
	} else {
		matched = graph_now();
		log_debug("a graph of %u nodes: cloned in %.1f ms, planned in %.1f", w.shape->nnode,
			  1e-6 * (double)(cloned - from), 1e-6 * (double)(matched - cloned));
		graph_check_pick(&w);
		if (!w.alone && !side_useless(s) && wants_checks(&w, there, nthere) &&
		    !form_clone(&w.form[FORM_CHECK], &s->shape, w.form[FORM_FUSED].twin,
				w.form[FORM_FUSED].graph) &&
		    !side_useless(s))
			check = graph_check_build(&w, s->flags);
		if (!w.alone && !side_useless(s))
			fused = build_fused(&w, s->flags, kept);
	}
	if (!come_back(s)) { /* what was made stays where it is */
		s->building = false;
		__atomic_store_n(&graph_building, 0, __ATOMIC_SEQ_CST);
		return false;
	}
	s->building = false;
	if (side_lost(s))
		side_alone(s, REASON_CONTEXT_GONE);
	s->pace = (unsigned)((graph_now() - from) * REST / 1000000);
	if (s->gone || s->alone || why) {
		if (fused && !side_homeless(s))
			real.cuGraphExecDestroy(fused);
		if (check && !side_homeless(s))
			real.cuGraphExecDestroy(check);
		if (!s->gone && !s->alone)
			side_alone(s, why);
		else
			side_strip(s);
	} else {
		finish(s, &w, fused, check);
	}
	work_free(&w);
	if (pushed)
		real.cuCtxPopCurrent_v2(&old);
	__atomic_store_n(&graph_building, 0, __ATOMIC_SEQ_CST);
	return true;
}
