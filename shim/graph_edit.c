// SPDX-License-Identifier: Apache-2.0
/*
 * The program changed nodes of its exec. The driver has done so and said yes; base follows, and
 * then the forms: on a node that a form leans on, the form goes, on any other the edit is repeated.
 */
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

bool graph_refresh(struct side *s, enum graph_form f, unsigned node)
{
	struct side_node *n = &s->node[node];

	return !n->twin[f] || !graph_copy_to_exec(s->shape.node[node], s->shape.type[node], n->ctx,
						  s->form[f].exec, n->twin[f]);
}

void graph_follow(struct side *s, unsigned node)
{
	struct side_node *n = &s->node[node];
	bool stale = n->witness >> FORM_FUSED & 1;

	n->changed = true;
	for (unsigned f = FORM_FUSED; f < FORM_COUNT; f++)
		if (s->form[f].exec && (n->witness >> f & 1 || !graph_refresh(s, f, node))) {
			if (f == FORM_FUSED)
				stale = true;
			else
				side_drop_form(s, f);
		}
	if (stale && !s->stale)
		side_stale(s);
}

static CUresult to_base(CUgraphNode base, const struct graph_edit *e)
{
	if (e->common)
		return real.cuGraphNodeSetParams(base, (CUgraphNodeParams *)e->params);
	switch (e->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return e->v1 ? real.cuGraphKernelNodeSetParams(base, e->params)
			     : real.cuGraphKernelNodeSetParams_v2(base, e->params);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return real.cuGraphMemcpyNodeSetParams(base, e->params);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return real.cuGraphMemsetNodeSetParams(base, e->params);
	case CU_GRAPH_NODE_TYPE_HOST:
		return real.cuGraphHostNodeSetParams(base, e->params);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return real.cuGraphEventRecordNodeSetEvent(base, e->event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return real.cuGraphEventWaitNodeSetEvent(base, e->event);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
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

	if (!s)
		return;
	if (s->shape.type[number] != e->type || !graph_copyable(e->type) ||
	    to_base(s->shape.node[number], e)) {
		side_alone(s, REASON_EDITED);
	} else {
		s->node[number].ctx = e->ctx;
		graph_follow(s, (unsigned)number);
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
