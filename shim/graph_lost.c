// SPDX-License-Identifier: Apache-2.0
/*
 * What a graph's kernels are of goes: a module, a library, a context. Nothing of ours may ask the
 * driver about them any more, and least of all the worker, which may be in the middle of it, for an
 * exec that the program destroyed before. So it is waited for, and quits at its next step; a record
 * that somebody has locked is marked, and left alone by whoever looks at it next.
 */
#include "shim/graph_state.h"
#include "shim/worker.h"

static void use(struct side *s, const void *handle)
{
	const unsigned n = s->nused;

	for (unsigned i = 0; i < n && i < GRAPH_USED; i++)
		if (s->used[i] == handle)
			return;
	if (n < GRAPH_USED)
		s->used[n] = handle;
	if (n <= GRAPH_USED)
		__atomic_store_n(&s->nused, n + 1, __ATOMIC_RELEASE);
}

static void use_any(struct side *s)
{
	__atomic_store_n(&s->nused, GRAPH_USED + 1, __ATOMIC_RELEASE);
}

void side_uses(struct side *s, const CUDA_KERNEL_NODE_PARAMS *p)
{
	const struct kernel_rec *rec = graph_kernel(p);
	struct kernel_owner of = rec ? kernels_owner(rec) : (struct kernel_owner){NULL, NULL};

	if (!of.owner) {
		use_any(s);
		return;
	}
	use(s, of.owner);
	use(s, of.library);
	if (p->ctx)
		use(s, p->ctx);
}

static bool is_used(const struct side *s, const void *handle)
{
	const unsigned n = __atomic_load_n(&s->nused, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n && i < GRAPH_USED; i++)
		if (s->used[i] == handle)
			return true;
	return n > GRAPH_USED;
}

struct loss {
	const void *handle;
	bool lives;
};

/* What was made in the context goes before it does: its handles may be the program's afterwards. */
static void leave_home(struct side *s, bool lives)
{
	if (!lives)
		__atomic_store_n(&s->homeless, true, __ATOMIC_RELEASE);
	side_drop_form(s, FORM_FUSED);
	side_drop_form(s, FORM_CHECK);
	graph_trial_end(s);
	if (s->event && lives)
		real.cuEventDestroy_v2(s->event);
	s->event = NULL;
	s->recorded = false;
	s->last = FORM_OWN;
	__atomic_store_n(&s->homeless, true, __ATOMIC_RELEASE);
}

static bool lose(void *arg, struct side *s)
{
	const struct loss *l = arg;

	if (s->ours->ctx == l->handle)
		leave_home(s, l->lives);
	if (s->ours->ctx == l->handle || is_used(s, l->handle))
		side_alone(s, REASON_CONTEXT_GONE);
	return false;
}

static void lose_later(void *arg, struct side *s)
{
	const struct loss *l = arg;

	if (s->ours->ctx == l->handle)
		__atomic_store_n(&s->homeless, true, __ATOMIC_RELEASE);
	if (s->ours->ctx == l->handle || is_used(s, l->handle))
		__atomic_store_n(&s->lost, true, __ATOMIC_RELEASE);
}

/* While the worker is not inside the driver, if it comes out. */
static void lose_all(struct loss l)
{
	bool entered = worker_driver_enter_soon();

	side_try_each(lose, lose_later, &l);
	if (entered)
		worker_driver_leave();
}

static bool any(void)
{
	return __atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&graph_building, __ATOMIC_SEQ_CST);
}

void graph_drop_module(const void *handle)
{
	if (any())
		lose_all((struct loss){handle, true});
}

void graph_drop_context(CUcontext ctx, bool lives)
{
	if (!any())
		return;
	lose_all((struct loss){ctx, lives});
	graph_loan_drop_context(ctx); /* of those that were passed over */
}
