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

static bool lose(void *arg, struct side *s)
{
	if (s->ours->ctx == arg || is_used(s, arg))
		side_alone(s, REASON_CONTEXT_GONE);
	return false;
}

static void lose_later(void *arg, struct side *s)
{
	if (s->ours->ctx == arg || is_used(s, arg))
		__atomic_store_n(&s->lost, true, __ATOMIC_RELEASE);
}

/* While the worker is not inside the driver, if it comes out. */
static void lose_all(void *handle)
{
	bool entered = worker_driver_enter_soon();

	side_try_each(lose, lose_later, handle);
	if (entered)
		worker_driver_leave();
}

static bool any(void)
{
	return __atomic_load_n(&graph_execs, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&graph_building, __ATOMIC_SEQ_CST);
}

void graph_drop_module(void *handle)
{
	if (any())
		lose_all(handle);
}

void graph_drop_context(CUcontext ctx)
{
	if (!any())
		return;
	lose_all(ctx);
	graph_loan_drop_context(ctx); /* of those that were passed over */
}
