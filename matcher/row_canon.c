// SPDX-License-Identifier: Apache-2.0
/*
 * The canonical form of row programs, and its hash. Declared in row.h.
 *
 * Each statement gets a colour that depends on what it is made of and what is made of it, but on no
 * number; operands get one from the statements that use them, which flows back into those, a few
 * times. Then the program is written anew from its stores, sorted by colour, values first.
 */
#include <string.h>

#include "matcher/row.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROUNDS = 3 };

struct canon {
	struct row from;
	uint64_t up[ROW_MAX_STMTS], down[ROW_MAX_STMTS]; /* colours */
	uint64_t operand[ROW_MAX_OPERANDS];
	uint8_t as[ROW_MAX_STMTS]; /* the statement's new number, or ROW_NONE */
	uint8_t operand_as[ROW_MAX_OPERANDS], imm_as[ROW_MAX_IMM], order_as[ROW_MAX_ORDERS];
};

static uint64_t mix(uint64_t x)
{
	/* The finaliser of splitmix64. */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t join(uint64_t h, uint64_t v)
{
	return mix(h * 0x9e3779b97f4a7c15u + mix(v + 0x9e3779b97f4a7c15u));
}

static uint8_t align_of(const struct row *r, const struct row_operand *o)
{
	uint64_t bits = o->addr | (uint64_t)1 << ROW_MAX_ALIGN;

	for (unsigned d = 0; d < r->ndim; d++)
		if (r->size[d] > 1 && !row_is_flat(r))
			bits |= (uint64_t)o->stride[d];
	return (uint8_t)__builtin_ctzll(bits);
}

/* What of an operand generated code may depend on. */
static uint64_t class_of(const struct row *r, const struct row_operand *o)
{
	const int64_t bytes = dtype_bytes(o->dtype);
	uint64_t h = o->dtype | (uint64_t)o->use << 8 | (uint64_t)o->align << 16;

	h |= (uint64_t)(!o->step ? 0 : o->step == bytes ? 1 : 2) << 24;
	h |= (uint64_t)(!o->step || o->width == r->cols) << 28;
	for (unsigned d = 0; d < r->ndim; d++)
		h |= (uint64_t)(o->stride[d] != 0) << (32 + d) | (uint64_t)(o->most[d] != 0)
									 << (36 + d);
	h |= (uint64_t)row_operand_kept_whole(o) << 41 | (uint64_t)o->nhole << 42;
	if (row_is_flat(r))
		h |= (uint64_t)(o->stride[0] == bytes) << 40;
	return h;
}

static bool same_stmt(const struct row_stmt *x, const struct row_stmt *y)
{
	return x->code == y->code && x->type == y->type && x->flags == y->flags && x->at == y->at &&
	       x->shift == y->shift && !memcmp(x->arg, y->arg, sizeof(x->arg));
}

static void sort_args(struct row_stmt *s)
{
	if (row_code_commutes(s->code) && s->arg[0] > s->arg[1]) {
		uint8_t a = s->arg[0];

		s->arg[0] = s->arg[1];
		s->arg[1] = a;
	}
}

static bool keeps(const struct row_stmt *s)
{
	return s->code == ROW_STORE && !(s->flags & ROW_DEAD);
}

/* Equal statements become one; what does not reach a store goes. Numbers stay, args are sorted by
 * them. live: which statements are left. */
static void prune(struct row *r, bool live[ROW_MAX_STMTS])
{
	uint8_t same[ROW_MAX_STMTS];

	for (unsigned i = 0; i < r->nstmt; i++) {
		struct row_stmt *s = &r->stmt[i];

		for (unsigned k = 0; k < 3; k++)
			if (s->arg[k] != ROW_NONE)
				s->arg[k] = same[s->arg[k]];
		sort_args(s);
		same[i] = (uint8_t)i;
		live[i] = false;
		if (s->code == ROW_STORE)
			continue;
		if (s->code == ROW_CONST) /* equal numbers are one */
			for (unsigned k = 0; k < s->at; k++)
				if (r->imm[k] == r->imm[s->at]) {
					s->at = (uint8_t)k;
					break;
				}
		if (s->code == ROW_CAST && s->type != DT_bool && r->stmt[s->arg[0]].type == s->type)
			same[i] = s->arg[0];
		for (unsigned k = 0; k < i && same[i] == i; k++)
			if (same[k] == k && same_stmt(&r->stmt[k], s))
				same[i] = (uint8_t)k;
	}
	for (unsigned i = r->nstmt; i-- > 0;) {
		const struct row_stmt *s = &r->stmt[i];

		live[i] |= keeps(s);
		for (unsigned k = 0; live[i] && k < 3; k++)
			if (s->arg[k] != ROW_NONE)
				live[s->arg[k]] = true;
	}
}

static uint64_t order_colour(const struct row_order *o)
{
	return XXH3_64bits(o, sizeof(*o));
}

/* Colours from values to their users, then back. */
static void colour(struct canon *c, const bool *live)
{
	const struct row *r = &c->from;

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		uint64_t h = join((uint64_t)s->code << 24 | (uint64_t)s->type << 16 |
					  (uint64_t)s->flags << 8,
				  (uint32_t)s->shift);

		if (!live[i])
			continue;
		if (s->code == ROW_LOAD || s->code == ROW_STORE)
			h = join(h, c->operand[s->at]);
		if (row_code_reduces(s->code))
			h = join(h, order_colour(&r->order[s->at]));
		if (row_code_commutes(s->code)) {
			h = join(h, c->up[s->arg[0]] + c->up[s->arg[1]]);
			if (s->arg[2] != ROW_NONE)
				h = join(h, c->up[s->arg[2]]);
		} else {
			for (unsigned k = 0; k < 3; k++)
				if (s->arg[k] != ROW_NONE)
					h = join(h, c->up[s->arg[k]]);
		}
		c->up[i] = h;
		c->down[i] = 0;
	}
	for (unsigned i = r->nstmt; i-- > 0;) {
		const struct row_stmt *s = &r->stmt[i];

		for (unsigned k = 0; live[i] && k < 3; k++)
			if (s->arg[k] != ROW_NONE)
				c->down[s->arg[k]] +=
					join(join(c->up[i], c->down[i]),
					     row_code_commutes(s->code) && k < 2 ? 0 : k + 1);
	}
}

