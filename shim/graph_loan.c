// SPDX-License-Identifier: Apache-2.0
#include "shim/graph_loan.h"

#include <pthread.h>
#include <stdlib.h>

#include "config/hash.h"
#include "config/log.h"
#include "shim/graph_report.h"
#include "shim/graph_trial.h"

/* Programs that destroy their graph do so at once; others may use it again at any time. */
enum { EARLY_NS = 2000000 };

enum loan_state {
	LOAN_OPEN,
	LOAN_CLONED,
	LOAN_KEPT, /* the program destroyed it */
	LOAN_LOST, /* there will be no clone */
};

struct graph_loan {
	CUgraph graph;
	const struct graph_shape *shape; /* good while open or kept */
	CUcontext ctx;
	enum loan_state state; /* atomic; changes under the lock */
	CUgraph clone;
	CUgraphNode *twin; /* the clone's nodes */
	bool busy;         /* somebody clones or destroys it, without the lock */
	uint64_t opened_ns, spent_ns;
	UT_hash_handle hh; /* by graph: in loans.lent while open or kept */
};

/* A graph that was lent, was cloned then, and is still the program's. */
struct returned {
	CUgraph graph;
	UT_hash_handle hh;
};

unsigned graph_loans;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle; /* one is not busy any more */
	struct graph_loan *lent;
	struct returned *returned;
	unsigned known; /* kept, or returned; atomic */
} loans = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

static bool handed_out; /* atomic */

void graph_loan_handed_out(void)
{
	__atomic_store_n(&handed_out, true, __ATOMIC_RELEASE);
}

bool graph_loan_possible(void)
{
	return !__atomic_load_n(&handed_out, __ATOMIC_ACQUIRE);
}

static enum loan_state state(const struct graph_loan *l)
{
	return __atomic_load_n(&l->state, __ATOMIC_ACQUIRE);
}

bool graph_loan_any(void)
{
	return __atomic_load_n(&graph_loans, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&loans.known, __ATOMIC_ACQUIRE);
}

/*
 * It is not lent again: an exec that was made of it can be edited by its handles, which shall be
 * gone when the program destroys it, and not be kept for another exec. Lock held.
 */
static void note_returned(CUgraph graph)
{
	struct returned *g = calloc(1, sizeof(*g));

	if (!g)
		return;
	g->graph = graph;
	HASH_ADD_PTR(loans.returned, graph, g);
	if (!g->hh.tbl) { /* no memory */
		free(g);
		return;
	}
	__atomic_add_fetch(&loans.known, 1, __ATOMIC_RELEASE);
}

static void forget_returned(CUgraph graph)
{
	struct returned *g;

	HASH_FIND_PTR(loans.returned, &graph, g);
	if (!g)
		return;
	HASH_DEL(loans.returned, g);
	__atomic_sub_fetch(&loans.known, 1, __ATOMIC_RELEASE);
	free(g);
}

/* No more open: the last thing that is done. Lock held. */
static void close_loan(struct graph_loan *l, enum loan_state to)
{
	if (to == LOAN_KEPT)
		__atomic_add_fetch(&loans.known, 1, __ATOMIC_RELEASE);
	else
		HASH_DEL(loans.lent, l);
	__atomic_store_n(&l->state, to, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&graph_loans, 1, __ATOMIC_RELEASE);
}

/* Driver calls are made without the lock, by one thread; whoever needs the loan waits for it. */
static void begin(struct graph_loan *l)
{
	l->busy = true;
	pthread_mutex_unlock(&loans.lock);
}

static void end(struct graph_loan *l)
{
	pthread_mutex_lock(&loans.lock);
	l->busy = false;
	pthread_cond_broadcast(&loans.idle);
}

static void await(void)
{
	pthread_cond_wait(&loans.idle, &loans.lock);
}

/* Takes the lock; for those who alone can free the loan. */
static void lock_idle(const struct graph_loan *l)
{
	pthread_mutex_lock(&loans.lock);
	while (l->busy)
		await();
}

