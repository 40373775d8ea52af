// SPDX-License-Identifier: Apache-2.0
#include "shim/check_body.h"

#include "shim/arena.h"
#include "shim/check_chain.h"

static uint64_t bytes_of(struct range r)
{
	return r.hi - r.lo;
}

uint64_t check_place(const struct arena *a, uint64_t *used, uint64_t lo, uint64_t bytes)
{
	uint64_t at = (*used + CHECK_ALIGN - 1) / CHECK_ALIGN * CHECK_ALIGN + lo % CHECK_ALIGN;

	if (at + bytes > a->memory.bytes)
		return 0;
	*used = at + bytes;
	return a->memory.base + at;
}

uint64_t check_used(const struct check *c)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < c->nsnap; i++)
		used = c->snap[i].copy + bytes_of(c->snap[i].range) - c->arena->memory.base;
	return used;
}

bool check_snapshot(struct check *c, struct range r, uint64_t most, const struct check_sink *sink,
		    void *arg)
{
	uint64_t used = check_used(c), copy;

	for (unsigned i = 0; i < c->nsnap; i++)
		if (c->snap[i].range.lo == r.lo)
			return true;
	if (bytes_of(r) > most)
		r.hi = r.lo + most;
	if (c->nsnap == CHECK_SNAPSHOTS || r.lo >= r.hi)
		return false;
	copy = check_place(c->arena, &used, r.lo, bytes_of(r));
	if (!copy || !sink->copy(arg, copy, r.lo, bytes_of(r)))
		return false;
	c->snap[c->nsnap].range = r;
	c->snap[c->nsnap++].copy = copy;
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

unsigned check_copies(const struct check *c, const struct group *g, struct range *r)
{
	unsigned n = 0;

	if (g->row)
		return check_chain_copies(g, r);
	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];
		int64_t rows = g->rows;

		if ((b->use & BOUND_READ) && written(g, bound_range(g, b)) &&
		    !copy_of(c, g, b, &rows))
			r[n++] = bound_range(g, b);
	}
	return n;
}

uint64_t check_bytes(const struct group *g)
{
	uint64_t all = 0;

	if (g->row)
		return check_chain_bytes(g);
	for (unsigned i = 0; i < g->nbound; i++) {
		struct range r = bound_range(g, &g->bound[i]);

		all += bytes_of(r) + 4 * CHECK_ALIGN;
	}
	return all;
}

/* Makes *s the group over copies, over as many rows as fit. False if none do. */
static bool shadow(const struct check *c, const struct group *g, struct group *s)
{
	uint64_t used = check_used(c), room;
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
	room = fresh && c->arena->memory.bytes > used ? (c->arena->memory.bytes - used) / fresh : 0;
	for (unsigned i = 0; i < g->nbound; i++)
		if ((g->bound[i].use & BOUND_WRITE) && !s->bound[i].addr) {
			int64_t pitch = g->bound[i].pitch, fit;

			if (room < 4 * CHECK_ALIGN || pitch <= 0)
				return false;
			fit = ((int64_t)room - 2 * CHECK_ALIGN) / pitch;
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
			b->addr = check_place(c->arena, &used, g->bound[i].addr,
					      (uint64_t)s->rows * (uint64_t)b->pitch);
		if (!b->addr)
			return false;
	}
	return true;
}

/* Garbage first: an output that our kernel leaves out must not pass by luck. */
static bool spoil(const struct check *c, const struct group *g, const struct group *s,
		  const struct check_sink *sink, void *arg)
{
	const struct arena *a = c->arena;

	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &s->bound[i];
		int64_t rows = s->rows;

		if ((b->use & (BOUND_WRITE | BOUND_READ)) != BOUND_WRITE ||
		    b->addr < a->memory.base || b->addr >= a->memory.base + a->memory.bytes ||
		    copy_of(c, g, &g->bound[i], &rows))
			continue;
		if (!sink->fill(arg, b->addr, 0xa5, (uint64_t)(s->rows * b->pitch)))
			return false;
	}
	return true;
}

bool check_body(const struct check *c, const struct group *g, const struct verdict *v,
		const struct ours *o, const struct check_sink *sink, void *arg)
{
	const struct arena *a = c->arena;
	struct fused_launch l;
	struct standin to;
	struct group s;

	if (g->row)
		return check_chain_body(c, g, v, o, sink, arg);
	if (!shadow(c, g, &s) || standin_make_part(&s, g->rows, v, o, &to) != STANDIN_MADE ||
	    /* It is the other one that wants to be checked. */
	    (to.provisional && verdict_state(v) == VERDICT_CHECKING) ||
	    !sink->fill(arg, a->counter, 0, 16) || !spoil(c, g, &s, sink, arg) ||
	    !sink->candidate(arg, &to, s.rows))
		return false;
	for (unsigned i = 0; i < g->nbound; i++) {
		if (!(g->bound[i].use & BOUND_WRITE))
			continue;
		fused_compare(s.bound[i].addr, s.bound[i].pitch, g->bound[i].addr,
			      g->bound[i].pitch, s.rows, g->cols, (enum dtype)g->bound[i].dtype,
			      a->counter, &l);
		if (!standin_ours(&l, o, &to) || !sink->launch(arg, &to))
			return false;
	}
	return true;
}