static void colour_operands(struct canon *c, const bool *live)
{
	const struct row *r = &c->from;
	uint64_t sum[ROW_MAX_OPERANDS] = {0};

	for (unsigned i = 0; i < r->nstmt; i++)
		if (live[i] && (r->stmt[i].code == ROW_LOAD || r->stmt[i].code == ROW_STORE))
			sum[r->stmt[i].at] += join(c->up[i], c->down[i]);
	for (unsigned k = 0; k < r->noperand; k++)
		c->operand[k] = join(c->operand[k], sum[k]);
}

static uint64_t whole(const struct canon *c, uint8_t i)
{
	return join(c->up[i], c->down[i]);
}

/* Writes statement i behind what it takes. */
static uint8_t emit(struct canon *c, struct row *to, uint8_t i)
{
	struct row_stmt s = c->from.stmt[i];

	if (c->as[i] != ROW_NONE)
		return c->as[i];
	if (row_code_commutes(s.code) && whole(c, s.arg[1]) < whole(c, s.arg[0])) {
		uint8_t a = s.arg[0];

		s.arg[0] = s.arg[1];
		s.arg[1] = a;
	}
	for (unsigned k = 0; k < 3; k++)
		if (s.arg[k] != ROW_NONE)
			s.arg[k] = emit(c, to, s.arg[k]);
	sort_args(&s);
	if (s.code == ROW_LOAD || s.code == ROW_STORE) {
		uint8_t *as = &c->operand_as[s.at];

		if (*as == ROW_NONE) {
			*as = to->noperand;
			to->operand[to->noperand++] = c->from.operand[s.at];
			to->operand[*as].use = 0;
		}
		to->operand[*as].use |= s.code == ROW_LOAD ? ROW_READ : ROW_WRITE;
		s.at = *as;
	} else if (s.code == ROW_CONST) {
		uint8_t *as = &c->imm_as[s.at];

		if (*as == ROW_NONE) {
			*as = to->nimm;
			to->imm[to->nimm++] = c->from.imm[s.at];
		}
		s.at = *as;
	} else if (row_code_reduces(s.code)) {
		uint8_t *as = &c->order_as[s.at];

		for (unsigned k = 0; *as == ROW_NONE && k < to->norder; k++)
			if (!memcmp(&to->order[k], &c->from.order[s.at], sizeof(to->order[k])))
				*as = (uint8_t)k;
		if (*as == ROW_NONE) {
			*as = to->norder;
			to->order[to->norder++] = c->from.order[s.at];
		}
		s.at = *as;
	}
	to->stmt[to->nstmt] = s;
	return c->as[i] = to->nstmt++;
}

