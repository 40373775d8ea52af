// SPDX-License-Identifier: Apache-2.0
#include "matcher/row_pick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field: its bits in the number, the first of the tokens that spell its values. */
struct field {
	uint8_t bits, first;
};

#define FIELD(name, bits)
#define VALUE(field, value, token) token,
static const char *const tokens[] = {
#include "matcher/order.def"
#include "matcher/row_pick.def"
};
#undef FIELD
#undef VALUE

/* Index of a field's first token: the number of VALUE rows before it. */
#define FIELD(name, bits) TOKEN_##name, TOKEN_reset_##name = TOKEN_##name - 1,
#define VALUE(field, value, token) TOKEN_##field##_##value,
enum {
#include "matcher/order.def"
	TOKEN_pick_, /* order.def's last row has been counted */
	TOKEN_pick_reset_ = TOKEN_pick_ - 1,
#include "matcher/row_pick.def"
	NTOKEN
};
#undef FIELD
#undef VALUE
_Static_assert(sizeof(tokens) / sizeof(*tokens) == NTOKEN, "a VALUE row was miscounted");

#define VALUE(field, value, token)
#define FIELD(name, bits) {bits, TOKEN_##name},
static const struct field fields[] = {
#include "matcher/order.def"
	/* Two fields without tokens: log2 of width plus 1, fast. */
	{4, TOKEN_pick_},
	{1, TOKEN_pick_},
#include "matcher/row_pick.def"
};
#undef FIELD
#undef VALUE

enum {
	NFIELD = sizeof(fields) / sizeof(*fields),
	ORDER_FIELDS = sizeof(struct row_order) / sizeof(uint16_t),
	WIDTH = ORDER_FIELDS - 2,
	FAST = ORDER_FIELDS - 1,
};
_Static_assert(sizeof(struct row_pick) == NFIELD * sizeof(uint16_t), "uint16_t only");
_Static_assert(NFIELD == ORDER_FIELDS + PICK_FIELDS, "uint16_t only");

static unsigned nvalue(unsigned i)
{
	return (i + 1 < NFIELD ? fields[i + 1].first : NTOKEN) - fields[i].first;
}

static void values_of(const struct row_pick *p, uint16_t v[NFIELD])
{
	memcpy(v, p, sizeof(*p));
	if (v[WIDTH])
		v[WIDTH] = (uint16_t)(__builtin_ctz(v[WIDTH]) + 1);
}

uint64_t row_pick_pack(const struct row_pick *p)
{
	uint16_t v[NFIELD];
	uint64_t number = 0;

	values_of(p, v);
	for (unsigned i = 0, shift = 0; i < NFIELD; shift += fields[i++].bits)
		number |= (uint64_t)v[i] << shift;
	return number;
}

int row_pick_unpack(uint64_t number, struct row_pick *p)
{
	uint16_t v[NFIELD];

	for (unsigned i = 0; i < NFIELD; number >>= fields[i++].bits) {
		v[i] = number & ((1u << fields[i].bits) - 1);
		if (nvalue(i) && v[i] >= nvalue(i))
			return -1;
	}
	if (number || v[WIDTH] > 11)
		return -1;
	v[WIDTH] = v[WIDTH] ? (uint16_t)(1u << (v[WIDTH] - 1)) : 0;
	memcpy(p, v, sizeof(*p));
	return 0;
}

static void put(char *name, size_t *len, const char *token)
{
	char last = *len ? name[*len - 1] : '/';
	int n;

	if (!*token)
		return;
	n = snprintf(name + *len, ROW_PICK_NAME_MAX - *len, "%s%s", last == '/' ? "" : ".", token);
	*len += n > 0 ? (size_t)n : 0;
}

void row_pick_name(const struct row_pick *p, char *name)
{
	uint16_t v[NFIELD];
	char number[16];
	size_t len = 0;

	values_of(p, v);
	*name = 0;
	for (unsigned i = 0; i < NFIELD && v[0]; i++) {
		if (i == 0)
			snprintf(number, sizeof(number), "t%u", v[0]);
		else if (i == WIDTH)
			snprintf(number, sizeof(number), v[i] ? "w%u" : "", 1u << v[i] >> 1);
		else if (i == FAST)
			snprintf(number, sizeof(number), "%s", v[i] ? "frcp" : "");
		else if (i < WIDTH)
			snprintf(number, sizeof(number), "%s", tokens[fields[i].first + v[i]]);
		else
			break;
		put(name, &len, number);
	}
	if (len) {
		name[len++] = '/';
		name[len] = 0;
	}
	for (unsigned i = ORDER_FIELDS; i < NFIELD; i++)
		put(name, &len, tokens[fields[i].first + v[i]]);
	if (!len || name[len - 1] == '/')
		put(name, &len, "plain");
}

