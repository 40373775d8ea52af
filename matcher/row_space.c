// SPDX-License-Identifier: Apache-2.0
#include "matcher/row_space.h"

#include <string.h>

#include "matcher/sig_table.h"

bool space_reduces(enum opcode code)
{
	return code == OP_rmsnorm || code == OP_layernorm || code == OP_softmax || code == OP_sum ||
	       code == OP_mean || code == OP_amax;
}

bool space_has_columns(enum opcode code)
{
	return space_reduces(code) || code == OP_cat;
}

static int64_t count_of(const struct operand *o)
{
	int64_t n = 1;

	for (unsigned i = 0; i < o->ndim; i++)
		if (o->size[i] < 1 || __builtin_mul_overflow(n, o->size[i], &n))
			return 0;
	return n;
}

/* Elements that the op runs over. */
static int64_t op_count(const struct op *op)
{
	const struct operand *out = op_operand(op, ROLE_out);
	int64_t n;

	if (op->code == OP_cat)
		return out ? count_of(out) : 0;
	if (op->rows < 1 || op->cols < 1 || __builtin_mul_overflow(op->rows, op->cols, &n))
		return 0;
	return n;
}

/* The columns that the op fixes. */
static int64_t columns_of(const struct op *op)
{
	const struct operand *out = op_operand(op, ROLE_out);

	return op->code == OP_cat ? out->size[out->ndim - 1] : op->cols;
}

/*
 * Two ops of different sizes and nothing that says what a row is: the smaller one runs over a part
 * of each row (the half that rotate-half turns), and the pitch of what it reads says how many rows
 * there are.
 */
static int64_t columns_by_part(int64_t total, const struct op *small)
{
	for (unsigned i = 0; i < small->noperand; i++) {
		const struct operand *o = &small->operand[i];
		int64_t inner = o->size[o->ndim - 1];
		int64_t count = count_of(o);

		if (o->ndim < 2 || inner < 2 || !count || count != op_count(small) ||
		    o->stride[o->ndim - 2] == inner * o->stride[o->ndim - 1] ||
		    !o->stride[o->ndim - 2] || total % (count / inner))
			continue;
		if (total / (count / inner) > inner)
			return total / (count / inner);
	}
	return 0;
}

/* Without the dimensions that say nothing; the innermost one stays apart if `apart`. */
static void box_merge(struct space_box *b, bool apart)
{
	struct space_box m = {0};

	for (unsigned i = 0; i < b->ndim; i++) {
		const bool last = apart && i + 1 == b->ndim;

		if (b->size[i] == 1 && !last)
			continue;
		if (m.ndim && !last && m.stride[m.ndim - 1] == b->size[i] * b->stride[i]) {
			m.size[m.ndim - 1] *= b->size[i];
			m.stride[m.ndim - 1] = b->stride[i];
			continue;
		}
		m.size[m.ndim] = b->size[i];
		m.stride[m.ndim++] = b->stride[i];
	}
	*b = m;
}

bool space_box(const struct op *op, const struct operand *o, int64_t count, struct space_box *b,
	       int64_t *inner)
{
	const struct sig_form *form = sig_form(op->code);
	const struct sig_operand *said = sig_form_operand(op->code, (enum role)o->role);
	const int64_t mine = count_of(o);

	*inner = 0;
	if (!said || !mine || !o->ndim)
		return false;
	if (form->space == SPACE_ROWS && said->shape == SHAPE_COLS) {
		if (mine < op->cols || o->stride[o->ndim - 1] != dtype_bytes(o->dtype))
			return false;
		/* Larger than what is read, perhaps: one run of it is. */
		if (o->ndim > 1 && mine != op->cols)
			return false;
		*b = (struct space_box){2, {op->rows, op->cols}, {0, o->stride[o->ndim - 1]}};
		return true;
	}
	b->ndim = o->ndim;
	for (unsigned i = 0; i < o->ndim; i++) {
		b->size[i] = o->size[i];
		b->stride[i] = o->stride[i];
	}
	if (form->space == SPACE_ROWS && said->shape == SHAPE_PER_ROW) {
		b->size[b->ndim] = op->cols;
		b->stride[b->ndim++] = 0;
		box_merge(b, false);
		return mine == op->rows;
	}
	if (op->code == OP_cat) {
		const struct operand *out = op_operand(op, ROLE_out);

		if (o->ndim != out->ndim)
			return false;
		for (unsigned i = 0; i + 1 < o->ndim; i++)
			if (o->size[i] != out->size[i])
				return false;
		/* Its columns stand for whole rows. */
		*inner = o->size[o->ndim - 1];
		b->size[b->ndim - 1] = out->size[out->ndim - 1];
		box_merge(b, true);
		return true;
	}
	box_merge(b, false);
	return mine == count;
}

