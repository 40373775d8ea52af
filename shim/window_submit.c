/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves a window: held launches as they were, fused kernels, kept frees. Lock held. */
#include <string.h>

#include "config/log.h"
#include "matcher/dead.h"
#include "matcher/key.h"
#include "shim/budget.h"
#include "shim/kernels.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/window_chain.h"

enum {
	PARAMS_MAX = 128,
	MISSES_MAX = 4, /* held in vain so often in a row: pause, longer each time */
	SKIP_SHIFT_MAX = 12,
};

bool window_enter(const struct window *w)
{
	CUcontext now = NULL;

	return (real.cuCtxGetCurrent(&now) || now != w->ours->ctx) &&
	       !real.cuCtxPushCurrent_v2(w->ours->ctx);
}

void window_leave(bool pushed)
{
	CUcontext old;

	if (pushed)
		real.cuCtxPopCurrent_v2(&old);
}

static CUresult send(const struct window *w, const struct launch *l)
{
	const struct kernel *k = l->kernel;
	const struct kernel_rec *rec = (const struct kernel_rec *)k;
	CUfunction f = (CUfunction)(uintptr_t)rec->handle;
	void *ptr[PARAMS_MAX];
	size_t bytes = k->param_bytes;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)l->params,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};

	if ((l->attrs & LAUNCH_EXTRA) || k->nparam > PARAMS_MAX)
		return real.cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0],
					   l->block[1], l->block[2], l->shmem, w->stream, NULL,
					   extra);
	for (uint32_t i = 0; i < k->nparam; i++)
		ptr[i] = (void *)(l->params + k->param[i].offset);
	return real.cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
				   l->block[2], l->shmem, w->stream, ptr, NULL);
}

/* A launch held in vain: hold less at that site. */
static void missed(const struct member *m)
{
	struct site *s = verdict_site_find(key_noted(&m->launch, &m->op));

	if (s && ++s->misses >= MISSES_MAX) {
		unsigned shift = s->misses < SKIP_SHIFT_MAX ? s->misses : SKIP_SHIFT_MAX;

		s->skip = 1u << shift;
	}
}

CUresult window_send(struct window *w, const struct member *const *m, unsigned n)
{
	CUresult first = CUDA_SUCCESS;
	bool pushed;

	if (!n)
		return first;
	pushed = window_enter(w);
	for (unsigned i = 0; i < n; i++) {
		CUresult r;

		if (times_on)
			times_before();
		r = send(w, &m[i]->launch);
		if (times_on)
			times_after_own(m[i]->launch.index);
		first = first ? first : r;
	}
	window_leave(pushed);
	if (first)
		log_info("a held launch failed (error %d); the next call on its stream reports it",
			 first);
	return first;
}

CUresult window_submit(struct window *w, const struct member *const *m, unsigned n)
{
	CUresult r = window_send(w, m, n);

	if (n)
		missed(m[0]);
	window_note_sent(w, m, n);
	return r;
}

CUresult window_frees(struct window *w)
{
	CUresult first = CUDA_SUCCESS;
	bool pushed;

	if (!w->nfree || seq_held(w->seq))
		return first; /* the held launches may touch them */
	pushed = window_enter(w);
	for (unsigned i = 0; i < w->nfree; i++) {
		CUresult r = real.cuMemFreeAsync(w->free_[i], w->stream);

		first = first ? first : r;
	}
	window_leave(pushed);
	w->nfree = 0;
	return first;
}

CUresult window_flush(struct window *w, enum reason why)
{
	struct seq_out out;
	CUresult r, f;

	window_halt(w);
	w->cut = why == REASON_TIMER;
	seq_barrier(w->seq, why, &out);
	r = window_chains(w, &out);
	w->cut = false;
	f = window_submit(w, out.flush, out.nflush);
	r = r ? r : f;
	window_settle(w);
	if (w->check.arena) {
		bool pushed = window_enter(w);

		check_cancel(&w->check, w->ours, w->stream);
		window_leave(pushed);
	}
	f = window_frees(w);
	return r ? r : f;
}

bool window_send_fused(struct window *w, struct verdict *v, const struct standin *s)
{
	CUresult r;

	verdict_mark(v);
	r = standin_send(s, w->stream);
	if (r) {
		verdict_reject(v, REASON_NO_VERDICT, "the fused kernel could not be launched",
			       false);
		log_warn_once("a fused kernel could not be launched (error %d); its pattern is "
			      "left alone",
			      r);
		return false;
	}
	v->fused++;
	w->fused++;
	v->generated += s->generated;
	v->unchecked++;
	if (!v->first_use_over)
		check_first_use(w->ours, w->stream, v);
	COUNT(removed, v->nmember);
	COUNT(substitute, s->n);
	budget_saved(v->nmember - (s->n < v->nmember ? s->n : v->nmember));
	return true;
}

bool window_fuse(struct window *w, const struct group *g)
{
	struct verdict *v = w->verdict;
	struct standin s;
	struct group lean;
	bool sent;

	if (process.config.opt.stores == STORES_ASSUME_DEAD) {
		lean = *g;
		dead_apply(&lean, dead_assumed(g));
		g = &lean;
	}
	if (!v || standin_make(g, v, w->ours, &s) != STANDIN_MADE)
		return false;
	if (times_on)
		times_before();
	sent = window_send_fused(w, v, &s);
	if (times_on)
		times_after_group(g, s.n, &v->key, g->rows, false);
	if (!sent)
		return false;
	COUNT(completed, v->nmember - 1u);
	report_group(g, OUTCOME_FUSED, REASON_NONE);
	window_note_fused(w, g, v, &s);
	return true;
}