/* Gives the field of [from, to) that has the token its value. */
static int take(uint16_t *v, unsigned from, unsigned to, const char *token)
{
	for (unsigned i = from; i < to; i++)
		for (unsigned k = 0; k < nvalue(i); k++)
			if (!strcmp(tokens[fields[i].first + k], token)) {
				v[i] = (uint16_t)k;
				return 0;
			}
	return -1;
}

static int take_order(uint16_t *v, const char *token)
{
	unsigned number;
	char kind, rest;

	if (sscanf(token, "%c%u%c", &kind, &number, &rest) == 2 && number && number <= 1024) {
		if (kind == 't')
			v[0] = (uint16_t)number;
		if (kind == 'w')
			v[WIDTH] = (uint16_t)number;
		if (kind == 't' || (kind == 'w' && !(number & (number - 1))))
			return 0;
	}
	if (!strcmp(token, "frcp"))
		v[FAST] = 1;
	return v[FAST] && !strcmp(token, "frcp") ? 0 : take(v, 1, WIDTH, token);
}

int row_pick_parse(const char *name, struct row_pick *p)
{
	const char *slash = strchr(name, '/');
	uint16_t v[NFIELD] = {0};
	char copy[ROW_PICK_NAME_MAX], *at = copy, *token;

	if (strlen(name) >= sizeof(copy))
		return -1;
	strcpy(copy, name);
	if (slash) {
		at = copy + (slash - name) + 1;
		at[-1] = 0;
		for (char *order = copy; (token = strsep(&order, "."));)
			if (!*token || take_order(v, token))
				return -1;
		if (!v[0])
			return -1;
	}
	/* Tokens with a dot in them ("x.sw") are put together again. */
	while ((token = strsep(&at, "."))) {
		char pair[ROW_PICK_NAME_MAX];

		if (!strcmp(token, "plain"))
			continue;
		if (!*token || !take(v, ORDER_FIELDS, NFIELD, token))
			continue;
		if (!at)
			return -1;
		snprintf(pair, sizeof(pair), "%s.%s", token, strsep(&at, "."));
		if (take(v, ORDER_FIELDS, NFIELD, pair))
			return -1;
	}
	memcpy(p, v, sizeof(*p));
	return 0;
}

unsigned row_pick_count(const struct op *op)
{
	uint16_t values[PICK_FIELDS];
	unsigned n = 1;

	row_pick_space(op, values);
	for (unsigned i = 0; i < PICK_FIELDS; i++)
		n *= (unsigned)__builtin_popcount(values[i]);
	return n;
}

void row_pick_spelling(const struct op *op, unsigned number, struct row_spelling *s)
{
	uint16_t values[PICK_FIELDS], v[PICK_FIELDS];

	row_pick_space(op, values);
	for (unsigned i = 0; i < PICK_FIELDS; i++) {
		unsigned n = (unsigned)__builtin_popcount(values[i]), which = number % n;

		number /= n;
		for (; which; which--)
			values[i] &= (uint16_t)(values[i] - 1);
		v[i] = (uint16_t)__builtin_ctz(values[i]);
	}
	memcpy(s, v, sizeof(*s));
}

struct row_order row_order_usual(unsigned threads)
{
	struct row_order o = {0};

	o.threads = (uint16_t)threads;
	o.warp = ORDER_warp_DESC;
	o.block = threads > 32 ? ORDER_block_FIRSTDESC : ORDER_block_ONEWARP;
	return o;
}

static int64_t power_below(int64_t n, int64_t most)
{
	int64_t p = 1;

	while (p * 2 <= n && p * 2 <= most)
		p *= 2;
	return p;
}

bool row_order_aten(int64_t rows, int64_t cols, struct row_order *o)
{
	int64_t wide, high;
	bool split;

	if (cols % 4 || cols < 4 || rows < 1)
		return false;
	wide = power_below(cols / 4, 512);
	if (wide > 32)
		wide = 32;
	high = power_below(rows, 512);
	if (high > 512 / wide)
		high = 512 / wide;
	wide = power_below(cols / 4, 512);
	if (wide > 512 / high)
		wide = 512 / high;
	split = (cols + wide - 1) / wide >= 16 * high || (cols + wide - 1) / wide >= 256;
	*o = (struct row_order){0};
	o->threads = (uint16_t)(split ? wide * high : wide);
	o->vec = ORDER_vec_4;
	o->acc = ORDER_acc_4;
	o->fma = ORDER_fma_NO;
	o->block = ORDER_block_HALVING;
	o->width = (uint16_t)wide;
	return true;
}