void row_tidy(struct row *r)
{
	uint8_t as[ROW_MAX_STMTS], operand_as[ROW_MAX_OPERANDS];
	struct row_operand kept[ROW_MAX_OPERANDS];
	bool live[ROW_MAX_STMTS];
	unsigned n = 0, operands = 0;

	prune(r, live);
	memset(operand_as, ROW_NONE, sizeof(operand_as));
	for (unsigned i = 0; i < r->nstmt; i++) {
		struct row_stmt s = r->stmt[i];

		if (!live[i])
			continue;
		for (unsigned k = 0; k < 3; k++)
			if (s.arg[k] != ROW_NONE)
				s.arg[k] = as[s.arg[k]];
		if (s.code == ROW_LOAD || s.code == ROW_STORE) {
			uint8_t *at = &operand_as[s.at];

			if (*at == ROW_NONE) {
				*at = (uint8_t)operands;
				kept[operands] = r->operand[s.at];
				kept[operands].align = align_of(r, &kept[operands]);
				kept[operands++].use = 0;
			}
			kept[*at].use |= s.code == ROW_LOAD ? ROW_READ : ROW_WRITE;
			s.at = *at;
		}
		as[i] = (uint8_t)n;
		r->stmt[n++] = s;
	}
	memcpy(r->operand, kept, operands * sizeof(kept[0]));
	r->noperand = (uint8_t)operands;
	r->nstmt = (uint8_t)n;
}

void row_canon(struct row *r)
{
	struct canon c;
	bool live[ROW_MAX_STMTS];

	row_copy(&c.from, r);
	prune(&c.from, live);
	for (unsigned k = 0; k < r->noperand; k++) {
		struct row_operand *o = &c.from.operand[k];

		o->align = align_of(r, o);
		o->use = 0;
		for (unsigned i = 0; i < c.from.nstmt; i++)
			if (live[i] && c.from.stmt[i].at == k) {
				if (c.from.stmt[i].code == ROW_LOAD)
					o->use |= ROW_READ;
				if (c.from.stmt[i].code == ROW_STORE)
					o->use |= ROW_WRITE;
			}
		c.operand[k] = class_of(r, o);
	}
	for (unsigned n = 0; n < ROUNDS; n++) {
		colour(&c, live);
		colour_operands(&c, live);
	}
	colour(&c, live);
	memset(c.as, ROW_NONE, sizeof(c.as));
	memset(c.operand_as, ROW_NONE, sizeof(c.operand_as));
	memset(c.imm_as, ROW_NONE, sizeof(c.imm_as));
	memset(c.order_as, ROW_NONE, sizeof(c.order_as));
	r->nstmt = r->noperand = r->nimm = r->norder = 0;
	for (;;) {
		int next = -1;

		for (unsigned i = 0; i < c.from.nstmt; i++)
			if (live[i] && keeps(&c.from.stmt[i]) && c.as[i] == ROW_NONE &&
			    (next < 0 || whole(&c, (uint8_t)i) < whole(&c, (uint8_t)next)))
				next = (int)i;
		if (next < 0)
			return;
		emit(&c, r, (uint8_t)next);
	}
}

uint64_t row_hash(const struct row *r)
{
	const bool columns = !row_is_elementwise(r);
	uint64_t word[2 + ROW_MAX_OPERANDS + 2 * ROW_MAX_STMTS], h;
	unsigned n = 0;

	word[n++] = r->ndim | (uint64_t)r->nstmt << 8 | (uint64_t)r->noperand << 16 |
		    (uint64_t)r->norder << 24 | (uint64_t)r->nimm << 32 |
		    (uint64_t)(r->cols == 1) << 40;
	word[n++] = columns ? (uint64_t)r->cols : 0;
	for (unsigned k = 0; k < r->noperand; k++)
		word[n++] = class_of(r, &r->operand[k]) ^
			    (columns ? (uint64_t)r->operand[k].width << 44 : 0);
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		word[n++] = s->code | (uint64_t)s->type << 8 | (uint64_t)s->flags << 16 |
			    (uint64_t)s->span << 24 | (uint64_t)s->arg[0] << 32 |
			    (uint64_t)s->arg[1] << 40 | (uint64_t)s->arg[2] << 48 |
			    (uint64_t)s->at << 56;
		word[n++] = (uint32_t)s->shift;
	}
	h = XXH3_64bits(word, n * sizeof(word[0]));
	h = join(h, XXH3_64bits(r->order, r->norder * sizeof(r->order[0])));
	return h ? h : 1;
}
