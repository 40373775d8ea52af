/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses one after the other: operations, roles, element types, sizes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim/probe_child_infer_run.h"

enum { INPUTS = 3 };

enum order { ANY, FIRST };

static const struct op_row {
	enum opcode code;
	unsigned (*spaces)(const struct infer_facts *f, int64_t n, struct infer_space *s);
	enum order order;
	bool plus_one;
	uint8_t role[INPUTS + 1]; /* ends with ROLE_NONE */
} table[] = {
#define INFER_OP(code, space, order, plus_one, ...)                                                \
	{OP_##code, infer_spaces_##space, order, plus_one, {__VA_ARGS__}},
#include "shim/probe_child_infer_ops.def"
#undef INFER_OP
};

static const enum dtype types[] = {DT_f32, DT_bf16, DT_f16};
enum { TYPES = sizeof(types) / sizeof(*types) };

bool infer_fail(struct infer *i, int close, const char *fmt, ...)
{
	va_list ap;

	if (i->why[0] && close <= i->close)
		return false;
	i->close = close;
	va_start(ap, fmt);
	vsnprintf(i->why, sizeof(i->why), fmt, ap);
	va_end(ap);
	return false;
}

static bool is_norm(enum opcode c)
{
	return c == OP_rmsnorm || c == OP_layernorm;
}

/* Would the kernel of this name have elements of that type? */
static bool named(const struct infer *i, enum dtype t)
{
	const char *name = i->p->member[0].kernel.name;
	bool half = strstr(name, "__half") != NULL, bf16 = strstr(name, "bfloat16") != NULL;

	return half == bf16 || t == DT_f32 || half == (t == DT_f16);
}

/* Nothing more to try: the process is broken, or there is a reason that stays. */
static bool over(const struct infer *i)
{
	return i->p->why || i->close >= 4;
}

/*
 * What leaves 16-bit numbers as they are, or only changes their sign, says nothing about their
 * type. The name may; else the other type is tried.
 */
static bool type_is_clear(struct infer *i, const struct infer_guess *g)
{
	struct infer_guess twin = *g;
	char section[INFER_TEXT];
	struct op op;

	i->line_known = false;
	twin.type = g->type == DT_f16 ? DT_bf16 : DT_f16;
	if (g->type == DT_f32 || !named(i, twin.type) ||
	    !infer_section(&i->f, &twin, i->launch[0].params, section, sizeof(section)) ||
	    !infer_decode(i, section, &i->launch[0], &op) ||
	    !infer_agrees(i, &op, i->first[0], i->first[1], g->eps, false))
		return true;
	return infer_fail(i, 4, "it computes %s, but on f16 or on bf16?", opcode_name(g->code));
}

/* One guess, sizes included: first against the run that there is. */
static bool sized(struct infer *i, struct infer_guess *g)
{
	struct op op;

	i->line_known = false;
	if (!infer_section(&i->f, g, i->launch[0].params, i->section, sizeof(i->section)) ||
	    !infer_decode(i, i->section, &i->launch[0], &op) ||
	    !infer_agrees(i, &op, i->first[0], i->first[1], 0, is_norm(g->code)))
		return false;
	if (i->part)
		return infer_fail(
			i, 5, "it does what %s does, and writes %llu bytes outside of that",
			opcode_name(g->code), (unsigned long long)(i->whole - i->f.extent));
	infer_fail(i, 1, "it does what %s does, but only almost", opcode_name(g->code));
	return (!is_norm(g->code) || infer_eps(i, g)) && infer_check(i, g);
}

static bool typed(struct infer *i, const struct op_row *r, const struct infer_guess *like)
{
	unsigned bytes = dtype_bytes(like->type);
	static struct infer_space space[INFER_SPACES];
	unsigned n =
		i->f.extent % bytes ? 0 : r->spaces(&i->f, (int64_t)(i->f.extent / bytes), space);

	i->sized |= n > 0;
	if (i->part && (i->part != bytes || infer_by_rows(r->code)))
		return false;
	for (unsigned k = 0; k < n && !over(i); k++) {
		struct infer_guess g = *like;

		g.space = space[k];
		if (sized(i, &g))
			return type_is_clear(i, &g);
	}
	return false;
}

/* Types: all alike; a norm's weights in f32; a copy from one type to another. */
static bool with_roles(struct infer *i, const struct op_row *r, struct infer_guess *g)
{
	for (unsigned t = 0; t < TYPES; t++) {
		g->type = types[t];
		if (!named(i, g->type))
			continue;
		memset(g->dtypes, 0, sizeof(g->dtypes));
		if (typed(i, r, g))
			return true;
		for (unsigned a = 0; a < i->f.narg; a++) {
			bool weight = is_norm(r->code) &&
				      (g->role[a] == ROLE_weight || g->role[a] == ROLE_bias),
			     from = r->code == OP_copy && g->role[a] == ROLE_in0;

			if (weight && g->type != DT_f32)
				g->dtypes[a] = DT_f32;
			for (unsigned o = 0; from && o < TYPES; o++) {
				g->dtypes[a] = (uint8_t)types[o];
				if (types[o] != g->type && typed(i, r, g))
					return true;
			}
		}
		if (is_norm(r->code) && g->type != DT_f32 && typed(i, r, g))
			return true;
	}
	return false;
}

/* Hands the roles from number `k` on to the inputs that have none. */
static bool assign(struct infer *i, const struct op_row *r, unsigned k, struct infer_guess *g)
{
	if (!r->role[k])
		return with_roles(i, r, g);
	for (unsigned a = 0; a < i->f.narg; a++) {
		if (!i->f.arg[a].pointer || !i->f.read[a] || a == i->f.out || g->role[a])
			continue;
		g->role[a] = r->role[k];
		if (assign(i, r, k + 1, g))
			return true;
		g->role[a] = ROLE_NONE;
		if (over(i) || r->order == FIRST)
			return false;
	}
	return false;
}

static bool operation(struct infer *i, const struct op_row *r, unsigned inputs)
{
	struct infer_guess g = {.code = r->code, .plus_one = r->plus_one, .eps_arg = -1};
	unsigned n = 0;

	while (r->role[n])
		n++;
	if (n != inputs)
		return false;
	g.role[i->f.out] = ROLE_out;
	g.inout = i->f.read[i->f.out];
	return assign(i, r, g.inout, &g);
}

static bool operations(struct infer *i, unsigned inputs)
{
	for (unsigned k = 0; k < sizeof(table) / sizeof(*table) && !over(i); k++)
		if (operation(i, &table[k], inputs))
			return true;
	return false;
}

/* Would it be something known if it wrote a little less? For the reason only. */
static void less(struct infer *i, unsigned inputs)
{
	enum { LITTLE = 4096 };

	i->whole = i->f.extent;
	for (unsigned a = 0; a < i->f.narg && i->close < 5; a++)
		for (unsigned bytes = 2; bytes <= 4; bytes += 2) {
			int64_t end = i->f.arg[a].pointer ? 0 : i->f.arg[a].value;

			if (end <= 0 || end > (int64_t)1 << 40)
				continue;
			end *= bytes;
			if ((uint64_t)end >= i->whole || i->whole - (uint64_t)end > LITTLE)
				continue;
			i->f.extent = (uint64_t)end;
			i->part = bytes;
			operations(i, inputs);
		}
}

bool infer_search(struct infer *i)
{
	unsigned inputs = 0;

	for (unsigned a = 0; a < i->f.narg; a++)
		inputs += i->f.arg[a].pointer && i->f.read[a];
	if (!inputs)
		return infer_fail(i, 0, "what it writes does not depend on what it could read");
	if (operations(i, inputs))
		return true;
	if (!over(i) && !i->gap)
		less(i, inputs);
	if (i->gap)
		infer_fail(i, 0, "it leaves gaps in what it writes, or writes outside");
	if (!i->sized)
		infer_fail(i, 0,
			   "how much it writes (%llu bytes) follows from no argument and not from "
			   "the grid",
			   (unsigned long long)i->f.extent);
	return infer_fail(i, 0, "it computes nothing of what is known");
}
