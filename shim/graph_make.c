// SPDX-License-Identifier: Apache-2.0
/*
 * Inside the program's instantiate and destroy calls. Programs destroy or change their graph at
 * once, so here it is cloned or lent (graph_loan.h); all else is left to the worker.
 */
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "matcher/row_build.h"
#include "matcher/seq.h"
#include "matcher/sig.h"
#include "shim/graph_node.h"
#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/kernels.h"
#include "shim/process.h"
#include "shim/window.h"
#include "shim/worker.h"

enum {
	LIFE_WORTH = 8,   /* launches that make an exec worth a clone */
	LIVES_SHORT = 48, /* execs in a row that were not */
	LIVES_LOOK = 64,  /* then one in so many is looked at */
};

/* Is there a kernel node that may begin a pattern, or are there two that may be a chain? */
static bool candidate(const struct graph_shape *s)
{
	const uint64_t begin = seq_beginners(),
		       link = process.config.opt.generated ? row_op_codes() : 0;
	unsigned links = 0;

	for (unsigned i = 0; i < s->nnode; i++) {
		CUDA_KERNEL_NODE_PARAMS p;
		const struct kernel_rec *rec;

		if (s->type[i] != CU_GRAPH_NODE_TYPE_KERNEL ||
		    real.cuGraphKernelNodeGetParams_v2(s->node[i], &p))
			continue;
		rec = graph_kernel(&p);
		links += rec && rec->k.ops & link;
		if ((rec && rec->k.ops & begin) || links > 1)
			return true;
	}
	return false;
}

static void read_attributes(struct side *s)
{
	const uint64_t members = seq_members() | row_op_codes();

	for (unsigned i = 0; i < s->shape.nnode; i++) {
		struct side_asked *n = &s->asked[i];
		CUDA_KERNEL_NODE_PARAMS p;
		struct kernel_rec *rec;

		if (s->shape.type[i] != CU_GRAPH_NODE_TYPE_KERNEL)
			continue;
		rec = NULL;
		if (!real.cuGraphKernelNodeGetParams_v2(s->shape.node[i], &p)) {
			rec = graph_kernel(&p);
			side_uses(s, &p);
		}
		n->device_updatable = graph_device_updatable(s->shape.node[i], rec);
		/* What has not been asked rules the node out, should an edit give it another
		 * kernel. */
		n->attrs = rec && rec->k.ops & members
				   ? graph_attributes(s->shape.node[i], rec, &n->priority)
				   : LAUNCH_OTHER_ATTR;
	}
}

/* When each part of what is added to the program's call was over, for the log. */
struct spent {
	uint64_t from, read, cloned, paired, asked;
};

static void log_spent(const struct spent *t, unsigned nodes, bool lent)
{
	double clone = 1e-6 * (double)(t->cloned - t->read),
	       pair = 1e-6 * (double)(t->paired - t->cloned),
	       all = 1e-6 * (double)(graph_now() - t->from);

	log_debug("a graph of %u nodes: in the program's call read in %.2f ms, %s in %.2f, twins "
		  "found in %.2f, nodes asked in %.2f, all in %.2f",
		  nodes, 1e-6 * (double)(t->read - t->from), lent ? "lent" : "cloned", clone, pair,
		  1e-6 * (double)(t->asked - t->paired), all);
}

/* Fills s with a clone of the graph. NONE, or why not. */
static enum reason take_clone(struct side *s, CUgraph graph, struct spent *t)
{
	CUgraph *levels = calloc(s->shape.nlevel, sizeof(*levels)), base = NULL;
	CUgraphNode *twin = calloc(s->shape.nnode + 1, sizeof(*twin));
	enum reason why = REASON_NONE;
	bool cloned = false;

	if (!twin || !levels)
		why = REASON_NO_MEMORY;
	else if (!(cloned = !real.cuGraphClone(&base, graph)))
		why = REASON_NOT_CLONEABLE;
	t->cloned = graph_now();
	if (cloned && graph_twins(&s->shape, s->shape.node, base, twin, levels))
		why = REASON_NOT_CLONEABLE;
	t->paired = graph_now();
	if (!why) {
		side_set_base(s, base, twin);
		for (unsigned i = 0; i < s->shape.nlevel; i++)
			s->shape.level[i].graph = levels[i];
	} else {
		if (cloned)
			real.cuGraphDestroy(base);
		free(twin);
	}
	free(levels);
	return why;
}

/* Of nodes, and at a time, with which it can be lent? What is captured may go into any graph,
 * without a call that names it. */
