// SPDX-License-Identifier: Apache-2.0
#include "tools/fold_state.h"

static void walk(const struct fold *f, const struct fold_visitor *v, uint32_t sym, uint64_t *at,
		 unsigned depth)
{
	const struct loop *l = &f->loop[sym & ~(uint32_t)LOOP];

	if (!(sym & LOOP)) {
		if (v->item)
			v->item(v->arg, *at, sym);
		++*at;
		return;
	}
	for (uint32_t r = 0; r < l->rounds && depth < DEPTH_MAX; r++) {
		if (v->begin)
			v->begin(v->arg, r, l->rounds, l->body->length);
		for (uint32_t i = 0; i < l->body->n; i++)
			walk(f, v, l->body->sym[i], at, depth + 1);
		if (v->end)
			v->end(v->arg, r, l->body->length);
	}
}

void fold_walk(const struct fold *f, const struct fold_visitor *v)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t sym = f->list[i].sym;
		const struct loop *l = &f->loop[sym & ~(uint32_t)LOOP];

		if (v->top)
			v->top(v->arg, i, sym & LOOP ? l->rounds : 1,
			       sym & LOOP ? l->body->length : 1);
		walk(f, v, sym, &at, 0);
	}
}
