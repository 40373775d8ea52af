// SPDX-License-Identifier: Apache-2.0
/*
 * Which axis of one op is which of another? Two operands that list the same memory have the same
 * strides along the same axes. Declared in row_space.h.
 */
#include <string.h>

#include "matcher/row_space.h"

/* An op's own axes, innermost first. */
struct own {
	unsigned n;
	int64_t size[SPACE_MAX_AXES], pos[SPACE_MAX_AXES];
	bool columns; /* axis 0 is the program's columns */
};

/*
 * Operand `mine` of op m lists memory that operand `theirs` of op `other` lists, too. NATURAL: no
 * memory says anything; op m is taken to go through the space, or its rows, or some columns of
 * each, in order.
 */
enum { NATURAL = 0xff };
struct link {
	uint8_t m, mine, other, theirs;
	uint64_t weight;
};

enum { MAX_LINKS = 4 * SPACE_MAX_OPS };

static bool own_cut(struct own *a, int64_t at)
{
	for (unsigned i = 0; i < a->n; i++) {
		const int64_t pos = a->pos[i], size = a->size[i];

		if (at <= pos || at >= pos * size)
			continue;
		if (at % pos || size % (at / pos) || a->n == SPACE_MAX_AXES)
			return false;
		memmove(&a->size[i + 1], &a->size[i], (a->n - i) * sizeof(a->size[0]));
		memmove(&a->pos[i + 1], &a->pos[i], (a->n - i) * sizeof(a->pos[0]));
		a->n++;
		a->size[i] = at / pos;
		a->size[i + 1] = size / (at / pos);
		a->pos[i + 1] = at;
		return true;
	}
	return true;
}

/* Cut where any operand of the op needs it. */
static bool own_axes(const struct space *s, unsigned m, struct own *a)
{
	const struct op *op = s->op[m];

	a->n = 1;
	a->size[0] = s->count[m];
	a->pos[0] = 1;
	a->columns = space_has_columns(op->code);
	for (unsigned k = 0; k < op->noperand; k++) {
		struct space_box b;
		int64_t inner, at = 1;

		if (!space_box(op, &op->operand[k], s->count[m], &b, &inner))
			return false;
		for (unsigned i = b.ndim; i-- > 1;) {
			at *= b.size[i];
			if (!own_cut(a, at))
				return false;
		}
	}
	if (a->columns) {
		const struct operand *out = op_operand(op, ROLE_out);
		const int64_t cols = op->code == OP_cat ? out->size[out->ndim - 1] : op->cols;

		if (!own_cut(a, cols))
			return false;
		if (cols == 1) { /* one that says nothing, but is there */
			if (a->n == SPACE_MAX_AXES)
				return false;
			memmove(&a->size[1], &a->size[0], a->n * sizeof(a->size[0]));
			memmove(&a->pos[1], &a->pos[0], a->n * sizeof(a->pos[0]));
			a->n++;
			a->size[0] = 1;
		}
		return a->size[0] == cols; /* else there are gaps within a row */
	}
	return true;
}

bool space_first(struct space *s, unsigned m)
{
	struct own a;

	if (!own_axes(s, m, &a) || (s->cols && !own_cut(&a, s->cols)) ||
	    (s->cols > 1 && a.size[0] != s->cols))
		return false;
	s->naxis = 0;
	for (unsigned i = a.n; i-- > 0; s->naxis++) {
		s->size[s->naxis] = s->part[m].size[s->naxis] = a.size[i];
		s->part[m].pos[s->naxis] = a.pos[i];
	}
	if (s->cols == 1 && !a.columns) { /* it says nothing, but is there */
		if (s->naxis == SPACE_MAX_AXES)
			return false;
		s->size[s->naxis] = s->part[m].size[s->naxis] = s->part[m].pos[s->naxis] = 1;
		s->naxis++;
	}
	if (s->cols && s->naxis == 1) {
		/* One row. */
		s->size[1] = s->part[m].size[1] = s->size[0];
		s->part[m].pos[1] = 1;
		s->size[0] = s->part[m].size[0] = s->part[m].pos[0] = 1;
		s->naxis = 2;
	}
	s->part[m].known = true;
	return true;
}

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

	if (l->mine == NATURAL) {
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
	if (l->mine != NATURAL)
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

static bool place(struct space *s, const struct link *l)
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

/* In the order of the space: all of it, or one number a row, or some columns. */
static bool place_naturally(struct space *s, unsigned m)
{
	const struct link l = {.m = (uint8_t)m, .mine = NATURAL};
	const int64_t count = s->count[m], rows = s->cols ? s->total / s->cols : 0;

	if (count != s->total && count != s->cols &&
	    (!rows || count % rows || count / rows > s->cols))
		return false;
	return place(s, &l);
}

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
			place(s, &l);
		while (m < s->nop && s->part[m].known)
			m++;
		if (m == s->nop)
			return true;
		if (!(inside(s, m, &l) && place(s, &l)) && !place_naturally(s, m))
			return false;
	}
}
