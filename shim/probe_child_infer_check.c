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

/* Is it a launch that the program made? */
static bool recorded(const struct infer *i, const struct infer_launch *l)
{
	for (unsigned k = 0; k < i->nlaunch; k++)
		if (!memcmp(l, &i->launch[k], sizeof(*l)))
			return true;
	return false;
}

/* Counts a run of a launch that nobody made. False: it is one of those that fault. */
static bool run_starts(struct infer *i)
{
	i->runs++;
	for (unsigned k = 0; k < i->faults->n; k++)
		if (i->faults->run[k] == i->runs)
			return false;
	*i->trying = i->runs;
	return true;
}

enum infer_holds infer_try(struct infer *i, const struct infer_guess *g,
			   const struct infer_launch *l, enum infer_family family)
{
	bool ran, ours = !recorded(i, l);
	struct op op;

	/* Nothing runs any more after one that faulted. */
	if (i->p->why || !infer_decode(i, i->section, l, &op))
		return HOLDS_NOT;
	if (!fits(i, &op))
		return HOLDS_UNTRIED;
	if (ours && !run_starts(i))
		return HOLDS_NOT;
	infer_fill(i, &op, family);
	ran = infer_arena_run(i, l, false);
	if (ran)
		*i->trying = 0;
	return ran && infer_agrees(i, &op, i->before, i->after, op.has_eps ? op.eps : g->eps, false)
		       ? HOLDS
		       : HOLDS_NOT;
}

static bool inputs(struct infer *i, const struct infer_guess *g)
{
	static const enum infer_family family[] = {INFER_ORDINARY, INFER_WIDE,      INFER_SPECIAL,
						   INFER_TINY,     INFER_ONE_SIDED, INFER_SPIKES,
						   INFER_SPIKES,   INFER_SPIKES,    INFER_SPIKES,
						   INFER_SPIKES,   INFER_ORDINARY};

	for (unsigned k = 0; k < sizeof(family) / sizeof(*family); k++)
		if (infer_try(i, g, &i->launch[0], family[k]) != HOLDS)
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
		i->line_known = false; /* another constant */
		g->free[a] = true;
		if (!infer_section(&i->f, g, l.params, i->section, sizeof(i->section)) ||
		    infer_try(i, g, &l, INFER_ORDINARY) != HOLDS)
			g->free[a] = false;
		i->line_known = false;
	}
}

/* Launches that the section speaks of, too. */
static bool others(struct infer *i, const struct infer_guess *g)
{
	struct op op;

	for (unsigned k = 1; k < i->nlaunch; k++) {
		i->line_known = false;
		if (infer_decode(i, i->section, &i->launch[k], &op) &&
		    infer_try(i, g, &i->launch[k], INFER_ORDINARY) == HOLDS_NOT)
			return false;
	}
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
	if (!infer_sizes(i, g))
		return infer_fail(
			i, 3,
			"it computes %s, but which arguments or dimensions its sizes come "
			"from cannot be told",
			op);
	free_constants(i, g);
	if (!infer_section(&i->f, g, params, i->section, sizeof(i->section)))
		return infer_fail(i, 2, "its section would be too long");
	if (infer_try(i, g, &i->launch[0], INFER_ORDINARY) != HOLDS || !others(i, g))
		return infer_fail(
			i, 4, "it computes %s in one launch, and something else in another", op);
	return true;
}
