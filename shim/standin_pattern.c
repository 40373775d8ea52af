// SPDX-License-Identifier: Apache-2.0
#include "shim/standin_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "fused/candidate_row.h"
#include "shim/generated.h"
#include "shim/process.h"

enum { FORMS_MAX = 8 };

/* The candidate's program for groups that look alike, and its kernels. Never freed: they are read
 * without a lock. */
struct standin_form {
	struct candidate_form form;
	struct generated *image; /* NULL: there are none */
	struct standin_form *next;
};

static struct standin_form *form_of(const struct group *g, const struct verdict *v,
				    const struct ours *o)
{
	struct standin_form **list = (struct standin_form **)&v->form, *first, *f;
	const uint64_t look = candidate_look(g);
	unsigned n = 0;

	first = __atomic_load_n(list, __ATOMIC_ACQUIRE);
	for (f = first; f; f = f->next, n++)
		if (f->form.look == look)
			return f;
	f = n < FORMS_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	if (!candidate_form(g, &v->candidate, &f->form) && !gen_cannot(&f->form.row, &o->limits))
		f->image = generated_get(&f->form.row, o, v->pattern->name);
	/* Two threads may make the same one: its image is one, too. */
	f->next = first;
	while (!__atomic_compare_exchange_n(list, &f->next, f, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
	return f;
}

static bool chosen(const struct verdict *v, int64_t rows)
{
	const struct options *opt = &process.config.opt;

	if (!opt->generated || opt->stand_in == STAND_IN_WRITTEN)
		return false;
	return choice_generated(&v->choice, rows) ||
	       (opt->stand_in == STAND_IN_GENERATED && v->choice.kernel != CHOICE_WRITTEN);
}

static enum standin_answer generated(const struct group *g, const struct verdict *v,
				     const struct ours *o, struct standin *to)
{
	struct standin_form *f = form_of(g, v, o);
	struct gen_launch l;
	CUfunction function;
	struct row r;

	if (!f || !f->image)
		return STANDIN_NEVER;
	if (generated_state(f->image, o) == GENERATED_READY) {
		candidate_form_place(&f->form, g, &r);
		if (generated_launch(f->image, &r, o, &l, &function)) {
			standin_begin(to);
			standin_add(to, function, &l);
			return STANDIN_MADE;
		}
	}
	return generated_state(f->image, o) == GENERATED_FAILED ? STANDIN_NEVER : STANDIN_LATER;
}

static enum standin_answer by_hand(const struct group *g, const struct verdict *v,
				   const struct ours *o, struct standin *to)
{
	struct fused_launch l;

	if (fused_launch(g, &v->candidate, &o->limits, &l) || !standin_ours(&l, o, to))
		return STANDIN_NEVER;
	return STANDIN_MADE;
}

enum standin_answer standin_of_pattern(const struct group *g, int64_t rows, const struct verdict *v,
				       const struct ours *o, struct standin *to)
{
	enum standin_answer a = STANDIN_NEVER, hand;

	standin_begin(to);
	if (!chosen(v, rows))
		return by_hand(g, v, o, to);
	a = generated(g, v, o, to);
	to->generated = a == STANDIN_MADE;
	if (a == STANDIN_MADE || v->choice.kernel == CHOICE_ONLY_GENERATED)
		return a;
	hand = by_hand(g, v, o, to);
	to->provisional = a == STANDIN_LATER;
	return hand;
}

enum standin_answer standin_generated(const struct group *g, const struct verdict *v,
				      const struct ours *o)
{
	const struct standin_form *f;

	if (!chosen(v, g->rows))
		return STANDIN_MADE;
	f = form_of(g, v, o);
	if (!f || !f->image)
		return STANDIN_NEVER;
	switch (generated_state(f->image, o)) {
	case GENERATED_READY:
		return STANDIN_MADE;
	case GENERATED_FAILED:
		return STANDIN_NEVER;
	default:
		return STANDIN_LATER;
	}
}
