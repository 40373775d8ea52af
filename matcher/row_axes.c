// SPDX-License-Identifier: Apache-2.0
/*
 * Which axis of one op is which of another? Two operands that list the same memory have the same
 * strides along the same axes. Declared in row_space.h.
 */
#include "matcher/row_axes.h"

enum { MAX_LINKS = 4 * SPACE_MAX_OPS };

static bool covers(const struct operand *a, const struct operand *b)
{
	return a->addr == b->addr &&
	       dtype_bytes((enum dtype)a->dtype) == dtype_bytes((enum dtype)b->dtype);
}

static uint64_t weight_of(const struct operand *o)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < o->ndim; i++)
		if (o->stride[i])
			n *= (uint64_t)o->size[i];
	return n;
}

static void add_link(struct link *l, unsigned *n, unsigned m, unsigned mine, unsigned other,
		     unsigned theirs, uint64_t weight)
{
	if (*n < MAX_LINKS)
		l[(*n)++] = (struct link){(uint8_t)m, (uint8_t)mine, (uint8_t)other,
					  (uint8_t)theirs, weight};
}

/* What ops leave to later ones, and what two of them read. */
static unsigned find_links(const struct space *s, struct link *l)
{
	enum { LEFT = 40 }; /* a value handed on says more than any that is read twice */
	unsigned n = 0;

	for (unsigned m = 1; m < s->nop; m++)
		for (unsigned k = 0; k < s->op[m]->noperand; k++) {
			const struct operand *o = &s->op[m]->operand[k];
			const uint64_t weight = weight_of(o);
			bool found = false;

			if (!(o->access & ACCESS_READ))
				continue;
			for (unsigned i = m; i-- > 0 && !found;)
				for (unsigned q = 0; q < s->op[i]->noperand && !found; q++) {
					const struct operand *x = &s->op[i]->operand[q];
					const bool left = x->access & ACCESS_WRITE;

					if (!covers(o, x))
						continue;
					add_link(l, &n, m, k, i, q,
						 weight + ((uint64_t)left << LEFT));
					found = true;
				}
		}
	return n;
}

static bool within(struct range a, struct range b)
{
	return b.lo <= a.lo && a.hi <= b.hi;
}

/* Memory that op m reads and that lies within what another reads or writes: halves of a row. */
static bool inside(const struct space *s, unsigned m, struct link *l)
{
	for (unsigned k = 0; k < s->op[m]->noperand; k++) {
		const struct operand *o = &s->op[m]->operand[k];

		if (!(o->access & ACCESS_READ))
			continue;
		for (unsigned i = s->nop; i-- > 0;)
			for (unsigned q = 0; i != m && s->part[i].known && q < s->op[i]->noperand;
			     q++) {
				const struct operand *x = &s->op[i]->operand[q];

				if (dtype_bytes((enum dtype)x->dtype) !=
					    dtype_bytes((enum dtype)o->dtype) ||
				    (i > m && !(x->access & ACCESS_READ)) ||
				    !within(operand_range(o), operand_range(x)))
					continue;
				*l = (struct link){(uint8_t)m, (uint8_t)k, (uint8_t)i, (uint8_t)q,
						   0};
				return true;
			}
	}
	return false;
}

/* The weightiest link between an op whose axes are known and one whose are not, seen from the
 * latter. False if there is none. */
static bool best_link(const struct space *s, struct link *link, unsigned n, struct link *l)
{
	int best = -1;

	for (unsigned i = 0; i < n; i++)
		if (link[i].weight && s->part[link[i].m].known != s->part[link[i].other].known &&
		    (best < 0 || link[i].weight > link[best].weight))
			best = (int)i;
	if (best < 0)
		return false;
	*l = link[best];
	link[best].weight = 0; /* once is enough */
	if (s->part[l->m].known)
		*l = (struct link){l->other, l->theirs, l->m, l->mine, l->weight};
	return true;
}

bool space_axes(struct space *s)
{
	struct link link[MAX_LINKS], l;
	const unsigned n = find_links(s, link);

	for (;;) {
		unsigned m = 0;

		while (best_link(s, link, n, &l))
			axes_place(s, &l);
		while (m < s->nop && s->part[m].known)
			m++;
		if (m == s->nop)
			return true;
		if (!(inside(s, m, &l) && axes_place(s, &l)) && !axes_place_naturally(s, m))
			return false;
	}
}
