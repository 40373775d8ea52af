// SPDX-License-Identifier: Apache-2.0
/* Compiles one [kernel] section. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

int sig_fail(const struct sig *s, int line, const char *what)
{
	log_warn("%s:%d: [kernel %s]: %s", s->file, line, s->label, what);
	return -1;
}

static int add_names(struct sig *s, const char *value)
{
	char *copy = strdup(value), *save = NULL;
	struct sig_name *grown;
	int rc = copy ? 0 : -1;

	for (char *w = copy ? strtok_r(copy, " \t,", &save) : NULL; w && !rc;
	     w = strtok_r(NULL, " \t,", &save)) {
		grown = realloc(s->match, (s->nmatch + 1) * sizeof(*grown));
		if (grown)
			s->match = grown;
		if (grown && (grown[s->nmatch].text = strdup(w)))
			s->match[s->nmatch++].glob = strpbrk(w, "*?[\\") != NULL;
		else
			rc = -1;
	}
	free(copy);
	return rc;
}

static int set_opcode(struct sig *s, const char *value, char *err, unsigned size)
{
	int code = opcode_parse(value), n;

	if (code >= 0) {
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
	if (end != value && !*end && isfinite(s->eps) && s->eps >= 0)
		return 0;
	snprintf(err, size, "eps: expected a number that a float can hold, not \"%.48s\"", value);
	return -1;
}

static int set_extent(struct sig *s, struct sig_expr *e, const char *value, char *err,
		      unsigned size)
{
	if (sig_expr_parse(s, e, value, err, size))
		return -1;
	for (unsigned i = 0; i < e->nterm; i++)
		if (e->term[i].kind == TERM_NUMBER && !e->term[i].value) {
			snprintf(err, size, "\"%.64s\" is no size of anything", value);
			return -1;
		}
	return 0;
}

static int set_weight(struct sig *s, const char *value, char *err, unsigned size)
{
	s->plus_one = !strcmp(value, "1+w");
	if (s->plus_one || !strcmp(value, "w"))
		return 0;
	snprintf(err, size, "weight: expected w or 1+w, not \"%.48s\"", value);
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
		rc = set_extent(s, &s->n, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "rows"))
		rc = set_extent(s, &s->rows, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "cols"))
		rc = set_extent(s, &s->cols, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "eps"))
		rc = set_eps(s, p->value, err, sizeof(err));
	else if (!strcmp(p->key, "weight"))
		rc = set_weight(s, p->value, err, sizeof(err));
	else
		return sig_fail(s, p->line,
				"expected match, op, args, dtype, n, rows, cols, eps or weight");
	return rc ? sig_fail(s, p->line, err) : 0;
}

void sig_free(struct sig *s)
{
	for (unsigned i = 0; i < s->nmatch; i++)
		free(s->match[i].text);
	for (unsigned i = 0; i < s->narg; i++) {
		free(s->arg[i].size);
		free(s->arg[i].box);
	}
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
		rc = sig_fail(s, s->line, "op is missing");
	if (!rc)
		rc = sig_check(s);
	s->file = NULL;
	if (!rc)
		return s;
	sig_free(s);
	return NULL;
}