static bool lendable(const struct graph_shape *s)
{
	for (unsigned i = 0; i < s->nnode; i++)
		if (!graph_copyable(s->type[i]))
			return false;
	return graph_loan_possible() && !__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE);
}

static bool any_device_updatable(const struct side *s)
{
	for (unsigned i = 0; i < s->shape.nnode; i++)
		if (s->asked[i].device_updatable)
			return true;
	return false;
}

/* The graph is lent, or s filled with a clone of it. NONE, or why not. */
static enum reason lend(struct side *s, CUgraph graph, struct spent *t)
{
	enum reason why = REASON_NONE;

	t->cloned = t->paired = t->read = graph_now();
	s->asked = calloc(s->shape.nnode + 1, sizeof(*s->asked));
	if (!s->asked)
		return REASON_NO_MEMORY;
	if (!lendable(&s->shape)) {
		why = take_clone(s, graph, t);
		if (why)
			return why;
	}
	read_attributes(s);
	if (!s->base &&
	    !any_device_updatable(s)) /* else it cannot be cloned, which is then said at once */
		s->loan = graph_loan_open(graph, &s->shape, s->ours->ctx);
	if (!s->base && !s->loan)
		why = take_clone(s, graph, t);
	t->asked = graph_now();
	return why;
}

/*
 * A program that instantiates anew for each launch gets nothing from what is made beside its execs:
 * after many that were launched a few times only, just some are still looked at.
 */
static unsigned short_lives; /* in a row; racy */

static void lived(const struct side *s)
{
	unsigned long long launches =
		s->launches[FORM_OWN] + s->launches[FORM_FUSED] + s->launches[FORM_CHECK];

	if (launches < LIFE_WORTH)
		short_lives++;
	else
		short_lives = 0;
}

static bool pointless(void)
{
	static unsigned skipped;

	return short_lives >= LIVES_SHORT && ++skipped % LIVES_LOOK;
}

/* The record of the new exec; or *why it is left alone. */
static struct side *make(CUgraphExec exec, CUgraph graph, unsigned long long flags,
			 enum reason *why, unsigned *nodes, struct spent *t)
{
	struct side *s = calloc(1, sizeof(*s));

	*why = REASON_NO_MEMORY;
	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->own = exec;
	s->refs = 1;
	s->ours = ours_get(NULL);
	s->flags = flags;
	s->last = FORM_NONE;
	if (!s->ours || graph_read_nodes(graph, &s->shape))
		*why = REASON_NOT_CLONEABLE;
	else if (!candidate(&s->shape))
		*why = REASON_NO_CANDIDATE;
	else if (pointless())
		*why = REASON_UPDATED_OFTEN;
	else if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		*why = REASON_DEVICE_GRAPH;
	else
		*why = lend(s, graph, t);
	*nodes = s->shape.nnode;
	if (!*why)
		return s;
	side_free(s);
	return NULL;
}

static bool wanted(void)
{
	return process.on && process.config.opt.graphs != GRAPHS_OFF && sig_count();
}

void graph_expected(void)
{
	if (wanted())
		worker_start(&worker_graph); /* as long as a graph of 40 nodes takes */
}

void graph_made(CUgraphExec exec, CUgraph graph, unsigned long long flags, unsigned number)
{
	struct spent t = {.from = graph_now()};
	enum reason why;
	unsigned nodes = 0;
	struct side *s;
	bool lent;

	if (!wanted())
		return;
	ours_seen();
	s = make(exec, graph, flags, &why, &nodes, &t);
	if (s) {
		graph_report_made(s, nodes);
		lent = s->loan;
		s->want = true;
		s->number = number;
		if (side_enter(s)) { /* a handle of a context that went is back */
			graph_gone(exec);
			if (side_enter(s)) {
				side_strip(s);
				side_free(s);
				return;
			}
		}
		pthread_mutex_lock(&s->lock);
		s->added_ns = graph_now() - t.from;
		graph_report_added(nodes, s->added_ns);
		side_want(s);
		pthread_mutex_unlock(&s->lock);
		log_spent(&t, nodes, lent);
	} else {
		graph_report_alone(nodes, why);
		graph_report_added(why == REASON_NO_CANDIDATE ? 0 : nodes, graph_now() - t.from);
	}
}

void graph_gone(CUgraphExec exec)
{
	struct side *s = __atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE) ? side_take(exec) : NULL;

	if (!s)
		return;
	lived(s);
	__atomic_store_n(&s->gone, true, __ATOMIC_RELEASE);
	if (!s->building) /* else the worker takes it down */
		side_strip(s);
	side_unlock(s);
}
