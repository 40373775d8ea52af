/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/candidate.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field: where it is in struct fields and in the code, which tokens spell its values. */
struct field {
	uint16_t offset;
	uint8_t bits, nvalue, first; /* first: index in tokens[] */
};

static const char *const tokens[] = {
#define FIELD(name, bits)
#define VALUE(field, value, token) token,
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
};

/* Index of a field's first token: the number of VALUE rows before it. */
enum {
#define FIELD(name, bits) TOKEN_##name, TOKEN_reset_##name = TOKEN_##name - 1,
#define VALUE(field, value, token) TOKEN_##field##_##value,
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
	NTOKEN
};

static const struct field fields[] = {
#define FIELD(name, bits) {offsetof(struct fields, name), bits, 0, TOKEN_##name},
#define VALUE(field, value, token)
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
};
enum { NFIELD = sizeof(fields) / sizeof(*fields), SPELLING = offsetof(struct fields, mean) };
_Static_assert(sizeof(tokens) / sizeof(*tokens) == NTOKEN, "a VALUE row was miscounted");

static unsigned nvalue(unsigned i)
{
	return (i + 1 < NFIELD ? fields[i + 1].first : NTOKEN) - fields[i].first;
}

static uint16_t *at(struct fields *f, unsigned i)
{
	return (uint16_t *)((char *)f + fields[i].offset);
}

uint64_t candidate_pack(const struct fields *f)
{
	struct fields copy = *f;
	uint64_t code = 0;

	for (unsigned i = 0, shift = 0; i < NFIELD; shift += fields[i++].bits)
		code |= (uint64_t)*at(&copy, i) << shift;
	return code;
}

int candidate_unpack(uint64_t code, struct fields *f)
{
	for (unsigned i = 0; i < NFIELD; code >>= fields[i++].bits) {
		*at(f, i) = code & ((1u << fields[i].bits) - 1);
		if (nvalue(i) && *at(f, i) >= nvalue(i))
			return -1;
	}
	if (code || f->threads < 1 || f->threads > 1024 || f->part > f->vec || (f->part && f->acc))
		return -1;
	return 0;
}

struct candidate candidate_join(const struct candidate *order, const struct candidate *spelling)
{
	return (struct candidate){order->code | spelling->code, spelling->eps};
}

void candidate_name(const struct candidate *c, char *name)
{
	struct fields f;
	int n;

	if (candidate_unpack(c->code, &f)) {
		snprintf(name, CANDIDATE_NAME_MAX, "?");
		return;
	}
	n = snprintf(name, CANDIDATE_NAME_MAX, "t%u", f.threads);
	for (unsigned i = 1; i < NFIELD && n < CANDIDATE_NAME_MAX; i++) {
		const char *token = tokens[fields[i].first + *at(&f, i)];

		/* A slash sets the spelling off from the order. */
		if (*token || fields[i].offset == SPELLING)
			n += snprintf(name + n, (size_t)(CANDIDATE_NAME_MAX - n), "%c%s",
				      fields[i].offset == SPELLING ? '/' : '-', token);
	}
	for (int digits = 1; c->eps != 0 && digits <= 9 && n < CANDIDATE_NAME_MAX; digits++) {
		snprintf(name + n, (size_t)(CANDIDATE_NAME_MAX - n), "-eps%.*g", digits,
			 (double)c->eps);
		if (strtof(name + n + 4, NULL) == c->eps)
			break;
	}
}

/* One token of a name into f or c. -1 if there is no such token. */
static int parse_token(const char *token, struct fields *f, struct candidate *c)
{
	char *end;

	if (token[0] == 't' && token[1] >= '0' && token[1] <= '9') {
		unsigned long t = strtoul(token + 1, &end, 10);

		f->threads = (uint16_t)(t <= 1024 ? t : 0);
		return *end ? -1 : 0;
	}
	for (unsigned i = 1; i < NFIELD; i++)
		for (unsigned v = 0; v < nvalue(i); v++)
			if (!strcmp(token, tokens[fields[i].first + v])) {
				*at(f, i) = (uint16_t)v;
				return 0;
			}
	if (strncmp(token, "eps", 3))
		return -1;
	c->eps = strtof(token + 3, &end);
	return *end || end == token + 3 || !isfinite(c->eps) ? -1 : 0;
}

int candidate_parse(const char *name, struct candidate *c)
{
	struct fields f = {0};
	char token[24];

	c->eps = 0;
	for (const char *p = name;; p++) {
		size_t n = strcspn(p, "-/");

		/* The minus of an exponent belongs to its number. */
		if (n && !strncmp(p, "eps", 3) && p[n] == '-' && p[n - 1] == 'e')
			n += 1 + strcspn(p + n + 1, "-/");
		if (!n || n >= sizeof(token))
			return -1;
		memcpy(token, p, n);
		token[n] = '\0';
		if (parse_token(token, &f, c))
			return -1;
		p += n;
		if (!*p)
			break;
	}
	c->code = candidate_pack(&f);
	return candidate_unpack(c->code, &f);
}
