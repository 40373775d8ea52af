// SPDX-License-Identifier: Apache-2.0
/* Types in mangled names, and what stands for them. Declared in aten_read.h. */
#include "matcher/aten_read.h"

#include <string.h>

void aten_type_parameter(struct reader *r)
{
	char text[16] = "T";
	unsigned n = aten_read_sequence(r), at = 1;

	if (n >= 100)
		text[at++] = (char)('0' + n / 100 % 10);
	if (n >= 10)
		text[at++] = (char)('0' + n / 10 % 10);
	text[at++] = (char)('0' + n % 10);
	aten_read_put(r, text, at);
}

void aten_type_list(struct reader *r)
{
	bool first = true;

	while (!r->failed && !aten_read_eat(r, 'E')) {
		if (*r->p == 'v' && r->p[1] == 'E' && first) {
			r->p++;
			continue;
		}
		if (!first)
			aten_read_puts(r, ", ");
		aten_type(r);
		first = false;
	}
}

/* L TYPE VALUE E */
static void literal(struct reader *r)
{
	const size_t from = r->len;
	const unsigned subs = r->nsub;

	if (*r->p == '_') { /* the address of a function or variable */
		aten_read_fail(r);
		return;
	}
	aten_type(r);
	if (r->failed)
		return;
	if (r->nsub == subs)
		r->len = from; /* of a builtin type the value alone */
	else
		aten_read_puts(r, "#");
	if (aten_read_eat(r, 'n'))
		aten_read_puts(r, "-");
	aten_read_put_number(r, aten_read_number(r));
	if (!aten_read_eat(r, 'E'))
		aten_read_fail(r);
}

void aten_type_arguments(struct reader *r)
{
	bool first = true;

	aten_read_puts(r, "<");
	while (!r->failed && !aten_read_eat(r, 'E')) {
		bool pack = aten_read_eat(r, 'J');

		do {
			if (pack && aten_read_eat(r, 'E'))
				break;
			if (!first)
				aten_read_puts(r, ", ");
			first = false;
			if (aten_read_eat(r, 'L'))
				literal(r);
			else
				aten_type(r);
		} while (pack && !r->failed);
	}
	aten_read_puts(r, ">");
}

/* S..., after the S. True if it is a whole name or type, not a namespace. */
bool aten_type_substitution(struct reader *r)
{
	unsigned n;

	if (aten_read_eat(r, 't')) {
		aten_read_puts(r, "std");
		return false;
	}
	if (*r->p >= 'a' && *r->p <= 'z')
		return aten_read_fail(r); /* std::string and the like */
	n = aten_read_sequence(r);
	if (n >= r->nsub)
		return aten_read_fail(r);
	aten_read_put(r, r->out + r->sub[n].from, r->sub[n].to - r->sub[n].from);
	return true;
}

static const char *builtin(char c)
{
	static const char *const word[26] = {
		['a' - 'a'] = "signed char",
		['b' - 'a'] = "bool",
		['c' - 'a'] = "char",
		['d' - 'a'] = "double",
		['f' - 'a'] = "float",
		['h' - 'a'] = "unsigned char",
		['i' - 'a'] = "int",
		['j' - 'a'] = "unsigned int",
		['l' - 'a'] = "long",
		['m' - 'a'] = "unsigned long",
		['s' - 'a'] = "short",
		['t' - 'a'] = "unsigned short",
		['v' - 'a'] = "void",
		['x' - 'a'] = "long long",
		['y' - 'a'] = "unsigned long long",
	};

	return c >= 'a' && c <= 'z' ? word[c - 'a'] : NULL;
}

void aten_type(struct reader *r)
{
	const size_t from = r->len;
	const char *word = builtin(*r->p);

	if (r->failed || ++r->depth > READ_MAX_DEPTH) {
		aten_read_fail(r);
		return;
	}
	switch (*r->p) {
	case 'K':
	case 'P':
	case 'R':
	case 'O': {
		char c = *r->p++;

		aten_type(r);
		aten_read_puts(r, c == 'K' ? " const" : c == 'P' ? "*" : c == 'R' ? "&" : "&&");
		aten_read_remember(r, from);
		break;
	}
	case 'F':
		r->p++;
		aten_read_puts(r, "(");
		aten_type_list(r);
		aten_read_puts(r, ")");
		aten_read_remember(r, from);
		break;
	case 'D':
		if (r->p[1] == 'p') {
			r->p += 2;
			aten_type(r);
			aten_read_puts(r, "...");
			aten_read_remember(r, from);
		} else if (r->p[1] == 'n') {
			r->p += 2;
			aten_read_puts(r, "nullptr_t");
		} else {
			aten_read_fail(r);
		}
		break;
	case 'T':
		r->p++;
		aten_type_parameter(r);
		aten_read_remember(r, from);
		break;
	case 'S':
		if (r->p[1] == 't') {
			aten_read_name(r);
			aten_read_remember(r, from);
			break;
		}
		r->p++;
		aten_type_substitution(r);
		if (aten_read_eat(r, 'I')) {
			aten_type_arguments(r);
			aten_read_remember(r, from);
		}
		break;
	case 'N':
	case 'Z':
	case '0' ... '9':
		aten_read_name(r);
		aten_read_remember(r, from);
		break;
	default:
		if (!word) {
			aten_read_fail(r);
			break;
		}
		r->p++;
		aten_read_puts(r, word);
	}
	r->depth--;
}
