// SPDX-License-Identifier: Apache-2.0
#include "matcher/row_space.h"

#include <string.h>

#include "matcher/sig_table.h"

bool space_reduces(enum opcode code)
{
	return code == OP_rmsnorm || code == OP_layernorm || code == OP_softmax || code == OP_sum ||
	       code == OP_mean || code == OP_amax;
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

static bool fix(struct space *s, int64_t rows, int64_t cols)
{
	if (rows < 1 || cols < 1 || (s->cols && (s->rows != rows || s->cols != cols)))
		return false;
	s->rows = rows;
	s->cols = cols;
	s->total = rows * cols;
	return true;
}

/*
 * Two ops of different sizes and nothing that says what a row is: the smaller one runs over a part
 * of each row (the half that rotate-half turns), and the pitch of what it reads says how many rows
 * there are.
 */
static bool fix_by_part(struct space *s, const struct op *small)
{
	for (unsigned i = 0; i < small->noperand; i++) {
		const struct operand *o = &small->operand[i];
		int64_t inner = o->size[o->ndim - 1];
		int64_t count = count_of(o);

		if (o->ndim < 2 || inner < 2 || !count || count != op_count(small) ||
		    o->stride[o->ndim - 2] == inner * o->stride[o->ndim - 1] ||
		    !o->stride[o->ndim - 2] || s->total % (count / inner))
			continue;
		if (s->total / (count / inner) > inner)
			return fix(s, count / inner, s->total / (count / inner));
	}
	return false;
}

bool space_begin(struct space *s, const struct op *const *op, unsigned n)
{
	const struct op *smallest = NULL;

	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < n; i++) {
		const int64_t count = op_count(op[i]);

		if (!count)
			return false;
		if (space_reduces(op[i]->code) && !fix(s, op[i]->rows, op[i]->cols))
			return false;
		if (op[i]->code == OP_cat) {
			const struct operand *out = op_operand(op[i], ROLE_out);
			const int64_t inner = out->size[out->ndim - 1];

			if (!fix(s, count / inner, inner))
				return false;
		}
		if (count > s->total && !s->cols)
			s->total = count;
		if (!smallest || count < op_count(smallest))
			smallest = op[i];
	}
	if (!s->cols && smallest && op_count(smallest) != s->total && !fix_by_part(s, smallest))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!space_inner(s, op[i]))
			return false;
	if (s->cols)
		s->cut[s->ncut++] = s->cols;
	return true;
}

int64_t space_inner(const struct space *s, const struct op *op)
{
	const int64_t count = op_count(op);

	if (count == s->total)
		return s->cols ? s->cols : s->total;
	if (!s->cols || count % s->rows || count / s->rows > s->cols)
		return 0;
	return count / s->rows;
}

bool space_box(const struct space *s, const struct op *op, const struct operand *o,
	       struct space_box *b)
{
	const struct sig_form *form = sig_form(op->code);
	const struct sig_operand *said = sig_form_operand(op->code, (enum role)o->role);
	const int64_t count = count_of(o);
	unsigned n = 0;

