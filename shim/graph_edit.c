// SPDX-License-Identifier: Apache-2.0
/*
 * The program changed nodes of its exec. The driver has done so and said yes; base follows, and
 * then the forms: on a node that a form leans on, the form goes, on any other the edit is repeated.
 */
#include <string.h>

#include "shim/graph_node.h"
#include "shim/graph_report.h"
#include "shim/graph_state.h"
#include "shim/graph_trial.h"

enum {
	FEW_LAUNCHES = 8, /* a form that was launched less often was not worth its making */
	REBUILDS_MOST = 6,
};

void side_stale(struct side *s)
{
	if (s->launches[FORM_FUSED] - s->launches_at < FEW_LAUNCHES)
		s->rebuilds++;
	else
		s->rebuilds = 0;
	if (s->rebuilds > REBUILDS_MOST) {
		side_alone(s, REASON_UPDATED_OFTEN);
		return;
	}
	side_drop_form(s, FORM_FUSED);
	s->stale = true;
	s->launches_at = s->launches[FORM_FUSED];
	side_want(s);
}

/*
 * What stores rested on that were left out is edited: such programs do that with each token, and
 * what the stores cost is less than what it takes to make the form anew.
 */
static void note_stores(struct side *s, const struct side_node *n)
{
	s->keep_stores |= n->witness >> FORM_FUSED & 1 && n->stores;
}

/* As base does now. */
static const union graph_content *content(struct side *s, unsigned node)
{
	struct side_node *n = &s->node[node];

	if (!n->read && graph_get(s->shape.node[node], s->shape.type[node], &n->content))
		return NULL;
	n->read = true;
	return &n->content;
}

static bool refresh(struct side *s, enum graph_form f, unsigned node, const union graph_content *c)
{
	struct side_node *n = &s->node[node];
	CUcontext ctx = n->ctx;

	if (!n->twin[f])
		return true;
	if (!ctx && real.cuCtxGetCurrent(&ctx))
		return false;
	return c && !graph_set_exec(s->form[f].exec, n->twin[f], s->shape.type[node], ctx, c);
}

bool graph_refresh(struct side *s, enum graph_form f, unsigned node)
{
	return refresh(s, f, node, content(s, node));
}

bool graph_base_same(struct side *s, unsigned node, const union graph_content *c)
{
	const union graph_content *mine = content(s, node);

	return mine && graph_same(s->shape.type[node], mine, c);
}

void graph_follow(struct side *s, unsigned node, const union graph_content *c)
{
	struct side_node *n = &s->node[node];
	bool stale = n->witness >> FORM_FUSED & 1;

	note_stores(s, n);
	n->changed = true;
	n->read = false;
	if (s->shape.type[node] == CU_GRAPH_NODE_TYPE_KERNEL) {
		const union graph_content *now = c ? c : content(s, node);

		if (now)
			side_uses(s, &now->kernel);
	}
	for (unsigned f = FORM_FUSED; f < FORM_COUNT; f++)
		if (s->form[f].exec &&
		    (n->witness >> f & 1 || !refresh(s, f, node, c ? c : content(s, node)))) {
			if (f == FORM_FUSED)
				stale = true;
			else
				side_drop_form(s, f);
		}
	if (stale && !s->stale)
		side_stale(s);
}

/*
 * Edits by handles of a graph that is destroyed: some drivers take them, some do not. We keep it,
 * but the driver shall answer as if we did not.
 */
void graph_edits(CUgraphExec exec)
{
	struct side *s = graph_loan_any() ? side_lock(exec) : NULL;
	struct graph_lent lent;

	if (!s)
		return;
	if (graph_loan_kept(s->loan)) {
		lent = graph_loan_part(s->loan);
		s->added_ns += lent.ns;
		s->loan = NULL;
		s->base = NULL;
		if (lent.base)
			side_set_base(s, lent.base, lent.twin);
		else
			side_alone(s, REASON_NOT_CLONEABLE);
		for (unsigned i = 0; s->node && i < s->shape.nnode; i++)
			s->node[i].read = false;
	}
	side_unlock(s);
}

/* What the edit makes of the node; false: it is in the driver's common form, and base is asked. */
static bool content_of(const struct graph_edit *e, union graph_content *c)
{
	if (e->common)
		return false;
	memset(c, 0, sizeof(*c));
	switch (e->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		memcpy(c, e->params,
		       e->v1 ? sizeof(CUDA_KERNEL_NODE_PARAMS_v1) : sizeof(c->kernel));
		return true;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		memcpy(c, e->params, sizeof(c->copy));
		return true;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		memcpy(c, e->params, sizeof(c->fill));
		return true;
	case CU_GRAPH_NODE_TYPE_HOST:
		memcpy(c, e->params, sizeof(c->host));
		return true;
	default:
		c->event = e->event;
		return true;
	}
}

/* The record, locked, and the number of the node, for an edit of it; NULL: nothing to follow. */
static struct side *find(CUgraphExec exec, CUgraphNode node, int *number)
{
	struct side *s = side_lock(exec);

	if (!s)
		return NULL;
	s->edits++;
	s->edited = true;
	if (!s->alone && side_base(s) && side_nodes(s))
		side_alone(s, REASON_NO_MEMORY);
	*number = graph_index_find(&s->program, node);
	/* Whose handle is it? After an update of a graph with branches the driver may have paired
	 * its nodes otherwise than we have. */
	if (!s->alone && (*number < 0 || s->mixed))
		side_alone(s, REASON_EDITED);
	if (!s->alone)
		return s;
	side_unlock(s);
	return NULL;
}

void graph_edited(CUgraphExec exec, CUgraphNode node, const struct graph_edit *e)
{
	uint64_t from = graph_now();
	int number;
	struct side *s = find(exec, node, &number);
	union graph_content c;
	bool own;

	if (!s)
		return;
	own = graph_copyable(e->type) && content_of(e, &c);
	if (s->shape.type[number] != e->type || !graph_copyable(e->type) ||
	    (own ? graph_set(s->shape.node[number], e->type, &c)
		 : real.cuGraphNodeSetParams(s->shape.node[number],
					     (CUgraphNodeParams *)e->params))) {
		side_alone(s, REASON_EDITED);
	} else {
		s->node[number].ctx = e->ctx;
		graph_follow(s, (unsigned)number, own ? &c : NULL);
		graph_trial_cost(s, graph_now() - from);
	}
	side_unlock(s);
}

void graph_switched(CUgraphExec exec, CUgraphNode node, bool enabled)
{
	int number;
	struct side *s = find(exec, node, &number);
	struct side_node *n;

	if (!s)
		return;
	n = &s->node[number];
	if (n->disabled == enabled) {
		n->disabled = !enabled;
		note_stores(s, n);
		for (unsigned f = FORM_FUSED; f < FORM_COUNT; f++) {
			if (!s->form[f].exec)
				continue;
			if (!(n->witness >> f & 1) && n->twin[f] &&
			    !real.cuGraphNodeSetEnabled(s->form[f].exec, n->twin[f], enabled))
				continue;
			if (f == FORM_FUSED)
				side_stale(s);
			else
				side_drop_form(s, f);
		}
		/* What is being built does not know of it. */
		if (s->building && !s->alone)
			s->stale = s->discard = true;
	}
	side_unlock(s);
}
