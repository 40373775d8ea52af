/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/candidate.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field: its bits in the code, the first of the tokens that spell its values. */
struct field {
	uint8_t bits, first;
};
/* The fields of a pattern's candidates, in memory an array of uint16_t in that order. */
struct table {
	const struct field *field;
	unsigned nfield, ntoken, shift; /* shift: where the code's first field is */
	const char *const *token;
	unsigned slash; /* the field before whose token a name has a slash */
};

#define FIELD(name, bits)
#define VALUE(field, value, token) token,
static const char *const tokens[] = {
#include "fused/candidate.def"
};
static const char *const silu_tokens[] = {
#include "fused/silu.def"
};
#undef FIELD
#undef VALUE

/* Index of a field's first token: the number of VALUE rows before it. */
#define FIELD(name, bits) TOKEN_##name, TOKEN_reset_##name = TOKEN_##name - 1,
#define VALUE(field, value, token) TOKEN_##field##_##value,
enum {
#include "fused/candidate.def"
	NTOKEN
};
#undef FIELD
#undef VALUE
#define FIELD(name, bits) SILU_TOKEN_##name, SILU_TOKEN_reset_##name = SILU_TOKEN_##name - 1,
#define VALUE(field, value, token) SILU_TOKEN_##field##_##value,
enum {
#include "fused/silu.def"
	SILU_NTOKEN
};
#undef FIELD
#undef VALUE

#define VALUE(field, value, token)
#define FIELD(name, bits) {bits, TOKEN_##name},
static const struct field fields[] = {
#include "fused/candidate.def"
};
#undef FIELD
#define FIELD(name, bits) {bits, SILU_TOKEN_##name},
static const struct field silu_fields[] = {
#include "fused/silu.def"
};
#undef FIELD
#undef VALUE
_Static_assert(sizeof(tokens) / sizeof(*tokens) == NTOKEN, "a VALUE row was miscounted");
_Static_assert(sizeof(silu_tokens) / sizeof(*silu_tokens) == SILU_NTOKEN, "likewise");
_Static_assert(sizeof(struct fields) == 2 * sizeof(fields) / sizeof(*fields), "uint16_t only");

/* Every order has threads, in the code's lowest bits; a silu has none. */
enum { THREADS_BITS = 11, FIELDS_MAX = 24 };
static const struct table norm = {fields, sizeof(fields) / sizeof(*fields), NTOKEN, 0,
				  tokens, offsetof(struct fields, mean) / 2};
static const struct table silu = {silu_fields, sizeof(silu_fields) / sizeof(*silu_fields),
				  SILU_NTOKEN, THREADS_BITS,
				  silu_tokens, 0};
_Static_assert(sizeof(fields) / sizeof(*fields) <= FIELDS_MAX, "grow FIELDS_MAX");

static const struct table *table_of(uint64_t code)
{
	return code & ((1u << THREADS_BITS) - 1) ? &norm : &silu;
}

static unsigned nvalue(const struct table *t, unsigned i)
{
	return (i + 1 < t->nfield ? t->field[i + 1].first : t->ntoken) - t->field[i].first;
}

static uint64_t pack(const struct table *t, const uint16_t *v)
{
	uint64_t code = 0;

	for (unsigned i = 0, shift = t->shift; i < t->nfield; shift += t->field[i++].bits)
		code |= (uint64_t)v[i] << shift;
	return code;
}

static int unpack(const struct table *t, uint64_t code, uint16_t *v)
{
	if (code & ((UINT64_C(1) << t->shift) - 1))
		return -1;
	code >>= t->shift;
	for (unsigned i = 0; i < t->nfield; code >>= t->field[i++].bits) {
		v[i] = code & ((1u << t->field[i].bits) - 1);
		if (nvalue(t, i) && v[i] >= nvalue(t, i))
			return -1;
	}
	return code ? -1 : 0;
}

uint64_t candidate_pack(const struct fields *f)
{
	return pack(&norm, (const uint16_t *)f);
}

