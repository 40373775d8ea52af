// SPDX-License-Identifier: Apache-2.0
/* Execs of the program -> what stands beside them. */
#include <stdlib.h>

#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/graph_trial.h"
#include "shim/worker.h"

unsigned graph_execs;

static struct {
	pthread_rwlock_t lock; /* outside side.lock */
	struct side *by_exec;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Nobody waits for a record while he holds the table: its holder may be stuck in a launch. */
struct side *side_lock(CUgraphExec exec)
{
	struct side *s;

	if (!__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE))
		return NULL;
	pthread_rwlock_rdlock(&table.lock);
	HASH_FIND_PTR(table.by_exec, &exec, s);
	if (s)
		__atomic_add_fetch(&s->refs, 1, __ATOMIC_ACQ_REL);
	pthread_rwlock_unlock(&table.lock);
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	if (!s->gone)
		return s;
	side_unlock(s);
	return NULL;
}

void side_unlock(struct side *s)
{
	pthread_mutex_unlock(&s->lock);
	if (!__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		side_free(s);
}

int side_enter(struct side *s)
{
	struct side *other;

	pthread_rwlock_wrlock(&table.lock);
	HASH_FIND_PTR(table.by_exec, &s->own, other);
	if (!other) {
		HASH_ADD_PTR(table.by_exec, own, s);
		__atomic_add_fetch(&graph_execs, 1, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&table.lock);
	return other ? -1 : 0;
}

struct side *side_take(CUgraphExec exec)
{
	struct side *s;

	pthread_rwlock_wrlock(&table.lock);
	HASH_FIND_PTR(table.by_exec, &exec, s);
	if (s) { /* the table's reference is the caller's now */
		HASH_DEL(table.by_exec, s);
		__atomic_sub_fetch(&graph_execs, 1, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&table.lock);
	if (s)
		pthread_mutex_lock(&s->lock);
	return s;
}

bool side_try_each(bool (*fn)(void *arg, struct side *s), void (*passed)(void *arg, struct side *s),
		   void *arg)
{
	struct side *s, *next;
	bool some = false, over = false;

	pthread_rwlock_rdlock(&table.lock);
	HASH_ITER(hh, table.by_exec, s, next)
	{
		if (over)
			break;
		if (pthread_mutex_trylock(&s->lock)) {
			some = true;
			if (passed)
				passed(arg, s);
			continue;
		}
		over = fn(arg, s);
		if (!over)
			pthread_mutex_unlock(&s->lock);
	}
	pthread_rwlock_unlock(&table.lock);
	return some;
}

void graph_forked(void)
{
	graph_execs = 0;
	graph_loan_forked();
}

static bool release(void *arg, struct side *s)
{
	*(bool *)arg |= s->form[FORM_FUSED].exec || s->form[FORM_CHECK].exec;
	side_alone(s, REASON_NO_MEMORY);
	return false;
}

bool graph_release_memory(void)
{
	bool freed = false;

	if (__atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE))
		side_try_each(release, NULL, &freed);
	return freed;
}

void side_drop_form(struct side *s, enum graph_form f)
{
	struct side_form *form = &s->form[f];

	if (form->exec && !side_homeless(s))
		real.cuGraphExecDestroy(form->exec);
	if (form->graph)
		real.cuGraphDestroy(form->graph);
	form->exec = NULL;
	form->graph = NULL;
	if (s->last == f) /* the next one is another exec: ordered by the event */
		s->last = FORM_NONE;
	for (unsigned i = 0; s->node && i < s->shape.nnode; i++) {
		s->node[i].twin[f] = NULL;
		s->node[i].witness &= (uint8_t) ~(1u << f);
	}
	if (f == FORM_CHECK)
		s->ncheck = 0;
	if (f != FORM_FUSED)
		return;
	free(s->group);
	s->group = NULL;
	s->ngroup = s->removed = s->stores = 0;
	s->bytes = 0;
}

void side_set_base(struct side *s, CUgraph base, CUgraphNode *twin)
{
	s->base = base;
	s->shape.level[0].graph = base;
	s->program_node = s->shape.node;
	if (twin)
		s->shape.node = twin;
}

bool side_base(struct side *s)
{
	struct graph_lent lent;

	if (s->base || !s->loan)
		return s->base;
	lent = graph_loan_take(s->loan);
	s->added_ns += lent.ns;
	if (lent.twin || !lent.base)
		s->loan = NULL;
	if (lent.base)
		side_set_base(s, lent.base, lent.twin);
	else
		side_alone(s, REASON_NOT_CLONEABLE);
	return lent.base;
}

int side_nodes(struct side *s)
{
	if (!s->node)
		s->node = calloc(s->shape.nnode + 1, sizeof(*s->node));
	return s->node && (s->program.slot ||
			   !graph_index_make(&s->program, s->program_node, s->shape.nnode))
		       ? 0
		       : -1;
}

void side_strip(struct side *s)
{
	side_drop_form(s, FORM_FUSED);
	side_drop_form(s, FORM_CHECK);
	if (s->loan)
		graph_loan_drop(s->loan);
	else if (s->base)
		real.cuGraphDestroy(s->base);
	s->loan = NULL;
	s->base = NULL;
	graph_trial_end(s);
}

void side_free(struct side *s)
{
	if (s->event && !side_homeless(s))
		real.cuEventDestroy_v2(s->event);
	graph_report_over(s);
	graph_list_free(&s->list);
	graph_index_free(&s->program);
	if (s->program_node != s->shape.node)
		free(s->program_node);
	free(s->asked);
	graph_shape_free(&s->shape);
	free(s->node);
	free(s->verdict);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void side_alone(struct side *s, enum reason why)
{
	if (s->alone)
		return;
	__atomic_store_n(&s->alone, why, __ATOMIC_RELEASE);
	s->waits = s->stale = false;
	if (!s->building) /* else the worker strips it */
		side_strip(s);
}

void side_want(struct side *s)
{
	s->want = true;
	s->ticks = 0;
	worker_poll(&worker_graph);
}
