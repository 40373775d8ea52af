// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

static int bad_role(char *err, unsigned size, const char *word)
{
	int n = snprintf(err, size, "\"%.48s\" is no argument role; there are -, inout", word);

	for (unsigned r = 1; r < ROLE_COUNT && n > 0 && (unsigned)n < size; r++)
		n += snprintf(err + n, size - (unsigned)n, ", %s", role_name((enum role)r));
	return -1;
}

static int bad_dtype(char *err, unsigned size, const char *word)
{
	int n = snprintf(err, size, "\"%.48s\" is no element type; there are", word);

	for (unsigned t = 1; t < DT_COUNT && n > 0 && (unsigned)n < size; t++)
		n += snprintf(err + n, size - (unsigned)n, "%s %s", t > 1 ? "," : "",
			      dtype_name((enum dtype)t));
	return -1;
}

static int parse_number(struct sig_arg *a, const char *text, char *err, unsigned errsize)
{
	char *end;

	a->demand = strpbrk(text, ".eE") ? SIG_REAL : SIG_INTEGER;
	if (a->demand == SIG_REAL)
		a->real = strtod(text, &end);
	else
		a->integer = strtoll(text, &end, 10);
	if (end != text && !*end)
		return 0;
	snprintf(err, errsize, "expected a number behind =, not \"%.48s\"", text);
	return -1;
}

/* ROLE[:DTYPE][=NUMBER]; word is cut to pieces. */
static int parse_word(struct sig_arg *a, char *word, char *err, unsigned errsize)
{
	char *number = strchr(word, '='), *type;
	bool operand;

	memset(a, 0, sizeof(*a));
	if (number)
		*number++ = 0;
	type = strchr(word, ':');
	if (type)
		*type++ = 0;
	if (!strcmp(word, "inout")) {
		a->role = ROLE_out;
		a->inout = true;
	} else if (strcmp(word, "-")) {
		a->role = (uint8_t)role_parse(word);
		if (!a->role)
			return bad_role(err, errsize, word);
	}
	operand = role_kind((enum role)a->role) == ROLE_KIND_OPERAND;
	if (type) {
		a->dtype = (uint8_t)dtype_parse(type);
		if (!a->dtype)
			return bad_dtype(err, errsize, type);
	}
	if ((type || number) && operand == (number != NULL)) {
		snprintf(err, errsize, "\"%.48s\" takes %s", word,
			 operand ? "no =NUMBER" : "no :TYPE, only operands do");
		return -1;
	}
	return number ? parse_number(a, number, err, errsize) : 0;
}

static int place(struct sig *s, unsigned role, char *err, unsigned errsize)
{
	if (role && s->at[role] >= 0) {
		snprintf(err, errsize, "%s appears twice", role_name((enum role)role));
		return -1;
	}
	s->at[role] = (int8_t)s->narg;
	return 0;
}

int sig_args_parse(struct sig *s, const char *words, char *err, unsigned errsize)
{
	char *copy = strdup(words), *save = NULL;
	int rc = copy ? 0 : -1;

	if (!copy)
		snprintf(err, errsize, "out of memory");
	for (char *w = copy ? strtok_r(copy, " \t,", &save) : NULL; w && !rc;
	     w = strtok_r(NULL, " \t,", &save)) {
		struct sig_arg *a = &s->arg[s->narg];

		if (s->narg == SIG_MAX_ARGS) {
			snprintf(err, errsize, "expected at most %d arguments", SIG_MAX_ARGS);
			rc = -1;
			break;
		}
		rc = parse_word(a, w, err, errsize);
		if (!rc)
			rc = place(s, a->role, err, errsize);
		if (!rc && a->inout)
			rc = place(s, ROLE_in0, err, errsize);
		s->narg++;
	}
	free(copy);
	return rc;
}
