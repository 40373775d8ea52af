// SPDX-License-Identifier: Apache-2.0
/* Which of the space's axes is each of an op's own, given that two operands list the same memory?
 */
#include <string.h>

#include "matcher/row_axes.h"

/* Cuts axis j of the space so that its inner part is `inner` long. */
static bool split(struct space *s, unsigned j, int64_t inner)
{
	if (s->naxis == SPACE_MAX_AXES || s->size[j] % inner || (s->cols && j + 1 == s->naxis))
		return false;
	for (unsigned m = 0; m < s->nop; m++)
		if (s->part[m].known && s->part[m].size[j] != 1 && s->part[m].size[j] % inner)
			return false;
	for (unsigned k = s->naxis++; k > j; k--)
		s->size[k] = s->size[k - 1];
	s->size[j] /= inner;
	s->size[j + 1] = inner;
	for (unsigned m = 0; m < s->nop; m++) {
		struct space_part *p = &s->part[m];

		if (!p->known)
			continue;
		for (unsigned k = s->naxis - 1; k > j; k--) {
			p->size[k] = p->size[k - 1];
			p->pos[k] = p->pos[k - 1];
		}
		if (p->size[j] == 1)
			continue; /* both stay in place */
		p->size[j] /= inner;
		p->size[j + 1] = inner;
		p->pos[j] *= inner;
	}
	return true;
}

/* Along the axes of the space: an operand's strides, and how many steps it makes. */
static bool strides_of(const struct space *s, unsigned m, unsigned operand, int64_t *stride,
		       int64_t *size)
{
	const struct space_part *p = &s->part[m];
	struct space_box b;
	int64_t inner;

	if (!space_box(s->op[m], &s->op[m]->operand[operand], s->count[m], &b, &inner))
		return false;
	for (unsigned j = 0; j < s->naxis; j++) {
		size[j] = p->size[j];
		if (!space_stride(&b, p->pos[j], p->size[j], &stride[j]))
			return false;
	}
	if (inner)
		size[s->naxis - 1] = inner;
	return true;
}

/* The state of a comparison: which axis of the space each own axis is. */
struct fit {
	struct space *s;
	struct own a;
	int8_t as[SPACE_MAX_AXES]; /* or -1 */
	bool taken[SPACE_MAX_AXES];
};

static void fit_take(struct fit *f, unsigned i, unsigned j)
{
	f->as[i] = (int8_t)j;
	f->taken[j] = true;
}

static void fit_clear(struct fit *f)
{
	memset(f->as, -1, sizeof(f->as));
	memset(f->taken, 0, sizeof(f->taken));
	if (f->a.columns)
		fit_take(f, 0, f->s->naxis - 1);
}

enum step { STEP_DONE, STEP_AGAIN, STEP_NO };

/* Own axis i has this stride and so many steps in the linked operand. */
static enum step fit_linked(struct fit *f, unsigned i, const int64_t *own_stride, int64_t steps,
			    const int64_t *stride, const int64_t *size)
{
	struct space *s = f->s;

	for (unsigned j = s->naxis; j-- > 0;) {
		const int64_t mine = own_stride[i];
		bool more = false;

		if (f->taken[j] || size[j] == 1 || !stride[j])
			continue;
		if (stride[j] == mine) {
			if (steps == size[j] || steps == s->size[j]) {
				fit_take(f, i, j);
				return STEP_DONE;
			}
			if (steps > size[j]) {
				if (steps % size[j] || !own_cut(&f->a, f->a.pos[i] * size[j]))
					return STEP_NO;
				return STEP_AGAIN;
			}
			for (unsigned k = 0; k < f->a.n; k++)
				more |= own_stride[k] == mine * steps && f->a.size[k] > 1;
			if (more)
				return split(s, j, steps) ? STEP_AGAIN : STEP_NO;
			fit_take(f, i, j); /* a part of it */
			return STEP_DONE;
		}
		if (mine > stride[j] && mine < stride[j] * size[j] && !(mine % stride[j]))
			return split(s, j, mine / stride[j]) ? STEP_AGAIN : STEP_NO;
	}
	return STEP_NO;
}

/* Columns that op m is taken to run over in each row: all, one, some; or all of one row. */
static int64_t natural_columns(const struct space *s, unsigned m)
{
	const int64_t rows = s->cols ? s->total / s->cols : 0;

	if (!rows || s->count[m] == s->total || (s->count[m] == s->cols && s->cols != rows))
		return s->cols;
	return s->count[m] / rows;
}

/* The strides of the linked operand along the own axes. */
static bool own_strides(struct fit *f, const struct link *l, int64_t *stride)
{
	const struct space *s = f->s;
	struct space_box b;
	int64_t inner;

	if (l->mine == LINK_NATURAL) {
		inner = natural_columns(s, l->m);
		if (inner > 1 && !own_cut(&f->a, inner))
			return false;
		for (unsigned i = 0; i < f->a.n; i++)
			stride[i] = f->a.pos[i] < inner || !inner ? f->a.pos[i]
								  : f->a.pos[i] / inner * s->cols;
		return true;
	}
	if (!space_box(s->op[l->m], &s->op[l->m]->operand[l->mine], s->count[l->m], &b, &inner))
		return false;
	for (unsigned i = 0; i < f->a.n; i++)
		if (!space_stride(&b, f->a.pos[i], f->a.size[i], &stride[i]))
			return false;
	return true;
}

