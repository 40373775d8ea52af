// SPDX-License-Identifier: Apache-2.0
/* Candidates' programs, moved to where a group has its operands. Declared in candidate_row.h. */
#include <string.h>

#include "config/hash.h"
#include "fused/candidate_row.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* No padding: it is hashed as it lies. */
struct slot_look {
	uint8_t dtype, use, alias, broadcast;
	uint8_t addr, pitch; /* 2^n that divides them, as far as that matters */
	uint8_t dense, pad;
};

static bool same_place(const struct group *g, unsigned i, unsigned k)
{
	const struct bound *x = &g->bound[i], *y = &g->bound[k];

	return x->addr == y->addr && x->dtype == y->dtype && (g->rows == 1 || x->pitch == y->pitch);
}

static uint8_t divisor(uint64_t v)
{
	return (uint8_t)__builtin_ctzll(v | UINT64_C(1) << ROW_MAX_ALIGN);
}

uint64_t candidate_look(const struct group *g)
{
	struct {
		int64_t cols, one_row;
		struct slot_look slot[GROUP_MAX_OPERANDS];
	} look = {.cols = g->cols, .one_row = g->rows == 1};

	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];
		struct slot_look *s = &look.slot[i];

		while (!same_place(g, i, s->alias))
			s->alias++;
		s->dtype = b->dtype;
		s->use = b->use;
		s->broadcast = !b->pitch;
		s->addr = divisor(b->addr);
		s->pitch = divisor((uint64_t)b->pitch);
		s->dense = b->pitch == g->cols * dtype_bytes((enum dtype)b->dtype);
	}
	return XXH3_64bits(&look, sizeof(look));
}

/* The slot at that place; GROUP_MAX_OPERANDS if there is none. */
static unsigned slot_of(const struct group *g, const struct row *r, const struct row_operand *o)
{
	unsigned i = 0;

	for (; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];

		/* Where elements are one run, every slot is dense. */
		if (b->addr == o->addr && b->dtype == o->dtype &&
		    (g->rows == 1 || row_rows(r) != g->rows || b->pitch == o->stride[0]))
			return i;
	}
	return GROUP_MAX_OPERANDS;
}

enum reason candidate_form(const struct group *g, const struct candidate *c,
			   struct candidate_form *f)
{
	const enum reason why = candidate_row(g, c, &f->row);

	f->look = candidate_look(g);
	for (unsigned i = 0; !why && i < f->row.noperand; i++) {
		f->slot[i] = (uint8_t)slot_of(g, &f->row, &f->row.operand[i]);
		if (f->slot[i] == GROUP_MAX_OPERANDS)
			return REASON_SHAPE;
	}
	return why;
}

void candidate_form_place(const struct candidate_form *f, const struct group *g, struct row *to)
{
	/* A run of elements keeps its strides. */
	const bool run = f->row.cols == 1 && g->cols > 1;

	row_copy(to, &f->row);
	to->size[0] = run ? g->rows * g->cols : g->rows;
	for (unsigned i = 0; i < to->noperand; i++) {
		const struct bound *b = &g->bound[f->slot[i]];

		to->operand[i].addr = b->addr;
		if (!run)
			to->operand[i].stride[0] = b->pitch;
	}
}
