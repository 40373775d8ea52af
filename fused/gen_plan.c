/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/gen_plan.h"

#include <string.h>

static bool is_load(const struct row *r, unsigned i)
{
	return r->stmt[i].code == ROW_LOAD;
}

static void find_live(struct gen *g)
{
	const struct row *r = g->r;

	for (unsigned i = r->nstmt; i-- > 0;) {
		const struct row_stmt *s = &r->stmt[i];

		if (s->code == ROW_STORE)
			g->live[i] = !(s->flags & ROW_DEAD);
		for (unsigned k = 0; g->live[i] && k < gen_nargs(r, i); k++)
			g->live[s->arg[k]] = true;
	}
}

static void find_levels(struct gen *g)
{
	const struct row *r = g->r;
	uint8_t which = g->form == GEN_FLAT ? ROW_SPAN_ROWS : ROW_SPAN_COLS;

	g->nphase = 1;
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		uint8_t level = 0;

		for (unsigned k = 0; k < gen_nargs(r, i); k++)
			if (g->level[s->arg[k]] > level)
				level = g->level[s->arg[k]];
		if (gen_reduces(r, i) && s->code != ROW_WELFORD_M2)
			level++;
		g->level[i] = level;
		g->varies[i] = s->span & which;
		if (g->live[i] && level + 1u > g->nphase)
			g->nphase = level + 1u;
	}
}

/* Little work, of one value of the columns and others of the row? That value. Else i. */
static unsigned little_of(const struct gen *g, unsigned i)
{
	const struct row_stmt *s = &g->r->stmt[i];
	unsigned of = i;

	if (s->code != ROW_ADD && s->code != ROW_SUB && s->code != ROW_MUL && s->code != ROW_FMA)
		return i;
	for (unsigned k = 0; k < gen_nargs(g->r, i); k++)
		if (g->varies[s->arg[k]]) {
			if (of != i && of != s->arg[k])
				return i;
			of = s->arg[k];
		}
	return of;
}

/*
 * What is kept in the place of a value: the same but narrower, or what it was made of once a sum
 * was there, and can be again for less than a walk to keep it.
 */
static unsigned kept_for(const struct gen *g, unsigned i)
{
	const struct row *r = g->r;

	for (;;) {
		unsigned a = r->stmt[i].arg[0];

		if (r->stmt[i].code != ROW_CAST || dtype_bytes((enum dtype)r->stmt[a].type) >=
							   dtype_bytes((enum dtype)r->stmt[i].type))
			a = little_of(g, i);
		if (a == i || (r->stmt[i].code != ROW_CAST && g->level[a] >= g->level[i]))
			return i;
		i = a;
	}
}

static bool everywhere(const struct row *r, const struct row_operand *o)
{
	for (unsigned d = 0; d < r->ndim; d++)
		if (o->stride[d])
			return false;
	return true;
}

/* What the walk of a phase needs: marks what has to be kept for it. True if anything changed. */
static bool need(struct gen *g, unsigned i, unsigned phase)
{
	const struct row *r = g->r;
	const struct row_stmt *s = &r->stmt[i];
	bool changed = false;
	unsigned n;

	if (!g->varies[i] || s->code == ROW_COL || (g->keep[i] && g->made[i] < phase))
		return false;
	if (is_load(r, i)) {
		if (g->made[i] == GEN_NEVER || g->made[i] > phase) {
			changed = g->made[i] != phase;
			g->made[i] = (uint8_t)phase;
		} else if (g->made[i] < phase && (!everywhere(r, &r->operand[s->at]) ||
						  r->operand[s->at].use & ROW_WRITE)) {
			changed = !g->keep[i];
			g->keep[i] = true;
		}
		return changed;
	}
	if (g->level[i] >= phase) {
		changed = g->made[i] != g->level[i];
		g->made[i] = g->level[i];
		for (unsigned k = 0; k < gen_nargs(r, i); k++)
			changed |= need(g, s->arg[k], phase);
		return changed;
	}
	/* Of an earlier phase. */
	n = kept_for(g, i);
	if (n != i && g->varies[n])
		return need(g, n, phase);
	changed = !g->keep[i];
	g->keep[i] = true;
	return changed | need(g, i, g->level[i]);
}

static void find_kept(struct gen *g)
{
	const struct row *r = g->r;
	bool changed = true;

	memset(g->made, GEN_NEVER, sizeof(g->made));
	/* What is overwritten in place is read at once. */
	for (unsigned i = 0; i < r->nstmt; i++)
		if (g->live[i] && is_load(r, i) && r->operand[r->stmt[i].at].use & ROW_WRITE)
			need(g, i, 0);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < r->nstmt; i++) {
			const struct row_stmt *s = &r->stmt[i];

			if (!g->live[i])
				continue;
			if (s->code == ROW_STORE)
				changed |= need(g, s->arg[0], g->level[s->arg[0]]);
			if (!gen_reduces(r, i) || s->code == ROW_WELFORD_M2)
				continue;
			for (unsigned k = 0; k < gen_nargs(r, i); k++) {
				unsigned a = s->arg[k], n = kept_for(g, a);

				changed |= need(g, a, g->level[i] - 1u);
				/* Other threads add it up. */
				if (gen_extreme(r, i) || !g->varies[a])
					continue;
				if (!g->varies[n])
					n = a;
				changed |= !g->keep[n];
				g->keep[n] = true;
				changed |=
					need(g, n, is_load(r, n) ? g->level[i] - 1u : g->level[n]);
			}
		}
	}
}

static unsigned round16(uint64_t bytes)
{
	return (unsigned)((bytes + 15) / 16 * 16);
}

