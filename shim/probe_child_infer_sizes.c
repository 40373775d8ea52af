/* SPDX-License-Identifier: Apache-2.0 */
/* Do a launch's sizes come from where a guess says? Each is tried at other values. */
#include <string.h>

#include "shim/probe_child_infer_run.h"

static void set_arg(const struct infer *i, struct infer_launch *l, unsigned arg, int64_t v)
{
	memcpy(l->params + i->f.arg[arg].offset, &v, i->f.arg[arg].bytes);
}

static int64_t get_arg(const struct infer *i, const struct infer_launch *l, unsigned arg)
{
	int64_t wide;
	int32_t narrow;

	if (i->f.arg[arg].bytes == 8) {
		memcpy(&wide, l->params + i->f.arg[arg].offset, 8);
		return wide;
	}
	memcpy(&narrow, l->params + i->f.arg[arg].offset, 4);
	return narrow;
}

/* Twice as much of something: the grid may have to grow in the one direction or the other. */
static bool grow(struct infer *i, const struct infer_guess *g, struct infer_launch *l)
{
	for (unsigned d = 0; d <= 3; d++) {
		struct infer_launch more = *l;

		if (d < 3)
			more.grid[d] *= 2;
		if (infer_try(i, g, &more, INFER_ORDINARY) == HOLDS) {
			*l = more;
			return true;
		}
	}
	return false;
}

/* The argument with that word, or -1. */
static int with_word(const struct infer_guess *g, const char *word)
{
	for (unsigned u = 0; u < g->space.nuse; u++)
		if (!strcmp(g->space.use[u].word, word))
			return g->space.use[u].arg;
	return -1;
}

/* Where rows are told by the number of all elements: that argument, and the one with the columns.
 */
static bool rows_by_elements(const struct infer_guess *g, int *n, int *cols)
{
	*n = with_word(g, "n");
	*cols = with_word(g, "cols");
	if (*cols < 0)
		*cols = with_word(g, "@c");
	return *n >= 0 && *cols >= 0;
}

/*
 * A launch in which no size is 1, from the one that was recorded: a single row looks the same
 * whatever lies between rows.
 */
static bool widen(struct infer *i, const struct infer_guess *g, struct infer_launch *l)
{
	int n, cols;
	bool by_n = rows_by_elements(g, &n, &cols);

	for (unsigned u = 0; u < g->space.nuse; u++) {
		unsigned arg = g->space.use[u].arg;
		int64_t v = get_arg(i, l, arg);

		if (v != 1 && !(by_n && (int)arg == n && g->space.rows == 1))
			continue;
		set_arg(i, l, arg, 2 * v);
		if (!grow(i, g, l))
			return false;
	}
	for (unsigned d = 0; d < 3; d++)
		if (g->space.grid >> d & 1 && l->grid[d] == 1) {
			l->grid[d] = 2;
			if (infer_try(i, g, l, INFER_ORDINARY) != HOLDS)
				return false;
		}
	return true;
}

/* A number that loops over several elements at a time like, and one that they do not. */
static int64_t rounder(int64_t v)
{
	return v >= 256 ? v / 2 / 64 * 64 : v >= 32 ? v / 2 / 8 * 8 : v / 2;
}

static int64_t odder(int64_t v)
{
	return v > 8 ? (v / 4 * 3) | 1 : v - 1;
}

/* One argument at other values; the number of all elements is a multiple of the columns and goes
 * with them. */
static bool argument_follows(struct infer *i, struct infer_guess *g, unsigned u,
			     const struct infer_launch *wide)
{
	unsigned arg = g->space.use[u].arg;
	int n, cols;
	bool by_n = rows_by_elements(g, &n, &cols);
	int64_t v = get_arg(i, wide, arg), to[2] = {rounder(v), odder(v)};

	if (by_n && (int)arg == n)
		to[0] = to[1] = v - v / (g->space.rows > 1 ? g->space.rows : 2);
	for (unsigned k = 0; k < 2; k++) {
		struct infer_launch l = *wide;
		enum infer_holds h;

		set_arg(i, &l, arg, to[k]);
		if (by_n && (int)arg == cols)
			set_arg(i, &l, (unsigned)n, get_arg(i, wide, (unsigned)n) / v * to[k]);
		h = infer_try(i, g, &l, INFER_ORDINARY);
		if (h == HOLDS)
			continue;
		if (!k || h == HOLDS_UNTRIED)
			return false;
		g->pinned[arg] = true; /* some sizes are not wholly worked on */
	}
	return true;
}

static bool grid_follows(struct infer *i, const struct infer_guess *g, unsigned d)
{
	struct infer_launch less = i->launch[0], more = i->launch[0];
	enum infer_holds h = HOLDS_UNTRIED, m;

	less.grid[d]--;
	more.grid[d]++;
	if (less.grid[d])
		h = infer_try(i, g, &less, INFER_ORDINARY);
	m = infer_try(i, g, &more, INFER_ORDINARY);
	return h != HOLDS_NOT && m != HOLDS_NOT && (h == HOLDS || m == HOLDS);
}

static bool block_follows(struct infer *i, const struct infer_guess *g, unsigned d)
{
	struct infer_launch l = i->launch[0];

	if (l.block[d] == 1 && (uint64_t)l.block[0] * l.block[1] * l.block[2] <= 512)
		l.block[d] = 2;
	else if (l.block[d] % 2 || (d == 0 && l.block[d] < 64))
		return false;
	else
		l.block[d] /= 2;
	return infer_try(i, g, &l, INFER_ORDINARY) == HOLDS;
}

/* More blocks than the sizes ask for change nothing. (In place, a dimension that a kernel does not
 * look at has it work twice, but nowhere else.) */
static bool grid_is_free(struct infer *i, const struct infer_guess *g, unsigned d)
{
	struct infer_launch l = i->launch[0];
	enum infer_holds h;

	i->where = g->inout && (d || g->space.one);
	l.grid[d]++;
	h = infer_try(i, g, &l, INFER_ORDINARY);
	i->where = false;
	return h == HOLDS;
}

bool infer_sizes(struct infer *i, struct infer_guess *g)
{
	struct infer_launch wide = i->launch[0];

	if (!widen(i, g, &wide))
		return false;
	for (unsigned u = 0; u < g->space.nuse; u++)
		if (!argument_follows(i, g, u, &wide))
			return false;
	for (unsigned d = 0; d < 3; d++) {
		if (g->space.grid >> d & 1 ? !grid_follows(i, g, d) : !grid_is_free(i, g, d))
			return false;
		if (g->space.block >> d & 1 && !block_follows(i, g, d))
			return false;
	}
	return true;
}
