// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

static int bad(char *err, unsigned size, const char *text)
{
	snprintf(err, size,
		 "expected numbers, n, rows, cols, @NAME, grid.x|y|z, block.x|y|z joined by * and "
		 "/, not \"%.64s\"",
		 text);
	return -1;
}

int sig_name(struct sig *s, const char *text, size_t len)
{
	if (!len || len >= SIG_NAME_BYTES)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return -1;
	for (unsigned i = 0; i < s->nname; i++)
		if (!strncmp(s->name[i], text, len) && !s->name[i][len])
			return (int)i;
	if (s->nname == SIG_MAX_NAMES)
		return -1;
	memcpy(s->name[s->nname], text, len);
	s->name[s->nname][len] = 0;
	return (int)s->nname++;
}

static bool parse_term(struct sig *s, struct sig_expr *e, char op, const char *word, size_t len)
{
	char w[24], *end;
	unsigned char dim;
	enum role role;
	int name;

	if (e->nterm == SIG_MAX_TERMS || !len || len >= sizeof(w))
		return false;
	memcpy(w, word, len);
	w[len] = 0;
	e->term[e->nterm].op = op;
	role = role_parse(w);
	dim = (unsigned char)(w[len - 1] - 'x');
	if (isdigit((unsigned char)*w)) {
		e->term[e->nterm].kind = TERM_NUMBER;
		e->term[e->nterm].value = strtoll(w, &end, 10);
		if (*end || e->term[e->nterm].value == INT64_MAX)
			return false;
	} else if (role_kind(role) == ROLE_KIND_EXTENT) {
		e->term[e->nterm].kind = TERM_ROLE;
		e->term[e->nterm].value = role;
	} else if (*w == '@' && (name = sig_name(s, w + 1, len - 1)) >= 0) {
		e->term[e->nterm].kind = TERM_NAME;
		e->term[e->nterm].value = name;
	} else if ((!strncmp(w, "grid.", 5) && len == 6 && dim < 3) ||
		   (!strncmp(w, "block.", 6) && len == 7 && dim < 3)) {
		e->term[e->nterm].kind = *w == 'g' ? TERM_GRID : TERM_BLOCK;
		e->term[e->nterm].value = dim;
	} else {
		return false;
	}
	e->nterm++;
	return true;
}

int sig_expr_parse(struct sig *s, struct sig_expr *e, const char *text, char *err, unsigned errsize)
{
	const char *p = text;
	char op = '*';

	memset(e, 0, sizeof(*e));
	for (;;) {
		size_t len;

		p += strspn(p, " \t");
		len = strcspn(p, " \t*/");
		if (!parse_term(s, e, op, p, len))
			return bad(err, errsize, text);
		if (op == '/' && e->term[e->nterm - 1].kind == TERM_NUMBER &&
		    !e->term[e->nterm - 1].value) {
			snprintf(err, errsize, "\"%.64s\" divides by 0", text);
			return -1;
		}
		p += len;
		p += strspn(p, " \t");
		if (!*p)
			return 0;
		op = *p++;
		if (op != '*' && op != '/')
			return bad(err, errsize, text);
	}
}

bool sig_expr_value(const struct sig_expr *e, const struct launch *l, const struct sig_values *v,
		    int64_t *value)
{
	int64_t product = 1;

	for (unsigned i = 0; i < e->nterm; i++) {
		int64_t t = e->term[i].value;

		switch (e->term[i].kind) {
		case TERM_ROLE:
			t = v->role[t];
			break;
		case TERM_NAME:
			t = v->name[t];
			break;
		case TERM_GRID:
			t = l->grid[t];
			break;
		case TERM_BLOCK:
			t = l->block[t];
			break;
		default:
			break;
		}
		if (t <= 0) /* two of them would make a size again */
			return false;
		if (e->term[i].op == '*') {
			if (__builtin_mul_overflow(product, t, &product))
				return false;
		} else {
			if (product % t)
				return false;
			product /= t;
		}
	}
	*value = product;
	return true;
}