/* States of a reduction in shared memory: see shares in gen_order.cuh. */
static unsigned scratch_of(const struct row *r, unsigned i)
{
	const struct row_order *o = &r->order[r->stmt[i].at];
	unsigned n = 32, width = o->width ? o->width : o->threads;

	if (!gen_extreme(r, i) && (o->block == ORDER_block_HALVING || o->block == ORDER_block_ALL))
		n = o->threads + o->threads / width;
	return round16((uint64_t)n * (r->stmt[i].code == ROW_WELFORD
					      ? 12
					      : dtype_bytes((enum dtype)r->stmt[i].type)));
}

/* Places in shared memory; false if they take more than there is. */
static bool find_places(struct gen *g, unsigned max_shmem)
{
	const struct row *r = g->r;
	uint64_t at = 0;

	for (unsigned i = 0; i < r->nstmt; i++) {
		if (!g->live[i])
			continue;
		if (g->keep[i]) {
			g->shared[i] = (unsigned)at;
			at += round16((uint64_t)r->cols * dtype_bytes((enum dtype)r->stmt[i].type));
		} else if (gen_reduces(r, i) && r->stmt[i].code != ROW_WELFORD_M2) {
			g->shared[i] = (unsigned)at;
			at += scratch_of(r, i);
		}
		if (at > max_shmem)
			return false;
	}
	g->group_bytes = (unsigned)at;
	return true;
}

static unsigned find_vec(const struct gen *g)
{
	const struct row *r = g->r;
	unsigned least = 8, vec;

	for (unsigned i = 0; i < r->noperand; i++)
		if (r->operand[i].step || g->form == GEN_FLAT)
			if (dtype_bytes((enum dtype)r->operand[i].dtype) < least)
				least = (unsigned)dtype_bytes((enum dtype)r->operand[i].dtype);
	vec = 16 / least > 8 ? 8 : 16 / least;
	if (g->form != GEN_FLAT && !row_is_elementwise(r))
		while (r->cols % vec)
			vec /= 2;
	return vec;
}

/* Does a value that is stored in place move on its way within the row? (Pairs of a chunk are one
 * thread's.) */
static bool moves_in_place(const struct row *r)
{
	bool moves = false, in_place = false;

	for (unsigned i = 0; i < r->nstmt; i++)
		moves |= r->stmt[i].code == ROW_SHIFT || r->stmt[i].code == ROW_CAT;
	for (unsigned i = 0; i < r->noperand; i++)
		in_place |= r->operand[i].use == (ROW_READ | ROW_WRITE);
	return moves && in_place;
}

static const char *unfit(const struct gen *g)
{
	const struct row *r = g->r;

	if (row_is_late(r))
		return "stores that have to wait for all rows (gen_split)";
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];
		unsigned bytes = (unsigned)dtype_bytes((enum dtype)o->dtype);

		if ((1u << o->align) < bytes)
			return "an operand is not aligned to its elements";
		if (g->form == GEN_FLAT && o->stride[0] && o->stride[0] != bytes)
			return "a run of elements has gaps";
		if (g->form == GEN_FLAT && !o->stride[0] && o->use & ROW_WRITE && r->size[0] > 1)
			return "a run of elements is stored in one place";
		if (g->form != GEN_FLAT && !row_is_elementwise(r) && o->step && o->width < 1)
			return "an operand has no columns";
	}
	for (unsigned i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_PAIR && g->vec < 2)
			return "pairs in rows of an odd number of columns";
	for (unsigned i = 0; i < r->norder; i++) {
		const struct row_order *o = &r->order[i];
		unsigned width = o->width ? o->width : o->threads;

		if (o->threads < 1 || o->threads > 1024)
			return "a sum by more threads than a block has";
		if (o->block == ORDER_block_HALVING &&
		    (o->threads & (o->threads - 1) || o->threads % width || width & (width - 1)))
			return "a sum halved by an odd number of threads";
		if (o->walk == ORDER_walk_STRIDED && o->part > o->vec)
			return "a sum with parts larger than its groups";
		if (o->block == ORDER_block_ONEWARP && o->threads > 32)
			return "a sum by one warp of more than 32 threads";
	}
	return NULL;
}

const char *gen_plan(struct gen *g, const struct row *r, unsigned max_shmem)
{
	bool reduces = false;
	const char *why;

	memset(g, 0, sizeof(*g));
	g->r = r;
	g->name = row_hash(r);
	find_live(g);
	for (unsigned i = 0; i < r->nstmt; i++)
		reduces |= g->live[i] && gen_reduces(r, i);
	g->late = moves_in_place(r);
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];

		g->partial |= !row_operand_kept_whole(o);
		g->some |= gen_some_rows(r, o);
		g->scalar_in_place |= !o->step && r->cols > 1 && o->use == (ROW_READ | ROW_WRITE);
	}
	g->form = reduces || g->late || g->scalar_in_place  ? GEN_ROWS
		  : row_is_flat(r) && row_is_elementwise(r) ? GEN_FLAT
							    : GEN_CELLS;
	g->vec = find_vec(g);
	why = unfit(g);
	if (why)
		return why;
	find_levels(g);
	if (g->form != GEN_ROWS)
		return NULL;
	find_kept(g);
	if (find_places(g, max_shmem))
		return g->late && gen_chunks(g) > 4 * 1024
			       ? "values move within a row that is too long"
			       : NULL;
	if (g->late)
		return "values move within a row that is too long";
	for (unsigned i = 0; i < r->nstmt; i++)
		if (g->live[i] && r->stmt[i].code == ROW_PAIR)
			return "pairs in a row that is too long";
	g->form = GEN_LONG;
	memset(g->keep, 0, sizeof(g->keep));
	return find_places(g, max_shmem) ? NULL : "sums that need too much shared memory";
}
