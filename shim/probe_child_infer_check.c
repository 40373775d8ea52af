/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a guess hold? The section that it becomes is read back by the decoder that programs'
 * launches meet, for the launch as it was, with other inputs, at other sizes; what the decoder says
 * is written must be what a run writes, with the numbers that the operation makes.
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "matcher/decode.h"
#include "matcher/sig.h"
#include "shim/probe_child_infer_run.h"

enum holds { HOLDS_NOT, HOLDS, HOLDS_UNTRIED /* it would not fit */ };

bool infer_decode(struct infer *i, const char *section, const struct infer_launch *l, struct op *op)
{
	static char compiled[INFER_TEXT];
	static uint8_t params[INFER_PARAM_BYTES];
	struct kernel *k = &i->p->member[0].kernel;
	struct launch launch = {.kernel = k, .shmem = l->shmem, .params = params};

	if (strcmp(compiled, section)) {
		enum log_level level = log_level;
		char text[2 * INFER_TEXT + 4096];
		struct config c;

		snprintf(text, sizeof(text), "[kernel k]\nmatch = %s\n%s", k->name, section);
		config_load(&c, false);
		log_level = LOG_QUIET; /* bad guesses are no news */
		config_add_text(&c, "guess", text);
		sig_forget();
		sig_compile(&c);
		log_level = level;
		config_free(&c);
		snprintf(compiled, sizeof(compiled), "%s", section);
		decode_kernel(k);
	}
	memcpy(launch.grid, l->grid, sizeof(launch.grid));
	memcpy(launch.block, l->block, sizeof(launch.block));
	infer_arena_place(i, l, params);
	return k->decoder && decode_launch(&launch, op) == REASON_NONE;
}

static bool fits(const struct infer *i, const struct op *op)
{
	for (unsigned k = 0; k < op->noperand; k++) {
		struct range r = operand_range(&op->operand[k]);
		bool in = false;

		for (unsigned n = 0; n < i->nregion; n++) {
			uint64_t lo = i->arena + i->region[n].at;

			in |= r.lo >= lo && r.hi <= lo + i->region[n].window;
		}
		if (!in)
			return false;
	}
	return true;
}

static enum holds try(struct infer *i, const struct infer_guess *g, const struct infer_launch *l,
		      enum infer_family family)
{
	struct op op;

	if (!infer_decode(i, i->section, l, &op))
		return HOLDS_NOT;
	if (!fits(i, &op))
		return HOLDS_UNTRIED;
	infer_fill(i, &op, family);
	return infer_arena_run(i, l, false) &&
			       infer_agrees(i, &op, i->before, i->after, g->eps, false)
		       ? HOLDS
		       : HOLDS_NOT;
}

static void set_arg(const struct infer *i, struct infer_launch *l, unsigned arg, int64_t v)
{
	memcpy(l->params + i->f.arg[arg].offset, &v, i->f.arg[arg].bytes);
}