bool space_stride(const struct space_box *b, int64_t at, int64_t size, int64_t *stride)
{
	int64_t begin = 1;

	*stride = 0;
	if (size == 1)
		return true;
	for (unsigned i = b->ndim; i-- > 0; begin *= b->size[i])
		if (at >= begin && at < begin * b->size[i]) {
			*stride = b->stride[i] * (at / begin);
			return at % begin == 0 && (begin * b->size[i]) % (at * size) == 0;
		}
	return false;
}

/* What stands first: the op that says what columns are, or the largest. */
static bool begin(struct space *s)
{
	unsigned largest = 0, smallest = 0, chosen = s->nop;

	for (unsigned i = 0; i < s->nop; i++) {
		const enum opcode code = s->op[i]->code;

		s->count[i] = op_count(s->op[i]);
		if (!s->count[i])
			return false;
		if (s->count[i] > s->count[largest])
			largest = i;
		if (s->count[i] < s->count[smallest])
			smallest = i;
		if (!space_has_columns(code))
			continue;
		if (chosen < s->nop) {
			const bool sums = space_reduces(code),
				   others = space_reduces(s->op[chosen]->code);
			const int64_t mine = columns_of(s->op[i]),
				      theirs = columns_of(s->op[chosen]);

			if (sums && others && mine != theirs)
				return false;
			if (sums < others || (sums == others && s->count[i] <= s->count[chosen]))
				continue;
		}
		chosen = i;
	}
	if (chosen < s->nop)
		s->cols = columns_of(s->op[chosen]);
	else if (s->count[smallest] != s->count[largest])
		s->cols = columns_by_part(s->count[largest], s->op[smallest]);
	if (chosen == s->nop)
		chosen = largest;
	s->total = s->count[chosen];
	return space_first(s, chosen);
}

static void drop_axis(struct space *s, unsigned j)
{
	s->naxis--;
	for (unsigned k = j; k < s->naxis; k++) {
		s->size[k] = s->size[k + 1];
		for (unsigned m = 0; m < s->nop; m++) {
			s->part[m].size[k] = s->part[m].size[k + 1];
			s->part[m].pos[k] = s->part[m].pos[k + 1];
		}
	}
}

/* Can axes j and j + 1 be one dimension? */
static bool joined(const struct space *s, unsigned j)
{
	for (unsigned m = 0; m < s->nop; m++) {
		const struct space_part *p = &s->part[m];
		const bool none = p->size[j] == 1 && p->size[j + 1] == 1;

		if (none)
			continue;
		if (p->size[j + 1] != s->size[j + 1])
			return false;
		for (unsigned k = 0; k < s->op[m]->noperand; k++) {
			struct space_box b;
			int64_t inner, outer_step, step;

			if (!space_box(s->op[m], &s->op[m]->operand[k], s->count[m], &b, &inner) ||
			    !space_stride(&b, p->pos[j + 1], p->size[j + 1], &step) ||
			    !space_stride(&b, p->pos[j], p->size[j], &outer_step))
				return false;
			if (p->size[j] > 1 ? outer_step != step * s->size[j + 1]
					   : step != 0 || s->size[j] > 1)
				return false;
		}
	}
	return true;
}

