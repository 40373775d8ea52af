// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

static int bad_role(char *err, unsigned size, const char *word)
{
	int n = snprintf(err, size, "\"%.48s\" is no argument role; there are -, @NAME, inout",
			 word);

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
	errno = 0;
	if (a->demand == SIG_REAL)
		a->real = strtod(text, &end);
	else
		a->integer = strtoll(text, &end, 10);
	if (end != text && !*end && (a->demand == SIG_REAL ? isfinite(a->real) : !errno))
		return 0;
	snprintf(err, errsize, "expected a number behind =, not \"%.48s\"", text);
	return -1;
}

static int parse_size(struct sig *s, struct sig_arg *a, char *text, char *err, unsigned errsize)
{
	if (strpbrk(text, ":|"))
		return sig_box_parse(s, a, text, err, errsize);
	if (!a->size)
		a->size = malloc(sizeof(*a->size));
	if (a->size)
		return sig_expr_parse(s, a->size, text, err, errsize);
	snprintf(err, errsize, "out of memory");
	return -1;
}

static int parse_role(struct sig *s, struct sig_arg *a, const char *word, char *err,
		      unsigned errsize)
{
	if (!strcmp(word, "inout")) {
		a->role = ROLE_out;
		a->inout = true;
	} else if (*word == '@') {
		int name = sig_name(s, word + 1, strlen(word + 1));

		for (unsigned i = 0; i < s->narg && name >= 0; i++)
			if (s->arg[i].name == name) {
				snprintf(err, errsize, "%.48s appears twice", word);
				return -1;
			}
		if (name < 0) {
			snprintf(err, errsize,
				 "\"%.48s\": expected at most %d names of letters and digits, each "
				 "shorter than %d",
				 word, SIG_MAX_NAMES, SIG_NAME_BYTES);
			return -1;
		}
		a->name = (int8_t)name;
	} else if (strcmp(word, "-")) {
		a->role = (uint8_t)role_parse(word);
		if (!a->role)
			return bad_role(err, errsize, word);
	}
	return 0;
}

/* ROLE[SIZE]:DTYPE=NUMBER, all but the role optional; word is cut to pieces. */
static int parse_word(struct sig *s, struct sig_arg *a, char *word, char *err, unsigned errsize)
{
	char *number = strchr(word, '='), *size = strchr(word, '['), *type, *close;

	memset(a, 0, sizeof(*a));
	a->name = -1;
	if (number)
		*number++ = 0;
	close = size ? strchr(size, ']') : NULL;
	type = strchr(close ? close : word, ':');
	if (type)
		*type++ = 0;
	if (size) {
		*size++ = 0;
		if (!close || close[1]) {
			snprintf(err, errsize, "expected %.48s[SIZE]", word);
			return -1;
		}
		*close = 0;
	}
	if (parse_role(s, a, word, err, errsize))
		return -1;
	if (type) {
		a->dtype = (uint8_t)dtype_parse(type);
		if (!a->dtype)
			return bad_dtype(err, errsize, type);
	}
	if (role_kind((enum role)a->role) == ROLE_KIND_OPERAND) {
		if (!number)
			return size ? parse_size(s, a, size, err, errsize) : 0;
		snprintf(err, errsize, "\"%.48s\" takes no =NUMBER", word);
		return -1;
	}
	if (!type && !size)
		return number ? parse_number(a, number, err, errsize) : 0;
	snprintf(err, errsize, "\"%.48s\" takes no %s, only operands do", word,
		 type ? ":TYPE" : "[SIZE]");
	return -1;
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
		rc = parse_word(s, a, w, err, errsize);
		if (!rc)
			rc = place(s, a->role, err, errsize);
		if (!rc && a->inout)
			rc = place(s, ROLE_in0, err, errsize);
		s->narg++;
	}
	free(copy);
	return rc;
}
