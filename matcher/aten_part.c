// SPDX-License-Identifier: Apache-2.0
/* Parts of the texts that aten_name_text writes. Declared in aten_name.h. */
#include "matcher/aten_name.h"

#include <string.h>

static const char anon[] = "(anon)", lambda[] = "{lambda(";

struct aten_part aten_part(const char *text)
{
	return (struct aten_part){text, strlen(text)};
}

bool aten_part_is(struct aten_part p, const char *text)
{
	return p.len == strlen(text) && !memcmp(p.at, text, p.len);
}

bool aten_part_starts(struct aten_part p, const char *text)
{
	size_t n = strlen(text);

	return p.len >= n && !memcmp(p.at, text, n);
}

static struct aten_part from(struct aten_part p, size_t at)
{
	return (struct aten_part){p.at + at, p.len - at};
}

/* How long the text is in front of the first "<" or "(" that is not of "(anon)". */
static size_t head(struct aten_part p)
{
	size_t i = 0;

	while (i < p.len && p.at[i] != '<' && p.at[i] != '(')
		i += 1;
	while (i < p.len && aten_part_starts(from(p, i), anon)) {
		i += sizeof(anon) - 1;
		while (i < p.len && p.at[i] != '<' && p.at[i] != '(')
			i++;
	}
	return i;
}

struct aten_part aten_part_base(struct aten_part p)
{
	size_t end = head(p), start = end;

	while (start && p.at[start - 1] != ':')
		start--;
	return (struct aten_part){p.at + start, end - start};
}

/* Item n of a list that begins at p and ends with the bracket that closes what is open there. */
static struct aten_part item(struct aten_part p, unsigned n)
{
	size_t start = 0;
	int depth = 0;

	for (size_t i = 0; i < p.len; i++) {
		char c = p.at[i];

		if (c == '<' || c == '(' || c == '{') {
			depth++;
		} else if (c == '>' || c == ')' || c == '}') {
			if (depth-- == 0)
				return n || i == start
					       ? (struct aten_part){p.at, 0}
					       : (struct aten_part){p.at + start, i - start};
		} else if (c == ',' && !depth) {
			if (!n--)
				return (struct aten_part){p.at + start, i - start};
			start = i + 2; /* ", " */
		}
	}
	return (struct aten_part){p.at, 0};
}

struct aten_part aten_part_argument(struct aten_part p, unsigned n)
{
	size_t i = head(p);

	if (i >= p.len || p.at[i] != '<')
		return (struct aten_part){p.at, 0};
	return item(from(p, i + 1), n);
}

/* The n-th lambda that is not within brackets, or the last one where n is -1. */
static struct aten_part find_lambda(struct aten_part p, int n)
{
	struct aten_part last = {p.at, 0};
	int depth = 0;

	for (size_t i = 0; i < p.len; i++) {
		char c = p.at[i];

		if (c == '{' && !depth && aten_part_starts(from(p, i), lambda)) {
			last = from(p, i);
			if (!n--)
				return last;
		}
		if (c == '<' || c == '(' || c == '{')
			depth++;
		else if (c == '>' || c == ')' || c == '}')
			depth--;
	}
	return n < 0 ? last : (struct aten_part){p.at, 0};
}

static unsigned lambda_number(struct aten_part p)
{
	int depth = 0;
	unsigned n = 0;

	for (size_t i = 0; i < p.len; i++) {
		char c = p.at[i];

		if (c == '#' && depth == 1) {
			for (i++; i < p.len && p.at[i] >= '0' && p.at[i] <= '9'; i++)
				n = n * 10 + (unsigned)(p.at[i] - '0');
			return n;
		}
		if (c == '<' || c == '(' || c == '{')
			depth++;
		else if (c == '>' || c == ')' || c == '}')
			depth--;
	}
	return 0;
}

unsigned aten_part_lambda(struct aten_part p)
{
	if (!p.len || p.at[p.len - 1] != '}')
		return 0;
	return lambda_number(find_lambda(p, -1));
}

unsigned aten_part_lambda_outer(struct aten_part p, unsigned n)
{
	return lambda_number(find_lambda(p, (int)n));
}

struct aten_part aten_part_parameter(struct aten_part p, unsigned n)
{
	struct aten_part l = find_lambda(p, -1);

	return l.len ? item(from(l, sizeof(lambda) - 1), n) : l;
}

enum dtype aten_part_dtype(struct aten_part p)
{
	static const struct {
		const char *text;
		enum dtype t;
	} row[] = {
		{"float", DT_f32},
		{"c10::BFloat16", DT_bf16},
		{"c10::Half", DT_f16},
		{"double", DT_f64},
		{"long", DT_i64},
		{"int", DT_i32},
		{"bool", DT_bool},
		{"unsigned char", DT_u8},
		{"signed char", DT_i8},
		{"short", DT_i16},
		{"__half", DT_f16},
		{"__nv_bfloat16", DT_bf16},
		{"c10::Float8_e4m3fn", DT_e4m3},
		{"c10::Float8_e5m2", DT_e5m2},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (aten_part_is(p, row[i].text))
			return row[i].t;
	return DT_NONE;
}

int aten_part_number(struct aten_part p)
{
	int n = 0;

	if (!p.len || p.len > 8)
		return -1;
	for (size_t i = 0; i < p.len; i++) {
		if (p.at[i] < '0' || p.at[i] > '9')
			return -1;
		n = n * 10 + (p.at[i] - '0');
	}
	return n;
}