int candidate_unpack(uint64_t code, struct fields *f)
{
	if (unpack(&norm, code, (uint16_t *)f) || f->threads < 1 || f->threads > 1024 ||
	    f->part > f->vec || (f->part && f->acc))
		return -1;
	return 0;
}

uint64_t candidate_pack_silu(const struct silu_fields *f)
{
	return pack(&silu, (const uint16_t *)f);
}

int candidate_unpack_silu(uint64_t code, struct silu_fields *f)
{
	return unpack(&silu, code, (uint16_t *)f);
}

struct candidate candidate_join(const struct candidate *order, const struct candidate *spelling)
{
	return (struct candidate){order->code | spelling->code, spelling->eps};
}

/* A silu's code may be any number: only one that unpacks has a name. */
static int fields_of(const struct candidate *c, const struct table **t, uint16_t *v)
{
	struct fields f;

	*t = table_of(c->code);
	if (*t == &norm && candidate_unpack(c->code, &f))
		return -1;
	return unpack(*t, c->code, v);
}

void candidate_name(const struct candidate *c, char *name)
{
	const struct table *t;
	uint16_t v[FIELDS_MAX];
	int n;

	if (fields_of(c, &t, v)) {
		snprintf(name, CANDIDATE_NAME_MAX, "?");
		return;
	}
	n = t == &norm ? snprintf(name, CANDIDATE_NAME_MAX, "t%u", v[0])
		       : snprintf(name, CANDIDATE_NAME_MAX, "silu");
	for (unsigned i = t == &norm; i < t->nfield && n < CANDIDATE_NAME_MAX; i++) {
		const char *token = t->token[t->field[i].first + v[i]];

		/* A slash sets the spelling off from the order. */
		if (*token || i == t->slash)
			n += snprintf(name + n, (size_t)(CANDIDATE_NAME_MAX - n), "%c%s",
				      i == t->slash ? '/' : '-', token);
	}
	for (int digits = 1; c->eps != 0 && digits <= 9 && n < CANDIDATE_NAME_MAX; digits++) {
		snprintf(name + n, (size_t)(CANDIDATE_NAME_MAX - n), "-eps%.*g", digits,
			 (double)c->eps);
		if (strtof(name + n + 4, NULL) == c->eps)
			break;
	}
}

/* One token of a name into v or c. -1 if there is no such token. */
static int parse_token(const char *token, const struct table *t, uint16_t *v, struct candidate *c)
{
	char *end;

	if (t == &norm && token[0] == 't' && token[1] >= '0' && token[1] <= '9') {
		unsigned long threads = strtoul(token + 1, &end, 10);

		v[0] = (uint16_t)(threads <= 1024 ? threads : 0);
		return *end ? -1 : 0;
	}
	for (unsigned i = t == &norm; i < t->nfield; i++)
		for (unsigned k = 0; k < nvalue(t, i); k++)
			if (!strcmp(token, t->token[t->field[i].first + k])) {
				v[i] = (uint16_t)k;
				return 0;
			}
	if (t == &silu || strncmp(token, "eps", 3))
		return -1;
	c->eps = strtof(token + 3, &end);
	return *end || end == token + 3 || !isfinite(c->eps) ? -1 : 0;
}

int candidate_parse(const char *name, struct candidate *c)
{
	const struct table *t = strncmp(name, "silu/", 5) ? &norm : &silu;
	uint16_t v[FIELDS_MAX] = {0};
	char token[24];

	c->eps = 0;
	for (const char *p = t == &silu ? name + 5 : name;; p++) {
		size_t n = strcspn(p, "-/");

		/* The minus of an exponent belongs to its number. */
		if (n && !strncmp(p, "eps", 3) && p[n] == '-' && p[n - 1] == 'e')
			n += 1 + strcspn(p + n + 1, "-/");
		if (!n || n >= sizeof(token))
			return -1;
		memcpy(token, p, n);
		token[n] = '\0';
		if (parse_token(token, t, v, c))
			return -1;
		p += n;
		if (!*p)
			break;
	}
	c->code = pack(t, v);
	return table_of(c->code) == t ? fields_of(c, &t, v) : -1;
}