/* Axes become dimensions of r. */
static bool end(struct space *s, struct row *r)
{
	int64_t size[ROW_MAX_DIMS + 1];
	unsigned rows, n = 0;

	for (unsigned j = s->naxis; j-- > 0;)
		if (s->size[j] == 1 && !(s->cols && j + 1 == s->naxis) && s->naxis > 1)
			drop_axis(s, j);
	if (s->cols && s->naxis == 1) { /* one row */
		s->size[1] = s->size[0];
		s->size[0] = 1;
		for (unsigned m = 0; m < s->nop; m++) {
			s->part[m].size[1] = s->part[m].size[0];
			s->part[m].pos[1] = s->part[m].pos[0];
			s->part[m].size[0] = 1;
		}
		s->naxis = 2;
	}
	rows = s->cols ? s->naxis - 1 : s->naxis;
	for (unsigned j = 0; j < rows; j++) {
		if (j && joined(s, j - 1)) {
			size[n - 1] *= s->size[j];
			continue;
		}
		if (n == ROW_MAX_DIMS + 1)
			return false;
		s->first[n] = j;
		size[n++] = s->size[j];
	}
	s->first[n] = rows;
	s->flat = !s->cols && n == 1;
	r->cols = s->cols ? s->cols : s->flat ? 1 : size[n - 1];
	n -= !s->cols && !s->flat; /* the last ones are the columns */
	if (n > ROW_MAX_DIMS)
		return false;
	r->ndim = (uint8_t)n;
	memcpy(r->size, size, n * sizeof(size[0]));
	return true;
}

bool space_make(struct space *s, struct row *r, const struct op *const *op, unsigned n)
{
	memset(s, 0, offsetof(struct space, part));
	s->op = op;
	s->nop = n;
	for (unsigned i = 0; i < n; i++)
		s->part[i].known = false;
	return begin(s) && space_axes(s) && end(s, r);
}

void space_unflatten(struct space *s, struct row *r)
{
	s->flat = false;
	r->cols = r->size[0];
	r->size[0] = 1;
	/* There is one dimension without axes, and all axes are columns. */
	s->first[1] = s->first[0];
}

bool space_repeats(const struct space *s, unsigned m)
{
	for (unsigned j = 0; j + 1 < s->naxis; j++)
		if (s->part[m].size[j] == 1 && s->size[j] > 1)
			return true;
	return false;
}

/* Axes a .. b - 1 as one: the stride of a step, and how many the op makes. */
static bool axes_of(const struct space *s, unsigned m, const struct space_box *b, unsigned first,
		    unsigned end, int64_t *stride, int64_t *size)
{
	const struct space_part *p = &s->part[m];

	*stride = 0;
	*size = 1;
	for (unsigned j = end; j-- > first;) {
		int64_t step;

		if (!space_stride(b, p->pos[j], p->size[j], &step))
			return false;
		if (p->size[j] > 1 && *size == 1)
			*stride = step;
		*size *= p->size[j];
	}
	return true;
}

bool space_operand(const struct space *s, const struct row *r, unsigned m, const struct operand *o,
		   struct row_operand *to)
{
	const unsigned columns = s->flat ? s->naxis : s->first[r->ndim];
	struct space_box b;
	int64_t inner, size;

	memset(to, 0, sizeof(*to));
	if (!space_box(s->op[m], o, s->count[m], &b, &inner))
		return false;
	to->addr = o->addr;
	to->dtype = o->dtype;
	to->width = 1;
	for (unsigned d = 0; d < r->ndim; d++) {
		if (!axes_of(s, m, &b, s->first[d], s->first[d + 1], &to->stride[d], &size))
			return false;
		if (size < r->size[d])
			to->most[d] = size;
	}
	if (s->flat)
		return true;
	if (!axes_of(s, m, &b, columns, s->naxis, &to->step, &size))
		return false;
	if (inner)
		size = inner;
	if (size == 1)
		to->step = 0;
	to->width = to->step ? size : 1;
	return true;
}
