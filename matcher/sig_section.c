// SPDX-License-Identifier: Apache-2.0
/* Compiles one [kernel] section. */
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

static int fail(const struct sig *s, int line, const char *what)
{
	log_warn("%s:%d: [kernel %s]: %s", s->file, line, s->label, what);
	return -1;
}

static int add_names(struct sig *s, const char *value)
{
	char *copy = strdup(value), *save = NULL, **grown;
	int rc = copy ? 0 : -1;

	for (char *w = copy ? strtok_r(copy, " \t,", &save) : NULL; w && !rc;
	     w = strtok_r(NULL, " \t,", &save)) {
		grown = realloc(s->match, (s->nmatch + 1) * sizeof(*grown));
		if (grown)
			s->match = grown;
		if (grown && (grown[s->nmatch] = strdup(w)))
			s->nmatch++;
		else
			rc = -1;
	}
	free(copy);
	return rc;
}

static int set_opcode(struct sig *s, const char *value, char *err, unsigned size)
{
	int code = opcode_parse(value), n;

	if (code >= 0 && (code == OP_opaque || sig_form((enum opcode)code)->known)) {
		s->code = (enum opcode)code;
		return 0;
	}
	n = snprintf(err, size, "op: \"%.48s\" is no operation; there are", value);
	for (int i = 0; i < OP_COUNT && n > 0 && (unsigned)n < size; i++)
		n += snprintf(err + n, size - (unsigned)n, "%s %s", i ? "," : "",
			      opcode_name((enum opcode)i));
	return -1;
}

static int set_dtype(struct sig *s, const char *value, char *err, unsigned size)
{
	char word[64];
	struct sig probe = {0};

	memset(probe.at, -1, sizeof(probe.at));
	snprintf(word, sizeof(word), "out:%.56s", value); /* the same words, the same message */
	if (sig_args_parse(&probe, word, err, size))
		return -1;
	s->dtype = probe.arg[0].dtype;
	return 0;
}

static int set_eps(struct sig *s, const char *value, char *err, unsigned size)
{
	char *end;

	s->eps = (float)strtod(value, &end);
	s->has_eps = true;
	if (end != value && !*end && s->eps >= 0)
		return 0;
	snprintf(err, size, "eps: expected a number, not \"%.48s\"", value);
	return -1;
}

static int set_key(struct sig *s, const struct config_pair *p)
{
	char err[512] = "out of memory";
	int rc;

	if (!strcmp(p->key, "match"))
		rc = add_names(s, p->value);
	else if (!strcmp(p->key, "op"))
		rc = set_opcode(s, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "args"))
		rc = sig_args_parse(s, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "dtype"))
		rc = set_dtype(s, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "n"))
		rc = sig_expr_parse(&s->n, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "rows"))
		rc = sig_expr_parse(&s->rows, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "cols"))
		rc = sig_expr_parse(&s->cols, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "eps"))
		rc = set_eps(s, p->value, err, sizeof(err));
	else
		return fail(s, p->line, "expected match, op, args, dtype, n, rows, cols or eps");
	return rc ? fail(s, p->line, err) : 0;
}

/* An extent comes from an argument or an expression, not both; expressions use arguments only. */
static int check_extent(const struct sig *s, enum role role, const struct sig_expr *e)
{
	char what[96];

	if (!e->nterm)
		return 0;
	snprintf(what, sizeof(what), "%s is both an argument and a key", role_name(role));
	if (s->at[role] >= 0)
		return fail(s, s->line, what);
	for (unsigned i = 0; i < e->nterm; i++) {
		if (e->term[i].kind != TERM_ROLE || s->at[e->term[i].value] >= 0)
			continue;
		snprintf(what, sizeof(what), "%s uses %s, which is no argument", role_name(role),
			 role_name((enum role)e->term[i].value));
		return fail(s, s->line, what);
	}
	return 0;
}

static int check(struct sig *s)
{
	const struct sig_form *form = sig_form(s->code);
	bool n = s->at[ROLE_n] >= 0 || s->n.nterm, rows = s->at[ROLE_rows] >= 0 || s->rows.nterm,
	     cols = s->at[ROLE_cols] >= 0 || s->cols.nterm;
	char what[96];

	if (!s->nmatch)
		return fail(s, s->line, "match is missing: the mangled name, or a glob");
	if (s->code == OP_opaque)
		return 0;
	for (unsigned i = 0; i < sizeof(form->operand) && form->operand[i]; i++) {
		snprintf(what, sizeof(what), "args: %s needs %s", opcode_name(s->code),
			 role_name((enum role)form->operand[i]));
		if (s->at[form->operand[i]] < 0)
			return fail(s, s->line, what);
	}
	for (unsigned i = 0; i < s->narg; i++) {
		struct sig_arg *a = &s->arg[i];

		if (role_kind((enum role)a->role) != ROLE_KIND_OPERAND)
			continue;
		if (!memchr(form->operand, a->role, sizeof(form->operand))) {
			snprintf(what, sizeof(what), "args: %s has no %s", opcode_name(s->code),
				 role_name((enum role)a->role));
			return fail(s, s->line, what);
		}
		if (!a->dtype)
			a->dtype = s->dtype;
		if (!a->dtype)
			return fail(s, s->line, "dtype is missing: f32, f16, bf16, ...");
	}
	if (s->has_eps && s->at[ROLE_eps] >= 0)
		return fail(s, s->line, "eps is both an argument and a key");
	if (form->by_rows ? !cols : !n && !(rows && cols))
		return fail(s, s->line,
			    form->by_rows ? "cols is missing: an argument, or cols = EXPRESSION"
					  : "n is missing: an argument, or n = EXPRESSION");
	return check_extent(s, ROLE_n, &s->n) || check_extent(s, ROLE_rows, &s->rows) ||
	       check_extent(s, ROLE_cols, &s->cols);
}

void sig_free(struct sig *s)
{
	for (unsigned i = 0; i < s->nmatch; i++)
		free(s->match[i]);
	free(s->match);
	free(s->label);
	free(s);
}

struct sig *sig_from_section(const struct config_kernel *k)
{
	struct sig *s = calloc(1, sizeof(*s));
	bool has_op = false;
	int rc = 0;

	if (!s || !(s->label = strdup(k->label))) {
		free(s);
		return NULL;
	}
	s->file = k->file;
	s->line = k->line;
	memset(s->at, -1, sizeof(s->at));
	for (unsigned i = 0; i < k->npair; i++) {
		rc |= set_key(s, &k->pair[i]);
		has_op |= !strcmp(k->pair[i].key, "op");
	}
	if (!rc && !has_op)
		rc = fail(s, s->line, "op is missing");
	if (!rc)
		rc = check(s);
	s->file = NULL;
	if (!rc)
		return s;
	sig_free(s);
	return NULL;
}
