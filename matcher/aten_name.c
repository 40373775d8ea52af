// SPDX-License-Identifier: Apache-2.0
/*
 * A reader of Itanium-mangled names (itanium-cxx-abi.github.io, "Mangling"), as far as kernels of
 * ATen use them. Output only grows, and what a substitution stands for is a piece of it.
 */
#include "matcher/aten_name.h"

#include <string.h>

#include "matcher/aten_read.h"

bool aten_read_fail(struct reader *r)
{
	r->failed = true;
	return false;
}

void aten_read_put(struct reader *r, const char *s, size_t n)
{
	if (r->failed || n >= r->size - r->len) {
		aten_read_fail(r);
		return;
	}
	memmove(r->out + r->len, s, n);
	r->len += n;
}

void aten_read_puts(struct reader *r, const char *s)
{
	aten_read_put(r, s, strlen(s));
}

/* What the output holds from `from` on can be referred to later. */
void aten_read_remember(struct reader *r, size_t from)
{
	if (r->nsub == READ_MAX_SUBS) {
		aten_read_fail(r);
		return;
	}
	r->sub[r->nsub].from = (unsigned)from;
	r->sub[r->nsub++].to = (unsigned)r->len;
}

bool aten_read_eat(struct reader *r, char c)
{
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

unsigned aten_read_number(struct reader *r)
{
	unsigned n = 0;

	if (*r->p < '0' || *r->p > '9')
		aten_read_fail(r);
	while (*r->p >= '0' && *r->p <= '9' && n < 100000)
		n = n * 10 + (unsigned)(*r->p++ - '0');
	return n;
}

/* S_, S0_, ... or T_, T0_, ...: their number, after the letter. */
unsigned aten_read_sequence(struct reader *r)
{
	unsigned n = 0;

	if (aten_read_eat(r, '_'))
		return 0;
	for (; *r->p != '_'; r->p++) {
		if (*r->p >= '0' && *r->p <= '9')
			n = n * 36 + (unsigned)(*r->p - '0');
		else if (*r->p >= 'A' && *r->p <= 'Z')
			n = n * 36 + 10 + (unsigned)(*r->p - 'A');
		else
			return aten_read_fail(r);
		if (n > READ_MAX_SUBS)
			return aten_read_fail(r);
	}
	r->p++;
	return n + 1;
}

static void source_name(struct reader *r)
{
	unsigned n = aten_read_number(r);

	if (r->failed || strnlen(r->p, n) < n) {
		aten_read_fail(r);
		return;
	}
	if (n >= 10 && !memcmp(r->p, "_GLOBAL__N", 10))
		aten_read_puts(r, "(anon)");
	else
		aten_read_put(r, r->p, n);
	r->p += n;
}

void aten_read_put_number(struct reader *r, unsigned n)
{
	char text[12];
	unsigned at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	aten_read_put(r, text + at, sizeof(text) - at);
}

/* Of a lambda or an unnamed type: _ is the first, 0_ the second. */
static void put_discriminator(struct reader *r)
{
	unsigned n = *r->p == '_' ? 0 : aten_read_number(r) + 1;

	if (!aten_read_eat(r, '_'))
		aten_read_fail(r);
	aten_read_put_number(r, n + 1);
}

static void unqualified_name(struct reader *r)
{
	aten_read_eat(r, 'L');
	if (*r->p >= '0' && *r->p <= '9') {
		source_name(r);
	} else if (r->p[0] == 'U' && r->p[1] == 'l') {
		r->p += 2;
		aten_read_puts(r, "{lambda(");
		aten_type_list(r);
		aten_read_puts(r, ")#");
		put_discriminator(r);
		aten_read_puts(r, "}");
	} else if (r->p[0] == 'U' && r->p[1] == 't') {
		r->p += 2;
		aten_read_puts(r, "{unnamed#");
		put_discriminator(r);
		aten_read_puts(r, "}");
	} else if (r->p[0] == 'c' && r->p[1] == 'l') {
		r->p += 2;
		aten_read_puts(r, "operator()");
	} else {
		aten_read_fail(
			r); /* other operators, constructors: not in a kernel's name so far */
	}
}

static void nested_name(struct reader *r)
{
	const size_t from = r->len;
	bool first = true;

	while (*r->p == 'r' || *r->p == 'V' || *r->p == 'K')
		r->p++;
	while (!r->failed && !aten_read_eat(r, 'E')) {
		if (*r->p == 'I' && !first) {
			r->p++;
			aten_type_arguments(r);
		} else if (*r->p == 'S' && first) {
			r->p++;
			aten_type_substitution(r);
			first = false;
			continue;
		} else if (*r->p == 'T' && first) {
			r->p++;
			aten_type_parameter(r);
		} else {
			if (!first)
				aten_read_puts(r, "::");
			unqualified_name(r);
		}
		first = false;
		if (*r->p != 'E')
			aten_read_remember(r, from);
	}
}

/* Z FUNCTION E ENTITY */
static void local_name(struct reader *r)
{
	aten_read_name(r);
	aten_read_puts(r, "(");
	aten_type_list(r);
	aten_read_puts(r, ")::");
	if (*r->p == 's') {
		aten_read_fail(r);
		return;
	}
	aten_read_name(r);
	if (*r->p == '_') { /* a discriminator: which of several in that function */
		r->p++;
		if (aten_read_eat(r, '_')) {
			aten_read_number(r);
			if (!aten_read_eat(r, '_'))
				aten_read_fail(r);
		} else if (*r->p >= '0' && *r->p <= '9') {
			r->p++;
		} else {
			aten_read_fail(r);
		}
	}
}

void aten_read_name(struct reader *r)
{
	const size_t from = r->len;

	if (r->failed || ++r->depth > READ_MAX_DEPTH) {
		aten_read_fail(r);
		return;
	}
	if (aten_read_eat(r, 'N')) {
		nested_name(r);
	} else if (aten_read_eat(r, 'Z')) {
		local_name(r);
	} else {
		if (r->p[0] == 'S' && r->p[1] == 't') {
			r->p += 2;
			aten_read_puts(r, "std::");
		}
		unqualified_name(r);
		if (*r->p == 'I') {
			aten_read_remember(r, from);
			r->p++;
			aten_type_arguments(r);
		}
	}
	r->depth--;
}

bool aten_name_text(const char *mangled, char *text, size_t size)
{
	struct reader r = {.out = text, .size = size};

	if (strncmp(mangled, "_Z", 2))
		return false;
	r.p = mangled + 2;
	aten_read_name(&r);
	if (r.failed)
		return false;
	text[r.len] = 0;
	return true;
}