/* Fills in the clone and its nodes. 0 or -1. */
static int take_clone(struct graph_loan *l)
{
	CUgraph level;

	l->twin = calloc(l->shape->nnode + 1, sizeof(*l->twin));
	if (!l->twin || real.cuGraphClone(&l->clone, l->graph))
		return -1;
	if (!graph_twins(l->shape, l->shape->node, l->clone, l->twin, &level))
		return 0;
	real.cuGraphDestroy(l->clone);
	return -1;
}

/* The same, in the loan's context. False: there is neither. */
static bool clone_of(struct graph_loan *l)
{
	bool pushed = !real.cuCtxPushCurrent_v2(l->ctx);
	bool cloned = !take_clone(l);
	CUcontext old;

	if (pushed)
		real.cuCtxPopCurrent_v2(&old);
	if (cloned)
		return true;
	free(l->twin);
	l->twin = NULL;
	l->clone = NULL;
	return false;
}

/* Lock held, which is given up meanwhile; the loan is open and idle. */
static void settle(struct graph_loan *l, bool by_program)
{
	uint64_t from = graph_now(), ns;
	bool cloned;

	begin(l);
	cloned = clone_of(l);
	end(l);
	ns = graph_now() - from;
	if (by_program)
		__atomic_store_n(&l->spent_ns, ns, __ATOMIC_RELAXED);
	log_debug("a graph of %u nodes that was lent: %s in %.2f ms, %s", l->shape->nnode,
		  cloned ? "cloned" : "not to be cloned", 1e-6 * (double)ns,
		  by_program ? "in a call of the program's" : "in the background");
	note_returned(l->graph);
	close_loan(l, cloned ? LOAN_CLONED : LOAN_LOST);
}

/* Open or kept. */
static struct graph_loan *find(CUgraph graph)
{
	struct graph_loan *l;

	HASH_FIND_PTR(loans.lent, &graph, l);
	return l;
}

struct graph_loan *graph_loan_open(CUgraph graph, const struct graph_shape *shape, CUcontext ctx)
{
	struct graph_loan *l = calloc(1, sizeof(*l));
	struct returned *before;

	if (!l)
		return NULL;
	l->graph = graph;
	l->shape = shape;
	l->ctx = ctx;
	l->opened_ns = graph_now();
	pthread_mutex_lock(&loans.lock);
	HASH_FIND_PTR(loans.returned, &graph, before);
	/* Two threads may instantiate it at once, or it is one that the program destroyed. */
	if (!before && !find(graph))
		HASH_ADD_PTR(loans.lent, graph, l);
	if (l->hh.tbl) {
		__atomic_add_fetch(&graph_loans, 1, __ATOMIC_SEQ_CST);
		graph_report_lent();
	} else { /* or there is no memory */
		free(l);
		l = NULL;
	}
	pthread_mutex_unlock(&loans.lock);
	return l;
}

bool graph_loan_early(const struct graph_loan *l)
{
	return l && state(l) == LOAN_OPEN && graph_now() - l->opened_ns < EARLY_NS;
}

struct graph_lent graph_loan_take(struct graph_loan *l)
{
	struct graph_lent lent = {NULL, NULL, 0};
	bool over;

	lock_idle(l);
	if (l->state == LOAN_OPEN)
		settle(l, false);
	over = l->state != LOAN_KEPT;
	lent.base = over ? l->clone : l->graph;
	lent.twin = l->twin;
	lent.ns = l->spent_ns;
	pthread_mutex_unlock(&loans.lock);
	if (over)
		free(l);
	return lent;
}

bool graph_loan_kept(const struct graph_loan *l)
{
	return l && state(l) == LOAN_KEPT;
}

/* Lock held, which is given up meanwhile. It is known until it is gone: its handle may be another
 * graph's the moment it is free. */
static void destroy_kept(struct graph_loan *l, bool clone)
{
	begin(l);
	if (clone)
		clone_of(l);
	real.cuGraphDestroy(l->graph);
	end(l);
	HASH_DEL(loans.lent, l);
	__atomic_sub_fetch(&loans.known, 1, __ATOMIC_RELEASE);
}

struct graph_lent graph_loan_part(struct graph_loan *l)
{
	uint64_t from = graph_now();
	struct graph_lent lent;

