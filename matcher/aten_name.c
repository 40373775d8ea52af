// SPDX-License-Identifier: Apache-2.0
/*
 * A reader of Itanium-mangled names (itanium-cxx-abi.github.io, "Mangling"), as far as kernels of
 * ATen use them. Output only grows, and what a substitution stands for is a piece of it.
 */
#include "matcher/aten_name.h"

#include <string.h>

enum { MAX_SUBS = 256, MAX_DEPTH = 48 };

struct reader {
	const char *p;
	char *out;
	size_t len, size;
	unsigned depth, nsub;
	struct {
		unsigned from, to;
	} sub[MAX_SUBS];
	bool failed;
};

static bool fail(struct reader *r)
{
	r->failed = true;
	return false;
}

static void put(struct reader *r, const char *s, size_t n)
{
	if (r->failed || n >= r->size - r->len) {
		fail(r);
		return;
	}
	memmove(r->out + r->len, s, n);
	r->len += n;
}

static void puts_(struct reader *r, const char *s)
{
	put(r, s, strlen(s));
}

/* What the output holds from `from` on can be referred to later. */
static void remember(struct reader *r, size_t from)
{
	if (r->nsub == MAX_SUBS) {
		fail(r);
		return;
	}
	r->sub[r->nsub].from = (unsigned)from;
	r->sub[r->nsub++].to = (unsigned)r->len;
}

