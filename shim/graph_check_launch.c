// SPDX-License-Identifier: Apache-2.0
/* The checking form in use: memory of checks is claimed, results get tickets. */
#include "shim/arena.h"
#include "shim/graph_check.h"
#include "shim/graph_into.h"
#include "shim/worker.h"

void graph_check_take(struct side *s, const struct graph_work *w)
{
	s->ncheck = w->ncheck;
	s->check_base = w->arena_base;
	s->check_bytes = w->arena_bytes;
	for (unsigned i = 0; i < w->ncheck; i++)
		s->check[i] = (struct side_check){.verdict = w->check[i].verdict,
						  .lean = w->check[i].lean,
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
		struct standin to;
		void *params;

		/* The last result is the one that frees the memory of checks. */
		c->signal = i + 1 < s->ncheck ? arena_signal(a, c->verdict, c->rows) : 0;
		if (c->signal < 0)
			return false;
		if (c->signal && c->lean)
			a->signal[c->signal].passed = &c->lean->passed;
		verdict_mark(c->verdict);
		c->ticket = c->signal ? a->signal[c->signal].ticket
				      : __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);
		fused_publish(a->counter, arena_slot(a, c->signal), c->ticket, &l);
		if (!standin_ours(&l, s->ours, &to))
			return false;
		standin_node(&to, 0, s->ours, &p, &params);
		if (real.cuGraphExecKernelNodeSetParams_v2(s->form[FORM_CHECK].exec, c->publish,
							   &p))
			return false;
	}
	return true;
}

bool graph_check_claim(struct side *s)
{
	struct arena *a = s->form[FORM_CHECK].exec ? arena_get(s->ours, s->check_bytes) : NULL;
	int idle = 0;

	if (!a || !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_RELAXED))
		return false;
	s->arena = a;
	for (unsigned i = 0; i < s->ncheck; i++)
		s->check[i].signal = -1;
	if (a->memory.base == s->check_base && arena_bytes(a) >= s->check_bytes &&
	    set_tickets(s, a))
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
		c->verdict->unchecked = 0;
		if (c->rows >= c->verdict->due)
			c->verdict->due = 0;
		if (c->signal)
			continue;
		a->signal[0].verdict = c->verdict;
		a->signal[0].rows = c->rows;
		a->signal[0].passed = c->lean ? &c->lean->passed : NULL;
		__atomic_store_n(&a->signal[0].ticket, c->ticket, __ATOMIC_RELEASE);
	}
	if (launched)
		worker_poll(&worker_device);
	else
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
}
