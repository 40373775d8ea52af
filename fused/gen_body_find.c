// SPDX-License-Identifier: Apache-2.0
/* Which values a body needs, in which columns, and what they are loaded with. */
#include "fused/gen_body_parts.h"

static bool is_kept(const struct body *b, unsigned i)
{
	return b->g->keep[i] && b->g->made[i] < b->goal->phase;
}

static int16_t pack_of(struct body *b, unsigned stmt, int32_t move, bool kept)
{
	for (unsigned i = 0; i < b->npack; i++)
		if (b->pack[i].stmt == stmt && b->pack[i].move == move && b->pack[i].kept == kept)
			return (int16_t)i;
	b->pack[b->npack] = (struct pack){(uint8_t)stmt, kept, move};
	return (int16_t)b->npack++;
}

/* Is it the sum of two chunks of 16-bit floats, rounded once, as one operation does it on two? */
static void find_sum(const struct body *b, struct instance *n)
{
	const struct row_stmt *stmt = b->g->r->stmt, *s = &stmt[n->stmt], *sum, *c;
	const struct instance *a, *of;

	if (s->code != ROW_CAST || (s->type != DT_bf16 && s->type != DT_f16) ||
	    s->flags & ROW_FTZ || b->goal->value >= 0 || n->pair || n->arg[0] < 0)
		return;
	a = &b->instance[n->arg[0]];
	sum = &stmt[a->stmt];
	if (a->pack >= 0 || sum->code != ROW_ADD || sum->type != DT_f32 || sum->flags & ROW_FTZ)
		return;
	for (unsigned k = 0; k < 2; k++) {
		of = a->arg[k] < 0 ? NULL : &b->instance[a->arg[k]];
		if (!of)
			return;
		c = &stmt[of->stmt];
		if (of->pack >= 0 || c->code != ROW_CAST || c->flags & ROW_FTZ || of->arg[0] < 0 ||
		    stmt[c->arg[0]].type != s->type || b->instance[of->arg[0]].pack < 0 ||
		    b->instance[of->arg[0]].pair)
			return;
	}
	for (unsigned k = 0; k < 2; k++)
		n->sum[k] = b->instance[b->instance[a->arg[k]].arg[0]].pack;
}

int16_t body_take(struct body *b, unsigned i, unsigned pair, int32_t move)
{
	const struct row_stmt *s = &b->g->r->stmt[i];
	struct instance n = {.stmt = (uint8_t)i,
			     .pair = (uint8_t)pair,
			     .move = move,
			     .arg = {-1, -1, -1},
			     .pack = -1,
			     .sum = {-1, -1}};

	if (!b->g->varies[i] || b->failed)
		return -1;
	for (unsigned k = 0; k < b->ninstance; k++)
		if (b->instance[k].stmt == i && b->instance[k].pair == pair &&
		    b->instance[k].move == move)
			return (int16_t)k;
	if (is_kept(b, i) || s->code == ROW_LOAD) {
		n.pack = pack_of(b, i, move, is_kept(b, i));
	} else {
		for (unsigned k = 0; k < gen_nargs(b->g->r, i); k++) {
			if (s->code == ROW_PAIR && move % 2)
				b->failed = true; /* neither one nor the other column */
			n.arg[k] = body_take(b, s->arg[k], s->code == ROW_PAIR ? pair ^ 1 : pair,
					     s->code == ROW_SHIFT ? move + s->shift : move);
		}
	}
	if (b->failed || b->ninstance == BODY_MAX_INSTANCES) {
		b->failed = true;
		return -1;
	}
	find_sum(b, &n);
	b->instance[b->ninstance] = n;
	return (int16_t)b->ninstance++;
}

void body_use(struct body *b, int16_t k)
{
	struct instance *n = k < 0 ? NULL : &b->instance[k];

	if (!n || n->used)
		return;
	n->used = true;
	for (unsigned a = 0; a < 3 && n->sum[0] < 0; a++)
		body_use(b, n->arg[a]);
}
