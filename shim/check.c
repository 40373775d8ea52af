/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/check.h"

#include <string.h>

#include "config/log.h"
#include "matcher/legal.h"
#include "shim/arena.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/worker.h"

enum { ALIGN = 256 }; /* copies keep their originals' alignment up to this */

static uint64_t bytes_of(struct range r)
{
	return r.hi - r.lo;
}

/* Room in the arena for a copy of r, aligned as r is; 0 if there is none. *used counts bytes. */
static uint64_t place(const struct arena *a, uint64_t *used, uint64_t lo, uint64_t bytes)
{
	uint64_t at = (*used + ALIGN - 1) / ALIGN * ALIGN + lo % ALIGN;

	if (at + bytes > a->bytes)
		return 0;
	*used = at + bytes;
	return a->base + at;
}

static uint64_t used_by(const struct check *c)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < c->nsnap; i++)
		used = c->snap[i].copy + bytes_of(c->snap[i].range) - c->arena->base;
	return used;
}

/* Copies [r.lo, r.lo + most) to the arena. */
static bool snapshot(struct check *c, CUstream stream, struct range r, uint64_t most)
{
	uint64_t used = used_by(c), copy;

	for (unsigned i = 0; i < c->nsnap; i++)
		if (c->snap[i].range.lo == r.lo)
			return true;
	if (bytes_of(r) > most)
		r.hi = r.lo + most;
	if (c->nsnap == CHECK_SNAPSHOTS || r.lo >= r.hi)
		return false;
	copy = place(c->arena, &used, r.lo, bytes_of(r));
	if (!copy || real.cuMemcpyDtoDAsync_v2(copy, r.lo, bytes_of(r), stream))
		return false;
	__atomic_fetch_add(&report_counts.own, 1, __ATOMIC_RELAXED);
	c->snap[c->nsnap].range = r;
	c->snap[c->nsnap++].copy = copy;
	return true;
}

static bool launch(const struct ours *o, CUstream stream, const struct fused_launch *l)
{
	CUfunction f = ours_function(o, l->kernel);
	void *params[] = {(void *)l->params};

	if (!f || real.cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0],
				      l->block[1], l->block[2], l->shmem, stream, params, NULL))
		return false;
	__atomic_fetch_add(&report_counts.own, 1, __ATOMIC_RELAXED);
	return true;
}

/* Queues the signal that ends the use of the arena. On failure the arena stays busy for good: what
 * is still queued in it cannot be told from what is done. */
static void publish(struct check *c, const struct ours *o, CUstream stream, struct verdict *v,
		    int64_t rows)
{
	struct arena *a = c->arena;
	struct fused_launch l;
	uint64_t ticket = __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);

	memset(c, 0, sizeof(*c));
	fused_publish(a->counter, arena_slot(a, 0), ticket, &l);
	if (!launch(o, stream, &l)) {
		log_warn_once("a live check could not be queued; no more checks in this context");
		return;
	}
	a->signal[0].verdict = v;
	a->signal[0].rows = rows;
	__atomic_store_n(&a->signal[0].ticket, ticket, __ATOMIC_RELEASE);
	worker_poll(&worker_device);
}

/* The arena of o, with room for what the whole group may read and write beside its first member:
 * twice what that does. */
static struct arena *arena_for(const struct ours *o, const struct member *m, unsigned *reads)
{
	uint64_t all = 0;

	*reads = 0;
	for (unsigned i = 0; i < m->op.noperand; i++) {
		all += bytes_of(operand_range(&m->op.operand[i]));
		*reads += (m->op.operand[i].access & ACCESS_READ) != 0;
	}
	return arena_get(o, 2 * all + (1 << 16));
}

bool check_ready(const struct ours *o, const struct member *m)
{
	unsigned reads;
	const struct arena *a = arena_for(o, m, &reads);

	return a && reads && !__atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
}

bool check_begin(struct check *c, const struct ours *o, CUstream stream, const struct member *m)
{
	unsigned reads;
	struct arena *a = arena_for(o, m, &reads);
	uint64_t share;
	int idle = 0;

	if (!a || !reads ||
	    !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	memset(c, 0, sizeof(*c));
	c->arena = a;
	if (!a->bytes) { /* given back between the look and the claim */
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
		c->arena = NULL;
		return false;
	}
	share = a->bytes / 2 / reads - 2 * ALIGN;
	for (unsigned i = 0; i < m->op.noperand; i++)
		if ((m->op.operand[i].access & ACCESS_READ) &&
		    !snapshot(c, stream, operand_range(&m->op.operand[i]), share)) {
			check_cancel(c, o, stream);
			return false;
		}
	return true;
}

static bool written(const struct group *g, struct range r)
{
	for (unsigned i = 0; i < g->nbound; i++)
		if ((g->bound[i].use & (BOUND_WRITE | BOUND_DEAD)) &&
		    range_overlap(bound_range(g, &g->bound[i]), r))
			return true;
	return false;
}

/* The copy that stands for the live address, 0 if there is none; *rows is cut to what it holds. */
static uint64_t copy_of(const struct check *c, const struct group *g, const struct bound *b,
			int64_t *rows)
{
	uint64_t row = (uint64_t)g->cols * dtype_bytes(b->dtype);

	for (unsigned i = 0; i < c->nsnap; i++) {
		struct range r = c->snap[i].range;

		if (b->addr < r.lo || b->addr + row > r.hi)
			continue;
		if (b->pitch) {
			int64_t fit = (int64_t)((r.hi - b->addr - row) / (uint64_t)b->pitch) + 1;

			*rows = fit < *rows ? fit : *rows;
		}
		return c->snap[i].copy + (b->addr - r.lo);
	}
	return 0;
}

bool check_last(struct check *c, CUstream stream, const struct group *g)
{
	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];
		struct range r = bound_range(g, b);
		int64_t rows = g->rows;

		if ((b->use & BOUND_READ) && written(g, r) && !copy_of(c, g, b, &rows) &&
		    !snapshot(c, stream, r, c->arena->bytes / 8))
			return false;
	}
	return true;
}