	if (!said || !count || !o->ndim)
		return false;
	if (form->space == SPACE_ROWS && said->shape == SHAPE_COLS) {
		if (count < op->cols || o->stride[o->ndim - 1] != dtype_bytes(o->dtype))
			return false;
		/* Larger than what is read, perhaps: one run of it is. */
		if (o->ndim > 1 && count != op->cols)
			return false;
		*b = (struct space_box){2, {op->rows, op->cols}, {0, o->stride[o->ndim - 1]}};
		return true;
	}
	for (unsigned i = 0; i < o->ndim; i++, n++) {
		b->size[n] = o->size[i];
		b->stride[n] = o->stride[i];
	}
	b->ndim = n;
	if (form->space == SPACE_ROWS && said->shape == SHAPE_PER_ROW) {
		b->size[n] = op->cols;
		b->stride[n] = 0;
		b->ndim = n + 1;
		return count == op->rows;
	}
	if (op->code == OP_cat) {
		const struct operand *out = op_operand(op, ROLE_out);

		if (o->ndim != out->ndim)
			return false;
		for (unsigned i = 0; i + 1 < o->ndim; i++)
			if (o->size[i] != out->size[i])
				return false;
		return true;
	}
	return count == op_count(op);
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

/* The elements of a row that this operand of the op has. */
static int64_t inner_of(const struct space *s, const struct op *op, const struct operand *o)
{
	return op->code == OP_cat ? o->size[o->ndim - 1] : space_inner(s, op);
}

/*
 * The box in dimensions of the whole space: that of an operand with fewer elements a row gets its
 * row as a dimension of its own, which stands for a whole row.
 */
static bool box_in_space(const struct space *s, const struct op *op, const struct operand *o,
			 struct space_box *b, int64_t *inner)
{
	*inner = inner_of(s, op, o);
	if (!*inner || !space_box(s, op, o, b))
		return false;
	if (!s->cols || *inner == s->cols) {
		box_merge(b, false);
		return true;
	}
	if (*inner == 1) {
		if (b->ndim == SPACE_MAX_DIMS)
			return false;
		b->size[b->ndim] = 1;
		b->stride[b->ndim++] = 0;
	}
	if (b->size[b->ndim - 1] != *inner)
		return false;
	box_merge(b, true);
	return true;
}

static bool add_cut(struct space *s, int64_t at)
{
	unsigned i = 0;

	if (at <= 1 || at >= s->total)
		return true;
	while (i < s->ncut && s->cut[i] < at)
		i++;
	if (i < s->ncut && s->cut[i] == at)
		return true;
	if (s->ncut == sizeof(s->cut) / sizeof(s->cut[0]))
		return false;
	memmove(&s->cut[i + 1], &s->cut[i], (s->ncut - i) * sizeof(s->cut[0]));
	s->cut[i] = at;
	s->ncut++;
	return true;
}

bool space_cut(struct space *s, const struct op *op, const struct operand *o)
{
	struct space_box b;
	int64_t inner, at = 1;

	if (!box_in_space(s, op, o, &b, &inner))
		return false;
	for (unsigned i = b.ndim; i-- > 1;) {
		const bool part = s->cols && inner != s->cols && i + 1 == b.ndim;

		at *= part ? s->cols : b.size[i];
		if (!add_cut(s, at))
			return false;
	}
	return true;
}

bool space_end(struct space *s, struct row *r)
{
	int64_t above = s->total;

	for (unsigned i = 1; i < s->ncut; i++)
		if (s->cut[i] % s->cut[i - 1])
			return false;
	if (s->ncut && s->total % s->cut[s->ncut - 1])
		return false;
	if (s->cols && s->cut[0] != s->cols)
		return false; /* an operand with gaps inside a row */
	if (s->ncut > ROW_MAX_DIMS)
		return false;
	s->flat = !s->ncut;
	r->cols = s->flat ? 1 : s->cut[0];
	r->ndim = (uint8_t)(s->flat ? 1 : s->ncut);
	r->size[0] = s->total;
	for (unsigned i = s->ncut; i > 0; i--) {
		r->size[s->ncut - i] = above / s->cut[i - 1];
		above = s->cut[i - 1];
	}
	return true;
}

void space_unflatten(struct space *s, struct row *r)
{
	s->flat = false;
	r->cols = s->total;
	r->size[0] = 1;
}

/* The stride of the dimension that begins at `at` (a product of inner sizes) and is `size` long. */
static bool stride_at(const struct space_box *b, int64_t at, int64_t size, int64_t *stride)
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

bool space_operand(const struct space *s, const struct row *r, const struct op *op,
		   const struct operand *o, struct row_operand *to)
{
	struct space_box b;
	int64_t inner, at = r->cols;

	memset(to, 0, sizeof(*to));
	if (!box_in_space(s, op, o, &b, &inner))
		return false;
	to->addr = o->addr;
	to->dtype = o->dtype;
	to->width = 1;
	if (s->cols && inner != s->cols) {
		/* The innermost dimension is the part of the row. */
		to->step = inner > 1 ? b.stride[b.ndim - 1] : 0;
		to->width = to->step ? inner : 1;
		b.size[b.ndim - 1] = r->cols;
	} else if (r->cols > 1) {
		if (!stride_at(&b, 1, r->cols, &to->step))
			return false;
		to->width = to->step ? r->cols : 1;
	}
	for (unsigned d = r->ndim; d-- > 0; at *= r->size[d])
		if (!stride_at(&b, at, r->size[d], &to->stride[d]))
			return false;
	return true;
}
