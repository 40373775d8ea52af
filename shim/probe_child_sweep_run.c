/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk of the sweep: inputs, the program's kernels, candidates and comparisons, all queued. */
#include "shim/probe_child_sweep.h"

void sweep_close(struct sweep *w)
{
	CUdeviceptr *all[] = {&w->gate, &w->up, &w->counts};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (*all[i])
			w->p->cu.cuMemFree_v2(*all[i]);
		*all[i] = 0;
	}
}

enum probe_sized sweep_open(struct sweep *w)
{
	struct probe *p = w->p;
	const struct bound *gate = &p->group.bound[SILU_MUL_GATE],
			   *up = &p->group.bound[SILU_MUL_UP];
	int64_t row = p->group.cols * 4,
		rows = (SWEEP_ELEMENTS_MOST + p->group.cols - 1) / p->group.cols;
	CUdeviceptr *all[] = {&w->gate, &w->up, &w->counts};
	enum { COUNTS = SWEEP_TOGETHER * SWEEP_MOST * sizeof(struct sweep_counts) };
	size_t bytes;

	/* Of a launch that is larger, and has to be, a part. */
	rows = p->group.rows < rows ? p->group.rows : rows;
	bytes = (size_t)(rows * row);

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		CUresult rc = p->cu.cuMemAlloc_v2(all[i], i < 2 ? bytes : COUNTS);

		if (rc == CUDA_ERROR_OUT_OF_MEMORY) {
			sweep_close(w);
			return PROBE_SIZED_TOO_LARGE;
		}
		if (!probe_ok(p, rc, "cuMemAlloc"))
			return PROBE_SIZED_FAILED;
	}
	w->theirs = (struct sweep_args){
		.x = gate->addr,
		.y = up->addr,
		.xpitch = gate->pitch,
		.ypitch = up->pitch,
		.rows = rows,
		.cols = p->group.cols,
		/* What the product alone shows of the silu has to be all of it. */
		.ones = !sweep_keeps_silu(p)};
	w->elements = rows * p->group.cols;
	/* Rows without gaps are one; ours leaves its results on its inputs. */
	w->ours = p->group;
	w->ours.rows = rows;
	for (unsigned i = 0; i < w->ours.nbound; i++) {
		struct bound *b = &w->ours.bound[i];

		b->addr = i == SILU_MUL_GATE || i == SILU_MUL_SILU ? w->gate : w->up;
		b->pitch = row;
	}
	return PROBE_SIZED;
}

static bool fill(struct probe *p, const struct sweep_args *a)
{
	struct fused_launch l;

	fused_sweep(a, &l);
	return probe_launch(p, &l);
}

struct sweep_args sweep_inputs(const struct sweep *w, const struct stretch *t, int64_t chunk)
{
	struct sweep_args a = w->theirs;

	a.step = t->step;
	a.first = t->first + (uint32_t)(chunk * w->elements) * t->step;
	return a;
}

/* One chunk through the program's kernels; the first time also waits, to see who faults. */
bool sweep_theirs(struct sweep *w, const struct stretch *t, int64_t chunk)
{
	struct sweep_args a = sweep_inputs(w, t, chunk);

	if (!fill(w->p, &a))
		return false;
	if (w->ran)
		return probe_arena_launch(w->p);
	return w->ran = probe_arena_run(w->p);
}

/* The same inputs, dense, through a candidate. Where gate and factor are one, they are here, too.
 */
bool sweep_ours(struct sweep *w, const struct stretch *t, int64_t chunk, const struct candidate *c)
{
	struct sweep_args a = sweep_inputs(w, t, chunk);
	bool one = a.x == a.y;
	struct fused_launch l;

	a.x = w->gate;
	a.y = one ? w->gate : w->up;
	a.xpitch = a.ypitch = a.cols * 4;
	if (fused_launch(&w->ours, c, &w->p->limits, &l))
		return probe_fail(w->p, REASON_SHAPE, "no fused kernel for these operands");
	if (!fill(w->p, &a))
		return false;
	a.x = a.y = w->up;
	return (!one || fill(w->p, &a)) && probe_launch(w->p, &l);
}

static bool compare(struct sweep *w, unsigned slot, CUdeviceptr counter)
{
	const struct bound *x = &w->p->group.bound[slot], *y = &w->ours.bound[slot];
	struct fused_launch l;

	fused_compare(x->addr, x->pitch, y->addr, y->pitch, w->theirs.rows, w->theirs.cols, DT_f32,
		      counter, &l);
	return probe_launch(w->p, &l);
}

bool sweep_queue(struct sweep *w, const struct stretch *t, int64_t chunk, CUdeviceptr counts)
{
	struct search *s = w->s;

	if (!sweep_theirs(w, t, chunk))
		return false;
	for (unsigned i = 0; i < s->n; i++, counts += sizeof(struct sweep_counts))
		if (!sweep_ours(w, t, chunk, &s->trial[i].c) ||
		    (sweep_keeps_silu(w->p) && !compare(w, SILU_MUL_SILU, counts)) ||
		    !compare(w, SILU_MUL_OUT, counts + offsetof(struct sweep_counts, out)))
			return false;
	return true;
}