/* Makes *s the group over copies, over as many rows as fit. False if none do. */
static bool shadow(const struct check *c, const struct group *g, struct group *s)
{
	uint64_t used = used_by(c), room;
	unsigned fresh = 0;

	*s = *g;
	for (unsigned i = 0; i < g->nbound; i++) {
		struct bound *b = &s->bound[i];
		uint64_t copy = copy_of(c, g, b, &s->rows);

		if ((b->use & BOUND_READ) && !copy && written(g, bound_range(g, b)))
			return false;
		fresh += (b->use & BOUND_WRITE) && !copy;
		b->addr = copy ? copy : (b->use & BOUND_WRITE) ? 0 : b->addr;
	}
	room = fresh && c->arena->bytes > used ? (c->arena->bytes - used) / fresh : 0;
	for (unsigned i = 0; i < g->nbound; i++)
		if ((g->bound[i].use & BOUND_WRITE) && !s->bound[i].addr) {
			int64_t pitch = g->bound[i].pitch, fit;

			if (room < 4 * ALIGN || pitch <= 0)
				return false;
			fit = ((int64_t)room - 2 * ALIGN) / pitch;
			s->rows = fit < s->rows ? fit : s->rows;
		}
	if (s->rows < 1)
		return false;
	for (unsigned i = 0; i < g->nbound; i++) {
		struct bound *b = &s->bound[i];

		/* Two outputs at one address (the first is dead) share one copy. */
		for (unsigned j = 0; j < i && !b->addr; j++)
			if (g->bound[j].addr == g->bound[i].addr)
				b->addr = s->bound[j].addr;
		if (!b->addr)
			b->addr = place(c->arena, &used, g->bound[i].addr,
					(uint64_t)s->rows * (uint64_t)b->pitch);
		if (!b->addr)
			return false;
	}
	return true;
}

void check_run(struct check *c, const struct ours *o, CUstream stream, const struct group *g,
	       struct verdict *v)
{
	struct arena *a = c->arena;
	struct group s;
	struct fused_launch l;
	bool ok = shadow(c, g, &s) && !fused_launch(&s, &v->candidate, &o->limits, &l) &&
		  !real.cuMemsetD8Async(a->counter, 0, 16, stream);

	for (unsigned i = 0; ok && i < g->nbound; i++) {
		/* Garbage first: an output that our kernel leaves out must not pass by luck. */
		if ((s.bound[i].use & (BOUND_WRITE | BOUND_READ)) == BOUND_WRITE &&
		    s.bound[i].addr >= a->base && s.bound[i].addr < a->base + a->bytes) {
			int64_t rows = s.rows;

			if (!copy_of(c, g, &g->bound[i], &rows))
				ok = !real.cuMemsetD8Async(s.bound[i].addr, 0xa5,
							   (size_t)(s.rows * s.bound[i].pitch),
							   stream);
		}
	}
	if (times_on)
		times_before();
	ok = ok && launch(o, stream, &l);
	if (times_on)
		times_after_group(g, &v->key, s.rows, true);
	for (unsigned i = 0; ok && i < g->nbound; i++) {
		if (!(g->bound[i].use & BOUND_WRITE))
			continue;
		fused_compare(s.bound[i].addr, s.bound[i].pitch, g->bound[i].addr,
			      g->bound[i].pitch, s.rows, g->cols, (enum dtype)g->bound[i].dtype,
			      a->counter, &l);
		ok = launch(o, stream, &l);
	}
	publish(c, o, stream, ok ? v : NULL, ok ? g->rows : 0);
}

void check_cancel(struct check *c, const struct ours *o, CUstream stream)
{
	if (c->arena)
		publish(c, o, stream, NULL, 0);
}

void check_first_use(const struct ours *o, CUstream stream, struct verdict *v)
{
	struct arena *a = arena_get(o, 0);
	struct fused_launch l;
	int s;

	if (!a || (s = arena_signal(a, v)) < 0)
		return;
	v->first_use_over = true; /* one signal is enough */
	fused_publish(a->counter, arena_slot(a, s), a->signal[s].ticket, &l);
	if (!launch(o, stream, &l))
		log_debug("no completion signal for a first use");
}

bool check_poll(void)
{
	return arena_poll();
}

bool check_release_memory(void)
{
	return arena_release_memory();
}

void check_drop_context(CUcontext ctx)
{
	arena_drop_context(ctx);
}
