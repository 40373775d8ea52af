// SPDX-License-Identifier: Apache-2.0
/* Is what a section says complete, and does it fit the opcode? */
#include <stdio.h>

#include "matcher/sig_table.h"

static bool is_argument(const struct sig *s, int name)
{
	for (unsigned i = 0; i < s->narg; i++)
		if (s->arg[i].name == name)
			return true;
	return false;
}

/* Every @NAME of the expression is an argument, and every role if `roles_too`. */
static int check_terms(const struct sig *s, const char *what, const struct sig_expr *e,
		       bool roles_too)
{
	char text[96];

	for (unsigned i = 0; i < e->nterm; i++) {
		int64_t v = e->term[i].value;

		if (e->term[i].kind == TERM_ROLE && roles_too && s->at[v] < 0)
			snprintf(text, sizeof(text), "%s uses %s, which is no argument", what,
				 role_name((enum role)v));
		else if (e->term[i].kind == TERM_NAME && !is_argument(s, (int)v))
			snprintf(text, sizeof(text), "%s uses @%s, which is no argument", what,
				 s->name[v]);
		else
			continue;
		return sig_fail(s, s->line, text);
	}
	return 0;
}

/* An extent comes from an argument or an expression, not both; expressions use arguments only. */
static int check_extent(const struct sig *s, enum role role, const struct sig_expr *e)
{
	char what[96];

	if (e->nterm && s->at[role] >= 0) {
		snprintf(what, sizeof(what), "%s is both an argument and a key", role_name(role));
		return sig_fail(s, s->line, what);
	}
	return check_terms(s, role_name(role), e, true);
}

/* The operands that the opcode has, and no others, each with a type and a size. */
static int check_operands(struct sig *s)
{
	bool writes = false;
	char what[96];

	for (const struct sig_operand *o = sig_form(s->code)->operand; o->role; o++) {
		writes |= s->at[o->role] >= 0 && o->access & ACCESS_WRITE;
		if (s->at[o->role] >= 0 || o->may)
			continue;
		snprintf(what, sizeof(what), "args: %s needs %s", opcode_name(s->code),
			 role_name((enum role)o->role));
		return sig_fail(s, s->line, what);
	}
	if (!writes)
		return sig_fail(s, s->line, "args: nothing is written");
	/* Where one operand holds both factors, the opcode does not say how large it is. */
	if (s->code == OP_silu_mul && s->at[ROLE_in1] < 0 && !s->arg[s->at[ROLE_in0]].size)
		return sig_fail(s, s->line,
				"args: silu_mul needs in1, or in0[SIZE] that holds both");
	for (unsigned i = 0; i < s->narg; i++) {
		struct sig_arg *a = &s->arg[i];
		const struct sig_operand *o = sig_form_operand(s->code, (enum role)a->role);

		if (role_kind((enum role)a->role) != ROLE_KIND_OPERAND)
			continue;
		if (!o || (a->inout && !sig_form_operand(s->code, ROLE_in0))) {
			snprintf(what, sizeof(what), "args: %s has no %s", opcode_name(s->code),
				 role_name((enum role)a->role));
			return sig_fail(s, s->line, what);
		}
		if (a->box && sig_box_check(s, a, o, what, sizeof(what)))
			return sig_fail(s, s->line, what);
		for (unsigned k = 0; a->box && k < a->box->ndim; k++)
			if (check_terms(s, role_name((enum role)a->role), &a->box->dim[k].size,
					false) ||
			    check_terms(s, role_name((enum role)a->role), &a->box->dim[k].stride,
					false))
				return -1;
		if (o->shape == SHAPE_OWN && !a->size && !a->box) {
			snprintf(what, sizeof(what), "args: %s needs a size: %s[SIZE]",
				 opcode_name(s->code), role_name((enum role)a->role));
			return sig_fail(s, s->line, what);
		}
		if (a->size && check_terms(s, role_name((enum role)a->role), a->size, false))
			return -1;
		if (!a->dtype)
			a->dtype = o->shape == SHAPE_PER_ROW ? DT_f32 : s->dtype;
		if (!a->dtype)
			return sig_fail(s, s->line, "dtype is missing: f32, f16, bf16, ...");
	}
	return 0;
}

int sig_check(struct sig *s)
{
	const enum sig_space space = sig_form(s->code)->space;
	bool n = s->at[ROLE_n] >= 0 || s->n.nterm, rows = s->at[ROLE_rows] >= 0 || s->rows.nterm,
	     cols = s->at[ROLE_cols] >= 0 || s->cols.nterm;

	if (!s->nmatch)
		return sig_fail(s, s->line, "match is missing: the mangled name, or a glob");
	if (space == SPACE_NONE)
		return 0;
	if (check_operands(s))
		return -1;
	if (s->has_eps && s->at[ROLE_eps] >= 0)
		return sig_fail(s, s->line, "eps is both an argument and a key");
	if (s->plus_one && s->at[ROLE_weight] < 0)
		return sig_fail(s, s->line, "weight = 1+w, but weight is no argument");
	if (space == SPACE_ROWS && !cols)
		return sig_fail(s, s->line, "cols is missing: an argument, or cols = EXPRESSION");
	if (space == SPACE_ELEMENTS && !n && !(rows && cols))
		return sig_fail(s, s->line, "n is missing: an argument, or n = EXPRESSION");
	return check_extent(s, ROLE_n, &s->n) || check_extent(s, ROLE_rows, &s->rows) ||
	       check_extent(s, ROLE_cols, &s->cols);
}
