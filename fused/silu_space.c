/* SPDX-License-Identifier: Apache-2.0 */
/* The candidates for silu -> mul, and which of them are the same arithmetic. */
#include "fused/candidate.h"

struct list {
	enum dtype type;
	struct candidate *out;
	unsigned n, max;
};

static bool native(unsigned div)
{
	return div == SILU_div_NATIVE || div == SILU_div_RCPNATIVE || div == SILU_div_HRCP;
}

static bool reciprocal(unsigned div)
{
	return div == SILU_div_RCP || div == SILU_div_RCPFAST || native(div) ||
	       div == SILU_div_DRCP;
}

/* Brings fields that cannot matter to their first value. */
static void canonical(enum dtype t, struct silu_fields *f)
{
	bool wide = f->div >= SILU_div_DDIV;

	if (t == DT_f32)
		f->rounde = f->roundd = f->roundq = 0;
	if (f->exp == SILU_exp_NATIVE) /* is of the type already */
		f->rounde = 0;
	if (wide) /* d is a double */
		f->roundd = 0;
	if (!reciprocal(f->div) || native(f->div))
		f->roundq = 0;
	/* No float made of halves is subnormal, but products and exp(-x) of large x are. */
	if (t == DT_f16)
		f->mulftz = 0;
	/* Both are one product with the approximate reciprocal. */
	if (f->ftz && f->div == SILU_div_DIVFAST)
		f->div = SILU_div_RCPFAST;
}

static void put(struct list *l, struct silu_fields f)
{
	uint64_t code;

	/* The first of those that are alike is listed. */
	if (f.ftz && f.div == SILU_div_RCPFAST && !f.roundq)
		f.div = SILU_div_DIVFAST;
	code = candidate_pack_silu(&f);
	for (unsigned i = 0; i < l->n; i++)
		if (l->out[i].code == code)
			return;
	if (l->n < l->max)
		l->out[l->n++] = (struct candidate){.code = code};
}

static void put_flavours(struct list *l, struct silu_fields f)
{
	unsigned flush = l->type != DT_f16;

	for (f.ftz = 0; f.ftz <= 1; f.ftz++)
		for (f.mulftz = 0; f.mulftz <= flush; f.mulftz++)
			put(l, f);
}

static void put_roundings(struct list *l, struct silu_fields f)
{
	for (unsigned bits = 0; bits < 8; bits++) {
		struct silu_fields c;

		f.rounde = bits & 1;
		f.roundd = bits >> 1 & 1;
		f.roundq = bits >> 2;
		c = f;
		canonical(l->type, &c);
		if (c.rounde == f.rounde && c.roundd == f.roundd && c.roundq == f.roundq)
			put_flavours(l, f);
	}
}

unsigned candidate_silus(const struct group *g, struct candidate *out, unsigned max)
{
	struct list l = {.type = g->bound[SILU_MUL_GATE].dtype, .out = out, .max = max};
	struct silu_fields f = {0};
	bool sixteen = l.type != DT_f32;

	for (f.exp = SILU_exp_FULL; f.exp <= (sixteen ? SILU_exp_NATIVE : SILU_exp_FAST); f.exp++)
		for (f.div = SILU_div_DIV; f.div <= SILU_div_DRCP; f.div++)
			if (sixteen || !native(f.div))
				put_roundings(&l, f);
	return l.n;
}

static bool unpack(const struct group *g, const struct candidate *c, struct silu_fields *f)
{
	if (candidate_unpack_silu(c->code, f))
		return false;
	canonical(g->bound[SILU_MUL_GATE].dtype, f);
	return true;
}

bool candidate_same_product(const struct group *g, const struct candidate *a,
			    const struct candidate *b)
{
	struct silu_fields x, y;

	return unpack(g, a, &x) && unpack(g, b, &y) && x.mulftz == y.mulftz;
}

bool candidate_same_silu(const struct group *g, const struct candidate *a,
			 const struct candidate *b)
{
	struct silu_fields x, y;

	return unpack(g, a, &x) && unpack(g, b, &y) &&
	       candidate_pack_silu(&x) == candidate_pack_silu(&y);
}