/* The same along the axes of the space, for what it is linked to. */
static bool their_strides(const struct space *s, const struct link *l, int64_t *stride,
			  int64_t *size)
{
	if (l->mine != LINK_NATURAL)
		return strides_of(s, l->other, l->theirs, stride, size);
	for (unsigned j = s->naxis; j-- > 0;) {
		stride[j] = j + 1 == s->naxis ? 1 : stride[j + 1] * s->size[j + 1];
		size[j] = s->size[j];
	}
	return true;
}

/* Matches those own axes along which the linked operand moves. */
static bool fit_by(struct fit *f, const struct link *l)
{
	enum { TRIES = 3 * SPACE_MAX_AXES };

	for (unsigned tries = 0; tries < TRIES; tries++) {
		int64_t mine[SPACE_MAX_AXES], stride[SPACE_MAX_AXES], size[SPACE_MAX_AXES];
		enum step step = STEP_DONE;

		fit_clear(f);
		if (!own_strides(f, l, mine) || !their_strides(f->s, l, stride, size))
			return false;
		for (unsigned n = 0; n < f->a.n && step == STEP_DONE; n++) {
			int next = -1;

			for (unsigned i = 0; i < f->a.n; i++)
				if (f->as[i] < 0 && mine[i] && f->a.size[i] > 1 &&
				    (next < 0 || mine[i] < mine[next]))
					next = (int)i;
			if (next < 0)
				return true;
			step = fit_linked(f, (unsigned)next, mine, f->a.size[next], stride, size);
		}
		if (step == STEP_DONE)
			return true;
		if (step == STEP_NO)
			return false;
	}
	return false;
}

/* The innermost axis of the space that is left for own axis i, of that size if not 0; -1: none.
 * Only the innermost own axis can be columns. */
static int left_for(const struct fit *f, unsigned i, int64_t size)
{
	const struct space *s = f->s;

	for (unsigned j = s->naxis; j-- > 0;) {
		if (f->taken[j] || s->size[j] == 1 || (size && s->size[j] != size) ||
		    (s->cols && j + 1 == s->naxis && f->a.pos[i] != 1))
			continue;
		return (int)j;
	}
	return -1;
}

/* The others, along which the linked operand stays in place: by size, then by order. */
static bool fit_rest(struct fit *f)
{
	for (unsigned i = 0; i < f->a.n; i++) {
		const bool open = f->as[i] < 0 && f->a.size[i] > 1;
		const int j = open ? left_for(f, i, f->a.size[i]) : -1;

		if (j >= 0)
			fit_take(f, i, (unsigned)j);
	}
	for (unsigned i = 0; i < f->a.n; i++) {
		const int j = left_for(f, i, 0);
		int64_t theirs;

		if (f->as[i] >= 0 || f->a.size[i] == 1)
			continue;
		if (j < 0)
			return false;
		theirs = f->s->size[j];
		if (f->a.size[i] > theirs) {
			if (f->a.size[i] % theirs || !own_cut(&f->a, f->a.pos[i] * theirs))
				return false;
			memmove(&f->as[i + 2], &f->as[i + 1],
				(SPACE_MAX_AXES - i - 2) * sizeof(f->as[0]));
			f->as[i + 1] = -1;
		}
		fit_take(f, i, (unsigned)j);
	}
	return true;
}

/* What was found is what op m runs over. */
static void fit_keep(const struct fit *f, unsigned m)
{
	struct space_part *p = &f->s->part[m];

	for (unsigned j = 0; j < f->s->naxis; j++) {
		p->size[j] = 1;
		p->pos[j] = 0;
	}
	for (unsigned i = 0; i < f->a.n; i++)
		if (f->as[i] >= 0) {
			p->size[f->as[i]] = f->a.size[i];
			p->pos[f->as[i]] = f->a.pos[i];
		}
	p->known = true;
}

bool axes_place(struct space *s, const struct link *l)
{
	struct space before;
	struct fit f = {.s = s};

	if (!own_axes(s, l->m, &f.a) ||
	    (f.a.columns && s->op[l->m]->code != OP_cat && f.a.size[0] != s->cols))
		return false;
	before = *s;
	if (fit_by(&f, l) && fit_rest(&f)) {
		fit_keep(&f, l->m);
		return true;
	}
	*s = before;
	return false;
}

bool axes_place_naturally(struct space *s, unsigned m)
{
	const struct link l = {.m = (uint8_t)m, .mine = LINK_NATURAL};
	const int64_t count = s->count[m], rows = s->cols ? s->total / s->cols : 0;

	if (count != s->total && count != s->cols &&
	    (!rows || count % rows || count / rows > s->cols))
		return false;
	return axes_place(s, &l);
}