static bool eat(struct reader *r, char c)
{
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

static unsigned number(struct reader *r)
{
	unsigned n = 0;

	if (*r->p < '0' || *r->p > '9')
		fail(r);
	while (*r->p >= '0' && *r->p <= '9' && n < 100000)
		n = n * 10 + (unsigned)(*r->p++ - '0');
	return n;
}

/* S_, S0_, ... or T_, T0_, ...: their number, after the letter. */
static unsigned sequence(struct reader *r)
{
	unsigned n = 0;

	if (eat(r, '_'))
		return 0;
	for (; *r->p != '_'; r->p++) {
		if (*r->p >= '0' && *r->p <= '9')
			n = n * 36 + (unsigned)(*r->p - '0');
		else if (*r->p >= 'A' && *r->p <= 'Z')
			n = n * 36 + 10 + (unsigned)(*r->p - 'A');
		else
			return fail(r);
		if (n > MAX_SUBS)
			return fail(r);
	}
	r->p++;
	return n + 1;
}

static void type(struct reader *r);
static void name(struct reader *r);

static void template_parameter(struct reader *r)
{
	char text[16] = "T";
	unsigned n = sequence(r), at = 1;

	if (n >= 100)
		text[at++] = (char)('0' + n / 100 % 10);
	if (n >= 10)
		text[at++] = (char)('0' + n / 10 % 10);
	text[at++] = (char)('0' + n % 10);
	put(r, text, at);
}

static void source_name(struct reader *r)
{
	unsigned n = number(r);

	if (r->failed || strnlen(r->p, n) < n) {
		fail(r);
		return;
	}
	if (n >= 10 && !memcmp(r->p, "_GLOBAL__N", 10))
		puts_(r, "(anon)");
	else
		put(r, r->p, n);
	r->p += n;
}

static void types_until_end(struct reader *r)
{
	bool first = true;

	while (!r->failed && !eat(r, 'E')) {
		if (*r->p == 'v' && r->p[1] == 'E' && first) {
			r->p++;
			continue;
		}
		if (!first)
			puts_(r, ", ");
		type(r);
		first = false;
	}
}

static void put_number(struct reader *r, unsigned n)
{
	char text[12];
	unsigned at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(r, text + at, sizeof(text) - at);
}

/* Of a lambda or an unnamed type: _ is the first, 0_ the second. */
static void put_discriminator(struct reader *r)
{
	unsigned n = *r->p == '_' ? 0 : number(r) + 1;

	if (!eat(r, '_'))
		fail(r);
	put_number(r, n + 1);
}

static void unqualified_name(struct reader *r)
{
	eat(r, 'L');
	if (*r->p >= '0' && *r->p <= '9') {
		source_name(r);
	} else if (r->p[0] == 'U' && r->p[1] == 'l') {
		r->p += 2;
		puts_(r, "{lambda(");
		types_until_end(r);
		puts_(r, ")#");
		put_discriminator(r);
		puts_(r, "}");
	} else if (r->p[0] == 'U' && r->p[1] == 't') {
		r->p += 2;
		puts_(r, "{unnamed#");
		put_discriminator(r);
		puts_(r, "}");
	} else if (r->p[0] == 'c' && r->p[1] == 'l') {
		r->p += 2;
		puts_(r, "operator()");
	} else {
		fail(r); /* other operators, constructors: not in a kernel's name so far */
	}
}

/* L TYPE VALUE E: the value */
static void literal(struct reader *r)
{
	size_t from = r->len;

	if (*r->p == '_') { /* the address of a function or variable */
		fail(r);
		return;
	}
	type(r);
	if (r->failed)
		return;
	r->len = from;
	if (eat(r, 'n'))
		puts_(r, "-");
	put_number(r, number(r));
	if (!eat(r, 'E'))
		fail(r);
}

static void template_arguments(struct reader *r)
{
	bool first = true;

	puts_(r, "<");
	while (!r->failed && !eat(r, 'E')) {
		bool pack = eat(r, 'J');

		do {
			if (pack && eat(r, 'E'))
				break;
			if (!first)
				puts_(r, ", ");
			first = false;
			if (eat(r, 'L'))
				literal(r);
			else
				type(r);
		} while (pack && !r->failed);
	}
	puts_(r, ">");
}

/* S..., after the S. True if it is a whole name or type, not a namespace. */
static bool substitution(struct reader *r)
{
	unsigned n;

	if (eat(r, 't')) {
		puts_(r, "std");
		return false;
	}
	if (*r->p >= 'a' && *r->p <= 'z')
		return fail(r); /* std::string and the like */
	n = sequence(r);
	if (n >= r->nsub)
		return fail(r);
	put(r, r->out + r->sub[n].from, r->sub[n].to - r->sub[n].from);
	return true;
}

static void nested_name(struct reader *r)
{
	const size_t from = r->len;
	bool first = true;

	while (*r->p == 'r' || *r->p == 'V' || *r->p == 'K')
		r->p++;
	while (!r->failed && !eat(r, 'E')) {
		if (*r->p == 'I' && !first) {
			r->p++;
			template_arguments(r);
		} else if (*r->p == 'S' && first) {
			r->p++;
			substitution(r);
			first = false;
			continue;
		} else if (*r->p == 'T' && first) {
			r->p++;
			template_parameter(r);
		} else {
			if (!first)
				puts_(r, "::");
			unqualified_name(r);
		}
		first = false;
		if (*r->p != 'E')
			remember(r, from);
	}
}

/* Z FUNCTION E ENTITY */
static void local_name(struct reader *r)
{
	name(r);
	puts_(r, "(");
	types_until_end(r);
	puts_(r, ")::");
	if (*r->p == 's') {
		fail(r);
		return;
	}
	name(r);
	if (*r->p == '_') { /* a discriminator: which of several in that function */
		r->p++;
		if (eat(r, '_')) {
			number(r);
			if (!eat(r, '_'))
				fail(r);
		} else {
			r->p++;
		}
	}
}

static void name(struct reader *r)
{
	const size_t from = r->len;

	if (r->failed || ++r->depth > MAX_DEPTH) {
		fail(r);
		return;
	}
	if (eat(r, 'N')) {
		nested_name(r);
	} else if (eat(r, 'Z')) {
		local_name(r);
	} else {
		if (r->p[0] == 'S' && r->p[1] == 't') {
			r->p += 2;
			puts_(r, "std::");
		}
		unqualified_name(r);
		if (*r->p == 'I') {
			remember(r, from);
			r->p++;
			template_arguments(r);
		}
	}
	r->depth--;
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

static void type(struct reader *r)
{
	const size_t from = r->len;
	const char *word = builtin(*r->p);

	if (r->failed || ++r->depth > MAX_DEPTH) {
		fail(r);
		return;
	}
	switch (*r->p) {
	case 'K':
	case 'P':
	case 'R':
	case 'O': {
		char c = *r->p++;

		type(r);
		puts_(r, c == 'K' ? " const" : c == 'P' ? "*" : c == 'R' ? "&" : "&&");
		remember(r, from);
		break;
	}
	case 'F':
		r->p++;
		puts_(r, "(");
		types_until_end(r);
		puts_(r, ")");
		remember(r, from);
		break;
	case 'D':
		if (r->p[1] == 'p') {
			r->p += 2;
			type(r);
			puts_(r, "...");
			remember(r, from);
		} else if (r->p[1] == 'n') {
			r->p += 2;
			puts_(r, "nullptr_t");
		} else {
			fail(r);
		}
		break;
	case 'T':
		r->p++;
		template_parameter(r);
		remember(r, from);
		break;
	case 'S':
		if (r->p[1] == 't') {
			name(r);
			remember(r, from);
			break;
		}
		r->p++;
		substitution(r);
		if (eat(r, 'I')) {
			template_arguments(r);
			remember(r, from);
		}
		break;
	case 'N':
	case 'Z':
	case '0' ... '9':
		name(r);
		remember(r, from);
		break;
	default:
		if (!word) {
			fail(r);
			break;
		}
		r->p++;
		puts_(r, word);
	}
	r->depth--;
}

bool aten_name_text(const char *mangled, char *text, size_t size)
{
	struct reader r = {.out = text, .size = size};

	if (strncmp(mangled, "_Z", 2))
		return false;
	r.p = mangled + 2;
	name(&r);
	if (r.failed)
		return false;
	text[r.len] = 0;
	return true;
}