	lock_idle(l);
	destroy_kept(l, true);
	pthread_mutex_unlock(&loans.lock);
	lent = (struct graph_lent){l->clone, l->twin, graph_now() - from};
	graph_report_settled(1, lent.ns);
	free(l);
	return lent;
}

void graph_loan_drop(struct graph_loan *l)
{
	lock_idle(l);
	switch (l->state) {
	case LOAN_OPEN:
		close_loan(l, LOAN_LOST);
		break;
	case LOAN_CLONED:
		real.cuGraphDestroy(l->clone);
		break;
	case LOAN_KEPT:
		destroy_kept(l, false);
		break;
	case LOAN_LOST:
		break;
	}
	pthread_mutex_unlock(&loans.lock);
	free(l->twin);
	free(l);
}

uint64_t graph_loan_ns(const struct graph_loan *l)
{
	return __atomic_load_n(&l->spent_ns, __ATOMIC_RELAXED);
}

/* Of that graph, or (NULL) of any, idle if there is such. Lock held. */
static struct graph_loan *find_open(CUgraph graph)
{
	struct graph_loan *busy = NULL, *l;

	if (graph)
		return (l = find(graph)) && l->state == LOAN_OPEN ? l : NULL;
	for (l = loans.lent; l; l = l->hh.next) {
		if (l->state == LOAN_OPEN && !l->busy)
			return l;
		if (l->state == LOAN_OPEN)
			busy = l;
	}
	return busy;
}

/* graph: NULL: all. */
static void settle_open(CUgraph graph)
{
	uint64_t from = graph_now();
	struct graph_loan *l;
	unsigned n = 0;

	if (!__atomic_load_n(&graph_loans, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&loans.lock);
	while ((l = find_open(graph))) {
		if (l->busy) {
			await();
			continue;
		}
		settle(l, true);
		n++;
	}
	pthread_mutex_unlock(&loans.lock);
	graph_report_settled(n, graph_now() - from);
}

void graph_loan_settle(void)
{
	settle_open(NULL);
}

void graph_loan_settle_graph(CUgraph graph)
{
	if (graph)
		settle_open(graph);
}

/* May other graphs be inside this one? */
static bool embeds(CUgraph graph)
{
	struct graph_shape s;
	bool may = graph_read_nodes(graph, &s) || s.nlevel > 1;

	for (unsigned i = 0; i < s.nnode; i++)
		may |= s.type[i] == CU_GRAPH_NODE_TYPE_CONDITIONAL;
	graph_shape_free(&s);
	return may;
}

/* Open or kept, and idle; NULL: neither, any more. Lock held. */
static struct graph_loan *find_idle(CUgraph graph)
{
	struct graph_loan *l;

	while ((l = find(graph)) && l->busy)
		await();
	return l;
}

bool graph_loan_destroyed(CUgraph graph, CUresult *r)
{
	struct graph_loan *l;

	*r = CUDA_SUCCESS;
	pthread_mutex_lock(&loans.lock);
	l = find_idle(graph);
	if (l && l->state == LOAN_OPEN) {
		log_debug("a graph of %u nodes that was lent: kept when the program destroyed it",
			  l->shape->nnode);
		graph_report_kept();
		close_loan(l, LOAN_KEPT);
	} else if (l) {
		*r = CUDA_ERROR_INVALID_VALUE;
	} else {
		forget_returned(graph);
	}
	pthread_mutex_unlock(&loans.lock);
	if (!l && __atomic_load_n(&graph_loans, __ATOMIC_ACQUIRE) && embeds(graph))
		graph_loan_settle();
	return l;
}

void graph_loan_drop_context(CUcontext ctx)
{
	struct graph_loan *l, *next;

	pthread_mutex_lock(&loans.lock);
	HASH_ITER(hh, loans.lent, l, next)
	{
		if (l->ctx == ctx && l->state == LOAN_OPEN && !l->busy)
			close_loan(l, LOAN_LOST);
	}
	pthread_mutex_unlock(&loans.lock);
}

void graph_loan_forked(void)
{
	graph_loans = loans.known = 0;
}