/* More of something than there was: the grid may have to grow in the one direction or the other. */
static enum holds grown(struct infer *i, const struct infer_guess *g, const struct infer_launch *l,
			unsigned times)
{
	enum holds best = HOLDS_NOT;

	for (unsigned d = 0; d <= 3 && best != HOLDS; d++) {
		struct infer_launch more = *l;
		enum holds h;

		if (d < 3)
			more.grid[d] *= times;
		h = try(i, g, &more, INFER_ORDINARY);
		best = h == HOLDS_NOT ? best : h;
	}
	return best;
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

/* The argument with that word, or -1. */
static int with_word(const struct infer_guess *g, const char *word)
{
	for (unsigned u = 0; u < g->space.nuse; u++)
		if (!strcmp(g->space.use[u].word, word))
			return g->space.use[u].arg;
	return -1;
}

/* One argument at other values; `n` is a multiple of the columns and goes with them. */
static bool argument_follows(struct infer *i, struct infer_guess *g, unsigned u)
{
	unsigned arg = g->space.use[u].arg;
	int n = with_word(g, "n"), cols = with_word(g, "cols");
	int64_t v = i->f.arg[arg].value, to[2] = {rounder(v), odder(v)};

	if (cols < 0)
		cols = with_word(g, "@c");
	if ((int)arg == n && cols >= 0) {
		to[0] = to[1] = g->space.rows > 1 ? v - g->space.cols : 2 * v;
	} else if (v == 1) {
		to[0] = to[1] = 2;
	}
	for (unsigned k = 0; k < 2; k++) {
		struct infer_launch l = i->launch[0];
		enum holds h;

		set_arg(i, &l, arg, to[k]);
		if (n >= 0 && cols >= 0 && (int)arg == cols)
			set_arg(i, &l, (unsigned)n, i->f.arg[n].value / v * to[k]);
		h = to[k] > v ? grown(i, g, &l, 2) : try(i, g, &l, INFER_ORDINARY);
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
	enum holds h = HOLDS_UNTRIED, m;

	less.grid[d]--;
	more.grid[d]++;
	if (less.grid[d])
		h = try(i, g, &less, INFER_ORDINARY);
	m = try(i, g, &more, INFER_ORDINARY);
	return h != HOLDS_NOT && m != HOLDS_NOT && (h == HOLDS || m == HOLDS);
}

static bool block_follows(struct infer *i, const struct infer_guess *g, unsigned d)
{
	struct infer_launch l = i->launch[0];

	if (l.block[d] % 2 || (d == 0 && l.block[d] < 64))
		return false;
	l.block[d] /= 2;
	return try(i, g, &l, INFER_ORDINARY) == HOLDS;
}

/* More blocks than the sizes ask for change nothing. (In place, a dimension that a kernel does not
 * look at would have it work twice.) */
static bool grid_is_free(struct infer *i, const struct infer_guess *g, unsigned d)
{
	struct infer_launch l = i->launch[0];

	if (d && g->inout)
		return true;
	l.grid[d]++;
	return try(i, g, &l, INFER_ORDINARY) == HOLDS;
}

static bool sizes(struct infer *i, struct infer_guess *g)
{
	for (unsigned u = 0; u < g->space.nuse; u++)
		if (!argument_follows(i, g, u))
			return false;
	for (unsigned d = 0; d < 3; d++) {
		if (g->space.grid >> d & 1 ? !grid_follows(i, g, d) : !grid_is_free(i, g, d))
			return false;
		if (g->space.block >> d & 1 && !block_follows(i, g, d))
			return false;
	}
	return true;
}

static bool inputs(struct infer *i, const struct infer_guess *g)
{
	static const enum infer_family family[] = {INFER_ORDINARY, INFER_WIDE,      INFER_SPECIAL,
						   INFER_TINY,     INFER_ONE_SIDED, INFER_SPIKES,
						   INFER_SPIKES,   INFER_SPIKES,    INFER_SPIKES,
						   INFER_SPIKES,   INFER_ORDINARY};

	for (unsigned k = 0; k < sizeof(family) / sizeof(*family); k++)
		if (try(i, g, &i->launch[0], family[k]) != HOLDS)
			return false;
	return true;
}

/* A constant that the formula leaves open may be any. */
static void free_constants(struct infer *i, struct infer_guess *g)
{
	double v;

	for (unsigned a = 0; a < i->f.narg && g->code == OP_scale; a++) {
		struct infer_launch l = i->launch[0];

		if (!infer_real(&i->f.arg[a], l.params, &v))
			continue;
		infer_set_real(&i->f.arg[a], l.params, -1.75 * v);
		g->free[a] = true;
		if (!infer_section(&i->f, g, l.params, i->section, sizeof(i->section)) ||
		    try(i, g, &l, INFER_ORDINARY) != HOLDS)
			g->free[a] = false;
	}
}

/* Launches that the section speaks of, too. */
static bool others(struct infer *i, const struct infer_guess *g)
{
	struct op op;

	for (unsigned k = 1; k < i->nlaunch; k++)
		if (infer_decode(i, i->section, &i->launch[k], &op) &&
		    try(i, g, &i->launch[k], INFER_ORDINARY) == HOLDS_NOT)
			return false;
	return true;
}

bool infer_check(struct infer *i, struct infer_guess *g)
{
	const char *op = opcode_name(g->code);
	const uint8_t *params = i->launch[0].params;

	if (!infer_section(&i->f, g, params, i->section, sizeof(i->section)))
		return infer_fail(i, 2, "its section would be too long");
	if (!inputs(i, g))
		return infer_fail(i, 2, "on some inputs it does what %s does, on others not", op);
	if (!sizes(i, g))
		return infer_fail(
			i, 3,
			"it computes %s, but which arguments or dimensions its sizes come "
			"from cannot be told",
			op);
	free_constants(i, g);
	if (!infer_section(&i->f, g, params, i->section, sizeof(i->section)))
		return infer_fail(i, 2, "its section would be too long");
	if (try(i, g, &i->launch[0], INFER_ORDINARY) != HOLDS || !others(i, g))
		return infer_fail(
			i, 4, "it computes %s in one launch, and something else in another", op);
	return true;
}
